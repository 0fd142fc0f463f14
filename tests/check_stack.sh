#!/bin/sh
# crash --check-stack: true and wrong stacks. Truth: an emulator's calls (tests/stacks/check.py), and the disassembly of
# tests/fixtures/bin/demo, tests/stacks/x86_64.program and the files of tests/stacks/several by llvm-objdump.
. tests/checks
demo="-d tests/fixtures/bin/demo -d tests/fixtures/bin/demo.app.dSYM"
calls="-d tests/stacks/x86_64.program"

run() # ARGUMENT...: into $work/out
{
    "$MACHSYM" crash -q --no-cache "$@" >"$work/out" 2>"$work/err"
    check "$*" "$work/err"
}

# shellcheck disable=SC2086 # $demo and $calls hold several words
says() # FILE WHAT OPTIONS REPORT: the lines with what was found are those of FILE
{
    "$MACHSYM" crash -q --no-cache --check-stack $3 "$4" 2>&1 | grep -E '\[(no call|there is|it calls|inferred)' >"$work/found"
    same "$1" "$work/found" "$2"
}

# shellcheck disable=SC2086
run $demo tests/fixtures/services/crashpad.dmp
mv "$work/out" "$work/demo.crash"
# shellcheck disable=SC2086
run $calls tests/stacks/x86_64.dmp
mv "$work/out" "$work/calls.crash"

# ---- True ones ----

: >"$work/nothing"
for report in tests/fixtures/services/crashpad.dmp "$work/demo.crash" tests/fixtures/reports/demo.ips; do
    says "$work/nothing" "nothing of $report" "$demo" $report
done
for report in tests/stacks/x86_64.dmp tests/stacks/arm64.core "$work/calls.crash"; do
    says "$work/nothing" "nothing of $report" "$calls" $report
done

# ---- Wrong ones ----

# the call of small ends 0x102340 42c; 430 is in the instruction after it
sed 's/0x000000010234042c .*/0x0000000102340430/' "$work/calls.crash" >"$work/off.crash"
cat >"$work/want" <<'END'
1   calls                         	0x0000000102340430 large + 22 [no call ends here: the frame of a function without a record is missing, or the stack is damaged]
END
says "$work/want" "an address that no call ends at" "$calls" "$work/off.crash"
sed 's/^1 .*$/1   calls                         	0x0000000102340020 0x102340000 + 32/' "$work/calls.crash" >"$work/data.crash"
"$MACHSYM" crash -q --no-cache --check-stack $calls "$work/data.crash" 2>&1 | grep -q '^1 .*\[there is no code: '
check "an address of data"

# open_ended calls large, not small
sed '/^1 /d; s/^\([2-9]\) /x\1 /' "$work/calls.crash" | awk '/^x[0-9]/ { sub(/^x[0-9]/, substr($1, 2) - 1) } { print }' >"$work/lacks.crash"
cat >"$work/want" <<'END'
1   calls                         	0x0000000102340487 open_ended + 53 [it calls large, which does not get to small: the frame of a function without a record is missing, or the stack is damaged]
END
says "$work/want" "a frame is left out" "$calls" "$work/lacks.crash"

# a program of another build, by its name
sed 's/<4c4c[0-9a-f]*>//; s/calls/demo/g; s/x86_64/arm64/; s/X86-64/ARM-64/; s/0000000102340\([0-9a-f]*\)/0000000102340\1/' "$work/calls.crash" >"$work/other.crash"
"$MACHSYM" crash -q --no-cache --check-stack --no-uuid $demo "$work/other.crash" >"$work/out" 2>&1
grep -q 'the file is of another build\]' "$work/out"
check "the file of another build" "$work/out"

# a name alone proves nothing: two frames that do not fit, and five that do, are enough for another build; one is not
awk '/^4 +calls/ { sub(/0x[0-9a-f]* .*/, "0x0000000102340404") } { print }' "$work/calls.crash" >"$work/half.crash"
for wrong in off:0 half:2; do
    "$MACHSYM" crash -q --no-cache --check-stack --no-uuid $calls "$work/${wrong%:*}.crash" >"$work/out" 2>&1
    [ "$(grep -c ': the file is of another build\]' "$work/out")" -eq "${wrong#*:}" ]
    check "the share of frames that do not fit, ${wrong%:*}" "$work/out"
done

# ---- lr ----

# -[Player play:] begins at 0xa48, and makes its frame later. Its caller is the block at 0x9d8, which main called.
sed '/^Thread 1 Crashed/,/^Thread 1 crashed/ {
s/^0   demo .*skip.*$/0   demo                          	0x0000000102a30a48 0x102a30000 + 2632/
/^[01]   demo .*inlined/d
/^1 /d; /^2 /d; s/^3 /1 /; /^1 .*repeat/d
}
s/lr: 0x0000000102a30a7c/lr: 0x0000000102a309fc/; s/pc: 0x0000000102a30aec/pc: 0x0000000102a30a48/' "$work/demo.crash" >"$work/lr.crash"
cat >"$work/want" <<'END'
0   demo                          0x0000000102a309fc __main_block_invoke + 36 (main.mm:13) [inferred from lr]
END
says "$work/want" "a caller that only lr has" "$demo" "$work/lr.crash"
run --check-stack --json $demo "$work/lr.crash"
grep -q '"address":"0x102a309fc","return_address":true,"image":0,"found_by":"leaf","inferred":true,' "$work/out"
check "the same in JSON"
run --check-stack --html $demo "$work/lr.crash"
grep -q 'inferred' "$work/out"
check "the same on the page"

# ---- Several programs, and calls from one to another ----

. tests/stacks/several
at_hand=tests/fixtures/bin/cache/arm64
mkdir "$work/several"
cp tests/fixtures/bin/map-arm64-d4-O0/program tests/fixtures/bin/outline-arm64-d4-22 $at_hand/Zoo $at_hand/Farm $at_hand/libbase.dylib $at_hand/libobjc.A.dylib "$work/several"
mv "$work/several/outline-arm64-d4-22" "$work/several/outline"

doubted() # REPORT OPTION...: what is in doubt of a report with the files of $work/several, a line each: thread, address, what
{
    "$MACHSYM" crash -q --no-cache --check-stack --to=text -d "$work/several" "$@" 2>&1 |
        sed -n 's/^Thread \([0-9]*\).*/\1/p; s/^[0-9].*[[:space:]]\(0x[0-9a-f]*\) .*\[\(no call\|there is no code\|it calls [^,]*\).*/\1 \2/p' |
        awk 'NF == 1 { thread = $1; next } { print thread, $0 }'
}

# shellcheck disable=SC2154 # of tests/stacks/several
{
several "$several_programs" "$several_true" >"$work/true.crash"
several "$several_dylibs" "$several_imports" >"$work/imports.crash"
several "$several_dylibs" "$several_wrong" >"$work/wrong.crash"
}
while read -r what change options; do
    sed "$change" "$work/true.crash" >"$work/told.crash"
    # shellcheck disable=SC2086
    [ -z "$(doubted "$work/told.crash" $options)" ]
    check "true stacks of two programs: $what"
done <<'END'
told_by_all_of_them s/x/x/
told_by_UUIDs_alone s/outline/program/g;s|Frameworks/program|program|
told_by_paths_alone s/<[^>]*>.//;s/^\([0-9].[^x]*\)outline/\1program/;s/^\(0x.*\)outline\(.arm64\)/\1program\2/ --no-uuid
told_by_names_alone s/<[^>]*>.*// --no-uuid
END
# Each caller in turn, moved by an instruction.
for at in 538 4e0 47c 4a4 410 4b0; do
    moved=$(printf '%x' $((0x$at + 4)))
    grep -c "^[0-9].*0x[0-9a-f]*$at " "$work/true.crash" >"$work/count"
    sed "s/^\([0-9].*0x[0-9a-f]*\)$at /\1$moved /" "$work/true.crash" >"$work/moved.crash"
    [ "$(doubted "$work/moved.crash" | grep -c "^[0-9] 0x[0-9a-f]*$moved no call$")" -eq "$(cat "$work/count")" ] &&
        [ "$(doubted "$work/moved.crash" | grep -c .)" -eq "$(cat "$work/count")" ]
    check "two programs, an address moved: $at"
done

[ -z "$(doubted "$work/imports.crash")" ]
check "true calls of imports"
doubted "$work/wrong.crash" >"$work/found"
printf '%s\n' "0 0x102340944 it calls base_open" "1 0x104560880 it calls base_open" "2 0x10678069c it calls base_weak" \
    "3 0x10234089c it calls objc_alloc_init" >"$work/want"
same "$work/want" "$work/found" "calls of imports that lead elsewhere"
# Another image of the app may have a function of that name, unless its code is at hand. The system's have none of the app's.
mkdir "$work/away"
mv "$work/several/Farm" "$work/away"
[ -z "$(doubted "$work/wrong.crash")" ]
check "calls of imports while the code of an image of the app is not at hand"
sed '/^0x.* Farm /d' "$work/wrong.crash" >"$work/without.crash"
sed '/^0x.* Farm /s|/private/.*/Farm.fr|/System/Library/PrivateFrameworks/Farm.fr|' "$work/wrong.crash" >"$work/system.crash"
for report in without system; do
    doubted "$work/$report.crash" >"$work/found"
    grep -v 104560880 "$work/want" | diff - "$work/found"
    check "calls of imports while all code of the app is at hand: $report"
done
mv "$work/away/Farm" "$work/several"

# The true stacks are true: what stands ahead of each return address calls the function of the frame below.
if need "calls of tests/stacks/several" llvm-objdump-22; then
    for file in "$work"/several/*; do
        echo "file ${file##*/}"
        llvm-objdump-22 -d --macho --no-show-raw-insn "$file"
    done >"$work/code"
    # shellcheck disable=SC2154
    printf '%s\n%s\n' "$several_true" "$several_imports" | awk '
        function at(v, name, k) { for (k = 0; k <= v; k += 4) if ((name, k) in starts) last = starts[name, k]; return last }
        function value(hex, n, i) { n = 0; for (i = 1; i <= length(hex); i++) n = 16 * n + index("0123456789abcdef", substr(hex, i, 1)) - 1; return n }
        FNR == NR && /^file / { file = $2; next }
        FNR == NR && /^[^ ].*:$/ { name = $0; sub(/:$/, "", name); next }
        FNR == NR && /^ *[0-9a-f]+:/ {
            v = $1
            sub(/:$/, "", v)
            v = value(substr(v, length(v) > 8 ? length(v) - 7 : 1))
            if (name != "") starts[file, v] = name
            name = ""
            if ($2 == "bl") to[file, v] = $NF
            next
        }
        FNR == NR { next }
        {
            for (i = 2; i <= NF; i++) {
                split($(i - 1), below, "+")
                split($i, above, "+")
                calls = to[above[1], value(above[2]) - 4]
                is = at(value(below[2]), below[1])
                if (calls != is && !(calls == "_zoo_digest" && is == "_base_add")) print $i " calls " calls ", and not " is
            }
        }' "$work/code" - >"$work/log"
    [ ! -s "$work/log" ]
    check "true stacks are true" "$work/log"
fi

# ---- Bytes of the stack ----

# KSCrash followed frame pointers, which large does not have. small ends its call in large at 42c.
run --check-stack --to=text $calls tests/stacks/x86_64.json
sed -n 's/^[0-9]* *calls *\t *\(0x[0-9a-f]*\).*/\1/p' "$work/out" >"$work/found"
printf '%s\n' 0x1023403ee 0x10234042c 0x102340487 0x102340503 0x1023405b0 0x10234057b 0x10234057b 0x10234057b 0x10234057b 0x102340696 >"$work/want"
same "$work/want" "$work/found" "a caller that the bytes of the stack have"
grep -q '^1   .* large + 18 \[inferred from the stack\]$' "$work/out"
check "it is marked" "$work/out"
run --check-stack --json $calls tests/stacks/x86_64.json
grep -q '"address":"0x10234042c","return_address":true,"image":0,"found_by":"compact","inferred":true,' "$work/out" &&
    grep -qF '"stack_check":{"callers":9,"checked":9,"doubted":0,"inferred":1}' "$work/out"
check "the same in JSON" "$work/out"
run $calls tests/stacks/x86_64.json
mv "$work/out" "$work/want"
run --check-stack $calls tests/stacks/x86_64.json
same "$work/want" "$work/out" "KSCrash's JSON stays what it is"
for change in 's/"contents": "[^"]*"/"contents": "xyz"/' 's/"contents": "[^"]*"/"contents": 7/' 's/"dump_start": [0-9]*/"dump_start": 18446744073709551615/' \
    's/"dump_start": [0-9]*/"dump_start": null/' 's/\("contents": "..........\)[^"]*"/\1"/' 's/, "stack": {[^}]*}//'; do
    sed "$change" tests/stacks/x86_64.json >"$work/bytes.json"
    run --check-stack --json $calls "$work/bytes.json"
    ! grep -q '"inferred":true' "$work/out"
    check "$change" "$work/out"
done

# ---- Reports in JSON ----

sed 's/"imageOffset":2684/"imageOffset":2688/' tests/fixtures/reports/demo.ips >"$work/off.ips"
! cmp -s "$work/off.ips" tests/fixtures/reports/demo.ips
check "demo.ips is changed"
run --check-stack --to=text $demo "$work/off.ips"
grep -q '^1 .*\[no call ends here: ' "$work/out"
check "an .ips as text"
run --check-stack --json $demo "$work/off.ips"
grep -q '"doubt":"no call ends here: ' "$work/out"
check "an .ips as JSON"
run $demo "$work/off.ips"
mv "$work/out" "$work/want"
run --check-stack $demo "$work/off.ips"
same "$work/want" "$work/out" "an .ips stays one"
run --check-stack --summary $demo "$work/off.ips"
grep -qx '  stacks held against code: 3 of 4 callers checked, 1 in doubt' "$work/out" &&
    grep -q '^    thread 0, frame 1, -\[Player play:\]: no call ends here: ' "$work/out"
check "a summary" "$work/out"
run --check-stack --brief $demo "$work/off.ips"
grep -q ',"doubt":"frame 1: no call ends here: ' "$work/out"
check "a brief" "$work/out"
run --check-stack --summary --json $demo "$work/off.ips"
grep -qF '"stack_check":{"callers":4,"checked":3,"doubted":1,"inferred":0}' "$work/out"
check "the counts in JSON" "$work/out"
"$MACHSYM" crash --no-cache --check-stack $demo "$work/off.ips" 2>&1 >/dev/null | grep -q 'the system (1); 1 of 3 callers in doubt$'
check "the line of a report"

# ---- What is not checked ----

unchecked() # WHY OPTION...: nothing is in doubt, and WHY is told of the app
{
    why=$1
    shift
    run --check-stack --json "$@"
    grep -qF "\"no_code\":\"$why\"" "$work/out" && ! grep -qF '"doubt"' "$work/out"
    check "$why" "$work/out"
}
mkdir "$work/alone"
cp "$work/off.ips" "$work/alone"
unchecked "the file has no code, as a dSYM" -d tests/fixtures/bin/demo.app.dSYM "$work/alone/off.ips"
unchecked "no program is at hand" "$work/alone/off.ips"
"$MACHSYM" map build -o "$work/demo.symmap" tests/fixtures/bin/demo.app.dSYM
unchecked "a map has no code" -d "$work/demo.symmap" "$work/alone/off.ips"
"$MACHSYM" crash --no-cache --check-stack -d tests/fixtures/bin/demo.app.dSYM "$work/alone/off.ips" 2>&1 >/dev/null |
    grep -q '; no caller checked; not checked: demo: the file has no code, as a dSYM$'
check "a dSYM alone, in the line of a report"

# A program that is cut short anywhere raises no doubt of a true stack. Without a UUID, too.
sed '/"uuid" : "4c4c44b5/Id' tests/fixtures/reports/demo.ips >"$work/nameless.ips"
mkdir "$work/cut"
at=32
while [ $at -lt 50000 ]; do
    head -c $at tests/fixtures/bin/demo >"$work/cut/demo"
    for how in "-d tests/fixtures/bin/demo.app.dSYM tests/fixtures/reports/demo.ips" "--no-uuid $work/nameless.ips"; do
        "$MACHSYM" crash -q --no-cache --check-stack --json -d "$work/cut/demo" $how 2>/dev/null | grep -o '"doubt":"[^"]*"' && echo "$at $how"
    done
    at=$((at + (at < 3000 ? 97 : 2900)))
done >"$work/doubts"
[ ! -s "$work/doubts" ]
check "a program that is cut short" "$work/doubts"
# The address of __text lies outside its segment, and the section is lost.
cp tests/fixtures/bin/demo "$work/cut/demo"
printf '\377\377\377\377\377\377\377\377' | dd of="$work/cut/demo" bs=1 seek=208 conv=notrunc 2>/dev/null
"$MACHSYM" crash --no-cache --check-stack --to=text -d "$work/cut/demo" tests/fixtures/reports/demo.ips >"$work/out" 2>&1
! grep -q '\[no call\|\[there is\|\[it calls' "$work/out" && grep -q 'not checked: demo: the file lacks some of its code' "$work/out"
check "a program whose section of code is lost" "$work/out"
mkdir "$work/a
b"
cp tests/fixtures/bin/demo "$work/a
b"
says_in() { "$MACHSYM" crash -q --no-cache --check-stack --to=text -d "$1" "$work/off.ips" 2>&1 | grep -q '^1 .*\[no call ends here: '; }
says_in "$work/a
b"
check "a folder with a line end in its name"
gzip -c tests/fixtures/bin/demo >"$work/demo.gz"
says_in "$work/demo.gz"
check "a program that is compressed"
if [ -c /dev/full ]; then
    "$MACHSYM" crash -q --no-cache --check-stack $demo "$work/off.ips" >/dev/full 2>"$work/err"
    [ $? -eq 1 ] && [ -s "$work/err" ]
    check "a full disk"
fi

"$MACHSYM" crash --check-stack --apple $demo "$work/off.ips" >/dev/null 2>"$work/err"
[ $? -eq 2 ] && grep -q -- "--check-stack says what Apple's tools do not" "$work/err"
check "not with --apple"

# ---- Many, by an emulator ----

python=$(for one in python3 /usr/bin/python3; do "$one" -c "import unicorn" 2>/dev/null && echo "$one" && break; done)
if [ -z "$python" ] || ! command -v clang-22 >/dev/null || ! command -v ld64.lld-22 >/dev/null; then
    skip "stacks of programs in an emulator: it needs clang-22, ld64.lld-22 and python3-unicorn"
else
    mkdir "$work/stacks"
    "$python" tests/stacks/check.py "$MACHSYM" "$work/stacks" "${STACKS:-10}" >"$work/log" 2>&1
    check "true and wrong stacks" "$work/log"
fi
# A report that lists one image thousands of times opens it once, in the memory of one.
awk 'BEGIN {
    print "Process: demo [1]\nCode Type: ARM-64\n\nThread 0 Crashed:"
    for (i = 0; i < 500; i++) printf "%d   demo  0x1%08x 0x1%08x + 2684\n", i, 44236800 + i * 65536 + 2684, 44236800 + i * 65536
    for (t = 1; t < 8; t++) {
        printf "\nThread %d:\n", t
        for (i = 0; i < 500; i++) { k = 500 * t + i; printf "%d   demo  0x1%08x 0x1%08x + 2684\n", i, 44236800 + k * 65536 + 2684, 44236800 + k * 65536 }
    }
    print "\nBinary Images:"
    for (i = 0; i < 4000; i++) printf "0x1%08x - 0x1%08x demo arm64  <4c4c44b555553144a1ba79ca685dec58> /a/demo\n", 44236800 + i * 65536, 44236800 + i * 65536 + 16383
}' >"$work/many.crash"
limit=400000 # kilobytes; a sanitizer reserves more
(ulimit -v $limit && "$MACHSYM" --version) >/dev/null 2>&1 || limit=unlimited
(ulimit -v $limit && exec "$MACHSYM" crash --no-cache -q --check-stack --summary -d tests/fixtures/bin/demo.app.dSYM -d tests/fixtures/bin/demo "$work/many.crash") >"$work/got" 2>"$work/err"
[ $? -eq 0 ] && [ -s "$work/got" ] && [ ! -s "$work/err" ]
check "one image, listed 4,000 times" "$work/err"
end

#!/bin/bash
# machsym atos, case by case: tests/golden/atos/NAME.case has the arguments, the input, and what must come out. The first
# line of a case names what its answer was checked against. {bin} is tests/fixtures/bin, {corpus} ../shared/corpus. What
# is expected on stderr is a pattern.
bin=tests/fixtures/bin
corpus=../shared/corpus
machsym=${MACHSYM:-build/machsym}
. tests/checks
tmp=$work

ok() { # NAME STATUS
    count "$2" || echo "atos: $1 failed"
}

run_case() { # FILE
    local file=$1 name oracle run want messages pattern
    name=${file##*/}
    name=${name%.case}
    { read -r oracle && IFS= read -r run && read -r want; } <"$file"
    want=${want#status: }
    if [[ $oracle != 'oracle: '* || $run != 'run: '* || -z $want ]]; then
        ok "$name: oracle, run and status are missing" 1
        return
    fi
    if [[ $run == *'{corpus}'* && ! -d $corpus ]]; then
        skip "$name needs $corpus"
        return
    fi
    run=${run#run: }
    run=${run//'{bin}'/$bin}
    rm -f "$tmp"/part.*
    awk -v to="$tmp/part." 'FNR == 1 { printf "" >(to "stdin"); printf "" >(to "stdout"); printf "" >(to "stderr") }
        /^---- / { part = to $2; next } part != "" { print >part }' "$file"
    eval "$machsym ${run//'{corpus}'/$corpus}" <"$tmp/part.stdin" >"$tmp/out" 2>"$tmp/err"
    [ $? -eq "$want" ]
    ok "$name: status" $?
    diff "$tmp/part.stdout" "$tmp/out"
    ok "$name: output" $?
    pattern=$(<"$tmp/part.stderr")
    messages=$(<"$tmp/err")
    # shellcheck disable=SC2053
    [[ $messages == $pattern ]]
    ok "$name: messages: ${messages:0:400}" $?
}

for file in tests/golden/atos/*.case; do
    run_case "$file"
done

# A process that keeps the pipe open gets every answer before it asks the next question.
ask_one_by_one() {
    local answer
    coproc TOOL { eval "$machsym atos -o $bin/symbols-x86_64"; }
    local pid=$TOOL_PID in=${TOOL[1]} out=${TOOL[0]} status=0
    for address in 0x1000003f0 0x1000003f1 zork; do
        echo "$address" >&"$in"
        read -r -t 20 -u "$out" answer || status=1
        case $address-$answer in
        '0x1000003f0-main (in symbols-x86_64) + 0' | '0x1000003f1-main (in symbols-x86_64) + 1' | zork-zork) ;;
        *) status=1 ;;
        esac
    done
    exec {in}>&-
    wait "$pid"
    return $status
}
ask_one_by_one
ok "answers line by line" $?

# -f reads a file as stdin is read.
printf '0x1000003f0 0x1000003f1\n' >"$tmp/addresses"
eval "$machsym atos -o $bin/symbols-x86_64 -f $tmp/addresses" >"$tmp/out"
printf 'main (in symbols-x86_64) + 0\nmain (in symbols-x86_64) + 1\n' | diff - "$tmp/out"
ok "-f" $?
eval "$machsym atos -o $bin/symbols-x86_64 -f $tmp/no-such-file" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 1 ] && grep -q 'No such file' "$tmp/err"
ok "-f without a file" $?

# Many addresses come out in the order in which they went in, also when each thread has many lines.
awk 'BEGIN {
    for (i = 1; i <= 60000; i++)
        printf "0x100000%x\n", 1008 + i % 2 * 16 + i % 3
}' >"$tmp/addresses"
awk 'BEGIN {
    for (i = 1; i <= 60000; i++)
        printf "%s (in symbols-x86_64) + %d\n", i % 2 ? "global_alias" : "main", i % 3
}' >"$tmp/want"
eval "$machsym atos -o $bin/symbols-x86_64" <"$tmp/addresses" | cmp - "$tmp/want"
ok "order" $?

# Many answers share the lines of outer frames, and each is what it is alone: by one thread (as operands), by one that
# reads 700 words, by several that read 5,000; of a dSYM and of its map, of one whose names of functions and files are not all
# plain text, and of one whose own name is not. Some words are no address, or none of the file.
file=$bin/inline-x86_64-d4-22.dwarf
eval "$machsym map build -o $tmp/shared.symmap $file" >"$tmp/out"
for i in $(seq 0 699); do
    printf '0x%x\n' $((0x100000680 + i * 389 % 700))
    case $i in *00) printf 'zz 0X100000690 100000690 0x 0x0000000000000000100000690 12345678901234567 0xfff9 0x200000690\n' ;; esac
done >"$tmp/few"
odd=$tmp/odd.dwarf named=$tmp/$(printf 'sh\303\244red.dwarf')
LC_ALL=C sed "s/4areaEv/4ar$(printf '\302\205')Ev/g; s/shape\\.hpp/sh$(printf '\033')pe.hpp/g" "$file" >"$odd"
cp "$file" "$named"
for i in 1 2 3 4 5 6 7 8; do
    cat "$tmp/few"
done >"$tmp/many"
for options in '-i' '-i --full-path --no-demangle' '-i -d | --best-line' '-i --json' '' '-i -dedup' '-i --no-demangle'; do
    for of in "$file" "$tmp/shared.symmap" "$odd" "$named"; do
        case $of$options in *symmap*-dedup*) continue ;; esac
        eval "$machsym atos ${options/|/\\|} -o $of $(tr '\n' ' ' <"$tmp/few")" >"$tmp/want"
        eval "$machsym atos ${options/|/\\|} -o $of" <"$tmp/few" | cmp - "$tmp/want"
        ok "shared lines: few, $options, ${of##*.}" $?
        for i in 1 2 3 4 5 6 7 8; do
            cat "$tmp/want"
        done >"$tmp/wants"
        eval "$machsym atos ${options/|/\\|} -o $of" <"$tmp/many" | cmp - "$tmp/wants"
        ok "shared lines: many, $options, ${of##*.}" $?
    done
done

# Several threads answer a few hundred addresses, too, where there is much debug info to decode: here that of four files.
# Later words of the same input find it decoded.
file=tests/real/TNSWidgets.dwarf
for i in $(seq 0 499); do
    printf '0x%x\n' $((0x5860 + i * 3947 % 12000))
done >"$tmp/few"
cat "$tmp/few" "$tmp/few" "$tmp/few" >"$tmp/more"
eval "$machsym atos -i -o $file $(tr '\n' ' ' <"$tmp/few")" >"$tmp/want"
cat "$tmp/want" "$tmp/want" "$tmp/want" >"$tmp/wants"
for words in few:want more:wants; do
    eval "$machsym atos -i -o $file -o $file -o $file -o $file" <"$tmp/${words%:*}" | cmp - "$tmp/${words#*:}"
    ok "few addresses of much debug info: ${words%:*}" $?
done
{
    cat "$tmp/few"
    sleep 0.1
    cat "$tmp/few" "$tmp/few"
} | eval "$machsym atos -i -o $file -o $file -o $file -o $file" | cmp - "$tmp/wants"
ok "few addresses of much debug info, and then more" $?

# What --explain says of an address: checked against llvm-dwarfdump-22 --debug-info, --debug-line and llvm-nm-22.
eval "$machsym atos --explain -o $bin/hand-lines.dwarf 0x100001084" >"$tmp/out"
for text in 'line4 (in hand-lines.dwarf) (lines4.c:31)' 'slice: x86_64' 'DWARF 4' 'function: line4' \
    '> 0x100001084 ' 'lines4.c:31:' 'lines4.c:32:' 'name from'; do
    grep -qF -- "$text" "$tmp/out"
    ok "--explain says: $text" $?
done

grep -c '^ *>* *0x1000010[89][048] [^ ]*lines4.c:3[0-8]:0 is_stmt$' "$tmp/out" | grep -qx 5
ok "--explain: five rows, each on a line of its own" $?

# Start and size are those of main (llvm-dwarfdump-22: DW_AT_low_pc, DW_AT_high_pc): an inlined call is told without.
eval "$machsym atos --explain -o $bin/inline-x86_64-d4-22.dwarf 0x100000728" >"$tmp/out"
grep '  inlined: ' "$tmp/out" | grep -v ' bytes, ' >/dev/null
ok "--explain: an inlined call" $?
! grep '  inlined: ' "$tmp/out" | grep -q ' bytes, '
ok "--explain: the function's size is not the call's" $?
grep -q '  function: main.*, 0x1000006b0 + 287 bytes, ' "$tmp/out"
ok "--explain: the function's size" $?
# Where a function and the calls inlined into it stand (llvm-dwarfdump-22: DW_TAG_subprogram, DW_TAG_inlined_subroutine). What a
# table of symbols or a map names stands nowhere.
for text in '  function: main, entry at .debug_info+0x224, 0x1000006b0' '  inlined: checked_div(int, int), entry at .debug_info+0x343, name'; do
    grep -qF -- "$text" "$tmp/out"
    ok "--explain: $text" $?
done
eval "$machsym atos --explain -o $bin/hand-lines.dwarf 0x100001084" | grep -qF '  function: line4, entry at .debug_info+0xda, 0x100001080 + 64 bytes, '
ok "--explain: where a function stands" $?
eval "$machsym map build --no-progress --damaged -o $tmp/explained.symmap $bin/hand-lines.dwarf" >/dev/null 2>&1; eval "$machsym atos --explain -o $tmp/explained.symmap 0x100001084" >"$tmp/out"
grep -q '  function: .*line4, 0x100001080 + 64 bytes, ' "$tmp/out"
ok "--explain: a map tells of no place in .debug_info" $?

# Whose name counts. The functions' names are those of the source; what the symbols were renamed to, sed says in
# tests/fixtures/parts/20-programs.sh (llvm-nm-22 lists them). 1: a symbol has the name, or more of it; 2: it has not.
renamed=$bin/renamed-arm64-d4-22.dwarf
addrs="0x100000360 0x1000003dc 0x10000036c 0x100000374 0x1000003e8 0x100000400"
whose() # CASE OPTIONS WANTED
{
    eval "$machsym atos $2 -o $renamed $addrs" | sed 's/ (in .*//' | tr '\n' ' ' >"$tmp/out"
    [ "$(cat "$tmp/out")" = "$3 kept_name marked\$UNIX2003 shapes::scale(int) scaled " ]
    ok "$1: $(cat "$tmp/out")" $?
}
whose "renamed symbols do not hide names" "" "first_total inner_helper"
whose "--names=dwarf" "--names=dwarf" "first_total inner_helper"
whose "--names=symtab" "--names=symtab" 'qzAbCdEfGhI $$$$$$$$0001'
eval "$machsym atos --explain -o $renamed 0x100000364" >"$tmp/out"
grep -q '^  passed over: the symbol qzAbCdEfGhI; ' "$tmp/out"
ok "--explain names the symbol that was passed over" $?
eval "$machsym atos --explain -o $renamed 0x10000036c 0x100000400" | grep -q 'passed over'
ok "--explain passes over no symbol of the name" $((! $?))
for names in "" symtab dwarf; do
    eval "$machsym map build --no-progress ${names:+--names=$names} -o $tmp/renamed.symmap $renamed" >/dev/null 2>&1
    eval "$machsym atos ${names:+--names=$names} -o $renamed $addrs" | sed 's/ (in .*//' >"$tmp/want"
    eval "$machsym atos -o $tmp/renamed.symmap $addrs" | sed 's/ (in .*//' >"$tmp/out"
    cmp -s "$tmp/want" "$tmp/out"
    ok "a map has the names that it was built with: ${names:-no option}" $?
    eval "$machsym store add --keep=maps ${names:+--names=$names} $tmp/store-${names:-none} $renamed" >/dev/null 2>&1
    eval "$machsym atos -o $(find "$tmp/store-${names:-none}" -name '*.symmap') $addrs" | sed 's/ (in .*//' >"$tmp/out"
    cmp -s "$tmp/want" "$tmp/out"
    ok "so has a map of a store: ${names:-no option}" $?
done
eval "$machsym find --names=symtab $renamed qzAbCdEfGhI" | grep -q '^0x100000360'
ok "find goes by the symbols' names" $?
eval "$machsym find $renamed first_total" | grep -q '^0x100000360'
ok "find goes by the names of debug info" $?
eval "$machsym atos --names=nm -o $renamed 0x100000360" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 2 ] && grep -q -- '--names is one of symtab, dwarf, not nm' "$tmp/err"
ok "--names of another kind" $?
[ "$(eval "$machsym info --json $renamed" | grep -c '"misleading"')" -eq 0 ]
ok "renamed symbols are no damage" $?

# --help goes to stdout and is no error; every option of the case files is in it.
eval "$machsym atos --help" >"$tmp/help" 2>"$tmp/err"
ok "--help" $?
[ ! -s "$tmp/err" ]
ok "--help is quiet on stderr" $?
for option in -o -arch --uuid -l -s -offset -textExecAddress -f -i -inlineFrames -d -fullPath -dedup -printHeader -p \
    --lines --best-line --no-demangle --full-names --json --explain --copy --check; do
    grep -q -e "[ ,]$option\([ =,]\|$\)" "$tmp/help"
    ok "--help tells of $option" $?
done

end

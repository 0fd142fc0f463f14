#!/bin/bash
# Files cut short, in 30 places where SAMPLE is 1 and in 10 where it is not, through every command that reads them: none ends well and in silence
# unless it answers as for the whole file. Maps of half a file are refused, or say what they are.
machsym=${MACHSYM:-build/machsym}
bin=tests/fixtures/bin
. tests/checks
cuts=30
[ "${SAMPLE:-1}" -eq 1 ] || cuts=10
[ -z "${RUN:-}" ] || cuts=5 # an emulator takes ten times as long
mkdir "$work/whole"

# ---- Half a file through every command ----

# The commands; {} is the file, {dir} the folder that it is in, {map} a map of the whole one. Their output is what they
# print and the file OUT.
commands=(
    "atos -o {} -arch arm64 -i -l 0x100000000 0x100000940 0x10000099c 0x100000aec"
    "atos -o {} --json --explain 0x100000aec"
    "atos -o {} -offset -f $bin/../reports/demo-addresses.txt"
    "info {}"
    "info --quick {}"
    "symbols {}"
    "objc {}"
    "owners {} 0x100000aec"
    "map build --no-progress -o OUT {}"
    "map build --no-progress -j 1 --damaged --columns -o OUT {}"
    "map build --no-progress --all-archs --store OUT {}"
    "map verify {map} {}"
    "map lookup {} 0x100000aec"
    "map info {}"
    "map dump {}"
    "map export --format=bugly {}"
    "map export --format=breakpad {}"
    "map export --chunks=500 --format=tsv {}"
    "crash --no-cache -d {dir} -o - tests/fixtures/reports/demo.crash"
    "crash --no-cache -q -d {dir} --summary tests/fixtures/reports/demo.ips"
    "crash --no-cache -q -d {dir} --group tests/fixtures/reports/demo.crash"
)

run() { # FOLDER NAME COMMAND: $status, and all output in $work/out, what is reported in $work/err
    local words
    words=${3//\{\}/$2}
    words=${words//\{dir\}/.}
    words=${words//\{map\}/$work/whole.symmap}
    words=${words//OUT/$work/map}
    # shellcheck disable=SC2086
    (cd "$work/$1" && exec $tool $words </dev/null) >"$work/out" 2>"$work/err"
    status=$?
    case $3 in
    *OUT*)
        find "$work/map" -type f -exec cat {} + >>"$work/out" 2>/dev/null
        rm -rf "$work/map"
        ;;
    esac
}

try() { # NAME: every cut of the file $work/whole/NAME through every command that works on the whole one
    local name=$1 bad=0 tried=0 size command at
    size=$(wc -c <"$work/whole/$name")
    for ((at = 1; at <= cuts; at++)); do
        mkdir "$work/cut-$at"
        head -c $((size * at / (cuts + 1))) "$work/whole/$name" >"$work/cut-$at/$name"
    done
    for command in "${commands[@]}"; do
        run whole "$name" "$command"
        [ $status -eq 0 ] || continue
        mv "$work/out" "$work/whole.out"
        for ((at = 1; at <= cuts; at++)); do
            run cut-$at "$name" "$command"
            tried=$((tried + 1))
            if [ $status -eq 0 ]; then
                cmp -s "$work/whole.out" "$work/out" && continue
                echo "$name cut at $at/$((cuts + 1)): $command: status 0, other output: $(head -1 "$work/err")"
            elif [ $status -eq 1 ] && [ -s "$work/err" ]; then
                continue
            else
                echo "$name cut at $at/$((cuts + 1)): $command: status $status: $(head -1 "$work/err")"
            fi
            bad=$((bad + 1))
        done
    done
    [ $tried -gt "$2" ] && [ $bad -eq 0 ]
    check "$name: $tried commands on parts of it, $bad of them wrong"
    rm -r "$work"/cut-* "$work/whole/$name"
}

top=$(pwd)
case $machsym in /*) tool=$machsym ;; *' '*) tool=$machsym ;; *) tool=$top/$machsym ;; esac
for ((i = 0; i < ${#commands[@]}; i++)); do
    commands[i]=${commands[i]//tests\/fixtures/$top/tests/fixtures}
done
dsym=$bin/demo.app.dSYM/Contents/Resources/DWARF/demo
$machsym map build --no-progress -o "$work/whole.symmap" $dsym >"$work/out"
check "a map of the whole file"
cp $dsym "$work/whole/demo"
try demo $((13 * cuts))
cuts=$((cuts / 4 + 1))
cp "$work/whole.symmap" "$work/whole/demo.symmap"
try demo.symmap $((7 * cuts))
for file in demo zoo-arm64-chained-relative inline-fat.dwarf plain-arm64e-d5.o map-arm64-d5-O2/program; do
    cp "$bin/$file" "$work/whole/cut-${file##*/}" 2>/dev/null
    try "cut-${file##*/}" $((4 * cuts))
done

# ---- What is reported ----

says() { # WHAT, the line that standard error has once, with the folder left out
    [ "$(sed "s|$work/||g" "$work/err" | grep -c -x -F -e "$2")" -eq 1 ] && return
    printf -- '---- %s\n' "$1"
    cat "$work/err"
    false
}

size=$(wc -c <$dsym)
head -c $((size * 3 / 4)) $dsym >"$work/half"
said="machsym: half: cut short: at least 3316 bytes are missing at its end; __debug_info: 714 of 1236 bytes are there;"
said="$said 9 parts of the file are damaged"
$machsym atos -o "$work/half" 0x100000aec 0x100000940 >"$work/out" 2>"$work/err"
[ $? -eq 1 ] && says "atos" "$said"
check "atos of half a file says how much is missing"
mkdir "$work/store"
cp "$work/half" "$work/store"
$machsym crash --no-cache -q -d "$work/store" -o - tests/fixtures/reports/demo.crash >"$work/out" 2>"$work/err"
[ $? -eq 1 ] && says "crash" "${said/half/store/half}"
check "crash says it too"
$machsym map build --no-progress -o "$work/half.symmap" "$work/half" >"$work/out" 2>"$work/err"
[ $? -eq 1 ] && says "map build" \
    "$said; no map is made of it: fetch the whole file, or pass --damaged for a map of what is there"
check "map build of half a file refuses"
[ ! -e "$work/half.symmap" ] && [ ! -s "$work/out" ]
check "and leaves nothing"
$machsym map build --no-progress --damaged -o "$work/half.symmap" "$work/half" >"$work/out" 2>"$work/err"
[ $? -eq 1 ] && [ "$(wc -l <"$work/err")" -eq 1 ] && grep -q " of [0-9]* units of the debug info are damaged; the map lacks" "$work/err" &&
    grep -q "^$work/half.symmap: arm64, " "$work/out"
check "with --damaged it makes a map, and says what it lacks"
$machsym map info "$work/half.symmap" >"$work/out" 2>"$work/err"
[ $? -eq 1 ] && grep -qx "  damaged: made of a damaged file; names, lines and ranges may be missing" "$work/out"
check "map info tells it"
$machsym map verify "$work/half.symmap" "$work/half" >"$work/out" 2>"$work/err"
[ $? -eq 1 ] && says "map verify" "$said" &&
    says "map verify" "machsym: half.symmap: the map was made of a damaged file; names, lines and ranges may be missing"
check "map verify does not praise it, although the bytes are the same"
$machsym map verify "$work/half.symmap" $dsym >"$work/out" 2>"$work/err"
[ $? -eq 1 ]
check "nor beside the whole file"
$machsym map verify "$work/whole.symmap" $dsym >"$work/out" 2>"$work/err"
[ $? -eq 0 ] && [ ! -s "$work/err" ]
check "the whole one it praises"
$machsym atos -o "$work/half.symmap" --explain 0x100000aec >"$work/out" 2>"$work/err" &&
    grep -qx "  doubt: the map was made of a damaged file; names, lines and calls may be missing" "$work/out"
check "--explain tells it of a map"
$machsym atos -o "$work/half" --explain 0x100000aec 2>"$work/err" |
    grep -qx "  doubt: the file is damaged; names, lines and calls may be missing"
check "--explain tells it of the file"

# ---- The flag stays ----

info_of() { # MAP: has it the flag?
    $machsym map info "$1" 2>"$work/err" | grep -q '^  damaged: '
}
for format in tsv jsonl; do
    $machsym map export --chunks=100000 --format=$format "$work/half.symmap" 2>"$work/err" |
        sed 's/.*"value":"//; s/"}$//; s/.*	//' | head -1 | base64 -d >"$work/chunk.symmap"
    info_of "$work/chunk.symmap"
    check "a chunk ($format) has the flag"
done
$machsym map export --format=bugly -o "$work/half.txt" "$work/half.symmap" &&
    $machsym map import --name half -o "$work/again.symmap" "$work/half.txt" >"$work/out"
info_of "$work/again.symmap"
check "the map of an exported table has it"
$machsym map export --format=breakpad "$work/half.symmap" | grep -qx 'INFO DAMAGED made of a damaged file'
check "a Breakpad file says it"
for format in bugly breakpad; do
    $machsym map export --format=$format "$work/whole.symmap" | grep -qi damaged
    [ $? -eq 1 ]
    check "$format of a whole file does not"
done

# ---- Damage that is no cut ----

cp $dsym "$work/odd"
printf '\377\377\377\377\377\377\377\377' | dd of="$work/odd" bs=1 seek=9440 conv=notrunc 2>/dev/null
$machsym map build --no-progress -o "$work/odd.symmap" "$work/odd" >"$work/out" 2>"$work/err"
[ $? -eq 1 ] && says "a damaged unit" \
    "machsym: odd: 1 of 2 units of the debug info are damaged; the map lacks what could not be read, and says so"
check "a map is made of a file with a damaged unit, and the damage is reported"
info_of "$work/odd.symmap"
check "its map has the flag"
$machsym info "$work/odd" >"$work/out" 2>"$work/err"
[ $? -eq 1 ]
check "info of it is no success"
$machsym info $dsym >"$work/out" 2>"$work/err"
[ $? -eq 0 ]
check "info of the whole one is"
$machsym map build --no-progress -o "$work/trie.symmap" $bin/exports-x86_64-trie-cycle.dylib >"$work/out" 2>"$work/err"
[ $? -eq 1 ] && info_of "$work/trie.symmap"
check "an exports trie that goes round in a circle is reported"

# One address says what its answer met; several, and explanations, are reason to look at all unit headers.
cp $bin/hand-dwarf64.dwarf "$work/header"
printf '\011\011' | dd of="$work/header" bs=1 seek=$((8326 + 0x80 + 4)) conv=notrunc 2>/dev/null # a version: the second unit's
for addresses in "0 0x100001000" "1 0x100001010" "1 0x100001000 0x100001020" "1 --explain 0x100001000"; do
    status=${addresses%% *}
    # shellcheck disable=SC2086
    $machsym atos -o "$work/header" ${addresses#* } >"$work/out" 2>"$work/err"
    [ $? -eq "$status" ] && [ "$(wc -l <"$work/err")" -eq "$status" ]
    check "a damaged unit header: atos ${addresses#* } ends with $status" "$work/err"
done

# Who does not ask for debug info has none decompressed: its damage is not found.
LC_ALL=C sed 's/ZLIB/zlib/g' $bin/inline-x86_64-d4-zdebug.dwarf >"$work/packed"
for command in "info 1" "info --quick 0" "objc 1" "symbols 1" "symbols --source dwarf 1" "symbols --source symtab 0"; do
    status=${command##* }
    $machsym ${command% *} "$work/packed" >"$work/out" 2>"$work/err"
    [ $? -eq "$status" ]
    check "compressed debug info that is damaged: ${command% *} ends with $status" "$work/err"
    [ "${command% *}" != objc ] || { grep -q 'a dSYM has no Objective-C metadata' "$work/err" && [ "$(wc -l <"$work/err")" -eq 1 ]; }
    check "objc says what a dSYM lacks, and nothing of its debug info" "$work/err"
done

# A damaged object file of a debug map does not answer, and the symbol table does.
cp -R $bin/map-arm64-d5-O2 "$work/map"
for object in "$work"/map/*.o; do
    head -c 700 "$object" >"$work/object" && cp -p "$work/object" "$object"
done
$machsym map build --no-progress --oso-any-time --oso-dir "$work/map" -o "$work/objects.symmap" "$work/map/program" \
    >"$work/out" 2>"$work/err"
grep -qE "cut short: the file ends before its parts do; compile it again\. Its functions are named" "$work/err"
check "an object file that is cut short is named"

end

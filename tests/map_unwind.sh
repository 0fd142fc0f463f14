#!/bin/sh
# Maps that carry unwind tables: crash finds by them what it finds by the program, in folders and in stores. The frames are an
# emulator's (tests/map_unwind.py); tests/symmap.sh compares the tables with the sections of the files.
. tests/checks

program=tests/stacks/x86_64.program
dump=tests/stacks/x86_64.dmp
dsym=tests/fixtures/bin/demo.app.dSYM

# How the frames of the dump were found, with these symbols.
found() # SYMBOLS
{
    "$MACHSYM" crash -q --no-cache --to=json -d "$1" $dump >"$work/out" 2>"$work/err" &&
        grep -o '"found_by":"[a-z_]*"' "$work/out" | sort | uniq -c | tr -s ' "' ' '
}
equal() # WHAT GOT WANTED
{
    [ "$2" = "$3" ]
    check "$1: $2"
}
all=$(printf ' 9 found_by : compact \n 1 found_by : context ')
few=$(printf ' 1 found_by : context \n 1 found_by : fp ')

equal "by the program" "$(found $program)" "$all"
"$MACHSYM" map build -o "$work/plain.symmap" $program >"$work/out" && "$MACHSYM" map build --unwind -o "$work/own.symmap" $program >"$work/out"
check "maps of it" "$work/out"
equal "by a map without tables" "$(found "$work/plain.symmap")" "$few"
equal "by a map with tables" "$(found "$work/own.symmap")" "$all"
"$MACHSYM" crash -q --no-cache --to=json -d $program $dump | sed 's/"symbols":[^]]*]//' >"$work/by-file"
"$MACHSYM" crash -q --no-cache --to=json -d "$work/own.symmap" $dump | sed 's/"symbols":[^]]*]//' >"$work/by-map"
sed 's/.*"threads":/"threads":/; s/,"images":.*//' "$work/by-file" >"$work/a"
sed 's/.*"threads":/"threads":/; s/,"images":.*//' "$work/by-map" >"$work/b"
[ -s "$work/a" ] && same "$work/a" "$work/b" "the same threads, names and places by both"

"$MACHSYM" map info "$work/own.symmap" | grep -q '^  unwind tables: [1-9][0-9]* bytes$'
check "map info tells the size"
[ "$("$MACHSYM" map info --json "$work/own.symmap" "$work/plain.symmap" | grep -c '"unwind_bytes":[1-9]')" -eq 1 ] &&
    "$MACHSYM" map info --json "$work/plain.symmap" | grep -q '"unwind_bytes":0,'
check "and map info --json"
for map in own plain; do
    "$MACHSYM" map verify "$work/$map.symmap" $program >"$work/out" 2>&1 && grep -q "the same bytes, and the same answers" "$work/out"
    check "map verify, $map.symmap" "$work/out"
done

# Damage in the tables, which stand last
size=$(wc -c <"$work/own.symmap")
{ head -c $((size - 40)) "$work/own.symmap" && printf x && tail -c 39 "$work/own.symmap"; } >"$work/flipped.symmap"
"$MACHSYM" map info "$work/flipped.symmap" >"$work/out" 2>"$work/err"
[ $? -eq 1 ] && grep -q "checksum does not match" "$work/err"
check "a flipped byte in the tables is told by map info" "$work/err"
"$MACHSYM" crash -q --no-cache --to=json -d "$work/flipped.symmap" $dump >"$work/out" 2>"$work/err"
[ $? -eq 1 ] && grep -q "checksum does not match" "$work/err" && [ "$(grep -c '"found_by":"compact"' "$work/out")" -eq 0 ]
check "and by crash, which takes no tables of it" "$work/err"
head -c $((size - 40)) "$work/own.symmap" >"$work/cut.symmap"
"$MACHSYM" map info "$work/cut.symmap" >"$work/out" 2>"$work/err"
[ $? -eq 1 ] && grep -q "cut short" "$work/err"
check "half a table" "$work/err"

# A file without tables
"$MACHSYM" map build --unwind -o "$work/dsym.symmap" $dsym >"$work/out" 2>"$work/err"
[ $? -eq 1 ] && grep -q "has no unwind tables" "$work/err" && [ -s "$work/dsym.symmap" ]
check "a dSYM has none: it says so, with status 1" "$work/err"
"$MACHSYM" map build --unwind -o "$work/pair.symmap" --pair tests/fixtures/bin/demo $dsym >"$work/out" 2>"$work/err" &&
    "$MACHSYM" map info --json "$work/pair.symmap" | grep -q '"unwind_bytes":[1-9]'
check "with its program it has them" "$work/err"
"$MACHSYM" map verify --pair tests/fixtures/bin/demo "$work/pair.symmap" $dsym >"$work/out" 2>&1
check "and map verify of both" "$work/out"

# Stores: with the program and its map, with the map alone, with a map that has no tables beside the program
for keep in both maps dsyms; do
    "$MACHSYM" store add --keep=$keep "$work/$keep" $program >"$work/out" 2>"$work/err"
    check "store add --keep=$keep" "$work/err"
    equal "by a store of $keep" "$(found "$work/$keep")" "$all"
done
equal "which has maps alone" "$(find "$work/maps" -type f | grep -vc 'symmap$')" 0
cp "$work/plain.symmap" "$work"/both/*/*.symmap
equal "by the program beside a map without tables" "$(found "$work/both")" "$all"
cp "$work/plain.symmap" "$work"/maps/*/*.symmap
equal "by a store of maps without tables" "$(found "$work/maps")" "$few"
"$MACHSYM" store add --keep=maps --force "$work/maps" $program >"$work/out" 2>"$work/err"
equal "that is made anew" "$(found "$work/maps")" "$all"

python=$(for one in python3 /usr/bin/python3; do "$one" -c "import unicorn" 2>/dev/null && echo "$one" && break; done)
if [ -z "$python" ] || ! command -v clang-22 >/dev/null || ! command -v ld64.lld-22 >/dev/null; then
    skip "dumps of programs in an emulator: it needs clang-22, ld64.lld-22 and python3-unicorn"
else
    mkdir "$work/stacks"
    PYTHONDONTWRITEBYTECODE=1 "$python" tests/map_unwind.py "$MACHSYM" "$work/stacks" >"$work/log" 2>&1
    check "180 dumps of programs in an emulator" "$work/log"
fi
end

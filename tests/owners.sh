#!/bin/bash
# Whose code it is: debug map, link maps of both linkers, ranges, prefixes, files of rules, atos --owners.
cd "$(dirname "$0")/.." || exit 1
machsym=${MACHSYM:-build/machsym}
bin=tests/fixtures/bin
program=$bin/map-arm64-d4-O0/program
. tests/checks
tmp=$work

# check WHAT WANT: what the last command printed (in $tmp/out).
check()
{
    if [ "$(cat "$tmp/out")" = "$2" ]; then
        count 0
    else
        count 1
        printf '%s: got\n%s\nnot\n%s\n' "$1" "$(cat "$tmp/out")" "$2"
    fi
}

run() { $machsym "$@" >"$tmp/out" 2>"$tmp/err"; }

run owners $program
check "debug map" "228 3 libutil.a(util.o)
228 2 libutil.a(util_with_a_long_name.o)
124 2 main.o"

run owners --ranges $program
check "ranges" "0x100000448 0x1000004c4 124 2 main.o
0x1000004c4 0x1000005a8 228 3 libutil.a(util.o)
0x1000005a8 0x10000068c 228 2 libutil.a(util_with_a_long_name.o)"

run owners --json $program 0x100000450 0x1000004d0 10 nothing
check "addresses as JSON" '{"schema":"owners/1","address":"0x100000450","owner":"main.o"}
{"schema":"owners/1","address":"0x1000004d0","owner":"libutil.a(util.o)"}
{"schema":"owners/1","address":"10","owner":null}
{"schema":"owners/1","address":"nothing","owner":null}'

# A link map as ld64 writes it, its successor's numbered members, and text after it that does not belong to it.
cat >"$tmp/app map.txt" <<'MAP'
# Path: /b/program
# Arch: arm64
# Object files:
[  0] linker synthesized
[  1] /b/main.o
[  2] /sdk/libsdk.a[2](first.o)
[ 13] /sdk/libsdk.a[13](last one.o)
# Sections:
# Address	Size    	Segment	Section
0x100000448	0x00000244	__TEXT	__text
# Symbols:
# Address	Size    	File  Name
0x100000448	0x0000007C	[  1] _main
0x1000004C4	0x00000010	[  2] _clamp
0x1000004D4	0x000000D4	[  2] -[Some method:with:]
0x1000005A8	0x000000E4	[ 13] _twice
0x1000005A8	0x00000000	[ 13] ltmp0
<<dead>> 	0x00000008	[  1] _gone
# Dead Stripped Symbols:
#        	Size    	File  Name
0x100000448	0x0000FFFF	[ 13] _not_there
MAP
run owners --linkmap "$tmp/app map.txt" $program
check "link map" "228 3 libsdk.a(first.o)
228 2 libsdk.a(last one.o)
124 2 main.o"

run owners --linkmap "$program" $program
status=$?
check "no link map" ""
[ $status -eq 1 ] && grep -q 'no symbols in it' "$tmp/err"
count $?

run owners --between _main clamp --ranges $program
check "between two symbols" "0x100000448 0x1000005a8 352 5 _main
0x1000005a8 0x10000068c 228 2 (no owner)"

run owners --name "My SDK" --between clamp main --ranges $program
check "between, the other way round" "0x100000448 0x1000005a8 352 5 My SDK
0x1000005a8 0x10000068c 228 2 (no owner)"

# An SDK that logs its first and last function: runtime addresses of an image loaded at 0x104000000.
run owners -l 0x104000000 --name SDK --between 0x104000448 0x1040004c8 $program 0x1040005b0 10400050c
check "between two addresses of a process" "0x1040005b0 (no owner)
10400050c SDK"
run owners -s 0x4000000 --name SDK --between 0x104000448 0x1040004c8 $program 0x1040005b0 10400050c
check "between, by slide" "0x1040005b0 (no owner)
10400050c SDK"

run owners --name Zoo --prefix Ani $bin/zoo-arm64-opcodes-strip 100000a30 100000b10
check "class prefix" "100000a30 Zoo
100000b10 (no owner)"
run owners --name Animals --prefix Animal $bin/zoo-arm64-opcodes-strip
grep -q ' Animals$' "$tmp/out"
count $?

run owners --prefix map/util $bin/map-arm64-d4-O0/program.dwarf 100000450 1000004c4
check "source path" "100000450 (no owner)
1000004c4 map/util"
run owners --prefix /fixtures/map/main $bin/map-arm64-d4-O0/program.dwarf 100000450 1000004c4
check "source path from its beginning" "100000450 /fixtures/map/main
1000004c4 (no owner)"

cat >"$tmp/rules" <<RULES
# Whose code it is in the fixtures.

image other
between 0x0 .. 0xffffffffffffffff = Elsewhere
image program
object long_name = Long names
at 104000000
between 0x104000448 .. 0x104000448 = Main
image *
linkmap app map.txt
objects
RULES
run owners --rules "$tmp/rules" $program
check "rules" "228 2 Long names
228 3 libsdk.a(first.o)
92 1 Main
32 1 main.o"

run atos --owners "$tmp/rules" -o $program 100000448 1000004c4 1000005b0 1000006ff
check "atos" "main (in program) + 0 [Main]
util_sum (in program) + 0 [libsdk.a(first.o)]
util_mix (in program) + 8 [Long names]
0x00000001000006ff (in program)"

run atos --json --owners "$tmp/rules" -o $program 1000004c4
[ "$(grep -c '"owner":"libsdk.a(first.o)"' "$tmp/out")" = 1 ]
count $?

for line in "between a = b" "prefix x" "object = x" "at zz" "nonsense" "between a .. b" "linkmap"; do
    echo "$line" >"$tmp/bad"
    if run atos --owners "$tmp/bad" -o $program 100000448 || ! grep -q "bad:1: no rule" "$tmp/err"; then
        echo "taken: $line"
        count 1
    else
        count 0
    fi
done
if run owners --between nosuch main $program || ! grep -q 'no function is named nosuch' "$tmp/err"; then
    count 1
else
    count 0
fi
if run owners $bin/zoo-arm64-chained || ! grep -q 'no debug map' "$tmp/err"; then
    count 1
else
    count 0
fi
if need "rules by chance" python3; then
    PYTHONDONTWRITEBYTECODE=1 python3 tests/members/owners.py "$machsym" $program "$tmp/chance" ${SEED:+"$SEED"} >"$tmp/out" 2>&1
    count $? || head -n 4 "$tmp/out"
fi
end

#!/bin/sh
# machsym map: every subcommand, the formats it writes, and builds that are interrupted, out of disk, or two at a time.
machsym=${MACHSYM:-build/machsym}
bin=tests/fixtures/bin
dsym=$bin/demo.app.dSYM
. tests/checks
dir=$work
mounted=
cleanup() {
    [ -z "$mounted" ] || umount "$mounted"
    rm -rf "$work"
}
trap cleanup EXIT

check() { # what, got, want
    if [ "$2" = "$3" ]; then
        count 0
    else
        count 1
        printf -- '---- %s: got\n%s\n---- wanted\n%s\n' "$1" "$2" "$3"
    fi
}

status() { # command...: its exit status; its output goes to $dir/out and $dir/err
    "$@" >"$dir/out" 2>"$dir/err"
    echo $?
}

# ---- build, info, dump ----

check "status of build" "$(status $machsym map build $dsym -o "$dir/demo.symmap")" 0
check "what build prints" "$(sed "s|$dir/||; s/[0-9]* bytes/N bytes/" "$dir/out")" "demo.symmap: arm64, N bytes"
check "info" "$($machsym map info "$dir/demo.symmap" | sed -n '2,4p')" \
    "  image: demo, arm64, 4C4C44B5-5555-3144-A1BA-79CA685DEC58
  text: 0x100000000, 16384 bytes
  lines: atos, without columns"
for command in symbols objc owners "map build"; do # what only a Mach-O file can tell
    check "$command of a map" "$(status $machsym $command "$dir/demo.symmap")" 1
    check "what it says" "$(sed "s|$dir/||" "$dir/err")" \
        "machsym: demo.symmap: a symbol map; name the dSYM or binary that it was made of"
done
tab=$(printf '\t')
check "dump" "$($machsym map dump "$dir/demo.symmap" --no-demangle | sed -n '3,5p' | tr "$tab" '|')" \
    "0x100000968|0x10000099c|main|/fixtures/demo/main.mm:12
0x10000099c|0x1000009a4|_ZL6repeatiU13block_pointerFviE|/fixtures/demo/main.mm:5|main|/fixtures/demo/main.mm:12
0x1000009a4|0x1000009a8|_ZL6repeatiU13block_pointerFviE|/fixtures/demo/main.mm:0|main|/fixtures/demo/main.mm:12"
for threads in 1 2 7; do
    $machsym map build -j $threads $dsym -o "$dir/threads.symmap" >/dev/null
    check "bytes with $threads threads" "$(status cmp "$dir/demo.symmap" "$dir/threads.symmap")" 0
done
check "status of -j 0" "$(status $machsym map build -j 0 $dsym -o "$dir/x.symmap")" 2
(cd "$dir" && mkdir arch) || exit 1
top=$(pwd)
case $machsym in /* | *' '*) tool=$machsym ;; *) tool=$top/$machsym ;; esac
check "status of --all-archs" "$(cd "$dir/arch" && $tool map build --all-archs "$top/$bin/inline-fat.dwarf" >/dev/null && ls)" \
    "inline-fat.dwarf-arm64.symmap
inline-fat.dwarf-x86_64.symmap"
check "a fat file without a choice" "$(status $machsym map build $bin/inline-fat.dwarf -o "$dir/x.symmap")" 1
check "no such file" "$(status $machsym map build "$dir/none" -o "$dir/x.symmap")" 1
check "no map after a failure" "$(ls "$dir"/x.symmap* 2>/dev/null)" ""

# ---- lookups: as from the dSYM ----

# A kernel's code lies outside __TEXT; the map answers there too, and knows where __TEXT_EXEC stands.
$machsym map build $bin/kernel-arm64.dwarf -o "$dir/kernel.symmap" >/dev/null
for options in "0x100000408 0x100008000 0x10000801c 0x100008047" "-textExecAddress 0xfffffff007100000 0xfffffff007100018"; do
    # shellcheck disable=SC2086
    check "a kernel, atos -i $options" "$($machsym atos -o "$dir/kernel.symmap" -i $options)" \
        "$($machsym atos -o $bin/kernel-arm64.dwarf -i $options)"
done
check "a kernel's inlined call" "$($machsym atos -o "$dir/kernel.symmap" -i -textExecAddress 0x1000 0x1000)" \
    "raise (in kernel-arm64.dwarf) (kernel.c:8)
trap (in kernel-arm64.dwarf) (kernel.c:14)"

addresses=
for at in 0x100000940 0x10000099c 0x1000009b7 0x1000009a4 0x100000aec 0x100000aef 0x1 0x100003fff nonsense; do
    addresses="$addresses $at"
done
$machsym map build --columns $dsym -o "$dir/columns.symmap" >/dev/null # JSON has them
for options in "" "-i" "-fullPath -i" "--json" "--json --best-line" "-i --best-line" "--no-demangle -i" "-d ;" "--full-names"; do
    check "atos $options of a map" "$($machsym atos $options -o "$dir/columns.symmap" $addresses)" \
        "$($machsym atos $options -o $dsym $addresses)"
    check "atos $options of a map, from standard input" \
        "$(printf '%s\n' $addresses | $machsym atos $options -o "$dir/columns.symmap")" \
        "$($machsym atos $options -o "$dir/columns.symmap" $addresses)"
done
check "map lookup" "$($machsym map lookup "$dir/demo.symmap" -i -l 0x102a30000 0x102a30aec)" \
    "$($machsym atos -o $dsym -i -l 0x102a30000 0x102a30aec)"
check "offsets" "$($machsym map lookup "$dir/demo.symmap" -offset 0xaec)" "$($machsym atos -o $dsym -offset 0xaec)"
check "another policy" "$(status $machsym atos -o "$dir/demo.symmap" --lines=stmt 0x100000940)" 1
check "what it says of the policy" "$(sed "s|$dir/||" "$dir/err")" \
    "machsym: demo.symmap: the map was built for --lines=atos, not --lines=stmt; ask for atos, or build it again"
check "the same policy" "$(status $machsym atos -o "$dir/demo.symmap" --lines=atos 0x100000940)" 0
check "another architecture" "$(status $machsym atos -o "$dir/demo.symmap" -arch x86_64 0x100000940)" 1
check "what a map cannot do" "$(status $machsym atos -o "$dir/demo.symmap" --nearest 0x100000940)" 1
$machsym map build --lines=stmt --columns $dsym -o "$dir/stmt.symmap" >/dev/null
check "columns" "$($machsym atos --lines=stmt --json -o "$dir/stmt.symmap" $addresses)" \
    "$($machsym atos --lines=stmt --json -o $dsym $addresses)"

# ---- verify ----

cat >"$dir/damage.c" <<'END'
/* damage IN OUT OFFSET: another byte there, and the checksums right again */
#define TEST_ROOM "../src/symmap/symmap.h"
#include "tests/room.h"
#include "tests/repair.h"
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    static uint8_t bytes[1 << 20];
    FILE *in = fopen(argv[1], "rb");
    size_t len = in != NULL && argc == 4 ? fread(bytes, 1, sizeof bytes, in) : 0;
    FILE *out = fopen(argv[2], "wb");
    if (len == 0 || out == NULL)
        return 1;
    bytes[strtoul(argv[3], NULL, 10)] ^= 1;
    repair_map(bytes, len);
    return fwrite(bytes, 1, len, out) != len || fclose(out) != 0;
}
END
check "status of verify" "$(status $machsym map verify "$dir/demo.symmap" $dsym)" 0
check "status of verify, columns" "$(status $machsym map verify "$dir/stmt.symmap" $dsym)" 0
if ${CC:-cc} -D_GNU_SOURCE ${CFLAGS:-} -I. -o "$dir/damage" "$dir/damage.c" ${LDFLAGS:-} 2>"$dir/err"; then
    size=$(wc -c <"$dir/demo.symmap")
    found=0
    wanted=0
    at=102 # the checksums of pages stand at 152 and 352: damage is one that they are made right for
    while [ $at -lt "$size" ]; do
        ${RUN:-} "$dir/damage" "$dir/demo.symmap" "$dir/damaged.symmap" $at
        [ "$(status $machsym map verify "$dir/damaged.symmap" $dsym)" = 1 ] && found=$((found + 1))
        wanted=$((wanted + 1))
        at=$((at + 37))
    done
    check "bytes that verify finds" $found $wanted
    # Damage may leave ranges side by side that nothing is known of: their rows are empty.
    printf '1000\t100f\tf\ta.c:5\n1010\t101f\tf\ta.c:6\n' >"$dir/table"
    $machsym map import "$dir/table" --name x -o "$dir/rows.symmap" >/dev/null
    size=$(wc -c <"$dir/rows.symmap")
    ended=0
    empty=0
    at=360 # after the directory and the checksums
    while [ $at -lt "$size" ]; do
        ${RUN:-} "$dir/damage" "$dir/rows.symmap" "$dir/damaged.symmap" $at
        [ "$(status $machsym map export --format=bugly "$dir/damaged.symmap")" = 0 ] && ended=$((ended + 1))
        grep -q "^1000${tab}101f${tab}\$" "$dir/out" && empty=$((empty + 1))
        at=$((at + 1))
    done
    check "exports of damaged maps that end" $ended $((size - 360))
    check "one of them has an empty row" "$([ $empty -gt 0 ] && echo yes)" yes
else
    skip "damaged maps: it needs cc"
fi
printf 'x' | dd of="$dir/threads.symmap" bs=1 seek=400 conv=notrunc 2>/dev/null
check "a wrong checksum" "$(status $machsym map info "$dir/threads.symmap")" 1
check "what it says" "$(grep -c 'checksum does not match' "$dir/err")" 1
check "an answer of the damaged piece" "$(status $machsym map lookup "$dir/threads.symmap" 0x100000aec)" 1
check "what it says of that" "$(grep -c 'damaged: the map.s checksum does not match its bytes, offset' "$dir/err")" 1
check "and nothing else" "$(cat "$dir/out")" "0x0000000100000aec (in )"
check "the same of many" "$(printf '0x100000aec\n0x100000aef\n' | status $machsym map lookup "$dir/threads.symmap")" 1
check "said once" "$(grep -c 'checksum' "$dir/err")" 1
check "verify with another image" "$(status $machsym map verify "$dir/demo.symmap" $bin/cold-arm64-d5-22.dwarf)" 1

# ---- A store ----

$machsym map build --store "$dir/store" $dsym $bin/cold-arm64-d5-22.dwarf >/dev/null
uuid=4C4C44B5-5555-3144-A1BA-79CA685DEC58
check "a map's place" "$(ls "$dir/store/4C/$uuid.symmap")" "$dir/store/4C/$uuid.symmap"
check "a lookup by UUID" "$($machsym atos --symbols "$dir/store" --uuid $uuid -i 0x100000aec)" \
    "$($machsym atos -o $dsym -i 0x100000aec)"
check "a UUID that is not there" \
    "$(status $machsym atos --symbols "$dir/store" --uuid 00000000-0000-0000-0000-000000000001 0x1)" 1
check "a store without a UUID" "$(status $machsym atos --symbols "$dir/store" 0x1)" 2

# ---- Chunks ----

for size in 50 10000; do
    $machsym map export --chunks=$size --format=tsv "$dir/demo.symmap" >"$dir/chunks.tsv" 2>/dev/null
    same=0
    for at in 0x940 0x99c 0x9b7 0xa48 0xaec 0xaef; do
        chunk=$((at / size))
        grep "^dwarf:demo:$uuid:$chunk$tab" "$dir/chunks.tsv" | cut -f 2 >"$dir/value"
        address=$(printf '0x%x' $((0x100000000 + at)))
        got=$($machsym map chunk --base64 -i "$address" <"$dir/value")
        [ "$got" = "$($machsym atos -o $dsym -i "$address")" ] && same=$((same + 1))
    done
    check "chunks of $size bytes that answer" $same 6
done
$machsym map export --chunks=10000 --format=jsonl "$dir/demo.symmap" 2>/dev/null >"$dir/chunks.jsonl"
check "jsonl" "$(sed 's/.*"value":"\(.*\)"}/\1/' "$dir/chunks.jsonl")" "$(cat "$dir/value")"
# What would end a part of a key, choose its slot in a Redis Cluster or act on a terminal is %XX in it.
odd='a b:c%d{e}"f'
wanted='a%20b%3Ac%25d%7Be%7D%22f'
case $machsym in # no file of Windows has : or " in its name
*wine*)
    odd='a bc%d{e}f'
    wanted='a%20bc%25d%7Be%7Df'
    ;;
esac
cp "$dsym/Contents/Resources/DWARF/demo" "$dir/$odd"
$machsym map build --no-progress -o "$dir/odd.symmap" "$dir/$odd" >/dev/null 2>&1
check "the key of an odd name" "$($machsym map export --chunks=100000 --format=tsv "$dir/odd.symmap" 2>/dev/null | cut -d: -f 2 | head -n 1)" \
    "$wanted"
$machsym map export --chunks=10000 --format=resp --expire=60 "$dir/demo.symmap" 2>/dev/null >"$dir/chunks.resp"
check "resp" "$(head -n 5 "$dir/chunks.resp" | tr -d '\r' | tr '\n' ' ')" \
    "*5 \$3 SET \$49 dwarf:demo:$uuid:0 "
check "resp, the end" "$(tail -n 4 "$dir/chunks.resp" | tr -d '\r' | tr '\n' ' ')" "\$2 EX \$2 60 "
$machsym map build $bin/symbols-x86_64 -o "$dir/symbols.symmap" >/dev/null
check "the table of symbols" \
    "$($machsym map export --chunks=10000 --format=tsv "$dir/symbols.symmap" 2>/dev/null | cut -d: -f 1 | sort -u)" \
    "symbol_table"
check "chunks of no size" "$(status $machsym map export --chunks=0 --format=tsv "$dir/demo.symmap")" 2
check "a value that is no map" "$(echo x | status $machsym map chunk 0x1)" 1
printf '0\tfffffff0\tf\ta.c:1\n' >"$dir/wide" # one function of 4 GB
$machsym map import "$dir/wide" --name x --uuid 00010203-0405-0607-0809-0A0B0C0D0E0F -o "$dir/wide.symmap" >/dev/null
check "more chunks than a map of that size has" \
    "$(status $machsym map export --chunks=10000 --format=resp "$dir/wide.symmap")" 1
check "what it says of them, and nothing else" "$(sed "s|$dir/||; s/[0-9]* bytes; take/N bytes; take/" "$dir/err")$(cat "$dir/out")" \
    "machsym: wide.symmap: refused: 429497 chunks of 10000 bytes of text would come of a map of N bytes; take larger chunks"
check "larger ones" "$(status $machsym map export --chunks=10000000 --format=resp "$dir/wide.symmap")" 0

# ---- Other formats ----

$machsym map export --format=bugly --no-demangle "$dir/demo.symmap" >"$dir/table"
check "bugly" "$(sed -n '3,4p' "$dir/table" | tr "$tab" '|')" "100000968|1000009c3|main|main.mm:12
1000009c4|1000009d7|main|main.mm:15"
$machsym map import --format=bugly --uuid $uuid --name demo "$dir/table" -o "$dir/imported.symmap" >/dev/null
inner="0x100000940 0x10000099c 0x1000009b7 0x1000009a4 0x100000aec 0x1" # a table does not tell where the text ends
check "what was exported, imported" "$($machsym atos --no-demangle -o "$dir/imported.symmap" $inner)" \
    "$($machsym atos --no-demangle -o $dsym $inner)"
printf 'Symbols of demo\nUUID: %s\n1000\t100f\tfirst\ta.c:5\r\n1008\t101f\tsecond\n' $uuid >"$dir/table"
$machsym map import "$dir/table" --name x -o "$dir/imported.symmap" >"$dir/out"
check "rows that overlap" "$(sed 's/.*symmap: //' "$dir/out")" "2 rows, 2 other lines, 1 rows cut where they overlap one before"
check "their names" "$($machsym atos -o "$dir/imported.symmap" 0x100f 0x1010 0x101f)" "first (in x) (a.c:5)
second (in x) + 0
second (in x) + 15"
check "the UUID above the rows" "$($machsym map info "$dir/imported.symmap" | grep -c $uuid)" 1
echo nothing >"$dir/table"
check "no rows" "$(status $machsym map import "$dir/table" -o "$dir/x.symmap")" 1

# A reader of Breakpad's format: the chain at each address, innermost first, as atos -i prints it.
$machsym map export --format=breakpad --no-demangle "$dir/demo.symmap" >"$dir/demo.sym"
check "MODULE" "$(head -n 1 "$dir/demo.sym")" "MODULE mac arm64 4C4C44B555553144A1BA79CA685DEC580 demo"
breakpad_at() # FILE IMAGE ADDRESS: the chain
{
    awk -v image="$2" -v at="$3" '
        function hex(s,  i, n) { n = 0; for (i = 1; i <= length(s); i++) n = n * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1; return n }
        function rest(from,  i, s) { s = $from; for (i = from + 1; i <= NF; i++) s = s " " $i; return s }
        function base(path) { sub(/.*\//, "", path); return path }
        BEGIN { a = hex(at) }
        $1 == "FILE" { file[$2] = rest(3); next }
        $1 == "INLINE_ORIGIN" { origin[$2] = rest(3); next }
        $1 == "FUNC" { inside = a >= hex($2) && a < hex($2) + hex($3); if (inside) { name = rest(5); depth = 0 } next }
        $1 == "INLINE" && inside { if (a >= hex($6) && a < hex($6) + hex($7)) { d = $2 + 1; callee[d] = origin[$5]; line[d] = $3; where[d] = base(file[$4]); depth = d } next }
        $1 ~ /^[0-9a-f]+$/ && inside && a >= hex($1) && a < hex($1) + hex($2) {
            place = base(file[$4]) ":" $3
            for (d = depth; d >= 0; d--) {
                print (d > 0 ? callee[d] : name) " (in " image ") (" place ")"
                place = where[d] ":" line[d]
            }
        }' "$1"
}
for at in 940 99c 9b7 9d8 a04 a48 a90 aac aec; do
    check "Breakpad's answer at $at" "$(breakpad_at "$dir/demo.sym" demo $at)" "$($machsym atos --no-demangle -i -o $dsym 0x100000$at | sed '/^$/d')"
done
# Two calls on one line, one after the other, of functions that are both inlined.
if need "inlined calls on one line" clang-22; then
    cat >"$dir/two.c" <<'END'
static inline __attribute__((always_inline)) int first(int x) { return x * 3 ^ 5; }
static inline __attribute__((always_inline)) int other(int x) { return x / 7 + 11; }
int both(int x, int y) { return first(x) + other(y); }
END
    clang-22 --target=arm64-apple-macos13 -g -O1 -c "$dir/two.c" -o "$dir/two.o"
    $machsym map build --no-progress "$dir/two.o" -o "$dir/two.symmap" >/dev/null
    $machsym map export --format=breakpad "$dir/two.symmap" >"$dir/two.sym"
    answers=$(for at in 0 4 8 c 10 14 18 1c 28; do $machsym atos -i -o "$dir/two.o" 0x$at; done | sed '/^$/d')
    check "both are in the debug info" "$(echo "$answers" | sed 's/ .*//' | sort -u | tr '\n' ' ')" "both first other "
    check "Breakpad's answers of two calls on one line" "$(for at in 0 4 8 c 10 14 18 1c 28; do breakpad_at "$dir/two.sym" two.o $at; done)" "$answers"
fi
check "PUBLIC" "$($machsym map export --format=breakpad "$dir/symbols.symmap" | grep -c '^PUBLIC ')" \
    "$($machsym map dump "$dir/symbols.symmap" | wc -l | tr -d ' ')"

# ---- Builds that are disturbed ----

for delay in 0 0.001 0.002 0.003 0.005 0.008 0.012 0.02 0.03; do
    rm -f "$dir/killed.symmap"
    $machsym map build $bin/cross-x86_64-d4-14.dwarf -o "$dir/killed.symmap" >/dev/null 2>&1 &
    sleep $delay
    kill -9 $! 2>/dev/null
    wait $! 2>/dev/null
    whole=0 # no file is as good as a whole one
    [ ! -e "$dir/killed.symmap" ] || whole=$(status $machsym map info "$dir/killed.symmap")
    check "a build killed after $delay s" "$whole" 0
done

for i in 1 2 3 4 5 6; do
    $machsym map build --store "$dir/store" $dsym $bin/cold-arm64-d5-22.dwarf >/dev/null 2>&1 &
done
wait
check "six builders of one UUID" "$(status $machsym map verify "$dir/store/4C/$uuid.symmap" $dsym)" 0
check "what they leave" "$(ls "$dir/store/4C" | grep -v symmap$)" ""

mkdir "$dir/small"
if [ "$(uname)" = Linux ] && mount -t tmpfs -o size=4k tmpfs "$dir/small" 2>/dev/null; then
    mounted=$dir/small
    head -c 3000 /dev/zero >"$dir/small/filler"
    check "a full disk" "$(status $machsym map build $bin/demo -o "$dir/small/demo.symmap" --pair $dsym)" 1
    check "what it says" "$(grep -c 'No space left' "$dir/err")" 1
    check "what it leaves" "$(ls "$dir/small")" filler
    check "a full disk, export" \
        "$(status $machsym map export --format=breakpad "$dir/demo.symmap" -o "$dir/small/demo.sym")" 1
    check "what that leaves" "$(ls "$dir/small")" filler
else
    skip "a full disk: no tmpfs can be mounted"
fi
check "a folder that cannot be written" "$(status $machsym map build $dsym -o "$dir/none/demo.symmap")" 1

if need "tables by chance" python3; then
    check "tables by chance: imported, answered, exported" \
        "$(PYTHONDONTWRITEBYTECODE=1 python3 tests/members/tables.py "$machsym" "$dir/chance" ${SEED:+"$SEED"} 2>&1 |
            sed 's/, [0-9]* addresses$//')" "0 tables of 60"
fi

end

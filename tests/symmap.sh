#!/bin/sh
# A second reader of symbol maps, tests/symmap.py, which was written from docs/symmap.md alone, gives the same answers as
# machsym for maps of all fixtures, for a map with much text and for chunks, and refuses a map with a flipped bit.
. tests/checks
if ! command -v python3 >/dev/null; then
    skip "it needs python3"
    end
    exit
fi
machsym=${MACHSYM:-build/machsym}
reader=tests/symmap.py
bin=tests/fixtures/bin
top=$(pwd)
dir=$work
case $machsym in /* | *' '*) ;; *) machsym=$top/$machsym ;; esac
export PYTHONDONTWRITEBYTECODE=1

check() { # what, got, want
    [ "$2" = "$3" ] || printf -- '---- %s: got\n%s\n---- wanted\n%s\n' "$1" "$2" "$3"
    [ "$2" = "$3" ]
    count $?
}

# Both readers' answers for the maps in a folder: one check a map. LEAST: how many there are at least.
compare() { # FOLDER LEAST
    maps=$(find "$1" -name '*.symmap' | sort)
    number=$(echo "$maps" | grep -c .)
    check "at least $2 maps in ${1##*/} ($number)" "$([ "$number" -ge "$2" ] && echo yes)" yes
    # shellcheck disable=SC2086
    python3 $reader addresses $maps
    check "status of the reader" $? 0
    for map in $maps; do
        $machsym map lookup --json --no-demangle "$map" <"$map.addresses" >"$map.json"
    done
    # shellcheck disable=SC2086
    python3 $reader compare $maps >"$dir/out"
    check "status of the reader" $? 0
    for map in $maps; do
        check "answers for ${map##*/}" "$(sed -n "s|^$map: \([0-9]*\) addresses, \([0-9]*\) differ\$|\1 \2|p" "$dir/out")" \
            "$(wc -l <"$map.addresses" | tr -d ' ') 0"
    done
    grep -A2 '^0x' "$dir/out" | head -12
}

# Text symbol tables are long enough for a DICT, names that run on into other blocks, and buckets of several runs.
mkdir "$dir/atos" "$dir/columns" "$dir/people" "$dir/large" "$dir/chunks"
for file in "$bin"/* "$bin"/map-*/program; do
    [ -f "$file" ] || [ -d "$file/Contents" ] || continue
    (cd "$dir/atos" && $machsym map build --all-archs "$top/$file") >/dev/null 2>&1
    case $file in *.dwarf | *.dSYM | */program) ;; *) continue ;; esac # the others have no columns
    (cd "$dir/columns" && $machsym map build --all-archs --lines=stmt --columns "$top/$file") >/dev/null 2>&1
    (cd "$dir/people" && $machsym map build --all-archs --lines=people "$top/$file") >/dev/null 2>&1
done
python3 -c '
at = 0x1000
for i in range(1200):
    size = 4 + i * 37 % 61
    name = "_ZN7library6module%dE" % (i % 97) + "".join("%x" % (i * j * 7919 % 4093) for j in range(1, 8 + i % 50 * (i % 3)))
    file = "\tsource%d.cpp:%d" % (i % 17, i % 211 + 1) if i % 7 else ""
    print("%x\t%x\t%s%s" % (at, at + size - 1, name, file))
    at += size + i % 5 * 8' >"$dir/table"
$machsym map import "$dir/table" --name large --uuid 00010203-0405-0607-0809-0A0B0C0D0E0F -o "$dir/large/large.symmap" >/dev/null
compare "$dir/atos" 80
compare "$dir/columns" 40
compare "$dir/people" 40
check "answers near by" "$([ "$(cat "$dir"/people/*.json | grep -c '"line_source":"near"')" -ge 20 ] && echo yes)" yes
compare "$dir/large" 1
check "DICT has text" "$(python3 -c '
import sys
sys.path.insert(0, "tests")
import symmap
print(len(symmap.Map(open(sys.argv[1], "rb").read()).dict) >= 4096)' "$dir/large/large.symmap")" True

# Functions that share code: the same others, in any order.
folded=$(find "$dir/columns" "$dir/people" -name 'folded-*.symmap' | sort)
check "maps of folded programs" "$([ "$(echo "$folded" | grep -c .)" -ge 6 ] && echo yes)" yes
# shellcheck disable=SC2086
python3 $reader twins $folded
for map in $folded; do
    $machsym atos --json --folded --no-demangle -o "$map" <"$map.twins" >"$map.json"
done
# shellcheck disable=SC2086
python3 $reader compare-twins $folded >"$dir/out"
for map in $folded; do
    check "twins of ${map##*/}" "$(sed -n "s|^$map: \([0-9]*\) twins, \([0-9]*\) differ\$|\1 \2|p" "$dir/out")" \
        "$(wc -l <"$map.twins" | tr -d ' ') 0"
    check "twins of ${map##*/} are there" "$([ -s "$map.twins" ] && echo yes)" yes
done
grep -A2 '^0x' "$dir/out" | head -12

# Unwind tables: as they stand in the program.
mkdir "$dir/unwind"
for file in tests/stacks/x86_64.program "$bin/zoo-arm64-relative" "$bin/frames-x86_64" "$bin/zoo-x86_64-opcodes"; do
    map=$dir/unwind/${file##*/}.symmap
    $machsym map build --unwind -o "$map" "$file" >/dev/null
    python3 $reader unwind "$map" "$file" >"$dir/out"
    check "unwind tables of ${file##*/} are there" "$(grep -c '^[1-9][0-9]* bytes' "$dir/out")" 1
    check "and as in the file: $(cat "$dir/out")" "$(sed 's/.*, wrong: //' "$dir/out")" "[]"
done
check "some frames are large" "$(python3 $reader unwind "$dir/unwind/x86_64.program.symmap" tests/stacks/x86_64.program |
    grep -c ' [1-9][0-9]* large')" 1
compare "$dir/unwind" 4

# Half a file: the map says so, in its chunks too.
head -c 9000 "$bin/demo.app.dSYM/Contents/Resources/DWARF/demo" >"$dir/half"
mkdir "$dir/damaged"
$machsym map build --damaged -o "$dir/damaged/half.symmap" "$dir/half" >/dev/null 2>&1
$machsym map export --chunks=100000 --format=tsv "$dir/damaged/half.symmap" 2>/dev/null | cut -f2 | head -1 |
    base64 -d >"$dir/damaged/chunk.symmap"
compare "$dir/damaged" 2
check "which maps are of a damaged file" "$(python3 -c '
import sys
sys.path.insert(0, "tests")
import symmap
print(*(symmap.Map(open(path, "rb").read()).is_damaged for path in sys.argv[1:]))' \
    "$dir/damaged/half.symmap" "$dir/damaged/chunk.symmap" "$dir/atos/demo-arm64.symmap")" "True True False"

# A chunk is a map of its own.
for map in atos/demo-arm64 large/large; do
    $machsym map export --chunks=2000 --format=jsonl "$dir/$map.symmap" 2>/dev/null
done | python3 -c '
import base64, json, sys
for i, line in enumerate(sys.stdin):
    with open("%s/%d.symmap" % (sys.argv[1], i), "wb") as out:
        out.write(base64.b64decode(json.loads(line)["value"]))' "$dir/chunks"
compare "$dir/chunks" 20

# One bit in a few places of the header and of each table.
python3 -c '
import sys
sys.path.insert(0, "tests")
import symmap
whole = open(sys.argv[1], "rb").read()
accepted = []
for at in list(range(0, 256, 3)) + list(range(256, len(whole), 37)):
    data = bytearray(whole)
    data[at] ^= 1 << at % 8
    try:
        symmap.Map(bytes(data))
        accepted.append(at)
    except symmap.Damaged:
        pass
print("accepted:", *accepted)' "$dir/atos/demo-arm64.symmap" >"$dir/out"
check "flipped bits that are not refused" "$(cat "$dir/out")" "accepted:"

# One checksum more than there are pages, or one less, in a file that is right otherwise: no reader takes it.
python3 -c '
import struct, sys
sys.path.insert(0, "tests")
import symmap
whole = open(sys.argv[1], "rb").read()
rows = symmap.Map(whole).rows
begin = symmap.HEADER + symmap.ROW * rows
for change in (-1, 0, 1):
    kinds = {}
    for at in range(symmap.HEADER, begin, symmap.ROW):
        kind, flags, place, length, a, b = struct.unpack_from("<2I2Q2I", whole, at)
        kinds[kind] = [flags, place, length, a, b]
    pages = kinds[symmap.KINDS.index("pages")]
    after = whole[begin + pages[2]:]
    sums = whole[begin:begin + pages[2]]
    sums = sums[:-8] if change < 0 else sums + bytes(8 * change)
    for row in kinds.values():
        row[1] += 8 * change if row[1] > begin else 0
    total = symmap.checksum(sums)
    pages[2:] = [len(sums), total & 0xffffffff, total >> 32]
    head = bytearray(whole[:symmap.HEADER])
    struct.pack_into("<2Q", head, 64, len(whole) + 8 * change, 0)
    directory = b"".join(struct.pack("<2I2Q2I", kind, *row) for kind, row in kinds.items())
    struct.pack_into("<Q", head, 72, symmap.checksum(bytes(head)) ^ symmap.checksum(directory))
    made = bytes(head) + directory + sums + after
    try:
        symmap.Map(made)
        print(change, "taken")
    except symmap.Damaged as damaged:
        print(change, "refused")
    open("%s/sums%d.symmap" % (sys.argv[2], change), "wb").write(made)' "$dir/large/large.symmap" "$dir" >"$dir/out"
check "one checksum less, the right ones, one more" "$(cat "$dir/out")" "$(printf '%s\n' "-1 refused" "0 taken" "1 refused")"
for change in -1 0 1; do
    echo 0x1000 | $machsym map lookup "$dir/sums$change.symmap" >"$dir/out" 2>&1
    check "machsym, checksums $change" "$? $(grep -c 'the checksums are not those of the whole map' "$dir/out")" \
        "$([ $change = 0 ] && echo 0 0 || echo 1 1)"
done

end

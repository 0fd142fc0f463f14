#!/bin/bash
# Called by the names of Apple's tools, the program does what scripts ask of them. The truth is llvm-dwarfdump for UUIDs, and for the
# others the commands of machsym, which have tests of their own.
. tests/checks
machsym=${MACHSYM:-build/machsym}
case $machsym in /*) ;; *) machsym=$PWD/$machsym ;; esac
bin=tests/fixtures/bin
reports=tests/fixtures/reports
mkdir "$work/names"
if [ -n "${RUN:-}" ]; then
    skip "an emulator does not run links"
    end
    exit
fi

$machsym install-names "$work/names" >"$work/out" 2>"$work/err"
[ $? -eq 0 ] && [ "$(sort "$work/out")" = "$(printf '%s\n' "$work/names/atos" "$work/names/dwarfdump" "$work/names/symbolicatecrash")" ]
check "install-names makes links and names them" "$work/err"
$machsym install-names "$work/names" >"$work/out" 2>&1
check "install-names again" "$work/out"
rm "$work/names/atos"
echo mine >"$work/names/atos"
$machsym install-names "$work/names" >"$work/out" 2>"$work/err"
[ $? -eq 1 ] && [ "$(cat "$work/names/atos")" = mine ] && grep -q 'names/atos: is there already' "$work/err"
check "install-names leaves another's file" "$work/err"
rm "$work/names/atos"
$machsym install-names "$work/names" >"$work/out" 2>&1
$machsym install-names "$work/none" >"$work/out" 2>"$work/err"
[ $? -eq 1 ] && grep -q "none/atos: No such file" "$work/err"
check "install-names: no such folder" "$work/err"

# Every option of Apple's atos in one line or another
atos() { # OPTION...
    "$work/names/atos" "$@" >"$work/got" 2>"$work/err"
    status=$?
    $machsym atos "$@" >"$work/want" 2>&1
    [ $status -eq $? ] && [ -s "$work/want" ] && cmp -s "$work/want" <(cat "$work/got" "$work/err")
    check "atos $*" "$work/err"
}
program=$bin/demo.app.dSYM
atos -o $program -arch arm64 -l 0x102a30000 0x102a30aec 0x102a30a7b
atos -o $program -arch arm64 -s 0x2a30000 -i -fullPath 0x102a30aec
atos -o $program -offset -inlineFrames -d ';' 0xaec 0xa7b
atos -o $program -printHeader -dedup 0x100000aec
atos -o $program -textExecAddress 0x100000000 0x100000aec
atos -p 12 0x1
printf '0x102a30aec\n0x102a30a7b\n' >"$work/addresses"
atos -o $program -arch arm64 -l 0x102a30000 -f "$work/addresses"
atos -o $program -l 0x102a30000 -offset 0xaec

"$work/names/symbolicatecrash" -d $program -o "$work/got" $reports/demo.crash >"$work/out" 2>"$work/err"
$machsym crash -q -d $program $reports/demo.crash | cmp -s - "$work/got"
check "symbolicatecrash -d -o" "$work/err"
"$work/names/symbolicatecrash" --dsym=$program --output="$work/long" --verbose $reports/demo.crash >"$work/out" 2>"$work/err"
cmp -s "$work/long" "$work/got" && [ ! -s "$work/out" ] && grep -q '5 of 6 frames named' "$work/err"
check "symbolicatecrash --dsym --output --verbose" "$work/err"
"$work/names/symbolicatecrash" -d $program -d $bin/symbols-x86_64 - <$reports/demo.crash 2>"$work/err" | cmp -s - "$work/got"
check "symbolicatecrash: the report from standard input, two -d" "$work/err"
"$work/names/symbolicatecrash" --help >"$work/out" 2>&1 && grep -q -e '--dsym=PATH' "$work/out"
check "symbolicatecrash --help" "$work/out"
"$work/names/symbolicatecrash" >"$work/out" 2>"$work/err"
[ $? -eq 2 ] && [ ! -s "$work/out" ] && grep -q 'no report is named' "$work/err"
check "symbolicatecrash of nothing" "$work/err"
DEVELOPER_DIR=/x "$work/names/symbolicatecrash" -A -v $reports/demo.crash $program >"$work/got" 2>"$work/err"
[ $? -eq 0 ] && $machsym crash -q -d $program $reports/demo.crash | cmp -s - "$work/got" &&
    grep -q 'DEVELOPER_DIR is not used' "$work/err" && grep -q '5 of 6 frames named' "$work/err"
check "symbolicatecrash -A -v, the dSYM after the report" "$work/err"
"$work/names/symbolicatecrash" $reports/none.crash >"$work/got" 2>"$work/err"
[ $? -eq 1 ] && grep -q 'none.crash: No such file' "$work/err"
check "symbolicatecrash: no such report" "$work/err"

for option in --debug-info --name=main --debug-line --verify --statistics; do
    "$work/names/dwarfdump" $option $bin/demo >"$work/got" 2>"$work/err"
    [ $? -eq 2 ] && [ ! -s "$work/got" ] && grep -q 'is not what .* does: .*machsym' "$work/err"
    check "dwarfdump $option says what to use" "$work/err"
done
"$work/names/dwarfdump" --uuid $bin/none >"$work/got" 2>"$work/err"
[ $? -eq 1 ] && grep -q 'none: .*No such file' "$work/err"
check "dwarfdump: no such file" "$work/err"
for value in 0xzz zz 12x '' -1; do
    "$work/names/dwarfdump" --lookup="$value" $bin/demo >"$work/got" 2>"$work/err"
    [ $? -eq 2 ] && [ ! -s "$work/got" ]
    check "dwarfdump --lookup=$value is no address" "$work/err"
done
"$work/names/dwarfdump" $program >"$work/got" 2>"$work/err"
[ $? -eq 2 ] && grep -q 'prints --uuid or --lookup=ADDRESS' "$work/err"
check "dwarfdump of nothing" "$work/err"
# What scripts of others read: the first pattern or line that each looks for, the file before the option as some write it
"$work/names/dwarfdump" -arch arm64 $program --lookup 0x100000aec >"$work/got" 2>"$work/err"
for line in "^Line info: file 'queue\.hpp', line 6, column 9, " ': DW_TAG_compile_unit$' ':   DW_TAG_inlined_subroutine$' \
    '^ *DW_AT_comp_dir[[:space:]]("/fixtures")$' '^ *DW_AT_name[[:space:]]("demo/player\.mm")$' \
    '^ *DW_AT_call_file[[:space:]]("/fixtures/demo/queue\.hpp")$' '^ *DW_AT_call_line[[:space:]](13)$'; do
    grep -q "$line" "$work/got"
    check "dwarfdump --lookup has $line" "$work/got"
done
"$work/names/dwarfdump" --lookup=0x1 $program >"$work/got" 2>"$work/err"
[ $? -eq 1 ] && [ "$(wc -l <"$work/got")" -eq 1 ]
check "dwarfdump --lookup: nothing is there" "$work/got"
"$work/names/dwarfdump" --lookup=0x100000aec $bin/demo >"$work/got" 2>"$work/err"
[ $? -eq 1 ]
check "dwarfdump --lookup: a program without debug info, its dSYM beside it" "$work/got"

truth=llvm-dwarfdump-22
if ! need "UUIDs against llvm-dwarfdump" $truth; then
    end
    exit
fi
$truth --lookup=0x10000c21b tests/real/crash-x86_64.dwarf >"$work/want"
"$work/names/dwarfdump" --lookup=0x10000c21b tests/real/crash-x86_64.dwarf | cmp -s - "$work/want" && grep -q 0x0002c4c2 "$work/want"
check "dwarfdump --lookup: of blocks in blocks the outermost"
uuids() { # WHAT FILE...: every file alone, since one that is refused would hide the others
    what=$1
    shift
    count=0
    : >"$work/said"
    for file in "$@"; do
        $truth --uuid "$file" 2>/dev/null | grep -v ' () ' | sort >"$work/want" # PowerPC has no name there, and is not read here
        [ -s "$work/want" ] || continue
        "$work/names/dwarfdump" --uuid "$file" 2>/dev/null | sort | diff "$work/want" - >>"$work/said"
        count=$((count + 1))
    done
    [ ! -s "$work/said" ] && [ $count -gt 0 ]
    check "dwarfdump --uuid of $what" "$work/said"
}
uuids "fixtures" $bin/*.dSYM $bin/*.dwarf $bin/demo $bin/symbols-* $bin/zoo-* $bin/*.dylib
$truth --uuid --arch=x86_64 $bin/inline-fat.dwarf >"$work/want"
"$work/names/dwarfdump" --uuid -arch x86_64 $bin/inline-fat.dwarf | cmp -s - "$work/want"
check "dwarfdump --uuid -arch"
$truth --uuid --arch=x86_64 --arch=arm64 $bin/inline-fat.dwarf >"$work/want"
"$work/names/dwarfdump" -u --arch=x86_64 --arch arm64 $bin/inline-fat.dwarf | cmp -s - "$work/want" &&
    "$work/names/dwarfdump" --uuid --arch=i386 --arch=all $bin/inline-fat.dwarf | cmp -s - "$work/want"
check "dwarfdump --uuid of several --arch, of all"

# --lookup, line by line: where functions, calls and blocks begin and end, in their middle, and one byte after them. Some addresses of a
# file; all with LOOKUPS=0. llvm-dwarfdump ends with 1 when it complains of other units, and does not find a unit whose code another one claims.
cat >"$work/lookups.py" <<'END'
import random, re, subprocess, sys
most, truth, tool, *files = sys.argv[1:]

def run(program, *words):
    return subprocess.run([program, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors='replace')

def addresses(file):
    text = run(truth, '--debug-info', file).stdout
    pairs = re.findall(r'DW_AT_low_pc\t\((0x[0-9a-f]+)\)\n\s*DW_AT_high_pc\t\((0x[0-9a-f]+)\)', text)
    pairs += re.findall(r'\[(0x[0-9a-f]+), (0x[0-9a-f]+)\)', text)
    pairs = [(int(lo, 16), int(hi, 16)) for lo, hi in pairs]
    found = sorted({at for lo, hi in pairs if lo < hi for at in (lo, hi - 1, hi, (lo + hi) // 2) if at > 0})
    return found if int(most) == 0 else random.Random(file).sample(found, min(int(most), len(found)))

asked = wrong = 0
for file in files:
    for at in addresses(file):
        want = run(truth, '--lookup=%#x' % at, file)
        got = run(tool, '--lookup=%#x' % at, file)
        asked += 1
        if got.stdout != want.stdout or (got.returncode != want.returncode and 'error:' not in want.stderr):
            wrong += 1
            pairs = zip(want.stdout.splitlines() + [None], got.stdout.splitlines() + [None])
            print('%s %#x, %d and %d:' % (file, at, want.returncode, got.returncode), next((p for p in pairs if p[0] != p[1]), ''))
print('%d addresses of %d files, %d wrong' % (asked, len(files), wrong))
sys.exit(wrong > 0 or asked < len(files) or not files)
END
lookups() { # WHAT FILE...
    what=$1
    shift
    most=2
    [ "${SAMPLE:-}" != 1 ] || most=8
    [ -z "${LOOKUPS:-}" ] || most=$LOOKUPS # 0: all of them, which takes an hour
    python3 "$work/lookups.py" $most $truth "$work/names/dwarfdump" "$@" >"$work/said" 2>&1
    check "dwarfdump --lookup of $what" "$work/said"
}
if need "--lookup against llvm-dwarfdump" python3; then
    every=2 # where SAMPLE is not 1, every second file
    [ "${SAMPLE:-}" != 1 ] || every=1
    ls -d $bin/*.dwarf $bin/*.dSYM | grep -v hand-units | awk "NR % $every == 0" >"$work/list"
    mapfile -t files <"$work/list"
    lookups "fixtures" "${files[@]}"
    find tests/real -name '*.dwarf' -o -name '*.o' | sort >"$work/list"
    mapfile -t files <"$work/list"
    lookups "published dSYMs" "${files[@]}"
    # Types that functions return: of one that returns a pointer, what it points to becomes every type of the unit in turn, itself too,
    # whose name has no end and is left out.
    cat >"$work/types.tested.py" <<'END'
import re, struct, subprocess, sys
truth, tool, source, target = sys.argv[1:]

def run(program, word, file):
    return subprocess.run([program, word, file], stdout=subprocess.PIPE, text=True, errors='replace', timeout=60).stdout

text = run(truth, '--debug-info', source)
function = next(part for part in text.split('\n\n') if 'DW_TAG_subprogram' in part and 'DW_AT_low_pc' in part and ' *")' in part)
kind = int(re.search(r'DW_AT_type\t\((0x[0-9a-f]+)', function)[1], 16)
lookup = '--lookup=' + re.search(r'DW_AT_low_pc\t\((0x[0-9a-f]+)', function)[1]
units = [int(one, 16) for one in re.findall(r'^(0x[0-9a-f]+): Compile Unit', text, re.M)] + [1 << 32]
unit, end = max(one for one in units if one < kind), min(one for one in units if one > kind)
types = [int(at, 16) for at in re.findall(r'^(0x[0-9a-f]+): +DW_TAG_\w+_type$', text, re.M) if unit < int(at, 16) < end]
data = bytearray(open(source, 'rb').read())
at, info = 32, None
for _ in range(struct.unpack_from('<I', data, 16)[0]):
    command, size = struct.unpack_from('<II', data, at)
    for section in range(at + 72, at + size, 80) if command == 0x19 else []:
        if data[section:section + 16].rstrip(b'\0') == b'__debug_info':
            info = struct.unpack_from('<I', data, section + 48)[0]
    at += size
wrong = 0
for one in types + [unit + 1]: # the last is no entry
    struct.pack_into('<I', data, info + kind + 1, one - unit) # after one byte for its kind, the reference to what it points to
    open(target, 'wb').write(data)
    got = run(tool, lookup, target)
    want = got if one == kind else run(truth, lookup, target)
    if got != want or (one == kind and not re.search(r'DW_AT_type\t\(0x[0-9a-f]+\)$', got, re.M)):
        wrong += 1
        print('%#x: %s' % (one, next((pair for pair in zip(want.split('\n'), got.split('\n')) if pair[0] != pair[1]), got)))
print('%d types, %d wrong' % (len(types), wrong))
sys.exit(wrong > 0 or len(types) < 10)
END
    python3 "$work/types.tested.py" $truth "$work/names/dwarfdump" $bin/folded-arm64-cpp.dwarf "$work/types.dwarf" >"$work/said" 2>&1
    check "dwarfdump --lookup: the names of types" "$work/said"
    PYTHONDONTWRITEBYTECODE=1 python3 tests/members/attributes.py "$work/names/dwarfdump" "$work/attributes" $truth >"$work/said" 2>&1
    check "dwarfdump --lookup: every attribute, language and word" "$work/said"
    PYTHONDONTWRITEBYTECODE=1 python3 tests/members/ranges.py "$work/names/dwarfdump" "$work/ranges" $truth >"$work/said" 2>&1
    check "dwarfdump --lookup: every kind of range, and entries of no kind" "$work/said"
fi
if [ -d ../shared/corpus ]; then
    find ../shared/corpus \( -name '*.dSYM' -o -path '*/Resources/DWARF/*' -o -name '*.dylib' \) ! -name '*.plist' | sort >"$work/list"
    mapfile -t files <"$work/list"
    uuids "real files" "${files[@]}"
    if need "--lookup of real files" python3; then
        find ../shared/corpus -path '*/Resources/DWARF/*' ! -name '*.plist' -type f | sort | awk "NR % ($every * $every) == 0" >"$work/list"
        mapfile -t files <"$work/list"
        lookups "real files" "${files[@]}"
    fi
else
    skip "UUIDs and lookups of real files, ../shared/corpus is missing"
fi
end

#!/bin/bash
# Files whose load commands and tables contradict each other, by one flipped bit: each command that opens one says so,
# no map is made of it unasked, and it stands before no sound file of its UUID. Lines and ranges that contradict themselves
# are told by commands that decode all of them.
machsym=${MACHSYM:-build/machsym}
M="${RUN:-} $machsym"
. tests/checks
cp -R tests/fixtures/bin/demo.app.dSYM "$work/good.dSYM"
uuid=$($M info --quick tests/fixtures/bin/demo.app.dSYM | sed -n 's/.*\([0-9A-F]\{8\}-[0-9A-F-]\{27\}\).*/\1/p' | head -n 1)
report=tests/fixtures/reports/demo.crash

flip() { # FILE OFFSET BIT: turns a bit over
    local byte
    byte=$(od -An -tu1 -j "$2" -N 1 "$1")
    # shellcheck disable=SC2059
    printf "\\$(printf %o $((byte ^ 1 << $3)))" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}

place() { # FILE TEXT: the first place where the file has it
    LC_ALL=C grep -abo "$2" "$1" | head -n 1 | cut -d: -f1
}

plain=tests/fixtures/bin/inline-arm64-d4-14.dwarf
text=$(place $plain __TEXT)
# LC_SYMTAB begins with its kind, 2, and its size, 24.
symtab=$(od -An -v -tu4 -w4 $plain | awk '$1 == 24 && before == 2 {print 4 * (NR - 2); exit} {before = $1}')
[ -n "$text" ] && [ -n "$symtab" ]
check "the fixture has __TEXT and LC_SYMTAB"

say() { # NAME WHAT [all]: $work/NAME is damaged in that way, as each command says; all: but for one address
    local name=$1 what=$2 one="atos -o $work/$1 0x100000f00" command status
    [ "${3-}" != all ] || one="atos -o $work/$1 0x100000f00 0x100000f04"
    mkdir -p "$work/dir"
    rm -rf "$work/dir"/*
    cp "$work/$name" "$work/dir/$name"
    for command in "$one" "atos -i -o $work/$name 0x100000f00 0x100000f10" "info $work/$name" \
        "info --json $work/$name" "symbols $work/$name" "map build --no-progress --damaged -o $work/m $work/$name" \
        "store add $work/store $work/$name" "owners $work/$name 0x100000f00"; do
        # shellcheck disable=SC2086
        $M $command >"$work/out" 2>"$work/err"
        status=$?
        cat "$work/err" >>"$work/out"
        [ $status -eq 1 ] && grep -q "$what" "$work/out"
        check "$name: $command" "$work/out"
    done
    $M map info "$work/m" >"$work/out" 2>&1
    [ $? -eq 1 ]
    check "$name: the map of it says that it is of a damaged file" "$work/out"
    rm -f "$work/m"
    $M map build --no-progress -o "$work/m" "$work/$name" >"$work/out" 2>&1
    [ $? -eq 1 ] && [ ! -e "$work/m" ] && grep -q "$what.*no map is made of it: fetch the file again, or pass --damaged" "$work/out"
    check "$name: no map is made of it" "$work/out"
}

# vmaddr of __TEXT: segname is its second field, vmaddr follows.
for bit in 28 20 14 12; do
    cp $plain "$work/text-$bit"
    flip "$work/text-$bit" $((text + 16 + bit / 8)) $((bit % 8))
    say "text-$bit" "a section lies outside of its segment\|two segments share addresses"
done

# LC_SYMTAB: symoff, nsyms, stroff, strsize
for field in 8:symoff 12:nsyms 16:stroff; do
    cp $plain "$work/symtab-${field#*:}"
    flip "$work/symtab-${field#*:}" $((symtab + ${field%:*})) 4
    say "symtab-${field#*:}" "a table lies outside of __LINKEDIT\|two tables share bytes"
done

# The first field of a command is its kind: LC_SEGMENT_64 is 0x19. The name of the segment is its third field.
for place in $((text - 8)):text $symtab:symtab; do
    for bit in 7 8 30 31; do
        name=kind-${place#*:}-$bit
        cp $plain "$work/$name"
        flip "$work/$name" $((${place%:*} + bit / 8)) $((bit % 8))
        say "$name" "a load command is of a kind that does not exist"
    done
done

# ---- Sections of debug info that have another name ----

for name in info str line; do
    cp $plain "$work/lost-$name"
    flip "$work/lost-$name" $(($(place $plain "__debug_$name") + 9)) 1
    what="a unit needs a section that is not there (__debug_$name"
    [ $name != info ] || what="there are abbreviations of units, but no units"
    $M info "$work/lost-$name" >"$work/out" 2>&1
    [ $? -eq 1 ] && grep -q "$what" "$work/out"
    check "info: __debug_$name has another name" "$work/out"
    $M map build --no-progress -o "$work/m" "$work/lost-$name" >"$work/out" 2>&1
    [ $? -eq 1 ] && grep -q "$what.*says so" "$work/out"
    check "map build: __debug_$name has another name" "$work/out"
done

# ---- Symbols that the debug info contradicts ----

functions=tests/real/crashprobe/CrashProbeiOS.dwarf
numbers=$(od -An -v -tu4 -w4 $functions | awk '$1 == 24 && before == 2 {hit = NR} hit && NR > hit && NR <= hit + 4 {print $1} {before = $1}')
read -r symbols count strings size <<<"${numbers//$'\n'/ }"
[ "$count" -gt 32 ]
check "the real file has symbols"

put() { # FILE OFFSET: bytes from standard input
    dd of="$1" bs=4096 seek="$2" oflag=seek_bytes conv=notrunc 2>/dev/null
}

cp $functions "$work/mixed"
entries=$(od -An -v -tx1 -w16 -j "$symbols" -N $((16 * count)) $functions |
    awk '{name[NR] = $1 " " $2 " " $3 " " $4; $1 = $2 = $3 = $4 = ""; rest[NR] = $0}
         END {for (i = 1; i <= NR; i++) printf "%s %s\n", name[i % NR + 1], rest[i]}' | sed 's/  */\\x/g')
# shellcheck disable=SC2059
printf "\\x${entries//$'\n'/\\x}" | put "$work/mixed" "$symbols"
say mixed "symbols give most functions other names than the debug info does" all

cp $functions "$work/moved"
tail -c +$((strings + 2)) $functions | head -c $((size - 1)) | put "$work/moved" "$strings"
say moved "most names of symbols begin inside of others" all

# Names that a tool changed on purpose are no damage.
cp $functions "$work/renamed"
tail -c +$((strings + 1)) $functions | head -c "$size" | LC_ALL=C tr a-zA-Z b-zaB-ZA | put "$work/renamed" "$strings"
$M info "$work/renamed" >"$work/out" 2>"$work/err"
[ $? -eq 0 ] && ! grep -q damaged "$work/out" && ! cmp -s $functions "$work/renamed"
check "renamed symbols are no damage" "$work/out"
rm -f "$work/m"
$M map build --no-progress -o "$work/m" "$work/renamed" >"$work/out" 2>&1
check "a map is made of a file with renamed symbols" "$work/out"

# Of two dSYMs of one UUID the one that is not mixed up answers.
mkdir "$work/mix"
cp "$work/mixed" "$work/mix/a.dwarf"
cp $functions "$work/mix/b.dwarf"
probe=tests/real/crashprobe/abort.json
$M crash --no-cache -d $functions $probe >"$work/want" 2>/dev/null
$M crash --no-cache -d "$work/mix" $probe >"$work/got" 2>"$work/err"
[ $? -eq 0 ] && grep -q "a.dwarf: damaged: symbols give.*taken in its place: $work/mix/b.dwarf" "$work/err"
check "crash says whose symbols contradict the debug info" "$work/err"
same "$work/want" "$work/got" "crash takes the one whose symbols agree"
rm "$work/mix/b.dwarf"
$M crash --no-cache -d "$work/mix" $probe >"$work/got" 2>"$work/err"
[ $? -eq 1 ] && grep -q "a.dwarf: damaged: symbols give" "$work/err"
check "crash says that the only one is contradicted" "$work/err"
$M map verify "$work/m" "$work/mixed" >"$work/out" 2>&1
[ $? -eq 1 ] && grep -q "mixed: damaged: symbols give" "$work/out"
check "map verify says what contradicts what" "$work/out"

# ---- Lines and ranges that contradict themselves: told by what decodes all of it ----

section() { # FILE NAME: where the bytes of a section begin, as its load command says
    local at
    at=$(place "$1" "$2")
    od -An -tu4 -j $((at + 48)) -N 4 "$1" | tr -d ' '
}

decoded() { # NAME WHAT MISLEADING: $work/NAME is damaged in that way, as each command says that decodes all units
    local name=$1 what=$2 told="$2 (.*); names and lines may be wrong" command status
    [ "$3" = yes ] || told="units of the debug info are damaged\|$what"
    for command in "info $work/$name" "map build --no-progress --damaged -o $work/m $work/$name" \
        "map verify $work/m $work/$name"; do
        # shellcheck disable=SC2086
        $M $command >"$work/out" 2>"$work/err"
        status=$?
        cat "$work/err" >>"$work/out"
        [ $status -eq 1 ] && grep -q "$told" "$work/out"
        check "$name: $command" "$work/out"
    done
    $M info --json "$work/$name" >"$work/out" 2>&1
    grep -q "\"damaged_units\":1,\"damage\":\"$what\",\"damage_offset\":[0-9]*,\"misleading\":$([ "$3" = yes ] && echo true || echo false)" "$work/out"
    check "$name: info --json" "$work/out"
    rm -rf "$work/m" "$work/store"
    $M store add "$work/store" "$work/$name" >"$work/out" 2>&1
    $M store verify "$work/store" >"$work/out" 2>&1
    [ $? -eq 1 ] && grep -q "$what" "$work/out"
    check "$name: store verify" "$work/out"
    $M map build --no-progress -o "$work/m" "$work/$name" >"$work/out" 2>&1
    status=$?
    if [ "$3" = yes ]; then
        [ $status -eq 1 ] && [ ! -e "$work/m" ] &&
            grep -q "$told; no map is made of it: fetch the file again, or pass --damaged" "$work/out"
        check "$name: no map is made of it" "$work/out"
    else
        [ $status -eq 1 ] && $M map info "$work/m" | grep -q damaged
        check "$name: a map is made of it, which says that the file is damaged" "$work/out"
    fi
    rm -f "$work/m"
}

# FILE|SECTION|OFFSET|BYTES|WHAT|MISLEADING: the bytes, in octal escapes, take the place of those of the section. Offsets are
# those that llvm-dwarfdump -v prints of the line programs and the lists.
many=tests/fixtures/bin/inline-x86_64-d4-22.dwarf
five=tests/fixtures/bin/inline-arm64-d5-aranges-die.dwarf
number=0
while IFS='|' read -r file part at bytes what misleading; do
    number=$((number + 1))
    cp "${!file}" "$work/$part-$number"
    # shellcheck disable=SC2059
    printf "$bytes" | put "$work/$part-$number" $(($(section "${!file}" "$part") + at))
    ! cmp -s "${!file}" "$work/$part-$number"
    check "$part-$number differs"
    decoded "$part-$number" "$what" "$misleading"
done <<'END'
plain|__debug_line|0x51|\000\011\002\000\006\000\000\001\000\000\000|rows of a line program go back|yes
plain|__debug_line|0x63|\120|a line program counts lines down below 0|yes
plain|__debug_line|0x66|\012|a line program names a file that it does not have|yes
plain|__debug_line|0x54|\056|a sequence of a line program ends inside a function|yes
plain|__debug_line|0x11|\000|the header of a line program contradicts itself|yes
plain|__debug_line|0x06|\065|the header of a line program contradicts itself|yes
many|__debug_line|0x258|\130\011|sequences of a line program share addresses|yes
plain|__debug_line|0x107|\000\011\002\000\006\000\000\001\000\000\000|a sequence of a line program ends before it begins|no
plain|__debug_line|0x114|\005|rows of a line program have no end|no
many|__debug_info|0x2a|\017|a function has code outside of its unit's ranges|yes
plain|__debug_ranges|0x30|\300|a range ends before it begins, or leaves its section|yes
plain|__debug_ranges|0x3d|\001|a range ends before it begins, or leaves its section|yes
plain|__debug_ranges|0x38|\364|an inlined call has code outside of what it is inlined into|yes
plain|__debug_ranges|0x10|\234|ranges of one list share addresses|no
five|__debug_rnglists|0x1a|\064|a range ends before it begins, or leaves its section|yes
five|__debug_rnglists|0x1b|\160|an inlined call has code outside of what it is inlined into|yes
END

# A sound file says nothing.
for command in "atos -o $plain 0x100000f00" "info $plain" "map build --no-progress -o $work/m $plain"; do
    # shellcheck disable=SC2086
    $M $command >"$work/out" 2>"$work/err"
    check "sound: $command" "$work/err"
    [ ! -s "$work/err" ] && ! grep -q damaged "$work/out"
    check "sound, in silence: $command" "$work/err"
done

# ---- Two files of one UUID ----

mkdir "$work/both"
cp -R "$work/good.dSYM" "$work/both/a.dSYM"
cp -R "$work/good.dSYM" "$work/both/b.dSYM"
bad=$work/both/a.dSYM/Contents/Resources/DWARF/demo
flip "$bad" $(($(place "$bad" __TEXT) + 16 + 2)) 4
mkdir "$work/only"
cp -R "$work/both/a.dSYM" "$work/only"
good=$work/both/b.dSYM/Contents/Resources/DWARF/demo

$M crash --no-cache -d "$work/good.dSYM" $report >"$work/want" 2>/dev/null
$M crash --no-cache -d "$work/both" $report >"$work/got" 2>"$work/err"
[ $? -eq 0 ] && grep -q "a.dSYM.*names and lines may be wrong.*taken in its place: $good" "$work/err"
check "crash names the damaged one of two, and the one that answers" "$work/err"
same "$work/want" "$work/got" "crash takes the sound one of two"
$M crash --no-cache -d "$work/only" $report >"$work/got" 2>"$work/err"
[ $? -eq 1 ] && grep -q "a.dSYM.*names and lines may be wrong" "$work/err"
check "crash says that the only one is damaged" "$work/err"

$M atos -o "$work/good.dSYM" 0x100000aec >"$work/want"
$M atos --symbols "$work/both" --uuid "$uuid" 0x100000aec >"$work/got" 2>"$work/err"
same "$work/want" "$work/got" "atos --symbols takes the sound one of two"
$M map build --no-progress -o "$work/want" "$work/good.dSYM" >/dev/null 2>&1
$M map build --no-progress -o "$work/got" --symbols "$work/both" --uuid "$uuid" >/dev/null 2>"$work/err"
[ $? -eq 0 ] && grep -q "a.dSYM.*taken in its place: $good" "$work/err"
check "map build --symbols names the damaged one of two" "$work/err"
cmp -s "$work/want" "$work/got"
check "map build --symbols takes the sound one of two" "$work/err"
$M map verify "$work/want" "$bad" >"$work/out" 2>&1
[ $? -eq 1 ] && grep -q "names and lines may be wrong" "$work/out"
check "map verify says that the file is damaged" "$work/out"

# ---- Damaged files below -d: a report that waits for symbols may wait for one of them ----

fat=tests/fixtures/bin/inline-fat.dwarf
bundle() { # NAME: the place of the debug info in a dSYM below $work/below/NAME
    mkdir -p "$work/below/$1/X.dSYM/Contents/Resources/DWARF"
    echo "$work/below/$1/X.dSYM/Contents/Resources/DWARF/X"
}
head -c 20000 $fat >"$(bundle cut)"
head -c 30 $fat >"$(bundle cut-in-its-header)"
: >"$(bundle empty)"
head -c 6 $plain >"$(bundle six-bytes)"
head -c 9000 /dev/zero >"$(bundle zeros)"
bundle without-a-file >/dev/null
mkdir -p "$work/below/without-contents/X.dSYM" "$work/below/bare" "$work/below/archive" "$work/below/cut-archive"
cp "$work/below/cut/X.dSYM/Contents/Resources/DWARF/X" "$work/below/bare/App.debug"
tar cf - -C "$work/below/cut" X.dSYM | gzip >"$work/below/archive/x.tar.gz"
head -c 1200 "$work/below/archive/x.tar.gz" >"$work/below/cut-archive/x.tar.gz"
while IFS='|' read -r name what; do
    $M crash --no-cache -d "$work/below/$name" $report >"$work/out" 2>"$work/err"
    [ $? -eq 1 ] && grep -q "below/$name/$what" "$work/err"
    check "below -d: $name" "$work/err"
done <<'END'
cut|X.dSYM/Contents/Resources/DWARF/X: the file is cut short: a slice lies past its end
cut-in-its-header|X.dSYM/Contents/Resources/DWARF/X: the file is cut short
empty|X.dSYM/Contents/Resources/DWARF/X: no Mach-O file, but in a dSYM
six-bytes|X.dSYM/Contents/Resources/DWARF/X: no Mach-O file, but in a dSYM
zeros|X.dSYM/Contents/Resources/DWARF/X: no Mach-O file, but in a dSYM
without-a-file|X.dSYM/Contents/Resources/DWARF: the dSYM has no debug info: the folder is empty
without-contents|X.dSYM: the dSYM has no debug info: Contents/Resources/DWARF is missing
bare|App.debug: the file is cut short: a slice lies past its end
archive|x.tar.gz/X.dSYM/Contents/Resources/DWARF/X: the file is cut short: a slice lies past its end
cut-archive|x.tar.gz: the compressed bytes are damaged or cut short
END

# Other files lie there too: of a class of Java, whose first bytes are those of a fat file, nothing is reported.
mkdir "$work/others"
printf '\312\376\272\276\000\000\000\064\000\035\012\000\006\000\017 and more' >"$work/others/A.class"
printf 'text' >"$work/others/README"
$M crash --no-cache -q -d "$work/others" $report >"$work/out" 2>"$work/err"
[ $? -eq 0 ] && ! grep -q others "$work/err"
check "below -d: other files are passed over" "$work/err"
end

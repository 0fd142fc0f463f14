#!/bin/bash
# machsym store add: of a UUID the best dSYM and the best binary stay, in whatever order they come: with damage, with less debug info,
# stripped, fat and thin, with Info.plists and BCSymbolMaps, of several runs at once, and after each step at which a run is killed. A
# store of version 0.1 is read as it is. Damage that a look at the headers does not show is told.
. tests/checks
M=${MACHSYM:-build/machsym}
case $M in /* | *' '*) ;; *) M=$(pwd)/$M ;; esac
bin=$(pwd)/tests/fixtures/bin
killer=$(pwd)/tests/killer.c
report=$(pwd)/tests/fixtures/reports/demo.crash
uuid=4C4C44D1-5555-3144-A1C6-43CD5D4C113E
demo=4C4C44B5-5555-3144-A1BA-79CA685DEC58
dwarf=Contents/Resources/DWARF
export XDG_CACHE_HOME=$work/cache LC_ALL=C
cd "$work" || exit 1

says() # NAME STATUS TEXT COMMAND...: what it prints holds the text
{
    local name=$1 want=$2 text=$3
    shift 3
    timeout 60 "$@" >said 2>&1 </dev/null
    local status=$?
    [ $status -eq "$want" ] && grep -qF -- "$text" said
    check "$name: status $status, not $want, or does not say \"$text\"" said
}

zeroed() # FILE BYTES TO: with zeros at its end
{
    local size
    size=$(wc -c <"$1")
    head -c $((size - $2)) "$1" >"$3"
    head -c "$2" /dev/zero >>"$3"
}

# ---- One of each ----

# The dSYM, one whose end was not written, one whose DWARF is not found; the binary, and a stripped one.
for one in dsym zeroed without; do
    mkdir -p "$one/App.dSYM/$dwarf"
done
mkdir binary stripped
cp "$bin/blocks-arm64-d4-22.dwarf" dsym/App.dSYM/$dwarf/App
zeroed dsym/App.dSYM/$dwarf/App 700 zeroed/App.dSYM/$dwarf/App
sed 's/__debug_/__other_/g' dsym/App.dSYM/$dwarf/App >without/App.dSYM/$dwarf/App
cp "$bin/blocks-arm64-d4-22" binary/App
cp "$bin/blocks-arm64-d4-22-strip" stripped/App
plist() { printf '<?xml version="1.0"?><plist version="1.0"><dict><key>CFBundleVersion</key><string>%s</string>%s</dict></plist>\n' "$1" "$2"; }
plist 1 >zeroed/App.dSYM/Contents/Info.plist
plist 2 '<key>CFBundleShortVersionString</key><string>1.2</string>' >dsym/App.dSYM/Contents/Info.plist
plist 3 '<key>Name</key><string>App</string>' >without/App.dSYM/Contents/Info.plist

says "a dSYM" 0 "added  $uuid  App 1.2 (2), arm64" $M store add st dsym/App.dSYM
says "its binary" 0 "added  $uuid  App, arm64" $M store add st binary/App
says "a dSYM with zeros at its end" 1 "zeros: it was not written" $M store add st zeroed/App.dSYM
grep -q "^kept .*; the file that is there has less damage" said
check "the whole one stays, which is reported" said
says "a dSYM without debug info" 0 "kept   $uuid  App (3), arm64; the file that is there has debug info" $M store add st without/App.dSYM
says "a stripped binary" 0 "kept   $uuid  App, arm64; the file that is there has more symbols" $M store add st stripped/App
cmp -s "st/4C/$uuid.dSYM/$dwarf/App" dsym/App.dSYM/$dwarf/App && cmp -s "st/4C/$uuid.binary/App" binary/App
check "dSYM and binary lie side by side"
# A program whose names were not written to their end. Its LC_SYMTAB is not the first command.
if command -v python3 >/dev/null; then
    python3 - "$bin/cache/arm64/Zoo" unwritten.program <<'END'
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
at, commands = 32, {}
for _ in range(struct.unpack_from("<I", data, 16)[0]):
    kind, size = struct.unpack_from("<II", data, at)
    commands[kind] = at
    at += size
names, length = struct.unpack_from("<II", data, commands[2] + 16)
assert commands[2] > 32 and length > 200
data[names + length - 100:names + length] = bytes(100)
open(sys.argv[2], "wb").write(data)
END
    says "a program whose names end in zeros" 1 "the end of its names is zeros: it was not written" $M store add names.st unwritten.program
else
    skip "a program whose names end in zeros: it needs python3"
fi
mkdir -p deep/Deep.dSYM/$dwarf unwritten/Deep.dSYM/$dwarf # its entries end in more than 600 zeros
cp "$bin/deep-arm64-d4.dwarf" deep/Deep.dSYM/$dwarf/Deep
zeroed deep/Deep.dSYM/$dwarf/Deep 9000 unwritten/Deep.dSYM/$dwarf/Deep
says "zeros that close nested entries are no damage" 0 "added" $M store add deep.st deep/Deep.dSYM
says "nor to verify" 0 "1 images are good" $M store verify deep.st
says "more zeros are" 1 "zeros: it was not written" $M store add deeper.st unwritten/Deep.dSYM
says "the other way: the damaged one first" 1 "zeros: it was not written" $M store add other zeroed/App.dSYM
says "verify tells of it" 1 "App: the end of a section of debug info is zeros: it was not written" $M store verify other
says "the dSYM takes its place" 0 "added  $uuid  App 1.2 (2), arm64; it takes the place of another file: it has less damage" \
    $M store add other dsym/App.dSYM
says "verify: good" 0 "1 images are good" $M store verify other
says "a stripped binary first" 0 "added" $M store add other stripped/App
says "the whole binary takes its place" 0 "it takes the place of another file: it has more symbols" $M store add other binary/App
says "--json" 0 '"added":false,"replaced":false,"why":"has more symbols"' $M store add --json other stripped/App
diff -r st other >said
check "both orders end in the same" said
$M map build --no-progress --lines=people --unwind --pair binary/App -o want.symmap dsym/App.dSYM/$dwarf/App >/dev/null 2>&1
cmp -s "st/4C/$uuid.symmap" want.symmap
check "the map is that of the pair"

# ---- Every order ----

permute() # DONE LEFT...: calls try with each order
{
    local done=$1 one
    shift
    [ $# -gt 0 ] || try $done
    for one in "$@"; do
        # shellcheck disable=SC2046
        permute "$done $one" $(printf '%s\n' "$@" | grep -vxF "$one")
    done
}
try() # FILES in an order
{
    rm -rf one
    # shellcheck disable=SC2086
    $M store add $keep one "$@" >said 2>&1
    diff -r "want$keep" one >said && count 0 || { count 1 && :; echo "failed: the order $keep $*: $(head -n 3 said)"; }
}
for keep in "" --keep=dsyms --keep=maps; do
    # shellcheck disable=SC2086
    $M store add $keep "want$keep" dsym/App.dSYM binary/App >/dev/null
    all="dsym/App.dSYM zeroed/App.dSYM without/App.dSYM binary/App stripped/App"
    [ "${SAMPLE:-1}" -eq 1 ] && [ -z "$keep" ] || all="dsym/App.dSYM zeroed/App.dSYM binary/App stripped/App"
    # shellcheck disable=SC2086
    permute "" $all
done
size=$(wc -c <dsym/App.dSYM/$dwarf/App)
mkdir fat.d
{ # a fat file of one slice: fat.h
    printf '\312\376\272\276\0\0\0\1\1\0\0\014\0\0\0\0\0\0\020\0'
    printf '\\0\\0\\%03o\\%03o' $((size / 256)) $((size % 256)) | xargs -0 printf
    printf '\0\0\0\014'
    head -c $((4096 - 28)) /dev/zero
    cat dsym/App.dSYM/$dwarf/App
} >fat.d/App
for order in "fat.d/App dsym/App.dSYM" "dsym/App.dSYM fat.d/App" "zeroed/App.dSYM fat.d/App" "fat.d/App zeroed/App.dSYM dsym/App.dSYM"; do
    rm -rf one
    # shellcheck disable=SC2086
    $M store add one $order binary/App >said 2>&1
    cmp -s "one/4C/$uuid.dSYM/$dwarf/App" dsym/App.dSYM/$dwarf/App && cmp -s "one/4C/$uuid.symmap" want.symmap
    check "fat and thin: $order" said
done
for at in 1 2; do # of two BCSymbolMaps the longer one stays
    mkdir -p hidden$at
    { echo "BCSymbolMap Version: 2.0" && seq $at; } >hidden$at/$uuid.bcsymbolmap
done
for order in "1 2" "2 1"; do
    rm -rf one
    for at in $order; do $M store add --bcsymbolmap hidden$at one dsym/App.dSYM >/dev/null; done
    cmp -s one/4C/$uuid.bcsymbolmap hidden2/$uuid.bcsymbolmap
    check "BCSymbolMaps: $order"
done

# ---- Several at once ----

for ((i = 0; i < 8; i++)); do
    rm -rf one
    pids=
    for what in dsym/App.dSYM zeroed/App.dSYM without/App.dSYM binary/App stripped/App; do
        $M store add one $what >/dev/null 2>&1 &
        pids="$pids $!"
    done
    # shellcheck disable=SC2086
    wait $pids
    diff -r want one >said
    check "five at once end in the best" said
done

# ---- Killed ----

if [ -z "$RUN" ] && command -v "${CC:-cc}" >/dev/null && ${CC:-cc} -shared -fPIC -o killer.so "$killer" -ldl 2>/dev/null &&
    case "$CFLAGS $LDFLAGS" in *-fsanitize* | *-static*) false ;; esac; then
    for first in "" "zeroed/App.dSYM stripped/App"; do
        at=0
        status=137
        while [ $status -gt 128 ] && [ $at -lt 300 ]; do
            at=$((at + 1))
            rm -rf one
            # shellcheck disable=SC2086
            [ -z "$first" ] || $M store add one $first >/dev/null 2>&1
            { LD_PRELOAD=$work/killer.so KILL_AT=$at timeout 60 "$M" store add one dsym/App.dSYM binary/App >said 2>&1; } 2>/dev/null
            status=$?
            $M store add one dsym/App.dSYM binary/App >said 2>&1 && diff -r want one >said && [ -z "$(find one -name '.machsym*')" ]
            check "killed at step $at, after '$first': the next run ends it" said
        done
        [ $at -gt 10 ] && [ $status -eq 0 ]
        check "it was killed at each step"
    done
else
    skip "killed at every step: it needs a plain build"
fi

# ---- What killed runs left ----

cp -R st left
for at in "4C/.machsym-1-1.tmp" "4C/$uuid.dSYM/$dwarf/.machsym-1-2.tmp" "4C/$uuid.binary/.machsym-1-3.tmp"; do
    rm -rf left/4C/.mach* left/4C/*/.mach* left/4C/*/$dwarf/.mach*
    echo part >"left/$at"
    says "verify: $at" 1 "left/$at: a killed run left it; machsym store gc --yes removes it" $M store verify left
    says "verify --json: $at" 1 "\"uuid\":null,\"file\":\"left/$at\",\"good\":false" $M store verify --json left
    says "gc: $at" 0 "1 files that killed runs left: would be removed" $M store gc --older 1000 left
    [ -e "left/$at" ]
    check "gc without --yes leaves it"
    says "gc --yes: $at" 0 "1 files that killed runs left: removed" $M store gc --older 1000 --yes left
    diff -r st left >said
    check "gc --yes removes it, and nothing else" said
    echo part >"left/$at"
    says "add: $at" 0 "kept " $M store add left binary/App
    diff -r st left >said
    check "add removes it" said
done
mkdir left/00 left/FF left/zz
touch left/zz/mine
says "gc: empty folders" 0 "0 of 1 images" $M store gc --older 1000 --yes left
[ ! -e left/00 ] && [ ! -e left/FF ] && [ -e left/zz/mine ]
check "gc removes the store's empty folders, nothing else"
find left -exec touch -d "9 days ago" {} +
says "gc: all" 0 "1 of 1 images" $M store gc --older 1 --yes left
rm -r left/zz && [ -z "$(find left -mindepth 1)" ]
check "gc leaves no empty folder"

# ---- A store of version 0.1 ----

old() # a binary without a dSYM lay in the dSYM's bundle
{
    rm -rf old
    mkdir -p "old/4C/$uuid.dSYM/$dwarf"
    cp "$1" "old/4C/$uuid.dSYM/$dwarf/App"
    [ -z "$2" ] || $M map build --no-progress --lines=people -o "old/4C/$uuid.symmap" "$1" >/dev/null 2>&1
}
for map in "" map; do
    old binary/App $map
    $M atos -o binary/App 0x100000460 >want.atos 2>/dev/null
    $M atos --symbols old --uuid $uuid 0x100000460 >got 2>/dev/null
    cmp -s want.atos got
    check "an old store answers"
    says "an old store is listed" 0 "binary" $M store list old
    says "an old store: verify" 0 "1 images are good" $M store verify old
    says "an old store: the same binary" 0 "$uuid  App, arm64" $M store add old binary/App
    says "an old store: a worse binary" 0 "the file that is there has more symbols" $M store add old stripped/App
    says "an old store: the dSYM" 0 "added" $M store add old dsym/App.dSYM
    diff -r want old >said
    check "an old store becomes a new one" said
    old stripped/App $map
    says "an old store: a better binary" 0 "it takes the place" $M store add old binary/App
    says "an old store: then the dSYM" 0 "added" $M store add old dsym/App.dSYM
    diff -r want old >said
    check "an old store becomes a new one, by a better binary" said
done

# ---- The pair answers ----

cp "$bin/demo" "$work/demo.bin"
$M store add pair "$bin/demo.app.dSYM" "$bin/demo" >/dev/null
$M crash -q --no-cache -d "$bin/demo.app.dSYM" -d "$bin/demo" "$report" >want.txt
for how in "-d pair" "-d pair --lines=stmt"; do
    # shellcheck disable=SC2086
    $M crash -q --no-cache $how "$report" >got
    $M crash -q --no-cache -d "$bin/demo.app.dSYM" -d "$bin/demo" ${how#-d pair} "$report" >want.txt
    same want.txt got "crash $how: the pair"
done
rm pair/4C/*.symmap
$M info --quick --symbols pair --uuid $demo >got 2>&1
[ "$(grep -c "^arm64 .*$demo" got)" -eq 2 ]
check "info --symbols of a store tells of both" got

# ---- verify ----

for part in dSYM binary; do
    file=$([ $part = dSYM ] && echo "4C/$uuid.dSYM/$dwarf/App" || echo "4C/$uuid.binary/App")
    for cut in 100 700 3000 6000; do
        rm -rf broken && cp -R st broken
        zeroed "st/$file" $cut "broken/$file"
        says "verify: $part, $cut zeros at its end" 1 "broken/$file: " $M store verify broken
        rm -rf broken && cp -R st broken
        head -c -$cut "st/$file" >"broken/$file"
        says "verify: $part, $cut bytes are missing" 1 "broken/$file: " $M store verify broken
    done
done
for place in 0 1 2 3; do # a length in .debug_info that leads past the end
    rm -rf broken && cp -R st broken
    at=$($M info "st/4C/$uuid.dSYM" | sed -n 's/^  __DWARF *__debug_info *//p' | wc -l)
    [ "$at" -eq 1 ] || break
    size=$(wc -c <"st/4C/$uuid.symmap")
    printf '\377' | dd of="broken/4C/$uuid.symmap" bs=1 seek=$((size * (place + 1) / 6)) conv=notrunc 2>/dev/null
    says "verify: a map with another byte" 1 "broken/4C/$uuid.symmap: " $M store verify broken
    says "add makes it again" 0 "added" $M store add broken binary/App
    diff -r st broken >said
    check "a damaged map is made again" said
done

# ---- Wrong uses ----

cp -R dsym/App.dSYM swapped.dSYM
for swapped in swapped.dSYM swapped.dSYM/ swapped.dSYM/Contents/Resources swapped.dSYM/new; do
    says "swapped arguments: $swapped" 2 "lies in a bundle; the store comes first" $M store add $swapped st
done
diff -r dsym/App.dSYM swapped.dSYM
check "nothing is written into a bundle"
echo $uuid >list
says "missing: a list" 1 "list: a list of UUIDs, not a report: pass it with --files-from" $M store missing st list
end

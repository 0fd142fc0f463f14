#!/bin/bash
# machsym store: what is added is found again and answers the same; adding twice, by several at once and of archives; versions as
# Python's plistlib reads them; list, missing, gc and verify; what is damaged is named. tests/surroundings.sh has full disks and kills.
. tests/checks
M=${MACHSYM:-build/machsym}
case $M in /* | *' '*) ;; *) M=$(pwd)/$M ;; esac
bin=$(pwd)/tests/fixtures/bin
reports=$(pwd)/tests/fixtures/reports
dsym=$bin/demo.app.dSYM
uuid=4C4C44B5-5555-3144-A1BA-79CA685DEC58
dwarf=Contents/Resources/DWARF
export XDG_CACHE_HOME=$work/cache LC_ALL=C TZ=Pacific/Auckland
cd "$work" || exit 1

# says NAME STATUS TEXT COMMAND...: what it prints holds the text
says() {
    local name=$1 want=$2 text=$3
    shift 3
    timeout 60 "$@" >said 2>&1 </dev/null
    local status=$?
    [ $status -eq "$want" ] && grep -qF -- "$text" said
    check "$name: status $status, not $want, or does not say \"$text\"" said
}

# ---- add ----

says "add" 0 "added  $uuid  demo 1.0 (1), arm64" $M store add st "$dsym"
says "add again" 0 "kept   $uuid  demo 1.0 (1), arm64" $M store add st "$dsym"
$M map build --no-progress --lines=people -o want.symmap "$dsym" >/dev/null 2>&1
cmp -s "st/4C/$uuid.symmap" want.symmap
check "the map is that of map build"
says "the binary of a dSYM" 0 "added  $uuid  demo, arm64" $M store add st "$bin/demo"
says "the binary of a dSYM again" 0 "kept   $uuid  demo, arm64" $M store add st "$bin/demo"
cmp -s "st/4C/$uuid.dSYM/$dwarf/demo" "$dsym/$dwarf/demo" && cmp -s "st/4C/$uuid.binary/demo" "$bin/demo"
check "the files in the store are the dSYM and the binary"
$M map build --no-progress --lines=people --unwind --pair "$bin/demo" -o pair.symmap "$dsym" >/dev/null 2>&1
cmp -s "st/4C/$uuid.symmap" pair.symmap
check "the map is that of map build --unwind --pair"
for lines in atos dwarf; do
    $M atos -i --lines=$lines -o "$dsym" -o "$bin/demo" 0x100000aec 0x100000b00 >want
    $M atos -i --lines=$lines --symbols st --uuid $uuid 0x100000aec 0x100000b00 >got 2>&1
    same want got "atos --symbols asks a store, $lines"
done
$M crash -q -d "$dsym" -d "$bin/demo" "$reports/demo.crash" >want
$M crash -q -d st "$reports/demo.crash" >got 2>&1
same want got "crash -d asks a store"
says "both slices of a fat file" 0 "x86_64" $M store add fat "$bin/inline-fat.dwarf"
[ "$(grep -c added said)" -eq 2 ]
check "two images are added"
for one in fat/4C/*.dSYM; do
    own=${one##*/}
    own=${own%.dSYM}
    $M symbols --uuid "$own" "$bin/inline-fat.dwarf" >want
    $M symbols "$one" >got 2>&1
    same want got "a slice of a fat file by itself"
done
for keep in maps dsyms; do
    says "--keep=$keep" 0 added $M store add --keep=$keep only-$keep "$dsym"
done
[ -z "$(find only-maps -name '*.dSYM')" ] && [ -z "$(find only-dsyms -name '*.symmap')" ]
check "only maps, only dSYMs"
says "a binary first" 0 "added" $M store add better "$bin/demo"
says "a dSYM takes its place" 0 "added" $M store add better "$dsym"
says "and stays" 0 "kept" $M store add better "$dsym"
cp "$bin/demo" renamed
says "a binary of another name first" 0 "added" $M store add renames renamed
says "a dSYM takes its place, too" 0 "added" $M store add renames "$dsym"
says "and stays, too" 0 "kept" $M store add renames "$dsym"
cmp -s renames/4C/$uuid.dSYM/$dwarf/* "$dsym/$dwarf/demo" # one file
check "of a UUID one file is kept, whatever it was called"
diff -r better st >said
check "a dSYM after its binary ends as the binary after the dSYM" said
says "a map" 0 "added  $uuid  demo, arm64" $M store add of-map want.symmap
cmp -s "of-map/4C/$uuid.symmap" want.symmap
check "a map is copied"
printf 'x' | dd of="st/4C/$uuid.symmap" bs=1 seek=700 conv=notrunc 2>/dev/null
says "--force" 0 "added" $M store add --force st "$dsym"
cmp -s "st/4C/$uuid.symmap" pair.symmap
check "--force writes anew"

# Names that are no plain file names; several at once.
newline=$(printf 'a\nb')
mkdir -p "$newline.dSYM/$dwarf"
cp "$dsym/$dwarf/demo" "$newline.dSYM/$dwarf/$newline"
says "a name with a newline" 0 'added' $M store add newline "$newline.dSYM"
[ -f "newline/4C/$uuid.dSYM/$dwarf/a_b" ]
check "a name with a newline is a plain one in the store"
mkdir newlines
cp -R "$newline.dSYM" newlines/
for _ in 1 2; do
    $M atos -i --symbols newlines --uuid $uuid 0x100000aec >got 2>&1
    $M atos -i -o "$newline.dSYM" 0x100000aec >want
    same want got "a name with a newline is found in a folder"
done
pids=
for _ in 1 2 3 4; do
    $M store add together "$dsym" "$bin/inline-fat.dwarf" "$bin/inline-arm64-d5-22.dSYM" >/dev/null 2>&1 &
    pids="$pids $!"
done
status=0
for pid in $pids; do wait "$pid" || status=$?; done
$M store add alone "$dsym" "$bin/inline-fat.dwarf" "$bin/inline-arm64-d5-22.dSYM" >/dev/null
[ $status -eq 0 ] && diff -r alone together >said
check "four at once" said

# What is no good is named, and the rest is added.
head -c 9000 "$dsym/$dwarf/demo" >cut.dwarf
says "a file that is cut short" 1 "cut.dwarf: cut short: at least 4264 bytes are missing" $M store add bad cut.dwarf "$bin/inline-arm64-d5-22.dSYM"
[ "$($M store list bad | wc -l)" -eq 1 ]
check "the others are added"
says "a file without a UUID" 1 "has no UUID: a store has no place for it" $M store add bad "$bin/plain-i386-d5.o"
says "no Mach-O file" 1 "not a Mach-O file" $M store add bad "$reports/demo.crash"
says "not there" 1 "none: " $M store add bad none
head -c 300 want.symmap >cut.symmap
says "a damaged map" 1 "cut.symmap: the map is cut short" $M store add bad cut.symmap
echo file >taken
says "the store is a file" 1 "taken/4C/" $M store add taken "$dsym"
says "usage: no store" 2 "no store is named" $M store add
says "usage: no file" 2 "no file is named" $M store add st
says "usage: --keep" 2 "--keep is one of both, dsyms, maps" $M store add --keep=all st "$dsym"

# ---- Versions ----

if command -v python3 >/dev/null; then
    mkdir plists
    PYTHONDONTWRITEBYTECODE=1 python3 "$OLDPWD/tests/keep.py" "$dsym/$dwarf/demo" $uuid plists
    check "dSYMs with Info.plists are made"
    $M store add --keep=dsyms versions plists >said 2>&1
    check "they are added" said
    $M store list --json versions | PYTHONIOENCODING=utf-8 python3 -c '
import json, sys
for line in sorted(sys.stdin):
    one = json.loads(line)
    print("%s|%s|%s" % (one["uuid"], one["version"] or "", one["build"] or ""))' | sort >got
    sort plists/want >want
    same want got "versions and builds are those that plistlib reads"
    # an archive in a zip: the dSYM tells none, the archive does
    mkdir -p A.xcarchive/dSYMs A.xcarchive/Products
    cp -R "$dsym" A.xcarchive/dSYMs/
    rm A.xcarchive/dSYMs/demo.app.dSYM/Contents/Info.plist
    cp plists/d15.dSYM/Contents/Info.plist A.xcarchive/
    python3 -c 'import shutil; shutil.make_archive("A.xcarchive", "zip", ".", "A.xcarchive")'
    for what in A.xcarchive A.xcarchive.zip; do
        says "$what" 0 "added  $uuid  demo 3.1 (99), arm64" $M store add "of-$what" $what
    done
    diff -r of-A.xcarchive of-A.xcarchive.zip
    check "a zip of an archive is as the archive"
else
    skip "versions: it needs python3"
fi
mkdir -p X.dSYM
cp -R "$dsym"/* X.dSYM/
for bad in "<plist><dict><key>CFBundleVersion</key>|cut short (XML property list, offset 39)" \
    "bplist00|the file ends inside its trailer (binary property list, offset 8)" "version=1|neither an XML nor a binary property list"; do
    printf '%s' "${bad%%|*}" >X.dSYM/Contents/Info.plist
    says "a damaged Info.plist" 1 "X.dSYM/Contents/Info.plist: " $M store add --force damaged X.dSYM
    grep -qF -- "${bad#*|}" said && grep -qF "added  $uuid  demo, arm64" said
    check "a damaged Info.plist is reported, and costs the version only" said
done

printf '<?xml version="1.0"?><plist version="1.0"><dict><key>CFBundleVersion</key><string>77</string></dict><!-- ' >X.dSYM/Contents/Info.plist
head -c 2000000 /dev/zero | tr '\0' x >>X.dSYM/Contents/Info.plist
echo ' --></plist>' >>X.dSYM/Contents/Info.plist
says "an Info.plist of 2 MB" 0 "added  $uuid  demo (77), arm64" $M store add large X.dSYM
head -c 20000000 /dev/zero >X.dSYM/Contents/Info.plist
says "an Info.plist that is too large" 1 "X.dSYM/Contents/Info.plist: has more than 16 MB" $M store add toolarge X.dSYM
grep -qF "added  $uuid  demo, arm64" said
check "an Info.plist that is too large costs the version only" said
rm X.dSYM/Contents/Info.plist
mkdir X.dSYM/Contents/Info.plist
says "an Info.plist that is a folder" 1 "X.dSYM/Contents/Info.plist: Is a directory" $M store add folder X.dSYM

# ---- Hard links in tars ----

mkdir -p tars/App.dSYM/$dwarf
cp "$dsym/$dwarf/demo" tars/first
ln tars/first tars/App.dSYM/$dwarf/App
long=$(printf 'x%.0s' $(seq 120))
ln tars/first "tars/$long"
for format in gnu pax ustar; do
    tar -C tars --format=$format -cf linked.tar first App.dSYM 2>said
    [ $format = ustar ] || tar -C tars --format=$format -cf linked.tar "$long" App.dSYM 2>said
    rm -rf linked
    says "a hard link, $format" 0 "added  $uuid  App, arm64" $M store add linked linked.tar
    cmp -s "linked/4C/$uuid.dSYM/$dwarf/App" "$dsym/$dwarf/demo"
    check "a hard link has the bytes of its file, $format"
done
tar -C tars --format=gnu -cf linked.tar first App.dSYM && tar -f linked.tar --delete first 2>said
says "a hard link to nothing" 1 "linked.tar/App.dSYM/$dwarf/App: a hard link to a file that is not in the archive" $M store add nolink linked.tar

# ---- list ----

touch -d "2026-01-02 03:04:05Z" st/4C/$uuid.* "st/4C/$uuid.dSYM/$dwarf/demo" "st/4C/$uuid.binary/demo"
$M store list st >got
size=$(cat "st/4C/$uuid.symmap" "st/4C/$uuid.dSYM/$dwarf/demo" "st/4C/$uuid.binary/demo" | wc -c | awk '{ printf "%.1f KB", $1 / 1000 }')
printf '%s  arm64    2026-01-02    %s  all   demo 1.0 (1)\n' $uuid "$size" >want
same want got "list"
grep -qF "$size  all   demo 1.0 (1)" "$bin/../../../docs/store.md"
check "list: docs/store.md shows the same"
says "list --json" 0 '"kept":"all","date":"2026-01-02T03:04:05Z"' $M store list --json st
says "list: no folder" 1 "none: No such file" $M store list none
# Version 0.1 kept a binary in the bundle, before or after the dSYM by name: both are there, and neither is taken for the other.
for beside in a-binary z-binary; do
    $M store add both "$dsym" >said 2>&1
    cp "$bin/demo" "both/4C/$uuid.dSYM/$dwarf/$beside"
    sizes="\"dsym_size\":$(wc -c <"$dsym/$dwarf/demo"),\"binary_size\":$(wc -c <"$bin/demo"),"
    says "list: a binary in the bundle, $beside" 0 "$sizes" $M store list --json both
    says "verify: a binary in the bundle, $beside" 0 "$dwarf/$beside\",\"good\":true" $M store verify --json both
    rm -r both
done
mkdir empty
$M store list empty >got && [ ! -s got ]
check "an empty store"

# ---- missing ----

other=00000000-0000-0000-0000-00000000000A
$M store missing st $uuid ${other//-/} >got
[ $? -eq 1 ]
check "missing: the status says so"
$M store missing st $uuid >got
[ $? -eq 0 ] && [ ! -s got ]
check "missing: nothing"
$M store missing st $uuid ${other//-/} >got
echo $other >want
same want got "missing: UUIDs"
echo "$other" | $M store missing st --files-from - >got
same want got "missing: a list of UUIDs"
says "missing: reports" 1 "demo 1.2 (7) UUID $uuid" $M store missing empty "$reports/demo.crash"
$M store missing st "$reports/demo.crash" >got
[ $? -eq 0 ] && ! grep -q $uuid got
check "missing: nothing of what the store has"
says "missing: no store" 1 "none: No such file" $M store missing none $uuid
echo >file
says "missing: a file in the store's place" 1 "file: no folder" $M store missing file $uuid
says "missing: no report" 1 "nothere" $M store missing st nothere
says "usage: missing" 2 "no UUID and no report is named" $M store missing st

# ---- gc ----

if command -v python3 >/dev/null; then
    for i in 0 1 2 3 4 5; do
        printf -v one "${uuid%????}%04X" $i
        find versions/4C -path "*$one*" -exec touch -d "$((10 * i + 5)) days ago" {} +
    done
    count=$($M store list versions | wc -l)
    cp -R -p versions before
    gone() { # OPTIONS: the ends of the UUIDs that would go
        $M store gc "$@" versions 2>said | sed 's/^.\{32\}\(....\) .*/\1/' | sort | tr '\n' ' '
    }
    [ "$(gone --older 30)" = "0003 0004 0005 " ] && [ "$(gone --older 35 --newest 1)" = "0003 0004 0005 " ] &&
        [ "$(gone --newest $((count - 2)))" = "0004 0005 " ] && [ "$(gone --older 50 --newest $((count - 2)))" = "0005 " ]
    check "gc: what would go"
    grep -q "would be removed; --yes removes them" said && diff -r before versions
    check "gc: nothing goes without --yes"
    says "gc --yes" 0 "0003" $M store gc --older 30 --yes versions
    [ "$($M store list versions | wc -l)" -eq $((count - 3)) ] && [ -z "$(find versions -name "*0004*" -o -name "*0005*")" ]
    check "gc --yes: gone, with all that was kept of them"
    says "gc: then nothing" 0 "0 of $((count - 3)) images" $M store gc --older 30 --yes versions
else
    skip "gc: it needs python3"
fi
for one in map-arm64-d4-O0 map-x86_64-d4-O2 map-arm64-d5-O2; do
    $M store add slices "$bin/$one/program.dwarf" >said 2>&1
    [ $one = map-arm64-d5-O2 ] || says "gc: the newest of each architecture stays" 0 "0 of " $M store gc --newest 1 slices
done
says "gc: but not two of one architecture" 0 "1 of 3 images" $M store gc --newest 1 slices
for at in "" /Contents /Contents/Resources/DWARF; do # what a link leads to is not the store's
    rm -rf links mine.dSYM
    cp -R "$dsym" mine.dSYM
    find mine.dSYM -exec touch -d "9 days ago" {} +
    mkdir -p "links/4C/$uuid.dSYM$at"
    rmdir "links/4C/$uuid.dSYM$at"
    ln -s "$work/mine.dSYM$at" "links/4C/$uuid.dSYM$at"
    says "gc: a link in place of the bundle$at" 0 "$uuid" $M store gc --older 1 --yes links
    diff -r "$dsym" mine.dSYM >said && [ -z "$(find links -mindepth 2)" ]
    check "gc: what a link leads to stays, the link goes: $at" said
done
# What cannot go stops what goes after it: the symbols go last, so that the image is still listed, and goes with the next gc. A
# folder with something in it stands in the place of one file after the other.
for entry in .plist .bcsymbolmap .symmap .binary/sub .dSYM/$dwarf/sub; do
    rm -rf stuck
    $M store add stuck "$dsym" "$bin/demo" >said 2>&1
    cp -R stuck/4C whole
    rm -rf "stuck/4C/$uuid$entry"
    mkdir -p "stuck/4C/$uuid$entry/x"
    find stuck -exec touch -d "9 days ago" {} +
    says "gc: $entry cannot go" 1 "Is a directory" $M store gc --older 1 --yes stuck
    case $entry in .dSYM*) stays= ;; .binary*) stays=.dSYM/$dwarf/demo ;; *) stays=".dSYM/$dwarf/demo .binary/demo" ;; esac
    for one in $stays; do
        cmp -s "whole/$uuid$one" "stuck/4C/$uuid$one"
        check "gc: $entry cannot go, and $one stays" said
    done
    grep -q "4C/$uuid$entry: " said
    check "gc: $entry cannot go: it is named" said
    $M store list stuck 2>/dev/null | grep -q $uuid
    check "gc: $entry cannot go, and the image is listed still"
    rm -rf "stuck/4C/$uuid$entry"
    find stuck -exec touch -d "9 days ago" {} +
    says "gc: $entry is out of the way" 0 "$uuid" $M store gc --older 1 --yes stuck
    [ -z "$(find stuck -mindepth 2)" ] && [ -z "$($M store list stuck)" ]
    check "gc: $entry is out of the way, and all goes"
    rm -rf whole
done
cp -R st strange
mkdir -p strange/5A/kept
: >strange/5B
: >strange/5a
find strange -exec touch -d "9 days ago" {} +
says "gc: a file in the place of a folder, and a folder of somebody else" 0 "$uuid" $M store gc --older 1 --yes strange
[ -f strange/5B ] && [ -d strange/5A/kept ] && [ ! -e strange/4C ] && [ "$(wc -l <said)" -le 3 ]
check "gc: they stay, and no word about them" said
mkdir -p misplaced/00
cp "st/4C/$uuid.symmap" misplaced/00/
[ -z "$($M store list misplaced)" ]
check "a file that does not lie in its UUID's place is not the store's: gc would not find it"
says "usage: gc" 2 "pass --older, --newest or both" $M store gc st
for bad in 0 -1 x 1000000; do
    says "usage: gc --older $bad" 2 "is no number from 1 to 100000" $M store gc --older=$bad st
done

# ---- verify ----

says "verify" 0 "1 images are good, 0 are not" $M store verify st
cp -R st broken
printf 'x' | dd of="broken/4C/$uuid.symmap" bs=1 seek=700 conv=notrunc 2>/dev/null
says "verify: a damaged map" 1 "broken/4C/$uuid.symmap: the map's checksum" $M store verify broken
head -c 9000 "$dsym/$dwarf/demo" >"broken/4C/$uuid.dSYM/$dwarf/demo"
says "verify: a file that is cut short" 1 "broken/4C/$uuid.dSYM/$dwarf/demo: a section runs past" $M store verify broken
grep -q "0 images are good, 1 are not; machsym store add --force writes them anew" said
check "verify: what to do"
cp "$bin/inline-arm64-d5-22" "broken/4C/$uuid.dSYM/$dwarf/demo"
says "verify: another UUID" 1 "UUID" $M store verify broken
rm -r "broken/4C/$uuid.dSYM/$dwarf/demo" "broken/4C/$uuid.symmap" "broken/4C/$uuid.binary"
says "verify: incomplete" 1 "broken/4C/$uuid.dSYM: incomplete: a run that added it was killed" $M store verify broken
says "list: incomplete" 0 "incomplete" $M store list broken
touch -d "2 days ago" broken/4C/$uuid.dSYM
says "gc: incomplete" 0 "incomplete" $M store gc --yes --older 1000 broken
[ -z "$(find broken -mindepth 2)" ]
check "gc: nothing is left of it"
says "verify --json" 0 '"good":true,"why":null' $M store verify --json st

# ---- Permission ----

if need_nobody "gc without permission"; then
    cp "$M" machsym
    chmod -R a-w st
    says "gc without permission" 1 "Permission denied" $nobody ./machsym store gc --older 1 --yes st
    [ -s "st/4C/$uuid.symmap" ]
    check "gc without permission: all is there"
    chmod -R u+w st
fi
# Of a folder what says no more than a dSYM beside it is left out; a library without a dSYM is kept, as a file without its binary is.
mkdir -p mixed/inner
cp -R "$dsym" mixed/demo.dSYM
cp "$bin/demo" "$bin/zoo-i386-old.o" mixed/
cp "$bin/exports-arm64-chained-strip.dylib" mixed/inner/
says "a folder of a dSYM, its program and another library" 0 "exports-arm64-chained-strip.dylib, arm64" $M store add mixed.st mixed
$M store list mixed.st >got
[ "$(wc -l <got)" -eq 2 ] && grep -q ' both  *demo' got && grep -q 'binary+map  *exports-arm64-chained-strip.dylib' got
check "has the dSYM, and the library that has none" got

end

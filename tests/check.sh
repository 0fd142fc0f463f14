#!/bin/bash
# machsym check: has every image its dSYM, whole and with lines? The truth is what each case did to an archive that is well: demo.app
# with its dSYM, as Xcode lays out an .xcarchive.
. tests/checks
machsym=${MACHSYM:-build/machsym}
bin=tests/fixtures/bin
dwarf=dSYMs/demo.app.dSYM/Contents/Resources/DWARF/demo
program=Products/Applications/demo.app/demo
uuid=4C4C44B5-5555-3144-A1BA-79CA685DEC58

archive() { # an archive that is well, in $work/a
    rm -rf "$work/a"
    mkdir -p "$work/a/Products/Applications/demo.app" "$work/a/dSYMs"
    cp $bin/demo "$work/a/$program"
    cp -R $bin/demo.app.dSYM "$work/a/dSYMs/"
}

told() { # WHAT STATUS FIRST-LINE [OPTION...]: what check says of the archive
    what=$1 status=$2 line=$3
    shift 3
    $machsym check "$@" "$work/a" >"$work/out" 2>"$work/err"
    got=$?
    [ $got -eq "$status" ] && head -n 1 "$work/out" | grep -qE -e "$line"
    check "$what: status $got, not $status, or no $line" "$work/out"
}

archive
told "all is well" 0 "^ok +demo \(arm64\)  $uuid$"
[ "$(tail -n 1 "$work/out")" = '1 image: 1 ok, 0 not' ]
check "the last line counts"
told "JSON" 0 "^\{\"schema\":\"check/1\",\"uuid\":\"$uuid\",\"arch\":\"arm64\",\"name\":\"demo\",\"state\":\"ok\",\"why\":null," --json

rm -r "$work/a/dSYMs/demo.app.dSYM"
told "no dSYM" 1 "^no dSYM +demo \(arm64\)  $uuid: no dSYM has this UUID$"
told "a dSYM that lies elsewhere" 0 "^ok +demo" -d $bin/demo.app.dSYM
told "left out by name" 0 "^0 images: 0 ok, 0 not; 1 left out by --except$" --except 'dem*'
told "not left out by another name" 1 "^no dSYM" --except 'em*' --except demos --except dem

mkdir -p "$work/a/dSYMs/demo.app.dSYM/Contents/Resources/DWARF"
cp $bin/inline-arm64-d5-22.dwarf "$work/a/$dwarf" 2>/dev/null || cp $bin/inline-arm64-d4-14.dwarf "$work/a/$dwarf"
$machsym check "$work/a" >"$work/out" 2>&1
[ $? -eq 1 ] && grep -qE "^no dSYM +demo .*$uuid: no dSYM has this UUID; the one of this name is of another build, UUID [-0-9A-F]{36}$" "$work/out"
check "a dSYM of another build" "$work/out"

# A build for another processor is no other build of this one.
cp $bin/inline-x86_64-d4-22.dwarf "$work/a/$dwarf"
$machsym check --except 'none*' "$work/a" >"$work/out" 2>&1
[ $? -eq 1 ] && grep -qE "^no dSYM +demo \(arm64\)  $uuid: no dSYM has this UUID$" "$work/out"
check "a dSYM for another processor" "$work/out"

archive
mkdir -p "$work/a/dSYMs/a.dSYM/Contents/Resources/DWARF"
cp $bin/demo "$work/a/dSYMs/a.dSYM/Contents/Resources/DWARF/demo"
told "a program in the place of debug info, and the dSYM after it" 0 "^ok +demo"

archive
cp $bin/demo "$work/a/$dwarf"
told "a program in the place of debug info" 1 "^no dSYM +demo .*: a program lies in the place of its debug info$"

archive
head -c 7000 $bin/demo.app.dSYM/Contents/Resources/DWARF/demo >"$work/a/$dwarf"
told "half a dSYM" 1 "^damaged +demo .*: demo: .*offset [0-9]+\)$"
archive
head -c 300 $bin/demo >"$work/a/$program"
$machsym check "$work/a" >"$work/out" 2>&1
[ $? -eq 1 ]
check "a program cut short" "$work/out"

archive
: >"$work/a/$dwarf"
told "an empty dSYM" 1 "^no dSYM +demo"

if need "dSYMs without debug info, encrypted programs, zips" python3; then
    archive
    # every __debug_* section gets another name: a dSYM with symbols alone
    python3 - "$work/a/$dwarf" <<'END'
import sys
data = open(sys.argv[1], 'rb').read().replace(b'__debug_', b'__nothi_')
open(sys.argv[1], 'wb').write(data)
END
    told "a dSYM without debug info" 1 "^no lines +demo .*: its dSYM has no debug info with functions and lines$"
    archive
    # LC_ENCRYPTION_INFO_64 stands in the room after the load commands
    python3 - "$work/a/$program" <<'END'
import struct, sys
data = bytearray(open(sys.argv[1], 'rb').read())
count, size = struct.unpack_from('<II', data, 16)
end = 32 + size
assert not any(data[end:end + 24]), 'no room after the load commands'
struct.pack_into('<IIIIII', data, end, 0x2c, 24, 0x4000, 0x1000, 1, 0)
struct.pack_into('<II', data, 16, count + 1, size + 24)
open(sys.argv[1], 'wb').write(data)
END
    told "a program that an app store encrypted" 1 "^encrypted +demo .*: an app store encrypted the program"
    archive
    (cd "$work" && python3 -m zipfile -c a.ipa a/Products a/dSYMs)
    rm -rf "$work/a" && mv "$work/a.ipa" "$work/a"
    told "an archive in a zip" 0 "^ok +demo"
    head -c 3000 "$work/a" >"$work/half" && mv "$work/half" "$work/a"
    $machsym check "$work/a" >"$work/out" 2>&1
    [ $? -eq 1 ]
    check "half a zip" "$work/out"
    rm "$work/a"
fi

# Names that a bitcode build hid, and the map of them by the UUID of the dSYM.
rm -rf "$work/a" && mkdir "$work/a"
cp tests/real/hidden/Sentry.dwarf "$work/a/"
told "hidden names" 1 "^hidden names +Sentry.dwarf \(arm64\)  .*: a bitcode build hid its names, and no .bcsymbolmap of it is here$"
cp tests/real/hidden/*.bcsymbolmap "$work/a/2D10C42F-591D-3265-B147-78BA0868073F.bcsymbolmap"
told "hidden names, and the map of them" 0 "^ok +Sentry.dwarf"

rm -rf "$work/a" && mkdir "$work/a"
$machsym check "$work/a" >"$work/out" 2>"$work/err"
[ $? -eq 1 ] && [ ! -s "$work/out" ] && grep -q 'no program and no dSYM is in it' "$work/err"
check "an empty folder" "$work/err"
$machsym check "$work/none" >"$work/out" 2>"$work/err"
[ $? -eq 1 ] && grep -q 'none: .*No such file' "$work/err"
check "no such path" "$work/err"
cp -R $bin/demo.app.dSYM "$work/a/"
told "a dSYM alone" 0 "^ok +demo \(arm64\)"
if [ -e /dev/full ]; then
    $machsym check "$work/a" >/dev/full 2>"$work/err"
    [ $? -eq 1 ]
    check "a full disk" "$work/err"
fi
end

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

"$work/names/symbolicatecrash" -d $program -o "$work/got" $reports/demo.crash >"$work/out" 2>"$work/err"
$machsym crash -q -d $program $reports/demo.crash | cmp -s - "$work/got"
check "symbolicatecrash -d -o" "$work/err"
DEVELOPER_DIR=/x "$work/names/symbolicatecrash" -A -v $reports/demo.crash $program >"$work/got" 2>"$work/err"
[ $? -eq 0 ] && $machsym crash -q -d $program $reports/demo.crash | cmp -s - "$work/got" &&
    grep -q 'DEVELOPER_DIR is not used' "$work/err" && grep -q '5 of 6 frames named' "$work/err"
check "symbolicatecrash -A -v, the dSYM after the report" "$work/err"
"$work/names/symbolicatecrash" $reports/none.crash >"$work/got" 2>"$work/err"
[ $? -eq 1 ] && grep -q 'none.crash: No such file' "$work/err"
check "symbolicatecrash: no such report" "$work/err"

for option in --lookup=0x100 --debug-info --name=main --debug-line; do
    "$work/names/dwarfdump" $option $bin/demo >"$work/got" 2>"$work/err"
    [ $? -eq 2 ] && [ ! -s "$work/got" ] && grep -q 'is not what .* does: .*machsym' "$work/err"
    check "dwarfdump $option says what to use" "$work/err"
done
"$work/names/dwarfdump" --uuid $bin/none >"$work/got" 2>"$work/err"
[ $? -eq 1 ] && grep -q 'none: .*No such file' "$work/err"
check "dwarfdump: no such file" "$work/err"

truth=llvm-dwarfdump-22
if ! need "UUIDs against llvm-dwarfdump" $truth; then
    end
    exit
fi
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
if [ -d ../shared/corpus ]; then
    find ../shared/corpus \( -name '*.dSYM' -o -path '*/Resources/DWARF/*' -o -name '*.dylib' \) ! -name '*.plist' | sort >"$work/list"
    mapfile -t files <"$work/list"
    uuids "real files" "${files[@]}"
else
    skip "UUIDs of real files, ../shared/corpus is missing"
fi
end

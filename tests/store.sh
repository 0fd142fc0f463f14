#!/bin/bash
# Where symbols are found: damaged index files are not believed, files that only look like helper files are
# passed by.
dsym=tests/fixtures/bin/demo.app.dSYM
report=tests/fixtures/reports/demo.crash
M=${MACHSYM:-build/machsym}
. tests/checks
export XDG_CACHE_HOME=$work/cache

ok() { # NAME STATUS
    count "$2" || echo "store: $1 failed: $(head -c 300 "$work/err")"
}

run() { # ARGUMENT...
    timeout 10 "$M" crash -q "$@" "$report" >"$work/out" 2>"$work/err"
}

# ---- Index files ----

mkdir "$work/symbols"
cp -R $dsym "$work/symbols/"
find "$work/symbols" -exec touch -d 2020-01-01 {} +
$M crash -q --no-cache -d $dsym $report >"$work/want"
run -d "$work/symbols" && cmp -s "$work/want" "$work/out"
ok "a folder" $?
index=$(echo "$work"/cache/machsym/*.index)
cp "$index" "$work/index"
size=$(wc -c <"$work/index")
[ "$size" -gt 100 ] && run -d "$work/symbols" && cmp -s "$work/want" "$work/out" && cmp -s "$index" "$work/index"
ok "its index" $?

damaged() { # NAME: the index is damaged; the run is as without it, and the index whole again
    run -d "$work/symbols" && cmp -s "$work/want" "$work/out" && cmp -s "$index" "$work/index"
    ok "an index file that $1" $?
}

for ((at = 0; at < size; at += 1 + size / 30)); do
    for byte in '\0' '\n' '9'; do
        cp "$work/index" "$index"
        printf "$byte" | dd of="$index" bs=1 seek=$at conv=notrunc 2>/dev/null
        damaged "has $byte at $at"
    done
    head -c $at "$work/index" >"$index"
    damaged "ends at $at"
done
if command -v python3 >/dev/null; then
    cp "$work/index" "$index"
    PYTHONDONTWRITEBYTECODE=1 python3 tests/members/index.py "$M" "$index" $report "$work/symbols" "$work/want" >"$work/err" 2>&1
    ok "index files of senseless lines with the right hash" $? || tail -n 3 "$work/err"
else
    skip "index files of senseless lines: it needs python3"
fi
rm "$index"
mkfifo "$index"
run -d "$work/symbols" && cmp -s "$work/want" "$work/out"
ok "an index file that is a pipe" $?
rm "$index"
ln -s /dev/zero "$index"
run -d "$work/symbols" && cmp -s "$work/want" "$work/out"
ok "an index file that never ends" $?
rm -f "$index"

# Where it lies, as the XDG Base Directory Specification has it: a relative path is ignored.
while IFS='|' read -r name xdg home at; do
    rm -rf "$work/xdg" "$work/home"
    mkdir "$work/xdg" "$work/home"
    (
        unset XDG_CACHE_HOME HOME
        [ "$xdg" = - ] || export XDG_CACHE_HOME="$xdg"
        [ "$home" = - ] || export HOME="$home"
        timeout 10 "$M" crash -q -d "$work/symbols" "$report" >"$work/out" 2>"$work/err"
    ) && cmp -s "$work/want" "$work/out"
    ok "index files: $name: the answer" $?
    got=$(find "$work/xdg" "$work/home" . -maxdepth 3 -name '*.index' | sed "s|^$work/||; s|/[^/]*$||")
    [ "$got" = "$at" ]
    ok "index files: $name: they are in ${at:-no folder}, not ${got:-in none}" $?
done <<END
both|$work/xdg|$work/home|xdg/machsym
the cache alone|$work/xdg|-|xdg/machsym
the home alone|-|$work/home|home/.cache/machsym
an empty cache||$work/home|home/.cache/machsym
a cache beside the current folder|xdg|$work/home|home/.cache/machsym
a cache beside the current folder and no home|xdg|-|
a home beside the current folder|-|home|
neither|-|-|
END
# Folders by the hundred are found in it as they are without it.
for ((n = 0; n < 300; n++)); do mkdir -p "$work/hundreds/folder$n"; done
cp -R $dsym "$work/hundreds/folder299/"
find "$work/hundreds" -exec touch -d 2020-01-01 {} +
for how in new known; do
    XDG_CACHE_HOME=$work/xdg run -d "$work/hundreds" && cmp -s "$work/want" "$work/out"
    ok "300 folders, $how" $?
done
[ "$(cat "$work"/xdg/machsym/*.index | tr '\0' '\n' | grep -c '^d folder')" -eq 300 ]
ok "300 folders in the index" $?

# ---- --symbols DIR --uuid UUID ----

# A folder that has the dSYM and its binary, a map of one policy, and another dSYM.
uuid=4C4C44B5-5555-3144-A1BA-79CA685DEC58
addresses="0x100000aec 0x100000b00 0x1000009b6"
mkdir -p "$work/found/deep" "$work/onlymap"
cp -R $dsym tests/fixtures/bin/inline-arm64-d5-22.dSYM tests/fixtures/bin/demo "$work/found/deep/"
$M map build --no-progress --lines=dwarf -o "$work/onlymap/d.symmap" $dsym >/dev/null 2>&1

equal() { # NAME FILE FILE
    cmp -s "$2" "$3"
    ok "$1" $?
}

for lines in atos dwarf stmt; do
    $M atos -i --lines=$lines -o $dsym -o tests/fixtures/bin/demo $addresses >"$work/want.atos"
    $M atos -i --lines=$lines --symbols "$work/found" --uuid $uuid $addresses >"$work/got" 2>"$work/err"
    equal "atos --symbols, $lines" "$work/want.atos" "$work/got"
done
$M atos -i --lines=dwarf -o $dsym $addresses >"$work/want.atos"
$M atos -i --symbols "$work/onlymap" --uuid $uuid $addresses >"$work/got" 2>"$work/err"
equal "atos --symbols, a map of any policy" "$work/want.atos" "$work/got"
$M atos --explain --symbols "$work/onlymap" --symbols "$work/found" --lines=dwarf --uuid $uuid 0x100000aec 2>&1 | grep -q 'map'
ok "atos --symbols: the map answers where both are" $?
$M atos --symbols "$work/onlymap" --lines=stmt --uuid $uuid 0x100000aec >"$work/got" 2>"$work/err"
[ $? -eq 1 ] && grep -q 'built for --lines=dwarf' "$work/err"
ok "atos --symbols: only a map of another policy" $?
printf 'x' | dd of="$work/onlymap/d.symmap" bs=1 seek=700 conv=notrunc 2>/dev/null
$M atos -i --lines=dwarf -o $dsym -o tests/fixtures/bin/demo $addresses >"$work/want.atos"
echo $addresses | $M atos -i --symbols "$work/onlymap" --symbols "$work/found" --lines=dwarf --uuid $uuid >"$work/got" 2>"$work/err"
equal "atos --symbols: a damaged map hides no dSYM" "$work/want.atos" "$work/got"
grep -q "d.symmap: damaged: .*taken in its place: $work/found" "$work/err"
ok "atos --symbols: the damaged map is named" $?
$M map build --no-progress -o "$work/want.symmap" --pair tests/fixtures/bin/demo $dsym >/dev/null 2>&1
$M map build --no-progress -o "$work/got.symmap" --symbols "$work/found" --uuid $uuid >/dev/null 2>"$work/err"
equal "map build --symbols: dSYM and binary" "$work/want.symmap" "$work/got.symmap"
$M info --quick --symbols "$work/found" --uuid $uuid 2>"$work/err" | grep -c "$uuid" >"$work/got"
[ "$(cat "$work/got")" -eq 2 ]
ok "info --symbols: dSYM and binary" $?
run --symbols "$work/found" && cmp -s "$work/want" "$work/out"
ok "crash --symbols is -d" $?
for wrong in "atos --symbols $work/found 0x1" "info --symbols $work/found" "map build --symbols $work/found" \
    "atos --symbols $work/found --uuid $uuid -o $dsym 0x1" "info --symbols $work/found --uuid $uuid $dsym" \
    "map build --symbols $work/found --uuid $uuid $dsym"; do
    # shellcheck disable=SC2086
    $M $wrong >"$work/got" 2>"$work/err"
    [ $? -eq 2 ] && grep -q -e '--symbols needs --uuid\|pass one of them' "$work/err"
    ok "usage: $wrong" $?
done
for wrong in atos info "map build"; do
    # shellcheck disable=SC2086
    $M $wrong --symbols "$work/found" --uuid 00000000-0000-0000-0000-000000000001 >"$work/got" 2>"$work/err"
    [ $? -eq 1 ] && grep -q "$work/found: no file has UUID 00000000-0000-0000-0000-000000000001" "$work/err"
    ok "no such UUID: $wrong" $?
    # shellcheck disable=SC2086
    $M $wrong --symbols "$work/nowhere" --uuid $uuid >"$work/got" 2>"$work/err"
    [ $? -eq 1 ] && grep -q "nowhere: No such file" "$work/err"
    ok "no such folder: $wrong" $?
done

# A store that map build made is not looked through: an index of it is not written.
rm -rf "$work/cache/machsym"
$M map build --no-progress --store "$work/kept" --lines=dwarf $dsym >/dev/null 2>&1
$M atos -i --lines=dwarf -o $dsym $addresses >"$work/want.atos"
$M atos -i --symbols "$work/kept" --uuid $uuid $addresses >"$work/got" 2>"$work/err"
equal "atos --symbols, a store" "$work/want.atos" "$work/got"
[ ! -e "$work/cache/machsym" ]
ok "atos --symbols, a store: its place tells all" $?

# ---- Many files ----

# A folder of 100,000 files and a dSYM is looked through in seconds, and by its index too; of 20,000 where SAMPLE is not 1.
many=100000
[ "${SAMPLE:-1}" -eq 1 ] || many=20000
mkdir "$work/many"
(cd "$work/many" && seq -f file%.0f $many | xargs touch -d 2020-01-01)
cp -R $dsym "$work/many/"
find "$work/many/demo.app.dSYM" -exec touch -d 2020-01-01 {} +
touch -d 2020-01-01 "$work/many"
for way in anew "by its index"; do
    run -d "$work/many" && cmp -s "$work/want" "$work/out"
    ok "$many files, $way" $?
done
rm -rf "$work/many"

# ---- Maps of bitcode builds ----

uuid=$($M info --quick $dsym | sed -n 's/.*\(4C4C44[0-9A-F-]*\).*/\1/p' | head -n 1)
mkdir "$work/maps"
for kind in fifo zero folder; do
    rm -rf "$work/maps"/* "$work/symbols/demo.app.dSYM/Contents/Resources/$uuid.plist"
    for file in "$work/maps/$uuid.bcsymbolmap" "$work/symbols/demo.app.dSYM/Contents/Resources/$uuid.plist"; do
        case $kind in
        fifo) mkfifo "$file" ;;
        zero) ln -s /dev/zero "$file" ;;
        folder) mkdir "$file" ;;
        esac
    done
    run --no-cache -d "$work/symbols" --bcsymbolmap "$work/maps" && cmp -s "$work/want" "$work/out"
    ok "a map and a plist that are a $kind" $?
done

end

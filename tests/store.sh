#!/bin/bash
# Where symbols are found: damaged index files are not believed, helper files that are none are
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
rm "$index"
mkfifo "$index"
run -d "$work/symbols" && cmp -s "$work/want" "$work/out"
ok "an index file that is a pipe" $?
rm "$index"
ln -s /dev/zero "$index"
run -d "$work/symbols" && cmp -s "$work/want" "$work/out"
ok "an index file that never ends" $?
rm -f "$index"

# ---- Many files ----

# A folder of 100,000 files and a dSYM is looked through in seconds, and by its index too.
mkdir "$work/many"
(cd "$work/many" && seq -f file%.0f 100000 | xargs touch -d 2020-01-01)
cp -R $dsym "$work/many/"
find "$work/many/demo.app.dSYM" -exec touch -d 2020-01-01 {} +
touch -d 2020-01-01 "$work/many"
for way in anew "by its index"; do
    run -d "$work/many" && cmp -s "$work/want" "$work/out"
    ok "100,000 files, $way" $?
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

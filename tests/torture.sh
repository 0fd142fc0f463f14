#!/bin/bash
# Malformed files: the fixtures and those of ../shared/corpus, the ones named *invalid* first, cut short and with bits
# flipped, through the library in process (tests/torture.c) and through every subcommand of the tool (tests/torture_tool.c),
# under AddressSanitizer and UndefinedBehaviorSanitizer, each variant with a limit of processor time.
#   make torture                short: minutes of one core; a third of it where SAMPLE is not 1; deterministic
#   make torture TORTURE=full   64 cuts and 1,000 flips of every file; SECONDS_LEFT=280 ends it after this many
#                               seconds, and FROM=N goes on at file N
# A variant costs about 1 ms for the library and the 30 command lines together, and 0.14 s more for each MB: the 499 files
# (40 MB) of the corpus take nearly two hours of one core; all but the ten largest take fifty minutes.
tests=${B:-build/fuzzed}/tests
how=${1:-short}
corpus=../shared/corpus
. tests/checks

if [ ! -x "$tests/torture_tool" ]; then
    skip "it needs a build with AddressSanitizer: make torture"
    end
    exit
fi
if ! grep -q __asan_init "$tests/torture" || ! grep -q __asan_init "$tests/torture_tool"; then
    skip "$tests was built without AddressSanitizer, which finds what this is for: make torture"
    end
    exit
fi
for file in demo.app.dSYM cross-arm64-d5-22.dwarf zoo-arm64-chained-relative-strip; do
    "$B/machsym" map build --no-progress -o "$work/${file%%.*}.symmap" "tests/fixtures/bin/$file"
    check "a map of $file"
done
"$B/machsym" map export --format=bugly -o "$work/demo.txt" "$work/demo.symmap"
check "a table of the demo"
# Shared caches of one file; tests/cache/build.py needs python3.
if command -v python3 >/dev/null; then
    python3 tests/cache/build.py tests/fixtures/bin/cache "$work/caches" ios17 ios8
    check "caches"
    for name in ios17 ios8; do
        mv "$work/caches/$name/"dyld_shared_cache_* "$work/$name.cache"
    done
    rm -r "$work/caches"
else
    skip "shared caches: it needs python3"
fi

# The files: reports and maps have few of their own bytes that matter, so that all of them are tried.
files=("$work"/*)
while IFS= read -r -d '' file; do
    files+=("$file")
done < <(
    if [ "$how" = full ]; then
        find -L "$corpus" -type f -iname '*invalid*' -print0 2>/dev/null | sort -z
        find -L "$corpus" -type f ! -iname '*invalid*' -print0 2>/dev/null | sort -z
    fi
    find tests/fixtures/bin tests/fixtures/reports -type f -print0 2>/dev/null | sort -z
)
[ -d "$corpus" ] || [ "$how" != full ] || skip "$corpus is not there; the fixtures alone"

run() { # PROGRAM ARGUMENTS... FILES: adds its counts, prints what it says of failures
    "$@" >"$work/said" 2>&1
    local status=$?
    grep -qx '0 passed, 0 failed, 0 skipped' "$work/said" || # no file that it takes
        add $status "$work/said" "$1" || cat "$work/said"
}

if [ "$how" != full ]; then
    cuts=8 flips=24
    [ "${SAMPLE:-1}" -eq 1 ] || cuts=3 flips=8
    run "$tests/torture" --cuts=$((2 * cuts)) --flips=$((2 * flips)) "${files[@]}"
    run "$tests/torture_tool" --map="$work/demo.symmap" --cuts=$cuts --flips=$flips "${files[@]}"
else
    at=${FROM:-1}
    while [ "$at" -le ${#files[@]} ] && [ "$SECONDS" -lt "${SECONDS_LEFT:-1000000}" ]; do
        run "$tests/torture" --cuts=64 --flips=1000 "${files[at - 1]}"
        run "$tests/torture_tool" --map="$work/demo.symmap" --cuts=64 --flips=1000 "${files[at - 1]}"
        at=$((at + 1))
    done
    echo "next: FROM=$at of ${#files[@]}"
fi
end

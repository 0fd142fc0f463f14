#!/bin/sh
# Lines of the people policy, held against the debug info as llvm-dwarfdump tells it (tests/people.py): which rows a line
# near by may come from, and what share of calls has a line. Fixtures in C, C++ and Objective-C, one by hand, real files.
machsym=${MACHSYM:-build/machsym}
corpus=${CORPUS:-../shared/corpus}
. tests/checks
need "people: lines near by" llvm-dwarfdump-22 python3 || {
    end
    exit
}
export PYTHONDONTWRITEBYTECODE=1

hold() # DSYM [BINARY]: that no line near by is wrong
{
    python3 tests/people.py check "$machsym" llvm-dwarfdump-22 "$@" >"$work/out"
    check "lines of $1" "$work/out"
}

# How many of 1000 calls in functions that somebody wrote have no line, under a policy: in the innermost frame, in any.
shares() # POLICY
{
    sed -n "s/^$1: \([0-9]*\) calls.* a line \([0-9]*\) .*at all \([0-9]*\) .*/\1 \2 \3/p" "$work/out" |
        awk '{ printf "%d %d\n", 1000 * $2 / $1, 1000 * $3 / $1 }'
}

seen=0
for file in tests/fixtures/bin/*.dwarf tests/real/*.dwarf; do
    case $file in */*-fat*.dwarf | */deep-*) continue ;; esac # of several architectures, with more calls than are told
    hold "$file"
    seen=$((seen + $(sed -n 's/.*, \([0-9]*\) such frames.*/\1/p' "$work/out")))
done
[ "$seen" -ge 150 ]
check "frames with a line near by: $seen"

hold tests/fixtures/bin/hand-near.dwarf
got="$(shares dwarf), $(shares people)"
[ "$got" = "550 500, 0 0" ]
check "shares of the fixture: $got"

# A Swift framework. Measured of four, 53,330 calls: 687 and 340 of 1000 have no line as they are, none under people.
swift=$corpus/npm-expo-camera-57.0.6/prebuilds/output/release/xcframeworks/ExpoCamera/ExpoCamera.xcframework/ios-arm64
if [ -d "$swift" ]; then
    hold "$swift/dSYMs/ExpoCamera.framework.dSYM/Contents/Resources/DWARF/ExpoCamera" "$swift/ExpoCamera.framework/ExpoCamera"
    got="$(shares dwarf), $(shares people)"
    [ "$got" = "706 401, 0 0" ]
    check "shares of a Swift framework: $got"
else
    skip "a Swift framework, ../shared/corpus is missing"
fi

end

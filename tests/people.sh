#!/bin/sh
# Lines of the people policy, held against the debug info as llvm-dwarfdump tells it (tests/people.py): which rows a line
# near by may come from, and what share of calls has a line. Fixtures in C, C++ and Objective-C, one by hand, real files.
machsym=${MACHSYM:-build/machsym}
corpus=${CORPUS:-../shared/corpus}
. tests/checks

# ---- What takes it by itself ----

# The second frame's return address is the first byte after its call, which is the last one of an inlined call.
near=tests/fixtures/bin/hand-near.dwarf
uuid=$("$machsym" info --json $near | sed -n 's/.*"uuid":"\([0-9A-F-]*\)".*/\1/p' | head -1)
cat >"$work/report.crash" <<END
Incident Identifier: 00000000-0000-0000-0000-000000000000
Process:             App [1]
Code Type:           X86-64 (Native)
Report Version:      104
Exception Type:  EXC_BREAKPOINT (SIGTRAP)
Triggered by Thread:  0

Thread 0 Crashed:
0   hand-near                     0x0000000100001008 0x100000000 + 4104
1   hand-near                     0x0000000100001018 0x100000000 + 4120
2   hand-near                     0x000000010000104c 0x100000000 + 4172

Binary Images:
       0x100000000 -        0x100001fff hand-near x86_64  <$(echo "$uuid" | tr -d - | tr A-F a-f)> /hand-near
END

# The lines of a report, as "NAME:LINE".
named() # OPTION...
{
    "$machsym" crash -q --json -d "$1" --no-cache "$work/report.crash" >"$work/json"
    shift
    "$machsym" crash -q -d $near --no-cache "$@" "$work/report.crash" |
        sed -n 's/^[0-9]*  *hand-near  *0x[0-9a-f]* *\([a-z]*\)[^(]*(\([^)]*\)).*/\1 \2/p' | tr '\n' ',' >"$work/named"
    cat "$work/named"
}

literal="load <compiler-generated>:0,helper Bundle.swift:0,load Bundle.swift:0,helper Bundle.swift:0,thunk Bundle.swift:0,"
people="load Bundle.swift:12,helper Bundle.swift:42,load Bundle.swift:12,helper Bundle.swift:40,thunk Bundle.swift:0,"
[ "$(named $near)" = "$people" ]
check "crash takes lines near by" "$work/named"
[ "$(grep -o '"line_source":"near"' "$work/json" | wc -l)" -eq 4 ]
check "and marks them" "$work/json"
[ "$(named $near --lines=dwarf)" = "$literal" ]
check "crash --lines=dwarf is literal" "$work/named"
"$machsym" crash -q --apple -d $near --no-cache "$work/report.crash" >"$work/out"
! grep -q 'Bundle.swift:12\|Bundle.swift:4' "$work/out" && grep -q 'Bundle.swift:0' "$work/out"
check "crash --apple is literal" "$work/out"
"$machsym" atos -i -o $near 0x100001008 >"$work/out" && grep -q 'compiler-generated>:0' "$work/out"
check "atos is literal" "$work/out"
"$machsym" store add --keep=maps "$work/store" $near >"$work/out" 2>&1 && "$machsym" map info "$(find "$work/store" -name '*.symmap')" >"$work/out" 2>&1
grep -q people "$work/out"
check "maps of a store are for people" "$work/out"
"$machsym" crash -q --json -d "$work/store" --no-cache "$work/report.crash" >"$work/map.json"
[ "$(grep -o '"line_source":"near"' "$work/map.json" | wc -l)" -eq 4 ]
check "and have the marks" "$work/map.json"
"$machsym" map build --no-progress --lines=dwarf -o "$work/literal.symmap" $near >/dev/null 2>&1
"$machsym" crash --summary -d "$work/literal.symmap" --no-cache "$work/report.crash" >"$work/out" 2>&1
grep -q 'built with --lines=dwarf: some lines differ; build it with --lines=people' "$work/out"
check "a literal map answers by its own policy, which is reported" "$work/out"
"$machsym" atos --explain --lines=people -o $near 0x100001008 0x10000101c >"$work/out"
grep -q 'line from near: of the nearest code before, 4 bytes away$' "$work/out" &&
    grep -q 'line from near: of the call, from code 4 bytes before$' "$work/out"
check "--explain tells how near" "$work/out"

# ---- Against the debug info ----

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

# A Swift framework. Measured of four, 53,330 calls: 687 and 340 of 1000 have no line as they are, 0 under people.
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

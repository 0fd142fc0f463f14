#!/bin/sh
# Reports of crash services: each kind is recognised by what is in it, keeps what is not a name, and says what happened. The
# samples and where their shapes are documented: tests/fixtures/services/SOURCES. Names and lines of the demo's addresses are
# those that tests/crash.sh holds against llvm-symbolizer.
. tests/checks
samples=tests/fixtures/services
demo="-d tests/fixtures/bin/demo.app.dSYM"
export XDG_CACHE_HOME="$work/cache"

run() # ARGUMENT...: into $work/out and $work/err
{
    # shellcheck disable=SC2086
    "$MACHSYM" crash -q --no-cache $demo "$@" >"$work/out" 2>"$work/err"
    check "$*"
}

has() # TEXT...: each is in $work/out
{
    for text in "$@"; do
        grep -qF -e "$text" "$work/out"
        check "$text" || cat "$work/err"
    done
}

keeps() # SAMPLE: it comes out as it is but for names, and as it is once it has them
{
    run "$samples/$1"
    if command -v python3 >/dev/null; then
        python3 tests/only_names.py "$samples/$1" "$work/out" >"$work/log" 2>&1
        check "$1" "$work/log"
    else
        skip "$1 compared with what comes out: it needs python3"
    fi
    mv "$work/out" "$work/named"
    run "$work/named"
    same "$work/named" "$work/out" "$1: what has names stays"
}

# ---- MetricKit ----

keeps metrickit-all.json
run --signature $samples/metrickit-all.json
[ "$(cut -c19- "$work/out" | tr '\n' '@')" = "\
EXC_BAD_ACCESS: -[Player skip:] | -[Player play:] | main  $samples/metrickit-all.json#1@\
SIGABRT NSRangeException (index # beyond bounds [# .. #]): main  $samples/metrickit-all.json#2@\
hang: -[Player skip:] | -[Player play:] | main  $samples/metrickit-all.json#3@\
cpu usage: -[Player skip:] | -[Player play:] | main  $samples/metrickit-all.json#4@\
disk writes: -[Player skip:] | -[Player play:] | main  $samples/metrickit-all.json#5@\
slow launch: (no stack)  $samples/metrickit-all.json#6@" ]
check "each diagnostic is a report of its own" || cat "$work/out"
run --summary $samples/metrickit-all.json
has "org.example.demo 1.2 (34) on iPhone OS 17.4 (21E219)" "EXC_BAD_ACCESS (SIGSEGV): KERN_INVALID_ADDRESS at 0x0000000000000008" \
    "access through a null pointer" "crashed in thread 1, the app's own frames" \
    "org.example.demo 1.3 (34)" "uncaught exception NSRangeException: index 7 beyond bounds [0 .. 2]" \
    "the main thread did not answer for 20 sec" "more CPU time than the system allows: 100 sec of CPU time in 200 sec" \
    "more written to storage than the system allows: 2147 MB" "the launch took 30 sec"
run --to=text $samples/metrickit-all.json
has "Termination Reason:  Namespace SIGNAL, Code 11 Segmentation fault: 11" "Event:               hang" "Duration:            20 sec" \
    "            12  -[Player play:] + 52 (player.mm:14) (demo + 2684) [0x102a30a7c]" \
    "             7  __main_block_invoke + 36 (main.mm:14) (demo + 2556) [0x102a309fc]" "Thread 0 Attributed:"
run --json $samples/metrickit-all.json
[ "$(grep -c '"schema":"crash/1"' "$work/out")" -eq 6 ]
check "a line a diagnostic"
has '"part":4,"identifier":"org.example.demo"' '"event":"cpu usage","amount":"100 sec of CPU time in 200 sec"' '"samples":12,"depth":3,'
cat $samples/metrickit-all.json $samples/metrickit-metrics.json $samples/metrickit-all.json >"$work/payloads.json"
run --signature "$work/payloads.json"
[ "$(wc -l <"$work/out")" -eq 13 ] && [ "$(grep -c "EXC_BAD_ACCESS: -\[Player skip:\]" "$work/out")" -eq 2 ]
check "several payloads a file, a line each: every diagnostic is told" "$work/out"
run --summary $samples/metrickit-metrics.json
has "no stacks: MetricKit metrics" "ended in the foreground, bad access: 2" "ended in the background, memory resource limit: 4"
! grep -q ", normal" "$work/out"
check "what did not happen is not told"

# As documented for 27, in both ways that Swift could write the names of binaries: not verified by a device's payload.
keeps metrickit-27.json
run --summary $samples/metrickit-27.json
has "EXC_BAD_ACCESS (SIGSEGV): KERN_INVALID_ADDRESS" "MetricKit: memory limit" "demo                    -[Player play:]  player.mm:14"
[ "$(grep -c "demo                    main  main.mm:12" "$work/out")" -eq 2 ]
check "both diagnostics name their frames" "$work/out"
sed 's/"binaryUUID": "[^"]*"/"binaryUUID": "00000000-0000-0000-0000-000000000001"/' $samples/metrickit-27.json >"$work/other.json"
run --json "$work/other.json"
! grep -q '"name":"demo"' "$work/out"
check "a binary of another UUID has not that name" "$work/out"

# ---- KSCrash ----

# Writers that put each element of an array on a line of its own, without blanks ahead: after it comes another report
if command -v python3 >/dev/null; then
    for value in true false null -1.5e3 '[[1], [2]]' '["x"]' '{}' 7; do
        python3 -c 'import json, sys
report = json.load(open("tests/fixtures/reports/demo-kscrash.json"))
report["more"] = [json.loads(sys.argv[1])] * 3
print(json.dumps({"more": report.pop("more"), **report}, indent=0))' "$value" >"$work/lines.json"
        cat "$work/lines.json" tests/fixtures/reports/demo.crash >"$work/both"
        run --signature "$work/both"
        sed "s|$work/both.*||" "$work/out" >"$work/got"
        for one in lines.json demo.crash; do
            [ -f "$work/$one" ] || cp "tests/fixtures/reports/$one" "$work/$one"
            run --signature "$work/$one"
            sed "s|$work/$one||" "$work/out"
        done >"$work/want"
        same "$work/want" "$work/got" "elements on lines of their own: $value"
    done
else
    skip "elements on lines of their own: it needs python3"
fi
# As Apple's text a report has a line for each member that the JSON has, and none for what it lacks
header() # FILE: the lines ahead of the threads
{
    run --to=text "$1"
    sed '/^Thread 0/,$d' "$work/out" >"$work/header"
}
header tests/fixtures/reports/demo-kscrash.json
cat >"$work/want" <<'END'
Incident Identifier: 7A9B6C1E-0000-4000-8000-000000000001
Process:             demo
Identifier:          org.example.demo
OS Version:          17.4
Report Version:      104

Exception Type:  EXC_BREAKPOINT (SIGTRAP)

END
same "$work/want" "$work/header" "KSCrash's report as text: its header"
header tests/fixtures/reports/demo-sentry.json
cat >"$work/want" <<'END'
Incident Identifier: 7a9b6c1e000040008000000000000001
Report Version:      104

Exception Type:  EXC_BREAKPOINT
Termination Description: Exception 6, Code 1

END
same "$work/want" "$work/header" "Sentry's event as text: its header"
for sample in kscrash-1 kscrash-recrash kscrash-2 kscrash-recrash-only kscrash-several; do
    keeps $sample.json
done
run --summary $samples/kscrash-recrash.json
has "== $samples/kscrash-recrash.json#1" "demo 1.2 (34) on iOS 17.4 (21E219)" "EXC_CRASH (SIGABRT)" \
    "uncaught exception NSRangeException: index 7 beyond bounds [0 .. 2]" "crashed in thread 1, com.apple.main-thread" \
    "queue.hpp:6  (inlined)" "7 frames: 7 named with line" "EXC_BAD_ACCESS (SIGSEGV)" \
    "the crash reporter itself crashed; what it was writing is the report before this one" "3 frames: 3 named with line"
run --json $samples/kscrash-recrash.json
has '"date":"2026-03-14T08:26:53Z","incident":"7A9B6C1E-0000-4000-8000-000000000002"' '"kind":"application specific"'
sed 's/"crash":/"profile":/g' $samples/kscrash-2.json >"$work/profile.json"
run --summary "$work/profile.json"
has "no stacks: a report of KSCrash's without a crash"
run --signature $samples/kscrash-recrash.json
cut -d " " -f 3-7 "$work/out" >"$work/new"
run --signature $samples/kscrash-2.json
cut -d " " -f 3-7 "$work/out" >"$work/expected"
same "$work/expected" "$work/new" "the first crash, then that in the reporter, whichever holds the other"
run --summary $samples/kscrash-2.json
has "the crash reporter itself crashed; what it was writing is the report before this one" "3 frames: 3 named with line"
run --signature $samples/kscrash-recrash-only.json
has "SIGABRT NSRangeException (index # beyond bounds [# .. #]): -[Player skip:] | -[Player play:] | main  $samples/kscrash-recrash-only.json"
for sample in kscrash-recrash kscrash-2 kscrash-recrash-only kscrash-several; do
    sed 's/"report": {/"told": {/g' $samples/$sample.json >"$work/$sample.json"
    run --signature $samples/$sample.json
    sed "s,$samples,$work," "$work/out" >"$work/expected"
    run --signature "$work/$sample.json"
    same "$work/expected" "$work/out" "$sample: the list of images alone tells that it is a report, also of a crash without one"
done
# Version 1 of 2012 has the list of images and the error's parts in the crash; its frames are those of kscrash-2.json.
run --json $samples/kscrash-1.json
has '"date":"2026-03-14T08:26:53Z","incident":"7A9B6C1E-0000-4000-8000-000000000003"' '"signal":"SIGABRT"' '"identifier":"org.example.demo"'
run --summary $samples/kscrash-2.json
sed -n '2,13p' "$work/out" >"$work/expected"
run --summary $samples/kscrash-1.json
sed -n '1,12p' "$work/out" >"$work/new"
same "$work/expected" "$work/new" "version 1 says what version 2 says"
sed 's/"mach_code": 0/"mach_code": 1/; s/"mach_code_name": "0x00000000"/"mach_code_name": "KERN_INVALID_ADDRESS"/; s/EXC_CRASH/EXC_BAD_ACCESS/
    s/"nsexception/"none/; s/"mach_subcode": 0/"mach_subcode": 8/; s/SIGABRT/SIGSEGV/; s/"signal": 6/"signal": 11/; s/"type": "nsexception"/"type": "mach"/' \
    $samples/kscrash-1.json >"$work/first.json"
run --summary "$work/first.json"
has "EXC_BAD_ACCESS (SIGSEGV): KERN_INVALID_ADDRESS"
run --apple $samples/kscrash-1.json
has "Thread 1 crashed with ARM Thread State (64-bit):" "    pc: 0x0000000102a30aec  cpsr: 0x60000000"
sed 's/"x0": 0/"eax": 1/; s/"x1": 8/"ebx": 2/; s/"lr": [0-9]*/"eip": 4096/; s/"pc": [0-9]*/"edi": 9/; s/"sp": [0-9]*/"esp": 99/; s/"cpsr": [0-9]*/"eflags": 514/' \
    $samples/kscrash-1.json >"$work/i386.json"
run --apple "$work/i386.json"
has "Thread 1 crashed with X86 Thread State (32-bit):" "   eax: 0x00000001   ebx: 0x00000002   edi: 0x00000009   esp: 0x00000063" "eflags: 0x00000202   eip: 0x00001000"
# What the states of the other processors are called: mach/arm and mach/i386 thread_status.h.
for state in "r0 ARM Thread State (32-bit):" "rax X86 Thread State (64-bit):" "eax X86 Thread State (32-bit):" "x0 ARM Thread State (64-bit):" "q0 Thread State:"; do
    sed "s/\"x0\": 0/\"${state%% *}\": 1/" $samples/kscrash-1.json >"$work/state.json"
    run --apple "$work/state.json"
    has "Thread 1 crashed with ${state#* }"
done
run --signature $samples/kscrash-several.json
has "deadlock: -[Player play:] | main  $samples/kscrash-several.json#2"

# ---- Node ----

# As Node 20 writes it; what is of a Mac in it is by hand. It has no place of an image, so nothing can be looked up.
run $samples/node.json
same $samples/node.json "$work/out" "Node's report stays as it is"
run --summary $samples/node.json
has "node v20.20.2 on Darwin (23.4.0)" "uncaught exception TypeError: boom" "at skip (/Users/alice/app/player.js:19:11)" \
    "node                    node::report::GetReport(v8::FunctionCallbackInfo<v8::Value> const&)" "the report lists no images"
run --json $samples/node.json
has '"process":"node"' '"pid":412' '"date":"2026-03-14T08:26:53Z"'
run --signature $samples/node.json
has "SIGABRT TypeError (boom): node::GetNodeReport | node::report::GetReport | v8::internal::FunctionCallbackArguments::Call"
sed 's/TypeError: boom/Error [ERR_SYNTHETIC]: JavaScript Callstack/; s/102a3/112a3/' $samples/node.json >"$work/node.json"
run --signature "$work/node.json"
has "exception, Exception: node::GetNodeReport | node::report::GetReport | v8::internal::FunctionCallbackArguments::Call"
sed 's/nodejsVersion/version/' $samples/node.json >"$work/other.json"
$MACHSYM crash -q --signature "$work/other.json" >"$work/out" 2>&1
[ $? -eq 1 ]
check "what is not Node's is no report of it" "$work/out"
for cut in $(seq 1 37 "$(wc -c <$samples/node.json)"); do
    head -c "$cut" $samples/node.json >"$work/cut.json"
    $MACHSYM crash -q --json "$work/cut.json" >"$work/out" 2>&1
    [ $? -le 1 ]
    check "cut at $cut" "$work/out"
done

# ---- Crashlytics ----

run --to=same $samples/crashlytics-thrown.txt
has "2  demo                           0xa7c -[Player play:] + 52 (player.mm:14)" "4  demo                           0x9b8 main + 120 (main.mm:12)" \
    "3  demo                           0x9fc closure #1 in RootPage.body.getter + 27 (RootPage.swift:27)" \
    "0  CoreFoundation                 0x12d12c (Missing UUID 7d1f50b3ed7d3987bcedad6779b49c86)" \
    "1  libobjc.A.dylib                0x2bdb4 objc_exception_throw"
sed '/\[inlined\]$/d; /0x[a-f0-9]* [-m].*(\(player\|main\)\.mm/s/ [-m][^x]*$/ @/' "$work/out" >"$work/without"
sed "/demo.*UUID/s/ ([^(]* UUID .*/ @/" $samples/crashlytics-thrown.txt >"$work/expected"
same "$work/expected" "$work/without" "nothing else changed"
run --all --json $samples/crashlytics-thrown.txt
has '"name":"com.apple.uikit.eventfetch-thread"' '"address":"0x1808","return_address":false,"image":null' \
    '"date":"Sat Mar 14 2026' '"name":"__main_block_invoke"' '"version":"1.2 (34)"'
run --signature $samples/crashlytics-thrown.txt
has "SIGABRT NSRangeException: -[Player play:] | "
run --summary $samples/crashlytics-crashed.txt
has "org.example.demo 1.2 (34)" "EXC_BAD_ACCESS: KERN_INVALID_ADDRESS at 0x0000000000000008" "access through a null pointer" \
    "crashed in thread 0, com.apple.main-thread" "-[Player skip:]  player.mm:19" "5 frames: 2 named with line, 0 named, 2 had a name, 1 without"

# ---- Bugsnag ----

keeps bugsnag-payload.json
keeps bugsnag-event.json
run --summary $samples/bugsnag-payload.json
has "org.example.demo 1.2 (34) on iOS 17.4 (21E219)" "EXC_BREAKPOINT" "crashed in thread 0, com.apple.main-thread, the app's own frames" \
    "require(bool)  queue.hpp:6  (inlined)" "the report says: Fatal error: index out of range" "7 frames: 7 named with line" \
    "uncaught exception NSRangeException: index 7 beyond bounds [0 .. 2]" "10 frames: 10 named with line"
run $samples/bugsnag-event.json
has '"method": "-[Player skip:]"' '"file":"player.mm"' '"lineNumber":19'
run --signature $samples/bugsnag-event.json
has "EXC_BREAKPOINT (Fatal error: index out of range): -[Player skip:] | -[Player play:] | main"

# ---- Sentry ----

keeps sentry-api.json
for sample in sentry-envelope.txt sentry-api.json; do
    crashed="main, the app's own frames" # the thread that the exception names; the service's sample has no list of threads
    [ $sample = sentry-envelope.txt ] || crashed="the app's own frames"
    run --summary $samples/$sample
    has "demo 1.2 (34) on iOS 17.4 (21E219)" "KERN_INVALID_ADDRESS at 0x8." "access through a null pointer" \
        "crashed in thread 0, $crashed" "require(bool)  queue.hpp:6  (inlined)"
    run --signature $samples/$sample
    has "EXC_BAD_ACCESS: -[Player skip:] | -[Player play:] | main"
done
run --json $samples/sentry-envelope.txt
has '"date":"2026-03-14T08:26:53Z"' '"signal":"SIGSEGV"' '"hardware":"iPhone14,5"'
run $samples/sentry-envelope.txt
has '"function": "-[Player play:]"' '"colno":9' '"lineno": 14'
[ "$(wc -l <"$work/out")" -eq 3 ]
check "an envelope keeps its lines"

# ---- PLCrashReporter ----

run $samples/crash.plcrash
has "Process:             demo [412]" "Parent Process:      launchd [1]" "OS Version:          iPhone OS 17.4 (21E219)" \
    "Date/Time:           2026-03-14T08:26:53Z" "Exception Subtype:   KERN_INVALID_ADDRESS at 0x0000000000000008" \
    "1   demo                          	0x0000000102a30a7c 0x102a30000 + 2684 (-[Player play:] + 52) (player.mm:14)" \
    "x28: 0x00000000000001dc    pc: 0x0000000102a30aec" 'Custom Data:         user=7\n0   not 0x0000000102a30aec a frame' \
    "0x0000000102a30000 - 0x0000000102a33fff demo arm64  <4c4c44b555553144a1ba79ca685dec58> /private/var/containers"
mv "$work/out" "$work/text.crash"
run "$work/text.crash"
same "$work/text.crash" "$work/out" "the text is a report that has its names"
run --json $samples/crash.plcrash
has '"format":"PLCrashReporter"' '"incident":"10111213-1415-1617-1819-1A1B1C1D1E1F"' '"exception":"EXC_BAD_ACCESS (SIGSEGV)"' '"frames":7,'
run --signature $samples/crash.plcrash
has "EXC_BAD_ACCESS: -[Player skip:] | -[Player play:] | main"
run --summary $samples/thrown.plcrash
has "uncaught exception NSRangeException: index 7 beyond bounds [0 .. 2]" "the exception was thrown at" "9 frames: 9 named with line"
run -o "$work/folder/" $samples/crash.plcrash
same "$work/text.crash" "$work/folder/crash.crash" "a folder gets text, by its name too"
run --redact $samples/crash.plcrash
! grep -q "10111213-1415" "$work/out"
check "--redact takes the incident out"
for size in 9 100 400 700 900; do
    head -c $size $samples/crash.plcrash >"$work/cut.plcrash"
    "$MACHSYM" crash -q "$work/cut.plcrash" >"$work/out" 2>"$work/err"
    case $size in
    9) [ $? -eq 1 ] && grep -q "the protobuf is damaged, at byte [1-9]" "$work/err" ;;
    *) [ $? -eq 1 ] && grep -q "^The report is damaged at byte [1-9]" "$work/out" && grep -q "damaged.*protobuf, offset [1-9]" "$work/err" ;;
    esac
    check "the first $size bytes"
done
# A field of a kind that there is none, in a frame: what is left of its thread is told, and that something is not.
if command -v python3 >/dev/null; then
    python3 - $samples/crash.plcrash "$work/inner.plcrash" >"$work/at" <<'END'
import sys
all = bytearray(open(sys.argv[1], "rb").read())
at = all.index(bytes([0x18, 0xfc, 0x94, 0x8c, 0x95, 0x10]))  # the field of 0x102a30a7c
all[at] |= 7
print(at)
open(sys.argv[2], "wb").write(all)
END
    "$MACHSYM" crash -q --to=json "$work/inner.plcrash" >"$work/out" 2>"$work/err"
    [ $? -eq 1 ] && grep -q "inner.plcrash: the report is damaged.*protobuf, offset $(cat "$work/at")\>" "$work/err" && grep -q '"frames":' "$work/out"
    check "damage inside a thread" "$work/err"
    PYTHONDONTWRITEBYTECODE=1 python3 tests/plcrash.py $samples/crash.plcrash "$MACHSYM" >"$work/out" 2>&1
    check "without one of its facts" "$work/out"
    mkdir "$work/generated"
    PYTHONDONTWRITEBYTECODE=1 python3 tests/plcrash_text.py "$MACHSYM" "$work/generated" >"$work/out" 2>&1
    check "60 generated reports, against another reader of the schema" "$work/out"
else
    skip "damage inside a thread: it needs python3"
fi

# ---- Datadog ----

run $samples/datadog-error.json
has '1   demo                                0x0000000102a30a7c -[Player play:] + 52 (player.mm:14)\n' '"binary_images": ['
run --summary $samples/datadog-error.json
has "demo [412] 1.2 on iOS 17.4 (21E219)" "EXC_BAD_ACCESS" "crashed in thread 0" "require(bool)  queue.hpp:6  (inlined)" \
    "7 frames: 7 named with line"
run --json $samples/datadog-error.json
has '"format":"Datadog event"' '"date":"2026-03-14T08:26:53Z"' '"uuid":"4C4C44B5-5555-3144-A1BA-79CA685DEC58"'

# ---- Members and lines, one by one ----

json_of() # FILE MEMBER...: what --json says of it
{
    run --json "$1"
    shift
    has "$@"
}

# Lines of a Crashlytics header.
while IFS='|' read -r key member; do
    printf '# Crashlytics - Stack trace\n# %s: a word\n\nCrashed: main\n0  demo   0xaec (Missing UUID 4c4c44b555553144a1ba79ca685dec58)\n' \
        "$key" >"$work/header.txt"
    json_of "$work/header.txt" "\"$member\":\"a word\""
done <<'END'
Application|identifier
Bundle Identifier|identifier
Version|version
Session|incident
Session ID|incident
Date|date
OS Version|os
Device|hardware
END
# KSCrash's time, in seconds and in microseconds: `date -u -d @1773476813`.
for time in 1773476813 1773476813000000; do
    sed "s/\"timestamp\": [^,]*/\"timestamp\": $time/g" $samples/kscrash-2.json >"$work/time.json"
    json_of "$work/time.json" '"date":"2026-03-14T08:26:53Z"'
done
json_of $samples/datadog-error.json '"codes":"SEGV_MAPERR at 0x8"'
# How often a frame was seen, in a tree of MetricKit's; none that was seen in no sample says so.
for count in 1 2 4294967295; do
    sed "s/\"sampleCount\" *: *[0-9]*/\"sampleCount\": $count/" $samples/metrickit-all.json >"$work/count.json"
    json_of "$work/count.json" "\"samples\":$count,\"depth\":"
done
sed 's/"sampleCount" *: *[0-9]*/"sampleCount": 0/' $samples/metrickit-all.json >"$work/count.json"
run --json "$work/count.json"
! grep -q '"samples"' "$work/out"
check "frames of no sample"
# The system, of a name, a version and a build that may lack: no blank stands for what lacks.
while IFS='|' read -r members is; do
    for sample in sentry-api.json datadog-error.json; do
        tr '\n' ' ' <$samples/$sample | sed "s/\"os\": *{[^}]*}/\"os\": {$members}/" >"$work/os.json"
        json_of "$work/os.json" "\"os\":\"$is\""
    done
done <<'END'
"name": "iOS", "version": "17.4", "build": "21E219"|iOS 17.4 (21E219)
"name": "iOS", "version": "17.4"|iOS 17.4
"name": "iOS", "build": "21E219"|iOS (21E219)
"version": "17.4", "build": "21E219"|17.4 (21E219)
"name": "iOS"|iOS
"version": "17.4"|17.4
"build": "21E219"|(21E219)
"name": "iOS", "version": "", "build": ""|iOS
END
# Bugsnag: what a signal ended crashed; what was thrown did not.
for class in SIGSEGV:true EXC_BAD_ACCESS:true NSRangeException:false; do
    printf '{"exceptions":[{"errorClass":"%s","stacktrace":[{"frameAddress":"0x102a30aec","machoLoadAddress":"0x102a30000","machoFile":"/demo"}]}]}' \
        ${class%:*} >"$work/class.json"
    json_of "$work/class.json" "\"crashed\":${class#*:}"
done

# A hang whose root is where threads begin is a tree, whatever it says of itself; one whose root is any other is not.
hang() # ROOT LAST
{
    printf '{"timeStampBegin":"x","hangDiagnostics":[{"diagnosticMetaData":{},"callStackTree":{"callStackPerThread":true,"callStacks":['
    printf '{"callStackRootFrames":[{"binaryName":"%s","address":4339206892,"offsetIntoBinaryTextSegment":2796,"subFrames":[' "$1"
    printf '{"binaryName":"%s","address":5339206892,"offsetIntoBinaryTextSegment":2796}]}]}]}}]}\n' "$2"
}
while read -r first last is; do
    hang $first $last >"$work/hang.json"
    json_of "$work/hang.json" "\"callers_first\":$is"
done <<'END'
dyld app true
libdyld.dylib app true
libsystem_pthread.dylib app true
dyld libdyld.dylib false
app dyld false
UIKitCore app false
END
# A thread without frames has none, and takes none of the others.
for kind in hang crash; do
    printf '{"timeStampBegin":"x","%sDiagnostics":[{"diagnosticMetaData":{},"callStackTree":{"callStackPerThread":true,"callStacks":[{"callStackRootFrames":[]},%s]}}]}\n' \
        $kind '{"callStackRootFrames":[{"binaryName":"demo","address":4339206892,"offsetIntoBinaryTextSegment":2796}]},{"callStackRootFrames":[]}' >"$work/none.json"
    run --json --all "$work/none.json"
    [ "$(grep -o '"callers_first":false,"frames":\[\]' "$work/out" | wc -l)" -eq 2 ] && grep -q '"index":0,"address":"0x102a30aec"' "$work/out"
    check "$kind: threads without frames" "$work/out"
done

# Paths and owners go into every kind of frame object, when they are asked for.
printf 'image demo\nall = ours\n' >"$work/rules"
for sample in ../reports/demo.ips ../reports/demo-sentry.json ../stacks/log.ndjson metrickit-all.json sentry-api.json kscrash-2.json \
    bugsnag-event.json; do
    run --full-path --owners "$work/rules" $samples/$sample
    grep -q '\("file[a-zA-Z]*"\|"source_*[Ff]ile"\) *: *"/fixtures/demo/player.mm"' "$work/out" && grep -q '"owner" *: *"ours"' "$work/out"
    check "$sample: whole paths, and whose code it is"
    run $samples/$sample
    ! grep -q '"owner"\|\("filename"\|"file"\|"source_*[Ff]ile"\) *: *"/fixtures' "$work/out"
    check "$sample: neither when it is not asked for"
done

# ---- Members ----

# Of events each member is absent, of another type and at its bounds.
for service in bugsnag datadog kscrash sentry; do
    need "members of $service's events" python3 || break
    PYTHONDONTWRITEBYTECODE=1 python3 tests/members/run.py "$MACHSYM" "$work" $service >"$work/out" 2>&1
    check "members of $service's events" "$work/out"
done
end

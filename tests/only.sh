#!/bin/sh
# machsym crash --only: reports by process, version, kind, image, owner and day; --summary: whose fault a report is.
MACHSYM=${MACHSYM:-build/machsym}
reports=tests/fixtures/reports
demo="-d tests/fixtures/bin/demo.app.dSYM"
. tests/checks
export XDG_CACHE_HOME="$work/cache"
mkdir "$work/in"

report() # FILE PROCESS VERSION DAY EXCEPTION IMAGE:NAME...
{
    file=$work/in/$1.crash
    printf 'Process: %s [7]\nIdentifier: org.%s\nVersion: %s\nDate/Time: %s 10:00:00 +0100\nException Type: %s\n' "$2" "$2" "$3" \
        "$4" "$5" >"$file"
    printf '\nThread 0 Crashed:\n' >>"$file"
    shift 5
    frame=0
    for one; do
        echo "$frame   ${one%%:*} 0x10$(printf %02d $frame) ${one#*:} + 4" >>"$file"
        frame=$((frame + 1))
    done
}
report a App "1.0 (6)" 2026-03-01 "EXC_CRASH (SIGABRT)" "libsystem_c.dylib:abort" "App:-[SDKPlayer stop]" "App:main"
report b App "1.1 (7)" 2026-03-02 "EXC_BAD_ACCESS (SIGSEGV)" "App:-[Cart add:]" "App:-[SDKPlayer stop]" "App:main"
report c Other "2.0 (1)" 2026-03-03 SIGKILL "Pay:charge(_:)" "Other:main"
report d App "1.10 (9)" 2026-03-04 SIGSEGV "App:sdk_decode" "App:-[Cart add:]" "App:main"

only() # WANTED OPTION...: which reports fit
{
    wanted=$1
    shift
    $MACHSYM crash --signature "$@" "$work"/in/* >"$work/out" 2>"$work/err"
    status=$?
    [ "$(sed 's,.*/\(.\)\.crash$,\1,' "$work/out" | tr -d '\n')" = "$wanted" ] && [ $status -eq 0 ]
    check "--only: $*: $wanted, not" "$work/out"
}
printf 'prefix SDK = Player SDK\nprefix sdk_ = Player SDK\nprefix Cart = Shop\nimage Pay\nall = Pay\n' >"$work/rules"
only abcd
only abd --only process=App
only c --only process=org.other
only abd --only "process=a*" # either case
only a --only version=1.0
only d --only "version=1.10 (9)"
only abd --only "version=1.*"
only ac --only version=1.0 --only version=2.0
only b --only version=1.1 --only process=App
only "" --only version=1.1 --only process=Other
only a --only kind=SIGABRT
only a --only kind=exc_crash
only bd --only kind=SIGSEGV
only abcd --only "kind=crash text"
only c --only image=Pay
only a --only image=libsystem*
only bcd --only since=2026-03-02
only bc --only since=2026-03-02 --only until=2026-03-03
only ad --owners "$work/rules" --only "owner=Player SDK"
only bc --owners "$work/rules" --only owner=Shop --only owner=Pay
grep -q '^4 reports: 2 done, 0 failed, 2 left out by --only; ' "$work/err"
check "how many are left out"
$MACHSYM crash --only process=none "$work/in/a.crash" >"$work/out" 2>"$work/err" && [ ! -s "$work/out" ] &&
    grep -q '^1 report: 0 done, 0 failed, 1 left out by --only; ' "$work/err"
check "the only report that is left out is reported" "$work/err"
$MACHSYM crash -q --only process=Other -o "$work/written/" "$work"/in/* && [ "$(ls "$work/written")" = c.crash ]
check "what is left out is not written"
[ "$($MACHSYM crash -q --group --only process=App "$work"/in/* | grep -c '1 report ')" -eq 3 ]
check "nor grouped"
payload=tests/fixtures/services/metrickit-all.json
[ "$($MACHSYM crash -q --signature --only kind=hang --only kind=SIGSEGV $payload | sed 's/.*#//' | tr -d '\n')" = 13 ]
check "of a payload of many the diagnostics that fit"

# ---- Of a document of several ----

diagnostic() # SIGNAL OFFSET
{
    printf '{"callStackTree":{"callStackPerThread":true,"callStacks":[{"threadAttributed":true,"callStackRootFrames":[{'
    printf '"binaryUUID":"4C4C44B5-5555-3144-A1BA-79CA685DEC58","offsetIntoBinaryTextSegment":%d,' "$2"
    printf '"binaryName":"demo","address":%d}]}]},"diagnosticMetaData":{"signal":%d}}' $((4339204096 + $2)) "$1"
}
abort=$(diagnostic 6 2684)
segv=$(diagnostic 11 2796)
ill=$(diagnostic 4 2556)
begin='{"timeStampEnd" : "2026-03-14", "crashDiagnostics" : [ '
end=' ],  "hangDiagnostics":[]}'
document() { printf '%s%s%s\n' "$begin" "$1" "$end"; }
kept() # WANTED KIND...: of the three
{
    document "$1" >"$work/wanted"
    document "$abort, $segv ,
$ill" >"$work/three.json"
    shift
    options=
    for kind; do options="$options --only kind=$kind"; done
    # shellcheck disable=SC2086
    $MACHSYM crash -q $options "$work/three.json" >"$work/out"
    same "$work/wanted" "$work/out" "of a payload of three: $*"
    # shellcheck disable=SC2086
    $MACHSYM crash -q $demo $options "$work/three.json" >"$work/out"
    $MACHSYM crash -q $demo "$work/wanted" >"$work/wanted.named"
    same "$work/wanted.named" "$work/out" "with names: $*"
}
kept "$abort" SIGABRT
kept "$segv" SIGSEGV
kept "$ill" SIGILL
kept "$abort, $segv" SIGABRT SIGSEGV
kept "$abort, $ill" SIGABRT SIGILL
kept "$segv ,
$ill" SIGSEGV SIGILL
kept "$abort, $segv ,
$ill" SIGABRT SIGSEGV SIGILL
grep -qF '"symbol":"-[Player play:]"' "$work/out"
check "which are there" "$work/out"
$MACHSYM crash -q --only kind=SIGBUS "$work/three.json" >"$work/out" && [ ! -s "$work/out" ]
check "without one that fits nothing is written" "$work/out"

# Two payloads stay valid JSON when one has no frame that fits; so does an array of one element.
{
    printf '['
    document "$abort"
    printf ','
    document "$segv"
    printf ']\n'
} >"$work/two.json"
{
    printf '['
    document ""
    printf ','
    document "$segv"
    printf ']\n'
} >"$work/wanted"
$MACHSYM crash -q --only kind=SIGSEGV "$work/two.json" >"$work/out"
same "$work/wanted" "$work/out" "a payload whose frames do not fit keeps its frame"

# KSCrash's report of a crash holds that of the crash in the reporter: one stays with the other.
services=tests/fixtures/services
outer=$(cat $services/kscrash-recrash.json)
several=$(sed '1s/^\[//; $s/]$//' $services/kscrash-several.json)
printf '[%s\n, %s]\n' "$outer" "$several" >"$work/nested.json"
printf '[%s]\n' "$outer" >"$work/wanted"
$MACHSYM crash -q --only kind=EXC_BAD_ACCESS "$work/nested.json" >"$work/out"
same "$work/wanted" "$work/out" "of three of KSCrash's the one that holds another"
[ "$($MACHSYM crash -q --only kind=deadlock "$work/nested.json" | $MACHSYM crash -q --signature - | grep -c deadlock)" = 1 ]
check "the last of them"
$MACHSYM crash -q --only kind=EXC_BREAKPOINT $services/bugsnag-payload.json >"$work/out"
[ "$($MACHSYM crash -q --signature "$work/out" | sed 's/ *[(:].*//; s/.* //')" = EXC_BREAKPOINT ]
check "of two events the one that fits"

for bad in process "process=" place=x since=2026 until=2026-02-30 since=2026-03-01T10; do
    $MACHSYM crash --only "$bad" "$work/in/a.crash" >"$work/out" 2>"$work/err"
    [ $? -eq 2 ] && grep -q -- '--only' "$work/err" && [ ! -s "$work/out" ]
    check "refused: --only $bad" "$work/err"
done
$MACHSYM crash --only owner=SDK "$work/in/a.crash" >"$work/out" 2>"$work/err"
[ $? -eq 2 ] && grep -q -- '--owners RULES' "$work/err"
check "owner goes by rules"

blame() # WANTED REPORT OPTION...
{
    wanted=$1
    shift
    $MACHSYM crash -q --summary "$@" >"$work/out"
    [ "$(sed -n 's/^  whose fault: //p' "$work/out")" = "$wanted" ]
    check "whose fault: $wanted" "$work/out"
}
blame "Player SDK, in -[SDKPlayer stop]" --owners "$work/rules" "$work/in/a.crash"
blame "Shop, in -[Cart add:]" --owners "$work/rules" "$work/in/b.crash"
blame "Pay, in charge(_:)" --owners "$work/rules" "$work/in/c.crash"
echo "prefix Elsewhere = X" >"$work/none"
blame "no owner that the rules name" --owners "$work/none" "$work/in/a.crash"
blame "" "$work/in/a.crash"
# by the file: inlined calls first, source paths, a map
echo "prefix demo/queue = Queue" >"$work/rules"
blame "Queue, in require(bool) (queue.hpp:6)" --owners "$work/rules" $demo $reports/demo.crash
$MACHSYM map build --no-progress --lines=people -o "$work/demo.symmap" tests/fixtures/bin/demo.app.dSYM >/dev/null 2>&1
blame "Queue, in require(bool) (queue.hpp:6)" --owners "$work/rules" -d "$work/demo.symmap" $reports/demo.crash

end

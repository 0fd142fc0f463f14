#!/bin/sh
# machsym crash --signature: one crash has one signature in whatever form its report comes, and two crashes have two.
# Prints pair precision and recall over labelled reports, for those of labelled.py by kind: of two reports in one group, how often
# they are one crash; of two reports of one crash, how often they are in one group.
MACHSYM=${MACHSYM:-build/machsym}
reports=tests/fixtures/reports
demo="-d tests/fixtures/bin/demo.app.dSYM"
. tests/checks
export XDG_CACHE_HOME="$work/cache"
mkdir "$work/empty" "$work/forms"

sign() # LABEL REPORT OPTION...: adds "LABEL HASH TEXT" to $work/all
{
    label=$1
    report=$2
    shift 2
    $MACHSYM crash -q --signature "$@" "$report" >"$work/signed" || echo "no signature of $report $*"
    sed "s/^/$label /" "$work/signed" >>"$work/all"
}

# LABEL REPORT OPTION...: the report as it is given, and as others hand it on: with names of several tools in it. Where a call
# that does not return ends a function, --apple names the next function, as Apple does: debug info tells which it was.
sign_forms()
{
    label=$1
    given=$2
    shift 2
    sign "$label" "$given" "$@"
    sign "$label" "$given" --no-inline "$@"
    sign "$label" "$given" --no-demangle "$@"
    sign "$label" "$given" --full-names "$@"
    for how in --inline --no-inline --no-demangle --full-names --to=text $apple; do
        ending=${given##*.}
        case $how in --to=text | --apple) ending=crash ;; esac
        $MACHSYM crash -q $how "$@" "$given" >"$work/forms/x.$ending"
        sign "$label" "$work/forms/x.$ending" -d "$work/empty"
    done
    $MACHSYM crash -q --apple "$@" "$given" >"$work/forms/x.crash"
    sign "$label" "$work/forms/x.crash" "$@"
}

figures() # LEAST_PRECISION LEAST_RECALL WHAT: of $work/all
{
    awk -v least_precision="$1" -v least_recall="$2" -v what="$3" '
        { label[$1]++; group[$2]++; both[$1 " " $2]++ }
        function pairs(n) { return n * (n - 1) / 2 }
        END {
            for (i in label) alike += pairs(label[i])
            for (i in group) grouped += pairs(group[i])
            for (i in both) right += pairs(both[i])
            precision = grouped ? right / grouped : 0
            recall = alike ? right / alike : 0
            printf "%s: %d reports of %d crashes, precision %.3f, recall %.3f\n", what, NR, length(label), precision, recall
            exit precision < least_precision || recall < least_recall
        }' "$work/all"
    check "$3: at least $1 and $2"
}

# ---- The demo program: one crash ----

apple=--apple
: >"$work/all"
for report in demo.crash demo.ips demo-crlf.crash demo-nbsp.crash demo-html.crash demo-body-only.ips demo-translated.ips \
    demo-text-in-ips.ips demo-redacted.crash demo-macos.crash; do
    sign_forms demo $reports/$report $demo
done
# As atos is often pasted into reports.
$MACHSYM crash -q --no-inline $demo $reports/demo.crash | sed 's/ + [0-9]* (\([a-z]*\.mm:[0-9]*\))$/ (in demo) (\1)/' >"$work/forms/atos.crash"
grep -q '(in demo) (player.mm:19)' "$work/forms/atos.crash"
check "names as atos writes them"
sign demo "$work/forms/atos.crash" -d "$work/empty"
figures 1 1 "the demo in all forms"

# ---- What parts two crashes ----

differ() # WHAT: of the two reports a.crash and b.crash
{
    a=$($MACHSYM crash -q --signature -d "$work/empty" "$work/a.crash" | cut -c1-16)
    b=$($MACHSYM crash -q --signature -d "$work/empty" "$work/b.crash" | cut -c1-16)
    [ "$a" != "$b" ]
    check "$1: two signatures"
}

alike() # WHAT
{
    a=$($MACHSYM crash -q --signature -d "$work/empty" "$work/a.crash" | cut -c1-16)
    b=$($MACHSYM crash -q --signature -d "$work/empty" "$work/b.crash" | cut -c1-16)
    [ "$a" = "$b" ]
    check "$1: one signature"
}

stack() # FILE EXCEPTION FRAME...: names, or offsets in App
{
    file=$1
    printf 'Process: App [1]\nException Type: %s\n\nThread 0 Crashed:\n' "$2" >"$file"
    shift 2
    n=0
    for frame; do
        case $frame in
        system:*) echo "$n   libsystem_c.dylib 0x9$(printf %03d $n) ${frame#system:} + 4" ;;
        *[a-zA-Z]*) echo "$n   App 0x10$(printf %02d $n) $frame + 4" ;;
        *) echo "$n   App 0x$((1000 + frame)) 0x1000 + $frame" ;;
        esac >>"$file"
        n=$((n + 1))
    done
    printf '\nBinary Images:\n0x1000 - 0x1fff App arm64  <00112233445566778899aabbccddee01> /Applications/App\n' >>"$file"
    echo "0x9000 - 0x9fff libsystem_c.dylib arm64  <00112233445566778899aabbccddee02> /usr/lib/libsystem_c.dylib" >>"$file"
}

stack "$work/a.crash" "EXC_BAD_ACCESS (SIGSEGV)" 10 20 30
stack "$work/b.crash" "EXC_BAD_ACCESS (SIGSEGV)" 11 25 37
differ "frames without names, elsewhere"
sed 's/0x10/0x50/; s/0x1000/0x5000/; s/0x1fff/0x5fff/' "$work/a.crash" >"$work/b.crash"
alike "frames without names, the program loaded elsewhere"
stack "$work/a.crash" "EXC_BAD_ACCESS (SIGSEGV)" f g main
stack "$work/b.crash" "EXC_CRASH (SIGABRT)" f g main
differ "another exception"
stack "$work/b.crash" SIGBUS f g main
alike "an exception by its signal"
stack "$work/a.crash" SIGABRT system:abort system:compact main
stack "$work/b.crash" SIGABRT system:abort system:free_tiny main
differ "main alone tells nothing, so the system's frames do"
stack "$work/b.crash" SIGABRT system:__pthread_kill system:abort_message system:compact main
alike "ways to abort tell nothing"
printf '# ours\ncompact\n  free_*  \n\nApp`helper*' >"$work/machinery"
stack "$work/b.crash" SIGABRT system:abort system:free_tiny main
a=$($MACHSYM crash -q --signature --machinery "$work/machinery" -d "$work/empty" "$work/a.crash" | cut -c1-16)
b=$($MACHSYM crash -q --signature --machinery "$work/machinery" -d "$work/empty" "$work/b.crash" | cut -c1-16)
[ "$a" = "$b" ]
check "--machinery adds to the built-in lists"
stack "$work/a.crash" SIGSEGV helper2 f main
stack "$work/b.crash" SIGSEGV f main
a=$($MACHSYM crash -q --signature --machinery "$work/machinery" -d "$work/empty" "$work/a.crash" | cut -c1-16)
b=$($MACHSYM crash -q --signature --machinery "$work/machinery" -d "$work/empty" "$work/b.crash" | cut -c1-16)
[ "$a" = "$b" ]
check "--machinery with a function of one image"
differ "without it that function tells"
$MACHSYM crash -q --signature --machinery "$work/none" "$work/a.crash" >/dev/null 2>&1
[ $? -eq 2 ]
check "--machinery of a file that is not there"
stack "$work/a.crash" SIGSEGV f a b a b a b main
stack "$work/b.crash" SIGSEGV f a b main
alike "recursion of two functions in turn"

named_alike() # NAME NAME
{
    stack "$work/a.crash" SIGSEGV "$1" caller main
    stack "$work/b.crash" SIGSEGV "$2" caller main
    alike "$1, $2"
}
named_alike '__31-[Player play:]_block_invoke_2.108' '-[Player play:]'
named_alike '___Z3fooi_block_invoke' 'foo(int)'
named_alike '(2) suspend resume partial function for Player.play()' '(7) await resume partial function for Player.play()'
named_alike 'specialized Player.play(_:)' 'Player.play(_:)'
named_alike '@objc Player.play(_:)' 'partial apply for Player.play(_:)'
named_alike 'App.Player.play(at: Swift.Int) -> ()' 'Player.play(at:)'
named_alike '_ZN6Player4playEi' 'Player::play(int)'
named_alike 'Player::play(int) [clone .cold.1]' 'Player::play(int) (.cold.1)'
named_alike 'std::vector<int, std::allocator<int>>::at[abi:ne180100](unsigned long)' 'std::vector<int>::at(unsigned long)'
named_alike '(anonymous namespace)::f(int)' '(anonymous namespace)::f(long)'
named_alike 'f.llvm.1234' 'f.isra.0'
stack "$work/a.crash" SIGSEGV _OUTLINED_FUNCTION_3 f main
stack "$work/b.crash" SIGSEGV f main
alike "code that the compiler moved out of functions"
stack "$work/a.crash" SIGSEGV 'operator<(A, A)' main
stack "$work/b.crash" SIGSEGV 'operator>(A, A)' main
differ "operators"
stack "$work/a.crash" SIGSEGV '-[Player(Sound) play:]' main
stack "$work/b.crash" SIGSEGV '-[Player(Video) play:]' main
differ "methods of two categories"

# Names of other languages: what a build makes of a function is one name, and two functions are two.
named_alike 'demo::load::h0123456789abcdef' 'demo::load::hfedcba9876543210'
named_alike '_ZN4demo4load17h0123456789abcdefE' 'demo::load::h0123456789abcdef'
named_alike 'demo::run::_$u7b$$u7b$closure$u7d$$u7d$::h0123456789abcdef' 'demo::run::{closure#2}'
named_alike '_$LT$demo..A$LT$T$GT$$u20$as$u20$demo..Run$GT$::run::h0123456789abcdef' '<demo::A<u8> as demo::Run>::run'
named_alike '<demo::A<u8>>::run' 'demo::A<T>::run'
named_alike 'main.work.abi0' 'main.work'
named_alike 'main.Map[go.shape.int_0]' 'main.Map[...]'
named_alike 'Player_Hit_m0123456789ABCDEF0123456789ABCDEF01234567' 'Player_Hit_mFEDCBA9876543210FEDCBA9876543210FEDCBA98_gshared'
named_alike 'kfun:a.B.$loadCOROUTINE$1#invokeSuspend(kotlin.Int){}' 'kfun:a.B.$loadCOROUTINE$27#invokeSuspend(kotlin.Int){}'
named_alike 'closure #1 (Swift.Int) -> () in App.Player.play() -> ()' 'closure #1 in Player.play()'
named_alike 'closure #2 in closure #1 in Player.play()' 'partial apply for closure #2 (A) -> B in closure #1 () -> () in Player.play()'
named_differ() # NAME NAME
{
    stack "$work/a.crash" SIGSEGV "$1" caller main
    stack "$work/b.crash" SIGSEGV "$2" caller main
    differ "$1, $2"
}
named_differ '<demo::A as demo::Run>::run' '<demo::B as demo::Run>::run'
named_differ 'demo::<impl demo::Run for demo::A>::run' 'demo::<impl demo::Run for demo::B>::run'
named_differ 'main.(*Reader).Close' 'main.(*Writer).Close'
named_differ 'main.(*Reader).Close' 'main.(*Reader).Open'
named_differ 'kfun:a.B.<get-x>()kotlin.Int' 'kfun:a.B.<get-y>()kotlin.Int'
named_differ 'closure #1 (Swift.Int) -> () in App.Player.play() -> ()' 'closure #1 (Swift.Int) -> () in App.Player.stop() -> ()'
named_differ 'Player_Hit_m0123456789ABCDEF0123456789ABCDEF01234567' 'Player_Run_m0123456789ABCDEF0123456789ABCDEF01234567'

# ---- What is told, and what is not ----

signature_text() { $MACHSYM crash -q --signature -d "$work/empty" "$1" | sed "s/^[0-9a-f]* *//; s/  [^ ]*\$//"; }
ended() # WANT TERMINATION
{
    stack "$work/a.crash" "EXC_CRASH (SIGKILL)" f g main
    sed -i "3i $2" "$work/a.crash"
    signature_text "$work/a.crash" >"$work/signed"
    [ "$(cat "$work/signed")" = "$1: f | g | main" ]
    check "$2: $1" "$work/signed"
}
ended "SIGKILL [0x8badf00d]" "Termination Reason: Namespace FRONTBOARD, Code 0x8badf00d"
ended "SIGKILL [0x8badf00d]" "Termination Reason: FRONTBOARD 2343432205"
ended "SIGKILL [0xdead10cc]" "Termination Reason: RUNNINGBOARD 0xdead10cc"
ended "SIGKILL [0x8badf00d]" "Exception Codes: 0x000000008badf00d, 0x0000000000000000"
ended "SIGKILL [CODESIGNING 2]" "Termination Reason: Namespace CODESIGNING, Code 0x2"
ended "SIGKILL" "Termination Reason: SIGNAL 9 Killed: 9"
said() # WANT INFO
{
    stack "$work/a.crash" "EXC_CRASH (SIGABRT)" f g main
    { sed -n 1,3p "$work/a.crash" && printf 'Application Specific Information:\n%s\n\n' "$2" && sed 1,3d "$work/a.crash"; } >"$work/b.crash"
    signature_text "$work/b.crash" >"$work/signed"
    [ "$(cat "$work/signed")" = "SIGABRT$1: f | g | main" ]
    check "$2: $1" "$work/signed"
}
said "" "abort() called"
said " (Fatal error: Row # of * is gone)" "App/Table.swift:12: Fatal error: Row 7 of 'music' is gone"
said " (Fatal error: can't open *)" "Fatal error: can't open /var/mobile/x: file App/Store.swift, line 9"
said " (Assertion failed: (count > #))" "Assertion failed: (count > 0), function f, file a.c, line 3."
said " NSRangeException (objectAtIndex:)" "*** Terminating app due to uncaught exception 'NSRangeException', reason: '*** -[__NSArrayM objectAtIndex:]: index 5 beyond bounds [0 .. 4]'"
said " NSGenericException (Collection * was mutated)" "*** Terminating app due to uncaught exception 'NSGenericException', reason: 'Collection <__NSArrayM: 0x60000012> was mutated'"
said " std::out_of_range (vector)" "terminating due to uncaught exception of type std::out_of_range: vector"
said " DemoException (it's over, # of #)" "Application threw exception DemoException: it's over, -3 of 4"
said " kotlin.IllegalStateException (no user)" "Uncaught Kotlin exception: kotlin.IllegalStateException: no user"
said " DemoException" "*** Terminating app due to uncaught exception 'DemoException'"

group() # OPTION...
{
    $MACHSYM crash -q --group $demo "$@"
}

# COUNTS REPORT...: how many reports the groups of these have
counted()
{
    want=$1
    shift
    $MACHSYM crash -q --group --json -d "$work/empty" "$@" | sed 's/.*"count":\([0-9]*\),.*/\1/' | sort -rn | tr '\n' ' ' >"$work/counts"
    [ "$(cat "$work/counts")" = "$want " ]
}
stack "$work/a.crash" "EXC_BAD_ACCESS (SIGSEGV)" f g main
stack "$work/c.crash" "EXC_CRASH (SIGABRT)" f g main
sed /Exception/d "$work/a.crash" >"$work/b.crash"
counted 2 "$work/a.crash" "$work/b.crash" && counted 2 "$work/b.crash" "$work/a.crash"
check "a report without an exception is with the one that has one, whatever came first" "$work/counts"
counted "1 1 1" "$work/a.crash" "$work/b.crash" "$work/c.crash"
check "but with none of two" "$work/counts"
counted "1 1" "$work/a.crash" "$work/c.crash"
check "different exceptions stay two groups" "$work/counts"
group --groups-out "$work/1.state" "$work/b.crash" >/dev/null
group --groups-in "$work/1.state" --groups-out "$work/2.state" --json "$work/a.crash" >"$work/out"
grep -q '"count":2,' "$work/out" && [ "$(grep -c . "$work/out")" -eq 1 ]
check "in a later run, too" "$work/out"
group --groups-in "$work/2.state" --json "$work/c.crash" >"$work/out"
[ "$(grep -c '"count":1,' "$work/out")" -eq 3 ]
check "and apart again, once a second exception came" "$work/out"
for days in "10 12" "12 10"; do
    for report in a b; do
        sed "1a Date/Time: 2026-03-${days%% *} 10:00:00.000 +0000" "$work/$report.crash" >"$work/$report.dated.crash"
        days=${days#* }
    done
    group --json "$work/a.dated.crash" "$work/b.dated.crash" >"$work/out"
    grep -q '"first":"2026-03-10","last":"2026-03-12"' "$work/out" && [ "$(grep -c . "$work/out")" -eq 1 ]
    check "together they have the first day and the last, whichever group has it" "$work/out"
done
stack "$work/d.crash" "EXC_BAD_ACCESS (SIGSEGV)" f g
sed /Exception/d "$work/d.crash" >"$work/e.crash"
counted "2 2" "$work/a.crash" "$work/e.crash" "$work/b.crash" "$work/d.crash"
check "a stack that another begins with is another" "$work/counts"
stack "$work/a.crash" "EXC_BAD_ACCESS (SIGSEGV)" main
sed /Exception/d "$work/a.crash" >"$work/b.crash"
counted "1 1" "$work/a.crash" "$work/b.crash"
check "main alone joins nothing" "$work/counts"

# ---- Labelled reports: programs that carry their runtime, other reporters, builds, architectures ----

# One shot, five runs one after the other, and any order end in one state, with the same groups.
if need "labelled reports" python3; then
    PYTHONDONTWRITEBYTECODE=1
    export PYTHONDONTWRITEBYTECODE
    python3 tests/labelled.py make "$work/labelled"
    [ ! -d "${CORPUS:-../shared/corpus}" ] || python3 tests/labelled.py probe "$work/labelled" "${CORPUS:-../shared/corpus}"
    for half in seen kept; do
        find "$work/labelled/$half" -type f | sort >"$work/list"
        awk '{ print substr($0, length($0) * NR % 37 + 1) "\t" $0 }' "$work/list" | sort | cut -f2 >"$work/shuffled"
        $MACHSYM crash -q --group --json -d "$work/empty" --groups-out "$work/$half.state" --files-from "$work/list" >"$work/out"
        python3 tests/labelled.py judge "$work/out" 0.995 0.97 >"$work/figures"
        check "labelled reports, $half: at least 0.995 and 0.97" "$work/figures"
        cat "$work/figures"
        $MACHSYM crash -q --group -d "$work/empty" --groups-out "$work/shuffled.state" --files-from "$work/shuffled" >/dev/null
        same "$work/$half.state" "$work/shuffled.state" "labelled reports, $half: one state in any order"
        rm -f "$work/steps.state"
        for step in 0 1 2 3 4; do
            awk -v step=$step 'NR % 5 == step' "$work/shuffled" >"$work/part"
            $MACHSYM crash -q --group --json -d "$work/empty" $([ $step -eq 0 ] || echo "--groups-in $work/steps.state") \
                --groups-out "$work/steps.state" --files-from "$work/part" >"$work/last"
        done
        same "$work/$half.state" "$work/steps.state" "labelled reports, $half: one state in five runs"
        sed 's/,"trend.*//' "$work/last" | sort >"$work/one"
        sed 's/,"trend.*//' "$work/out" | sort >"$work/two"
        same "$work/one" "$work/two" "labelled reports, $half: the same groups in five runs"
    done
fi

# ---- Carried on ----

mkdir "$work/days"
n=0
for report in demo.crash demo.ips demo-leb.crash demo-sample.txt demo-kscrash.json demo-nbsp.crash; do
    n=$((n + 1))
    sed "s/2026-03-14/2026-03-1$n/; s/^Version: .*/Version: 1.$((n % 2)) (\"$n\")/" $reports/$report >"$work/days/$n.${report##*.}"
done
group --groups-out "$work/all.state" "$work"/days/* >"$work/out"
group --groups-out "$work/one.state" "$work"/days/[123]* >/dev/null
group --groups-in "$work/one.state" --groups-out "$work/two.state" "$work"/days/[456]* >"$work/later"
same "$work/all.state" "$work/two.state" "a state that is carried on is that of all reports"
grep -q '^    first seen 2026-03-11, last seen 2026-03-16, in versions 1.0 ("6"): 1, 1.1 ("1"): 1, 1.2 (7): 1$' "$work/later"
check "since when, and in which versions"
grep -v '^ *'"$work" "$work/later" | grep -v '^ *new$\|seen' >"$work/two"
grep -v '^ *'"$work" "$work/out" >"$work/one"
same "$work/one" "$work/two" "the groups are the same"

refused() # WHAT, of $work/bad.state
{
    $MACHSYM crash -q --group --groups-in "$work/bad.state" --groups-out "$work/none.state" "$work"/days/1* >"$work/out" 2>"$work/err"
    [ $? -eq 1 ] && grep -q "bad.state: $1, at byte" "$work/err" && [ ! -s "$work/out" ] && [ ! -f "$work/none.state" ]
    check "a state is refused: $1" "$work/err"
}
head -c 100 "$work/all.state" >"$work/bad.state"
refused "cut short or changed: its sum is another"
sed '$d' "$work/all.state" >"$work/bad.state"
refused "cut short or changed: its sum is another"
sed '2s/"reports":1/"reports":7/' "$work/all.state" >"$work/bad.state"
refused "cut short or changed: its sum is another"
sed '1s,state/1,state/9,' "$work/all.state" >"$work/bad.state"
refused "a state of another version"
cp "$reports/demo.ips" "$work/bad.state"
refused "no state that --groups-out wrote"
group --groups-out "$work/single.state" "$work"/days/1* >/dev/null
sed '1s/"groups":1,//; 1s/,"groups":1//' "$work/single.state" >"$work/bad.state"
! cmp -s "$work/single.state" "$work/bad.state"
check "a state of one group that tells no number of groups"
refused "there is something after its end"

# ---- One state, several runs ----

reports_in() { sed -n 's/,"days".*//; s/.*,"reports":\([0-9]*\),.*/\1/p' "$1" | awk '{ sum += $1 } END { print sum }'; }

# A run that has begun waits for its second report, on standard input; its first one is told on standard error.
mkfifo "$work/pipe"
begin_one() # OPTION...
{
    rm -f "$work/one.err"
    $MACHSYM crash -j1 $demo "$@" "$work/days/1.crash" - <"$work/pipe" >/dev/null 2>"$work/one.err" &
    pid=$!
    exec 8>"$work/pipe"
    tries=0
    while [ ! -s "$work/one.err" ] && [ $tries -lt 100 ]; do
        tries=$((tries + 1))
        sleep 0.1
    done
}
end_one() # STATUS WHAT
{
    cat "$work/days/3.crash" >&8
    exec 8>&-
    wait "$pid"
    [ $? -eq "$1" ]
    check "$2" "$work/one.err"
}
cp "$work/two.state" "$work/shared.state"
begin_one --groups-in "$work/shared.state" --groups-out "$work/shared.state"
end_one 0 "a state is carried on in its place"
[ "$(reports_in "$work/shared.state")" = 8 ]
check "with the reports of both runs"
begin_one --groups-in "$work/shared.state" --groups-out "$work/shared.state"
group --groups-in "$work/shared.state" --groups-out "$work/shared.state" "$work/days/2.ips" >/dev/null
end_one 1 "a run whose state another one has written meanwhile fails"
grep -q "shared.state: another run has written it since this one began" "$work/one.err"
check "and says why" "$work/one.err"
[ "$(reports_in "$work/shared.state")" = 9 ]
check "and the other's reports are there"
begin_one --groups-out "$work/fresh.state"
group --groups-out "$work/fresh.state" "$work/days/2.ips" >/dev/null
end_one 1 "so does a run whose state was not there when it began"
[ "$(reports_in "$work/fresh.state")" = 1 ]
check "and that one's state stays"

# However they fall, the state has the reports of the runs that did not fail.
cp "$work/two.state" "$work/shared.state"
pids=
for n in 1 2 3 4 5 6; do
    group --groups-in "$work/shared.state" --groups-out "$work/shared.state" "$work"/days/$n.* >/dev/null 2>>"$work/err" &
    pids="$pids $!"
done
good=6
for pid in $pids; do
    wait "$pid" && good=$((good + 1))
done
[ $good -gt 6 ] && [ "$(reports_in "$work/shared.state")" = $good ]
check "six runs at once over a state lose no report without failing" "$work/err"

# ---- Reports that fail ----

echo nothing >"$work/no.crash"
cp "$work/two.state" "$work/shared.state"
$MACHSYM crash -q $demo --groups-in "$work/shared.state" --groups-out "$work/shared.state" "$work/no.crash" >/dev/null 2>"$work/err"
[ $? -eq 1 ] && grep -q "shared.state: is not written, since every report failed" "$work/err"
check "where every report fails no state is written" "$work/err"
same "$work/two.state" "$work/shared.state" "and the one that is there stays"
$MACHSYM crash -q $demo --groups-out "$work/some.state" "$work/no.crash" "$work/days/1.crash" >/dev/null 2>"$work/err"
[ $? -eq 1 ] && [ "$(reports_in "$work/some.state")" = 1 ]
check "where some fail the state has the others" "$work/err"
group --groups-out "$work/none.state" --only version=none "$work/days/1.crash" >/dev/null && [ -s "$work/none.state" ]
check "where none is wanted the state is written"

# ---- Symbols that fail ----

# What the run found with them is not certain: a later one, which finds them whole, would count its reports once more.
mkdir "$work/cut"
head -c 3000 tests/fixtures/bin/demo.app.dSYM/Contents/Resources/DWARF/demo >"$work/cut/demo.dwarf"
cp "$work/two.state" "$work/shared.state"
no_state() # WHY WHAT OPTION...
{
    why=$1
    what=$2
    shift 2
    $MACHSYM crash -q --no-cache --groups-in "$work/shared.state" --groups-out "$work/shared.state" "$@" "$work/days/1.crash" >"$work/out" 2>"$work/err"
    [ $? -eq 1 ] && grep -q "shared.state: is not written, since $why" "$work/err"
    check "no state is written: $what" "$work/err"
    same "$work/two.state" "$work/shared.state" "and the one that is there stays: $what"
}
no_state "a file of symbols failed" "a damaged dSYM" -d "$work/cut"
if [ "$(id -u)" -ne 0 ]; then
    cp tests/fixtures/bin/demo.app.dSYM/Contents/Resources/DWARF/demo "$work/cut/demo.dwarf"
    chmod 0 "$work/cut/demo.dwarf"
    no_state "a file of symbols failed" "a dSYM that may not be read" -d "$work/cut"
    chmod 700 "$work/cut/demo.dwarf"
fi
no_state "--strict wants names" "--strict" --strict -d "$work/empty"
if [ -w /dev/full ]; then
    no_state "the file of --json-out is not" "JSON that is not written" -d "$work/empty" --json-out /dev/full
    $MACHSYM crash -q $demo --groups-in "$work/shared.state" --groups-out "$work/shared.state" "$work/days/1.crash" >/dev/full 2>"$work/err"
    [ $? -eq 1 ] && grep -q "shared.state: is not written, since standard output failed" "$work/err"
    check "no state is written: the table is lost" "$work/err"
    same "$work/two.state" "$work/shared.state" "and the one that is there stays: the table is lost"
fi

# ---- One version of one build ----

# Text that devices wrote before iOS 15 has the build first; so has that of some reporters inside apps, without a role.
mkdir "$work/versions"
cp "$reports/demo.ips" "$reports/demo.crash" "$reports/demo-macos.crash" "$work/versions"
sed 's/^Version: .*/Version:             7 (1.2)/; s/iPhone OS 17.4/iPhone OS 14.8/' "$reports/demo.crash" >"$work/versions/old.crash"
sed 's/^Version: .*/Version:             7 (1.2)/; /^Role:/d' "$reports/demo.crash" >"$work/versions/reporter.crash"
sed 's/^Version: .*/Version:             7 (1.2)/' "$reports/demo-text-in-ips.ips" >"$work/versions/old.ips"
sed "/\"bundleInfo\"/d" "$reports/demo.ips" >"$work/versions/no-bundle.ips"
group --json "$work/versions" >"$work/out"
grep -q '"version_counts":{"1.2 (7)":7}' "$work/out"
check "all forms of a report count for one version" "$work/out"
[ "$($MACHSYM crash -q --json $demo --only version=1.2 "$work/versions" | grep -c '"version":"1.2 (7)"')" -eq 7 ]
check "and fit one --only version"

version() # WRITTEN IS OS [EDIT]
{
    sed "s/^Version: .*/Version: $1/; s/iPhone OS 17.4/$3/; ${4:-}" "$reports/demo.crash" >"$work/one.crash"
    $MACHSYM crash -q --json $demo "$work/one.crash" | grep -q "\"version\":\"$2\""
    check "the version of $3, $1, is $2"
}
version "1 (3)" "3 (1)" "iPhone OS 12.0"
version "1 (3)" "3 (1)" "Watch OS 7.1"
version "1 (3)" "1 (3)" "Watch OS 8.0"
version "16614 (16614.2.9)" "16614 (16614.2.9)" "iPhone OS 15.0"
version "16614 (16614.2.9)" "16614 (16614.2.9)" "macOS 11.6" /^Role:/d
version "1.2 (7)" "1.2 (7)" "iPhone OS 12.0" /^Role:/d
version "1.2 (???)" "1.2" "macOS 12.6"
version "??? (7)" "7" "iPhone OS 17.4"
version "1.2 ()" "1.2" "macOS 12.1"
version "1.2 (34) beta" "1.2 (34) beta" "macOS 12.1"
version "1.2 (34" "1.2 (34" "macOS 12.1"
version "1.2 (b)" "1.2 (b)" "macOS 12.1"
sed 's/^Version: .*/Version: ??? (???)/' "$reports/demo.crash" >"$work/one.crash"
! $MACHSYM crash -q --json $demo "$work/one.crash" | grep -q '"version":"'
check "??? is no version"

# ---- Calls of one address ----

# Sentry marks inlined calls, so frames of one address without the mark are calls of a function by itself or by another; in
# Apple's text the function that follows at the same address has the others inlined.
sentry() # MARK: of the innermost call
{
    package='"instruction_addr":"0x100000200","package":"/private/var/containers/Bundle/Application/0C1D/app","in_app":true'
    printf '{"event_id":"7a9b6c1e000040008000000000000001","platform":"cocoa","debug_meta":{"images":[{"type":"macho","code_file":'
    printf '"/private/var/containers/Bundle/Application/0C1D/app","image_addr":"0x100000000","image_size":16384,"arch":"arm64"}]},'
    printf '"exception":{"values":[{"type":"EXC_BREAKPOINT","value":"6","thread_id":0,"stacktrace":{"frames":['
    printf '{"function":"outer",%s},{"function":"inner",%s%s}]}}]}}\n' "$package" "$1" "$package"
}
signed() # WANT REPORT
{
    $MACHSYM crash -q --signature "$2" | sed "s/^[0-9a-f]* *//; s/  [^ ]*\$//" >"$work/signed"
    [ "$(cat "$work/signed")" = "$1" ]
    check "$1" "$work/signed"
}
sentry '' >"$work/calls.json"
signed "EXC_BREAKPOINT: inner | outer" "$work/calls.json"
sentry '"inline":true,' >"$work/calls.json"
signed "EXC_BREAKPOINT: outer" "$work/calls.json"
printf '%s\n' 'Process: app [1]' 'Exception Type: EXC_BREAKPOINT (SIGTRAP)' '' 'Thread 0 Crashed:' '0   app 0x100000200 inner + 4' \
    '1   app 0x100000200 outer + 8' '2   app 0x100000300 again + 8' >"$work/calls.crash"
signed "EXC_BREAKPOINT: outer | again" "$work/calls.crash"

# ---- Trends ----

dated() # FILE DAY VERSION NAME...: a report of these frames
{
    file=$1
    printf 'Process: App [1]\nVersion: %s\nDate/Time: %s 10:00:00 +0100\nException Type: SIGABRT\n\nThread 0 Crashed:\n' "$3" "$2" >"$file"
    shift 3
    frame=0
    for name; do
        echo "$frame   App 0x10$(printf %02d $frame) $name + 4" >>"$file"
        frame=$((frame + 1))
    done
}

mkdir "$work/march" "$work/april"
for n in 1 2 3 4 5 6 7 8 9; do
    [ $n -gt 3 ] || dated "$work/march/slow$n.crash" 2026-03-2$n 1.0 slow work main
    dated "$work/march/even$n.crash" 2026-03-2$n 1.0 even draw main
done
dated "$work/march/gone.crash" 2026-03-02 1.0 gone away main
for n in 1 2 3 4 5 6; do
    for k in 1 2; do
        dated "$work/april/slow$n$k.crash" 2026-04-0$n 1.1 slow work main
    done
    dated "$work/april/even$n.crash" 2026-04-0$n 1.1 even draw main
done
dated "$work/april/gone.crash" 2026-04-05 1.1 gone away main
dated "$work/april/fresh.crash" 2026-04-06 1.1 fresh thing main
group --groups-out "$work/march.state" "$work"/march >/dev/null
group --groups-in "$work/march.state" --groups-out "$work/april.state" "$work"/april >"$work/out"
trend() # NAME TREND
{
    grep -A 2 " SIGABRT: $1 |" "$work/out" | grep -v '/' | sed '1,2d' >"$work/one"
    printf '%s' "$2" | sed 's/^/    /' >"$work/two"
    [ "$(cat "$work/one")" = "$(cat "$work/two")" ]
    check "the trend of $1: $2"
}
trend slow rising
trend even ""
trend gone "regressed: was not seen after 2026-03-02"
trend fresh new
grep -q '^15 reports  .*  SIGABRT: slow' "$work/out" && grep -q 'in versions 1.0: 3, 1.1: 12$' "$work/out"
check "what both runs counted"
group --json --groups-in "$work/march.state" "$work"/april | sed -n 's/.*SIGABRT: slow.*"version_counts":\({[^}]*}\),"trend":\("[a-z]*"\),"added":12,.*/\1 \2/p' >"$work/one"
[ "$(cat "$work/one")" = '{"1.0":3,"1.1":12} "rising"' ]
check "the same as JSON"

# ---- Similar groups ----

# LABEL NAME...: families are labelled as signatures are, by the hash of their head.
mkdir "$work/similar"
n=0
labelled()
{
    label=$1
    shift
    n=$((n + 1))
    dated "$work/similar/$label-$n.crash" 2026-03-01 1.0 "$@"
}
# called from elsewhere, a helper between, a wrapper on top, deep down another way
labelled play decode readFrame fillBuffer playNext tick main
labelled play decode readFrame fillBuffer playNext resume main
labelled play decode readFrame fillBuffer refill playNext tick main
labelled play copyPixels decode readFrame fillBuffer playNext tick main
labelled play decode readFrame fillBuffer playNext
# the same way down to other functions
labelled seek seekTo findKeyframe fillBuffer playNext tick main
labelled seek seekTo findKeyframe loadIndex fillBuffer playNext tick main
labelled close releaseAll closeFile fillBuffer playNext tick main
labelled login check sendToken login onTap main
labelled login check sendToken retry login onTap main
labelled logout clear sendToken logout onTap main
for name in draw layout scroll rotate; do
    labelled $name ${name}Now update render tick main
done
group --json "$work/similar" | sed 's/.*"hash":"\([0-9a-f]*\)".*"similar_to":\(null\|"[0-9a-f]*"\),.*"reports":\[\(.*\)\]}$/\1 \2 \3/' |
    awk '{ family = $2 == "null" ? $1 : substr($2, 2, 16); count = split($3, path, ",")
           for (i = 1; i <= count; i++) { sub(".*/", "", path[i]); sub("-.*", "", path[i]); print path[i], family } }' >"$work/all"
figures 1 1 "families of similar groups"

# The measure itself: stacks that lie near the threshold, judged by the formula that the comments state.
# Of groups that have the same functions each is compared, not the last one alone.
mkdir "$work/each"
for n in 1 2 3; do stack "$work/each/a$n.crash" "EXC_BAD_ACCESS (SIGSEGV)" aa bb cc dd ee; done
for n in 1 2; do stack "$work/each/b$n.crash" "EXC_BAD_ACCESS (SIGSEGV)" x1 x2 x3 x4 x5 x6 x7 x8 aa bb cc dd ee; done
stack "$work/each/c.crash" "EXC_BAD_ACCESS (SIGSEGV)" aa bb cc dd ff
$MACHSYM crash -q --group "$work"/each/*.crash >"$work/out"
[ "$(grep -c report "$work/out")" -eq 3 ] && sed -n '/a3.crash/,$p' "$work/out" | sed -n '2,4p' | tr -d '\n' | grep -q 'similar:.*c.crash$'
check "a group is similar to an earlier one of the same functions" "$work/out"

if need "the measure of similar groups" python3; then
    for row in "apart 33" "common 331" "common 332" "common 333" "common 334" "common 336"; do
        kind=${row% *}
        near="$work/near-${row#* }"
        mkdir "$near"
        PYTHONDONTWRITEBYTECODE=1 python3 tests/similar.py make "$near" "$kind" "${row#* }" &&
            $MACHSYM crash -q --group --json "$near"/*.crash | python3 tests/similar.py judge "$near" >"$work/judged"
        check "the measure of similar groups: $row" "$work/judged"
    done
fi

# ---- CrashProbe ----

corpus=${CORPUS:-../shared/corpus}
if [ -d "$corpus" ]; then
    apple=
    release=$corpus/sentry-symbolic/py/tests/res/ext/1.4.1/release
    : >"$work/all"
    for case in "$corpus"/crashprobe-data/ios/*; do
        for report in "$case"/*; do
            sign "probe$(basename "$case")" "$report" -d "$work/empty"
        done
    done
    for arch in arm64 armv7; do
        for report in "$release/$arch"/*.json; do
            case $report in
            *objc_msgSend*) label=probe05 ;;
            *) label=$(basename "$report" .json | tr -d '() ') ;;
            esac
            cp "$report" "$work/forms/report.json"
            sign_forms "$label" "$work/forms/report.json" -d "$release/dSYMs"
        done
    done
    figures 0.995 0.97 "CrashProbe in all forms"
else
    skip "CrashProbe, ../shared/corpus is missing"
fi

# A failed check of Swift is an illegal instruction on Intel, a breakpoint on ARM. A report without Code Type has the architectures of its images.
for arch in x86_64 i386 arm64; do
    sed -e '/^Code Type/d' -e 's/EXC_BREAKPOINT (SIGTRAP)/EXC_BAD_INSTRUCTION (SIGILL)/' -e "s/ arm64e\{0,1\}  </ $arch  </" "$reports/demo.crash" >"$work/$arch.crash"
    $MACHSYM crash -q --signature "$work/$arch.crash" | sed 's/^[0-9a-f]*  \([A-Z_]*\):.*/\1/'
done >"$work/kinds"
[ "$(paste -s -d ' ' "$work/kinds")" = "EXC_BREAKPOINT EXC_BREAKPOINT EXC_BAD_INSTRUCTION" ]
check "illegal instructions of Intel, told by an image" "$work/kinds"

end

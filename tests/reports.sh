#!/bin/sh
# machsym crash is right or silent: no name without proof, no signature in an address, nothing counted twice; and says why
# the system ended a process, in the same words whatever form the report has.
MACHSYM=${MACHSYM:-build/machsym}
reports=tests/fixtures/reports
demo="-d tests/fixtures/bin/demo.app.dSYM"
. tests/checks
export XDG_CACHE_HOME="$work/cache"
mkdir "$work/empty"

run() # ARGUMENT...: into $work/out and $work/err
{
    $MACHSYM crash --no-demangle "$@" >"$work/out" 2>"$work/err"
}

has() # TEXT: in $work/out
{
    grep -qF -e "$1" "$work/out"
    check "$1"
}

err_has() # TEXT
{
    grep -qF -e "$1" "$work/err"
    check "said: $1"
}

# ---- An image without a UUID ----

sed 's/ <4c4c44b5[0-9a-f]*>//' $reports/demo.crash >"$work/unproven.crash"
run $demo "$work/unproven.crash"
same "$work/unproven.crash" "$work/out" "without a UUID nothing is named: the file may be another build"
err_has "the report gives no UUID, so demo.app.dSYM in tests/fixtures/bin, UUID 4C4C44B5-5555-3144-A1BA-79CA685DEC58, may be another build; --no-uuid takes it"
run --strict $demo "$work/unproven.crash"
[ $? -eq 1 ]
check "--strict counts them"
run -q --missing=json $demo "$work/unproven.crash"
has '"why":"no uuid","file":"tests/fixtures/bin/demo.app.dSYM/Contents/Resources/DWARF/demo","file_uuid":"4C4C44B5'
run -q --no-uuid $demo "$work/unproven.crash"
has "0x0000000102a30aec -[Player skip:] + 88 (player.mm:19)"

# ---- An image without an end ----

printf '%s\n' 0x102a30aec 0x1c2a30aec "0x102a30a7c 0x182a30a7c" >"$work/far.txt"
run -q $demo --load demo=0x102a30000 "$work/far.txt"
has "0x102a30aec -[Player skip:] + 88 (in demo) (player.mm:21)"
has "0   demo                          0x0000000102a30a7c -[Player play:] + 52 (player.mm:14)"
has "1   ???                           0x0000000182a30a7c 0x0 + 6486690428"
run --missing=json $demo --load demo=0x102a30000 "$work/far.txt"
has '"missing":[],'

# ---- Names that begin at a return address ----

# "NAME + 0" at a return address is the function after a call that does not return: debug info of the byte before tells which
# one called. Where the report gives inlined calls of that address, it was debug info that gave the name, so it stays.
printf '%s\n' 'Process:             demo [412]' 'Exception Type:  EXC_BREAKPOINT (SIGTRAP)' '' 'Thread 0 Crashed:' \
    '0   demo                          	0x0000000102a30aec first + 0 (other.mm:1)' \
    '1   demo                          	0x0000000102a30a7c second + 0 (other.mm:2)' \
    '2   demo                          	0x0000000102a309b8 small (other.mm:5) [inlined]' \
    '2   demo                          	0x0000000102a309b8 third + 0 (other.mm:9)' \
    '3   demo                          	0x0000000102a309fc fourth + 0 (other.mm:4)' \
    '4   demo                          	0x0000000102a30a7c fifth + 0 (other.mm:4)' \
    '5   demo                          	0x0000000102a30a7c sixth + 0 (other.mm:4)' \
    '6   demo                          	0x0000000102a309fc stray (other.mm:5) [inlined]' \
    '7   demo                          	0x0000000102a30a7c seventh + 0 (other.mm:4)' \
    '8   demo                          	0x0000000102a30a7c eighth + 4 (other.mm:4)' '' 'Binary Images:' >"$work/next.crash"
grep '^0x102a30000 ' $reports/demo.crash >>"$work/next.crash"
run -q --no-inline $demo "$work/next.crash"
grep -o '^[0-9].*0x[0-9a-f]* .* (.*)' "$work/out" | sed 's/ *demo *.0x[0-9a-f]*//' >"$work/new"
cat >"$work/expected" <<'END'
0 first + 0 (other.mm:1)
1 -[Player play:] + 52 (player.mm:14)
2 small (other.mm:5)
2 third + 0 (other.mm:9)
3 __main_block_invoke + 36 (main.mm:13)
4 -[Player play:] + 52 (player.mm:14)
5 -[Player play:] + 52 (player.mm:14)
6 stray (other.mm:5)
7 -[Player play:] + 52 (player.mm:14)
8 eighth + 4 (other.mm:4)
END
same "$work/expected" "$work/new" "a name that begins at a return address is looked up, unless inlined calls came with it"
run -q --no-inline --raw-addresses $demo "$work/next.crash"
same "$work/next.crash" "$work/out" "with --raw-addresses it stays"

# ---- Stacks that a report has as one string ----

# As Apple's text has them: a number for each, and its lines; those that gain names are written as all stacks are.
if need "stacks as strings" python3; then
    python3 - $reports/demo-exceptions.ips "$work/strings.ips" <<'END'
import re, sys
text = open(sys.argv[1]).read()
stack = re.search(r'"asiBacktraces" : \[(".*?")\]', text).group(1)
unknown = '"0   other                               0x00000001c3a91234 abort_it + 164"'
open(sys.argv[2], "w").write(text.replace(stack, unknown + "," + stack + "," + unknown))
END
    run -q --no-inline --to=text $demo "$work/strings.ips"
    sed -n '/^Application Specific Backtrace 0/,/^Last Exception/p' "$work/out" | tr -s ' \t' ' ' | sed 's/ 0x[0-9a-f]*//' >"$work/new"
    cat >"$work/expected" <<'END'
Application Specific Backtrace 0:
0 other abort_it + 164

Application Specific Backtrace 1:
0 libsystem_c.dylib __exceptionPreprocess + 164
1 demo -[Player play:] + 52 (player.mm:14)
2 demo __main_block_invoke + 36 (main.mm:13)

Application Specific Backtrace 2:
0 other abort_it + 164

Last Exception Backtrace:
END
    same "$work/expected" "$work/new" "stacks of strings as Apple's text has them, with names and without"
fi

# ---- Signed return addresses, in every kind of report ----

signed_number=$((0x0c61000102a30a7c))
signs() # REPORT ADDRESS: signs it, in hexadecimal and in decimal, and wants what it gives without
{
    sed "s/0x0000000$2/0x8c61000$2/; s/0x$2/0x8c61000$2/; s/$((0x$2))/$((0x0c61000$2))/" $reports/"$1" >"$work/signed"
    ! cmp -s "$work/signed" $reports/"$1"
    check "$1 holds the address"
    run -q $demo --to=json --load demo=0x102a30000 $reports/"$1"
    mv "$work/out" "$work/wanted"
    run -q $demo --to=json --load demo=0x102a30000 "$work/signed"
    # a register's value stays as it is written; what it points to does not
    sed -i "s/\"value\":\"0x8c61000$2\"/\"value\":\"0x$2\"/" "$work/out"
    same "$work/wanted" "$work/out" "$1 with a signed address"
}
for report in demo.crash demo-macos.crash demo-symbols.txt demo-addresses.txt demo-metrickit.json demo-sentry.json demo-kscrash.json; do
    signs $report 102a30a7c
done
signs demo-sample.txt 102a309fc
signs demo-spindump.txt 102a309fc
# An .ips has offsets: the frame is in no image, and its offset is the whole address.
sed "s/{\"imageOffset\":2684,\"imageIndex\":0}/{\"imageOffset\":$signed_number,\"imageIndex\":4}/
    s|\"name\" : \"dyld\"|&},{\"source\":\"A\",\"base\":0,\"size\":0,\"uuid\":\"00000000-0000-0000-0000-000000000000\"|" \
    $reports/demo.ips >"$work/signed.ips"
run -q $demo --summary "$work/signed.ips"
has "-[Player play:]  player.mm:14"
# A frame of an image that is not in the list is in none, whatever its number
for number in 4 4096 4294967295 4294967296 4294967297 18446744073709551615; do
    sed "0,/\"imageIndex\":0}/s//\"imageIndex\":$number}/" $reports/demo.ips >"$work/number.ips"
    run -q $demo --json "$work/number.ips"
    has '"frames":[{"index":0,"address":"0xaec","return_address":false,"image":null,"given":null,"given_place":null,"calls":[]},{"index":1,"address":"0x102a30a7c",'
done
sed 's/^Code Type:.*/Code Type: X86-64 (Native)/; s/0x0000000102a30a7c/0x0c61000102a30a7c/' $reports/demo.crash >"$work/intel.crash"
run -q $demo --to=json "$work/intel.crash"
has '"address":"0xc61000102a30a7c"'

# ---- What is no name ----

for name in '<deduplicated_symbol> + 52' '<redacted> + 52' '??? + 52' '0 + -6510615555426900571' '0x102a30000 + 2684'; do
    sed "s/0x102a30000 + 2684/$name/" $reports/demo.crash >"$work/unnamed.crash"
    run -q $demo "$work/unnamed.crash"
    has "0x0000000102a30a7c -[Player play:] + 52 (player.mm:14)"
done
for name in '<deduplicated_symbol>' '<redacted>' '???'; do
    sed "s/\"imageOffset\":2684,/&\"symbol\":\"$name\",\"symbolLocation\":52,/" $reports/demo.ips >"$work/unnamed.ips"
    run -q $demo "$work/unnamed.ips"
    has '"symbol":"-[Player play:]","symbolLocation":52'
done

# ---- A translated report counts once ----

run $demo $reports/demo-translated.ips
err_has "5 of 6 frames named, 4 of them now; demo by "
run -q $demo --to=json $reports/demo-translated.ips
mv "$work/out" "$work/both"
sed '1,/^Full Report/d; /^---/d; /^$/d' $reports/demo-translated.ips >"$work/alone.ips"
run -q $demo --to=json "$work/alone.ips"
same "$work/out" "$work/both" "as JSON it is what its .ips is"
run -q $demo --signature "$work/alone.ips"
cut -c1-60 "$work/out" >"$work/alone"
run -q $demo --signature $reports/demo-translated.ips
cut -c1-60 "$work/out" >"$work/both"
same "$work/alone" "$work/both" "and has its signature"
sed 's/0x0000000102a30aec/0x0000000102a30ae4/' $reports/demo-macos.crash | cat - "$work/alone.ips" >"$work/two.ips"
run $demo "$work/two.ips"
err_has "two.ips#1: 4 of 4 frames named, 4 of them now"
err_has "two.ips#2: 5 of 6 frames named, 4 of them now"

# ---- Apple's text of an .ips ----

# What each golden text was held against: tests/golden/README.md.
for report in tests/fixtures/apple/*.ips; do
    run -q --to=text -d "$work/empty" "$report"
    same "tests/golden/apple/$(basename "$report" .ips).txt" "$work/out" "$report as Apple's text"
done
# The frames that were left out count: their numbers widen the column in all of the stack.
for last in 1006:"0    " 10006:"0     "; do
    sed "s/\"coldestElided\":14/\"coldestElided\":${last%%:*}/" tests/fixtures/apple/mac-intel.ips >"$work/deep.ips"
    run -q --to=text -d "$work/empty" "$work/deep.ips"
    has "${last#*:}demo                          	       0x102a30032 f50 + 50"
    has "$((${last%%:*} + 1)) demo                          	       0x102a30064 f100 + 100"
    has "0   libsystem_kernel.dylib        	       0x1d4a51000 mach_msg2_trap + 8"
done
# Frames without a name are named by place there too, and a depth of any width leaves six levels: published texts
# have "ELIDED 1020 LEVELS OF RECURSION THROUGH 0x1011163dc 0x101000000 + 1139676" below "RECURSION LEVEL 1024" of 1026.
sed 's/,"symbol":"f100","symbolLocation":100//g; s/"depth":10/"depth":1026/' \
    tests/fixtures/apple/mac-intel.ips >"$work/nameless.ips"
run -q --to=text -d "$work/empty" "$work/nameless.ips"
has "-------- RECURSION LEVEL 1024"
has "-------- ELIDED 1020 LEVELS OF RECURSION THROUGH 0x102a30064 0x102a30000 + 100"
for report in demo-sentry.json demo-kscrash.json demo-metrickit.json; do
    run -q $demo --to=text $reports/$report
    has "-[Player play:] + 52 (player.mm:14)"
done
# Lines of the address itself, no byte before it; inlined calls as frames; nothing that is ours.
run -q $demo --apple $reports/demo.ips
has "4   demo                          	       0x102a30a7c -[Player play:] + 52 (player.mm:15)"
has "+ 88 (queue.hpp:6) [inlined]"
printf '%s\n' '{"bug_type":"309","os_version":"macOS 14.5 (23F79)"}' '{"procName":"demo","pid":1,"faultingThread":0,"threads":[{"triggered":true,"frames":[
{"imageOffset":28,"imageIndex":0,"symbol":"core::ptr::drop_in_place","symbolLocation":28,"sourceLine":178,"sourceFile":"mod.rs","inline":true},
{"imageOffset":28,"imageIndex":0,"symbol":"demo::run","symbolLocation":64}]}],"usedImages":[{"base":4339204096,"size":16384,"path":"/a/demo","name":"demo"}]}' >"$work/inlined.ips"
run -q --no-cache -d "$work" --apple "$work/inlined.ips"
has "core::ptr::drop_in_place + 28 (mod.rs:178) [inlined]" "demo::run + 64"
# KSCrash and Sentry have where the function begins; names may be mangled there.
sed 's/"symbol_addr": *[0-9]*/"symbol_addr":4339206820/; s/"symbol_name": *"[^"]*"/"symbol_name":"_ZN5audio6Player4playEi"/' $reports/demo-kscrash.json >"$work/started.json"
run -q --no-cache -d "$work" --to=text "$work/started.json"
has "audio::Player::play(int) + "
# Pointers of iPhones are signed from bit 39 up: where no image holds the address fewer bits are tried, and only then.
sed 's/0x0000000102a30a7c/0x12345f8102a30a7c/' $reports/demo.crash >"$work/signed.crash"
run -q $demo "$work/signed.crash"
has "1   demo                          	0x12345f8102a30a7c -[Player play:] + 52 (player.mm:14)"
sed 's/0x0000000102a30a7c/0x0000000902a30a7c/' $reports/demo.crash >"$work/signed.crash"
run -q $demo "$work/signed.crash"
has "0x0000000902a30a7c 0x102a30000 + 2684"
run -q $demo --to=text $reports/demo.ips
has "1   demo                          	       0x102a30a7c -[Player play:] + 52 (player.mm:14)"
has "0   demo                          	       0x102a30aec _Z7requireb (queue.hpp:6) [inlined]"
corpus=${CORPUS:-../shared/corpus}/mobiledev-symbolicator/Tests/SymbolicatorTests/Resources/MemoryLeakingApp-2022-08-05-132419
if [ -f "$corpus.ips" ]; then
    run -q --to=text -d "$work/empty" "$corpus.ips"
    same "$corpus.crash" "$work/out" "a published pair of .ips and Apple's text"
else
    skip "Apple's own text, ../shared/corpus is missing"
fi

# ---- Why the system ended it: the same words for text and .ips ----

# WHAT: $work/reason as text, $work/members as JSON, and $work/wanted: what both should tell.
explains()
{
    sed "s/^Exception Type:.*/Exception Type:  EXC_CRASH (SIGKILL)/; s/^Exception Codes:.*/Exception Codes: 0x0, 0x0/
        s/^Termination Reason:.*/Termination Reason: @/" $reports/demo.crash | sed "/@/{
        r $work/reason
        d
    }" >"$work/killed.crash"
    sed "s/\"exception\" :.*/\"exception\" : {\"codes\":\"0x0, 0x0\",\"type\":\"EXC_CRASH\",\"signal\":\"SIGKILL\"},/
        s/\"termination\" : .*/\"termination\" : @,/" $reports/demo.ips | sed "/@/{
        r $work/members
        d
    }" >"$work/killed.ips"
    run -q --summary -d "$work/empty" "$work/killed.crash"
    sed -n '3,/crashed in/p' "$work/out" | sed '$d' >"$work/text"
    run -q --summary -d "$work/empty" "$work/killed.ips"
    sed -n '3,/crashed in/p' "$work/out" | sed '$d' >"$work/json"
    same "$work/wanted" "$work/text" "$1: text"
    same "$work/wanted" "$work/json" "$1: .ips"
}

cat >"$work/reason" <<END
Termination Reason: FRONTBOARD 2343432205 
<RBSTerminateContext| domain:10 code:0x8BADF00D explanation:scene-update watchdog transgression: app<org.example.demo>:412 exhausted real (wall clock) time allowance of 10.00 seconds
ProcessVisibility: Background
ProcessState: Running
WatchdogEvent: scene-update
WatchdogVisibility: Background
WatchdogCPUStatistics: (
"Elapsed total CPU time (seconds): 29.600 (user 23.300, system 6.300), 48% CPU",
"Elapsed application CPU time (seconds): 0.235, 2% CPU"
) reportType:CrashLog maxTerminationResistance:Interactive>
END
cat >"$work/members" <<'END'
"termination" : {"code":2343432205,"flags":6,"namespace":"FRONTBOARD","reasons":["<RBSTerminateContext| domain:10 code:0x8BADF00D explanation:scene-update watchdog transgression: app<org.example.demo>:412 exhausted real (wall clock) time allowance of 10.00 seconds","ProcessVisibility: Background","ProcessState: Running","WatchdogEvent: scene-update","WatchdogVisibility: Background","WatchdogCPUStatistics: (","\"Elapsed total CPU time (seconds): 29.600 (user 23.300, system 6.300), 48% CPU\",","\"Elapsed application CPU time (seconds): 0.235, 2% CPU\"",") reportType:CrashLog maxTerminationResistance:Interactive>"]},
END
cat >"$work/wanted" <<END
  watchdog: the app did not answer in the time the system allows (updating the scene: 10 s); the report says 10.00 s
  the app used 0.235 s of CPU time (2%): it waited; look for locks and synchronous calls on the main thread
END
explains "scene-update watchdog"
# The same without namespace and code, which only the context tells then.
sed 's/"code":2343432205,"flags":6,"namespace":"FRONTBOARD",//' "$work/members" >"$work/short" && mv "$work/short" "$work/members"
sed 's/FRONTBOARD 2343432205 //' "$work/reason" >"$work/short" && mv "$work/short" "$work/reason"
explains "a context without a namespace"

cat >"$work/reason" <<END
Termination Reason: RUNNINGBOARD 3735883980
<RBSTerminateContext| domain:15 code:0xDEAD10CC explanation:[app<org.example.demo>:412] was suspended with locked system files:
/var/mobile/Containers/Shared/AppGroup/0C1D/store.sqlite
/var/mobile/Library/AddressBook/AddressBook.sqlitedb
not in allowed directories:
/var/mobile/Containers/Data/Application/0C1D
END
cat >"$work/members" <<'END'
"termination" : {"code":3735883980,"flags":6,"namespace":"RUNNINGBOARD","reasons":["<RBSTerminateContext| domain:15 code:0xDEAD10CC explanation:[app<org.example.demo>:412] was suspended with locked system files:","\/var\/mobile\/Containers\/Shared\/AppGroup\/0C1D\/store.sqlite","\/var\/mobile\/Library\/AddressBook\/AddressBook.sqlitedb","not in allowed directories:","\/var\/mobile\/Containers\/Data\/Application\/0C1D"]},
END
cat >"$work/wanted" <<END
  0xdead10cc: the app held a file lock or database while it was suspended
  the file: /var/mobile/Containers/Shared/AppGroup/0C1D/store.sqlite
  the file: /var/mobile/Library/AddressBook/AddressBook.sqlitedb
END
explains "locked files"

plain_reason() # NAMESPACE CODE INDICATOR SENTENCE...
{
    echo "Termination Reason:    Namespace $1, Code $2 $3" >"$work/reason"
    echo "\"termination\" : {\"flags\":0,\"code\":$2,\"namespace\":\"$1\",\"indicator\":\"$3\"}," >"$work/members"
    what="$1 $2"
    shift 3
    printf '  %s\n' "$@" >"$work/wanted"
    explains "$what"
}
plain_reason JETSAM 7 per-process-limit "jetsam: the process used more memory than one process may" "the report says: per-process-limit"
plain_reason CODESIGNING 2 "Invalid Page" "code signing: a page of memory does not match the signature, or is not signed" \
    "the report says: Invalid Page"
plain_reason OBJC 1 "[class A is not signed]" "the Objective-C runtime found something wrong and ended the process" \
    "the report says: [class A is not signed]"
plain_reason LIBSYSTEM 2 "Application Triggered Fault" "libsystem found something wrong and ended the process" \
    "the report says: Application Triggered Fault"
plain_reason SPRINGBOARD $((0xbaadca11)) "" "0xbaadca11: killed for not reporting a call it was woken up for"
plain_reason RUNNINGBOARD $((0x8badf00d)) "Background Task Assertion expired" \
    "a background task was not ended in time: endBackgroundTask was not called before it expired (background task: 10 min)"

cat >"$work/reason" <<END
Termination Reason:    Namespace DYLD, Code 1 Library missing
Library not loaded: @rpath/Player.framework/Player
Referenced from: <4C4C44B5-5555-3144-A1BA-79CA685DEC58> /Applications/Demo.app/demo
Reason: tried: '/Applications/Demo.app/Frameworks/Player.framework/Player' (no such file)
(terminated at launch; ignore backtrace)
END
cat >"$work/members" <<'END'
"termination" : {"code":1,"flags":518,"namespace":"DYLD","indicator":"Library missing","details":["(terminated at launch; ignore backtrace)"],"reasons":["Library not loaded: @rpath\/Player.framework\/Player","Referenced from: <4C4C44B5-5555-3144-A1BA-79CA685DEC58> \/Applications\/Demo.app\/demo","Reason: tried: '\/Applications\/Demo.app\/Frameworks\/Player.framework\/Player' (no such file)"]},
END
cat >"$work/wanted" <<END
  dyld: a library that the program needs is missing
  the report says: Library missing
  Library not loaded: @rpath/Player.framework/Player
END
explains "dyld"

# ---- Several reports in a file ----

apple=tests/fixtures/apple
several="$reports/demo.ips $reports/demo-text-in-ips.ips $reports/demo-translated.ips $apple/mac26.ips $reports/demo-macos.crash $reports/jetsam.ips $reports/watchdog.ips"
# shellcheck disable=SC2086
cat $several >"$work/several"
both() # ARGUMENT...: of each file alone into $work/alone, of all in one into $work/out
{
    : >"$work/alone"
    for file in $several; do
        cp "$file" "$work/one"
        run -q $demo "$@" "$work/one"
        cat "$work/out" >>"$work/alone"
    done
    run -q $demo "$@" "$work/several"
}

both
same "$work/alone" "$work/out" "in place, each as if it were alone"
both --all
same "$work/alone" "$work/out" "with --all too"
both --to=text
grep -v '^$' "$work/out" >"$work/lines"
grep -v '^$' "$work/alone" >"$work/wanted"
same "$work/wanted" "$work/lines" "each has its own facts in Apple's text"
both --signature
sed 's/several#[1-7]$/one/' "$work/out" >"$work/lines"
same "$work/alone" "$work/lines" "each has its own signature"
run -q $demo --to=json --json "$work/several"
[ "$(grep -c '"part":' "$work/out")" -eq 7 ]
check "seven objects"
run -q $demo --summary "$work/several"
has "several#7"
run $demo -o "$work/named" "$work/several"
err_has "several#7: 5 of 6 frames named, 4 of them now"
run -q $demo --only kind=SIGKILL "$work/several"
mv "$work/out" "$work/killed"
run -q $demo $reports/watchdog.ips
same "$work/out" "$work/killed" "--only writes the one that fits"
run -q $demo --to=text --only kind=EXC_BAD_ACCESS "$work/several"
grep -v '^$' "$work/out" >"$work/lines"
run -q $demo --to=text $apple/mac26.ips
grep -v '^$' "$work/out" >"$work/wanted"
same "$work/wanted" "$work/lines" "as text too"

# Of documents without the line ahead each is a report, too, in whatever lines they are written; and what follows them.
body=$reports/demo-body-only.ips
tr -d '\n' <"$body" >"$work/line"
echo >>"$work/line"
{
    cat "$body"
    echo
    cat "$body" "$work/line" "$work/line" "$body"
} >"$work/bodies"
run -q $demo --signature "$body"
for n in 1 2 3 4 5; do sed "s|$body|$work/bodies#$n|" "$work/out"; done >"$work/wanted"
run -q $demo --signature "$work/bodies"
same "$work/wanted" "$work/out" "five documents of .ips are five reports"
cat "$body" $apple/ios.ips "$body" $reports/demo.crash "$body" $reports/jetsam.ips >"$work/bodies"
run -q $demo --json --summary "$work/bodies"
[ "$(wc -l <"$work/out")" -eq 6 ]
check "documents, .ips with both lines and texts in turn"
{ cat "$body" && head -c 700 "$body"; } >"$work/bodies"
run -q $demo --signature "$work/bodies"
[ $? -eq 1 ] && [ "$(wc -l <"$work/out")" -eq 1 ] && grep -q 'bodies#2: ' "$work/err"
check "half a document after a whole one is reported" "$work/err"
{ cat "$body" && head -c 3500 "$apple/ios.ips"; } >"$work/bodies" # half of its stacks
run -q $demo --signature "$work/bodies"
[ $? -eq 1 ] && [ "$(wc -l <"$work/out")" -eq 2 ] && grep -q 'bodies: the report is cut short: .*(JSON, offset [0-9]*)' "$work/err"
check "half of the stacks is answered, and the end is reported" "$work/err"

# The line of dashes ahead of "Translated Report" is of the report that it begins.
for process in demo next; do
    printf -- '-------------------------------------\nTranslated Report (Full Report Below)\n-------------------------------------\n\n'
    sed "s/^Process: *demo/Process:             $process/; s/\"procName\" : \"demo\"/\"procName\" : \"$process\"/" \
        $reports/demo-translated.ips
done >"$work/several"
half=$(($(wc -l <"$work/several") / 2))
head -n $half "$work/several" >"$work/first"
tail -n +$((half + 1)) "$work/several" >"$work/second"
run -q --only process=demo "$work/several"
same "$work/first" "$work/out" "of two Translated reports the first one, to the byte"
run -q --only process=next "$work/several"
same "$work/second" "$work/out" "and the second one"

{
    cat $reports/demo.ips
    head -n 20 $reports/demo.ips
    cat $reports/demo.crash
} >"$work/several"
run -q $demo "$work/several"
[ $? -eq 1 ]
check "one of three is cut off: status 1"
err_has "several#2: "
run -q $demo $reports/demo.ips
cat "$work/out" >"$work/wanted"
head -n 20 $reports/demo.ips >>"$work/wanted"
run -q $demo $reports/demo.crash
cat "$work/out" >>"$work/wanted"
run -q $demo "$work/several"
same "$work/wanted" "$work/out" "it stays as it is, and costs no other"

sed 's/$/\r/' $reports/demo-crlf.crash | tr -s '\r' >"$work/crlf"
cat "$work/crlf" "$work/crlf" >"$work/several"
run -q $demo --signature "$work/several"
[ "$(wc -l <"$work/out")" -eq 2 ]
check "two with the line ends of Windows"
cat $reports/demo-spindump.txt >"$work/several"
run -q $demo --signature "$work/several"
[ "$(wc -l <"$work/out")" -eq 1 ]
check "a spindump of several processes is one report"

# ---- What is told by its name only ----

sed '/^Termination/d; s/^Exception Type:.*/Exception Type:  00000020/; s/^Exception Codes:.*/Exception Codes: 0x00000000baaaaaad/' \
    $reports/demo.crash >"$work/stackshot.crash"
run -q $demo --summary "$work/stackshot.crash"
has "0xbaaaaaad: a stackshot of the whole system, not a crash"

# LogSemantics+Crash.swift of embrace-apple-sdk has the names of the attributes; their values are JSON in a string.
printf '{"attributes":[{"key":"emb.provider","value":"kscrash"},{"key":"emb.payload","value":"{\\"report\\":{}}"}]}' >"$work/embrace.json"
run $demo "$work/embrace.json"
[ $? -eq 1 ]
check "a log of Embrace's fails"
err_has "a log of Embrace's, whose report, the JSON in the string emb.payload, has no stacks"

# ---- Minidumps in other files ----

printf 'MDMP\223\247\000\000\020\000\000\000' >"$work/dump"
{
    printf '%s\n' '{"event_id":"1"}' '{"type":"attachment","length":12,"attachment_type":"event.minidump"}'
    cat "$work/dump"
} >"$work/envelope"
run $demo "$work/envelope"
[ $? -eq 1 ]
check "an envelope of Sentry that holds only a minidump fails"
err_has "a minidump inside another file, which is not read there: write its bytes, from MDMP on, into a file of their own"

# What lies beside reports in a folder or an archive and is no report is passed over, which is reported. What is named, empty or damaged is not.
mkdir -p "$work/beside/empty" "$work/none"
cp $reports/demo.ips "$work/beside"
echo "Seen on the train." | tee "$work/beside/notes.txt" >"$work/none/notes.txt"
echo '{"build": 7}' >"$work/beside/build.json"
run --signature $demo "$work/beside"
[ $? -eq 0 ] && [ "$(wc -l <"$work/out")" -eq 1 ]
check "what lies beside a report is passed over" "$work/err"
err_has "notes.txt: passed over: no report: neither stacks nor what a report begins with"
err_has "build.json: passed over: no report"
err_has "3 reports: 1 done, 0 failed, 2 passed over;"
run -q $demo -o "$work/beside.out" "$work/beside"
[ $? -eq 0 ] && [ ! -s "$work/err" ] && [ "$(ls "$work/beside.out")" = demo.ips ]
check "and has no output, and no word with -q" "$work/err"
(cd "$work" && tar -cf beside.tar beside)
run -q --signature $demo "$work/beside.tar"
check "nor does an archive fail"
run -q --signature $demo "$work/beside" "$work/beside/notes.txt"
[ $? -eq 1 ]
check "a file that is named is"
run -q "$work/none"
[ $? -eq 1 ]
check "so is a folder without any report"
err_has "none/notes.txt: no report: neither stacks nor what a report begins with; name a crash report"
cp "$work/beside/build.json" "$work/none"
run -q "$work/none"
[ $? -eq 1 ]
check "with many files too"
err_has "none of these 2 files is a report; name a crash report"
: >"$work/beside/empty/lost.ips"
run -q --signature $demo "$work/beside"
[ $? -eq 1 ]
check "and an empty file"

end

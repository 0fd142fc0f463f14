#!/bin/sh
# machsym crash from outside: reports of the demo program in every format, and the real ones of ../shared/corpus.
# A golden file holds how many frames gain a name, and what changes in the report, as diff prints it.
# `tests/crash.sh update` writes the golden files anew; read what changed before committing.
MACHSYM=${MACHSYM:-build/machsym}
corpus=${CORPUS:-../shared/corpus}
golden=tests/golden/crash
reports=tests/fixtures/reports
update=$1
. tests/checks
export XDG_CACHE_HOME="$work/cache"
mkdir "$work/empty" "$work/demo" "$work/corpus"

says() # WHAT TEXT COMMAND...
{
    what=$1
    text=$2
    shift 2
    "$@" >"$work/said" 2>&1
    grep -qF -e "$text" "$work/said"
    check "$what: $text"
}

# A line for every JSON object, so that diffs of one-line documents are small.
objects()
{
    case $1 in
    *.json | *.ips) sed 's/{/\n{/g' "$1" ;;
    *) cat "$1" ;;
    esac
}

frames_named() # counts of --to=json
{
    sed -n 's/^"counts":.*"with_line":\([0-9]*\),"name_only":\([0-9]*\),.*/\1 \2/p' "$1" | {
        read -r line name
        echo $((line + name))
    }
}

# GOLDEN REPORT OPTIONS...: what changes with symbols is as the golden file says, and without symbols nothing does.
golden()
{
    name=$1
    report=$2
    shift 2
    case $report in
    *.ips) out=$work/out.ips ;;
    *.json) out=$work/out.json ;;
    *) out=$work/out.txt ;;
    esac
    $MACHSYM crash -q --no-demangle -d "$work/empty" "$report" >"$out" 2>"$work/err"
    same "$report" "$out" "$name comes back as it was without symbols"
    $MACHSYM crash -q --no-demangle "$@" "$report" >"$out" 2>"$work/err"
    check "$name is read" "$work/err"
    $MACHSYM crash -q --no-demangle --to=json "$@" "$report" >"$work/json"
    objects "$report" >"$work/before"
    objects "$out" >"$work/after"
    {
        echo "frames named: $(frames_named "$work/json")"
        LC_ALL=C diff -a "$work/before" "$work/after"
    } >"$work/$name.diff"
    [ "$update" = update ] && cp "$work/$name.diff" "$golden/$name.diff"
    diff -a "$golden/$name.diff" "$work/$name.diff" >"$work/difference"
    check "$name is as its golden file says"
    head -n 20 "$work/difference"
}

# ---- The demo program ----

demo="-d tests/fixtures/bin/demo.app.dSYM"
for report in "$reports"/*; do
    case $report in
    *utf16* | *-cr.crash) continue ;; # no lines for diff: below
    *addresses* | *symbols*) load="--load demo=0x102a30000" ;;
    *) load= ;;
    esac
    golden "demo/$(basename "$report")" "$report" $demo $load
done

$MACHSYM crash -q --no-demangle $demo "$reports/demo.crash" >"$work/plain"
$MACHSYM crash -q --no-demangle $demo "$reports/demo-cr.crash" >"$work/raw" # into no pipe: what wine fails to start is not tried again there, see host-mingw
tr '\r' '\n' <"$work/raw" >"$work/cr"
same "$work/plain" "$work/cr" "a report with CR for newlines"
if command -v iconv >/dev/null; then
    $MACHSYM crash -q --no-demangle $demo "$reports/demo-utf16.crash" >"$work/utf16"
    iconv -f UTF-16 -t UTF-8 "$work/utf16" >"$work/utf8"
    same "$work/plain" "$work/utf8" "UTF-16 with a byte order mark"
    $MACHSYM crash -q --no-demangle $demo "$reports/demo-utf16be.crash" >"$work/utf16"
    iconv -f UTF-16BE -t UTF-8 "$work/utf16" >"$work/utf8"
    same "$work/plain" "$work/utf8" "big-endian UTF-16 without one"
else
    skip "UTF-16: it needs iconv"
fi
for report in demo-utf16.crash demo-utf16be.crash demo-cr.crash; do
    $MACHSYM crash -q -d "$work/empty" "$reports/$report" >"$work/out"
    same "$reports/$report" "$work/out" "$report comes back as it was"
done

# What is done is done: a second run changes nothing, and --all comes to the same.
for report in "$reports"/demo*; do
    name=$(basename "$report")
    case $name in
    demo-half.crash) continue ;; # one of its names is not ours
    esac
    $MACHSYM crash -q $demo "$report" >"$work/once"
    $MACHSYM crash -q $demo "$work/once" >"$work/twice"
    same "$work/once" "$work/twice" "$name: a second run"
    $MACHSYM crash -q $demo --all "$work/once" >"$work/twice"
    same "$work/once" "$work/twice" "$name: a second run with --all"
done
$MACHSYM crash -q $demo --no-inline "$reports/demo.crash" >"$work/out"
[ "$(grep -c inlined "$work/out")" -eq 0 ]
check "--no-inline has no inlined calls"
[ "$(wc -l <"$work/out")" -eq "$(wc -l <"$reports/demo.crash")" ]
check "--no-inline adds no lines"
$MACHSYM crash -q --no-demangle $demo --all "$reports/demo-half.crash" >"$work/out"
same "$work/plain" "$work/out" "--all redoes a name that was there"
$MACHSYM crash -q --no-demangle $demo <"$reports/demo.crash" - >"$work/out"
same "$work/plain" "$work/out" "standard input"

says "C++ names" "0x0000000102a30aec Queue<int>::at(int) (queue.hpp:13) [inlined]" $MACHSYM crash -q $demo "$reports/demo.crash"
says "names in HTML" "0x0000000102a30aec Queue&lt;int&gt;::at(int) (queue.hpp:13) [inlined]" \
    $MACHSYM crash -q $demo "$reports/demo-html.crash"

# What pages and mailers write for a character (HTML's names and numbers) is that character, in names and fields alike.
tr '|' ' ' >"$work/entities" <<'END'
&lt;|<
&gt;|>
&amp;|&
&quot;|\"
&#34;|\"
&apos;|'
&#39;|'
&#039;|'
&#x27;|'
&copy;|&copy;
END
while read -r written meant; do
    awk -v process="de${written}mo" -v name="f${written}g(int)" '
        $1 == "Process:" { $0 = "Process:             " process " [412]" }
        $2 == "dyld" { $0 = substr($0, 1, index($0, "start") - 1) name " + 2340" } { print }' "$reports/demo.crash" >"$work/entity.crash"
    $MACHSYM crash -q --json "$work/entity.crash" >"$work/out"
    grep -qF "\"process\":\"de${meant}mo [412]\"" "$work/out" && grep -qF "\"given\":\"f${meant}g(int)\"" "$work/out"
    check "$written is $meant" "$work/out"
done <"$work/entities"
sed "s/start + 2340/f(int,$(printf '\302\240')bool) + 2340/" "$reports/demo.crash" >"$work/nbsp.crash"
says "a no-break space is one blank" '"given":"f(int, bool)"' $MACHSYM crash -q --json "$work/nbsp.crash"
$MACHSYM crash -q $demo "$reports/demo-html.crash" >"$work/html.crash"
$MACHSYM crash -q $demo "$reports/demo.crash" >"$work/text.crash"
for form in html text; do
    $MACHSYM crash -q --json "$work/$form.crash" | grep -o '"given":"[^"]*"' >"$work/$form.given"
done
[ -s "$work/html.given" ] && cmp -s "$work/html.given" "$work/text.given"
check "names of HTML are those of text" "$work/html.given"

# ---- Options ----

says "--full-path" "/fixtures/demo/player.mm:19" $MACHSYM crash -q $demo --full-path "$reports/demo.crash"
says "--raw-addresses" "__main_block_invoke + 36 (main.mm:14)" $MACHSYM crash -q $demo --raw-addresses "$reports/demo.crash"
says "--to=text" "2   demo                          	       0x102a309fc __main_block_invoke + 36 (main.mm:13)" \
    $MACHSYM crash -q $demo --to=text "$reports/demo.ips"
says "--to=text: images" "       0x102a30000 -        0x102a33fff demo arm64  <4c4c44b555553144a1ba79ca685dec58> " \
    $MACHSYM crash -q $demo --to=text "$reports/demo.ips"
says "--to=text: threads" "Thread 0 name:   Dispatch queue: com.apple.main-thread" \
    $MACHSYM crash -q $demo --to=text "$reports/demo.ips"
$MACHSYM crash -q --no-demangle --no-inline $demo --to=text "$reports/demo.ips" >"$work/out"
$MACHSYM crash -q --no-demangle --to=text "$reports/demo.ips" -d "$work/empty" >"$work/bare.crash"
$MACHSYM crash -q --no-demangle --no-inline $demo "$work/bare.crash" >"$work/later"
same "$work/out" "$work/later" "text of an .ips, symbolicated before or after"
$MACHSYM crash -q --no-demangle $demo --to=text "$reports/demo.ips" >"$work/out"
$MACHSYM crash -q --no-demangle $demo "$work/bare.crash" >"$work/later"
same "$work/out" "$work/later" "with inlined calls too: they have the number of their frame"
$MACHSYM crash -q --no-demangle $demo --all "$work/out" >"$work/again"
same "$work/out" "$work/again" "a second run with --all looks the same addresses up"

# One incident as .ips and as the text of it: text, JSON and page have one number for each address. Apple's text counts
# inlined calls: its frames are as many as lines.
numbers() # REPORT: "NUMBER ADDRESS" of the frames of the first thread
{
    "$MACHSYM" crash -q $demo --json "$1" | grep -ao '{"index":[0-9]*,"address":"0x[0-9a-f]*"' |
        sed 's/{"index":\([0-9]*\),"address":"\(.*\)"/\1 \2/' | awk '$1 == 0 && NR > 1 { exit } { print }'
}
numbers "$reports/demo.ips" >"$work/ips.numbers"
numbers "$work/bare.crash" >"$work/crash.numbers"
[ "$(wc -l <"$work/ips.numbers")" -ge 4 ]
check "JSON has numbers" "$work/ips.numbers"
same "$work/ips.numbers" "$work/crash.numbers" "JSON of an .ips and of its text number frames alike"
sed -n '/^Thread 0/,/^$/s/^\([0-9][0-9]*\) .*\(0x[0-9a-f]*\) .*/\1 \2/p' "$work/out" | sed 's/0x0*/0x/' | uniq >"$work/text.numbers"
same "$work/ips.numbers" "$work/text.numbers" "text numbers frames as JSON does"
$MACHSYM crash -q $demo --apple "$reports/demo.ips" >"$work/raw"
sed -n '/^Thread 0/,/^$/s/^\([0-9][0-9]*\) .*/\1/p' <"$work/raw" >"$work/apple.numbers"
seq 0 $(($(wc -l <"$work/apple.numbers") - 1)) >"$work/counted"
[ "$(wc -l <"$work/counted")" -gt "$(wc -l <"$work/text.numbers")" ]
check "Apple's text has more numbers" "$work/apple.numbers"
same "$work/counted" "$work/apple.numbers" "and counts inlined calls"
says "--signature" "-[Player skip:] | -[Player play:]" $MACHSYM crash --no-demangle $demo --signature "$reports/demo.crash"
says "no option" "no such option" $MACHSYM crash --nonsense "$reports/demo.crash"
says "a missing report" "No such file" $MACHSYM crash "$work/none"
$MACHSYM crash -q $demo "$reports/demo.crash" --check >/dev/null
[ $? -eq 1 ]
check "--check notices the frame of the system"
$MACHSYM crash -q $demo "$reports/demo-sentry.json" --check >/dev/null
check "--check is content when all have names"

# ---- In words ----

says "uncaught exception" "uncaught exception NSRangeException: index 7 beyond bounds" \
    $MACHSYM crash $demo --summary "$reports/demo-leb.crash"
says "watchdog" "watchdog: the app did not answer in the time the system allows (launching: 20 s); the report says 19.97 s" \
    $MACHSYM crash $demo --summary "$reports/watchdog.ips"
printf '%s\n%s\n' '{"bug_type":"288","timestamp":"2024-05-01 10:00:00.00 +0000","os_version":"iPhone OS 17.4"}' \
    '{"processByPid":{"1":{"threadById":{"1":{"userFrames":[[0,4096]]}}}}}' >"$work/stackshot.ips"
says "stackshot" "stackshot of all processes" $MACHSYM crash $demo --summary "$work/stackshot.ips"
$MACHSYM crash -q $demo "$work/stackshot.ips" >"$work/out"
same "$work/stackshot.ips" "$work/out" "stackshot, byte for byte"
says "jetsam" "no stacks" $MACHSYM crash $demo --summary "$reports/jetsam.ips"
$MACHSYM crash -q $demo "$reports/jetsam.ips" >"$work/out"
check "a report without stacks is no failure"
mkdir "$work/wrong"
cp tests/fixtures/bin/inline-arm64-d5-22 "$work/wrong/demo"
says "another UUID" "demo 1.2 (7) UUID 4C4C44B5-5555-3144-A1BA-79CA685DEC58 arm64: demo in $work/wrong has UUID 4C4C4465-" \
    $MACHSYM crash -d "$work/wrong" --summary "$reports/demo.crash"
says "no file" "demo 1.2 (7) UUID 4C4C44B5-5555-3144-A1BA-79CA685DEC58 arm64: no file has this UUID" \
    $MACHSYM crash -d "$work/empty" --summary "$reports/demo.crash"

# ---- BCSymbolMap ----

if [ -d "$corpus" ]; then
    fixtures=$corpus/sentry-symbolic/symbolic-debuginfo/tests/fixtures
    printf '0   Sentry  0x100005a90 0x100000000 + 23184\n1   Sentry  0x100005b50 0x100000000 + 23376\nBinary Images:\n%s\n' \
        '0x100000000 - 0x1000fffff Sentry arm64 <2d10c42f591d3265b14778ba0868073f> /Sentry' >"$work/hidden.crash"
    says "hidden names" "__hidden#0_ + 28" $MACHSYM crash -q -d "$fixtures" "$work/hidden.crash"
    says "--bcsymbolmap" "-[SentryMessage initWithFormatted:] + 28 (SentryMessage.m:" $MACHSYM crash -q -d "$fixtures" \
        --bcsymbolmap "$fixtures/c8374b6d-6e96-34d8-ae38-efaa5fec424f.bcsymbolmap" "$work/hidden.crash"
    mkdir -p "$work/h.xcarchive/dSYMs/S.dSYM/Contents/Resources/DWARF" "$work/h.xcarchive/BCSymbolMaps"
    cp "$fixtures/2d10c42f-591d-3265-b147-78ba0868073f.dwarf-hidden" \
        "$work/h.xcarchive/dSYMs/S.dSYM/Contents/Resources/DWARF/Sentry"
    cp "$fixtures/c8374b6d-6e96-34d8-ae38-efaa5fec424f.bcsymbolmap" \
        "$work/h.xcarchive/BCSymbolMaps/C8374B6D-6E96-34D8-AE38-EFAA5FEC424F.bcsymbolmap"
    echo '<plist><dict><key>DBGOriginalUUID</key><string>C8374B6D-6E96-34D8-AE38-EFAA5FEC424F</string></dict></plist>' \
        >"$work/h.xcarchive/dSYMs/S.dSYM/Contents/Resources/2D10C42F-591D-3265-B147-78BA0868073F.plist"
    says "a map in the archive" "-[SentryMessage setMessage:] + " $MACHSYM crash -q -d "$work/h.xcarchive" "$work/hidden.crash"
fi

# ---- Owners ----

printf 'prefix Player = Player SDK\n' >"$work/rules"
says "--owners" "-[Player skip:] + 88 (player.mm:19) [Player SDK]" \
    $MACHSYM crash -q $demo --owners "$work/rules" "$reports/demo.crash"
says "--owners in an .ips" '"sourceFile":"player.mm","sourceLine":19,"owner":"Player SDK"}' \
    $MACHSYM crash -q $demo --owners "$work/rules" "$reports/demo.ips"
for report in demo.crash demo.ips demo-sample.txt demo-spindump.txt; do
    $MACHSYM crash -q $demo --owners "$work/rules" "$reports/$report" >"$work/once"
    $MACHSYM crash -q $demo --owners "$work/rules" "$work/once" >"$work/twice"
    same "$work/once" "$work/twice" "$report with owners: a second run"
done

# ---- The store ----

mkdir -p "$work/store/a/b.xcarchive/dSYMs"
cp -R tests/fixtures/bin/demo.app.dSYM "$work/store/a/b.xcarchive/dSYMs/"
$MACHSYM crash -q --no-demangle -d "$work/store" "$reports/demo.crash" >"$work/out"
same "$work/plain" "$work/out" "a dSYM deep in a folder"
touch -d '2020-01-01' "$work/store" "$work/store/a" "$work/store/a/b.xcarchive" "$work/store/a/b.xcarchive/dSYMs"
touch -d '2020-01-01' "$work/store/a/b.xcarchive/dSYMs/demo.app.dSYM/Contents/Resources/DWARF" \
    "$work/store/a/b.xcarchive/dSYMs/demo.app.dSYM/Contents/Resources/DWARF/demo"
$MACHSYM crash -q --no-demangle -d "$work/store" "$reports/demo.crash" >"$work/out"
ls "$work"/cache/machsym/*.index >/dev/null
check "the store is remembered in an index file"
grep -l "S 4C4C44B5-5555-3144-A1BA-79CA685DEC58" "$work"/cache/machsym/*.index >/dev/null
check "the index holds the UUID"
rm -f "$work/store/a/b.xcarchive/dSYMs/demo.app.dSYM/Contents/Resources/DWARF/demo"
touch -d '2020-01-01' "$work/store/a/b.xcarchive/dSYMs/demo.app.dSYM/Contents/Resources/DWARF"
$MACHSYM crash -q --no-demangle -d "$work/store" "$reports/demo.crash" >"$work/out"
same "$reports/demo.crash" "$work/out" "a file that is gone is not in the store, whatever the index says"
cp tests/fixtures/bin/demo "$work/store/demo"
$MACHSYM crash -q --no-demangle -d "$work/store" "$reports/demo.crash" >"$work/out"
says "a stripped binary gives what it has" "-[Player skip:] + 88" cat "$work/out"
for index in "$work"/cache/machsym/*.index; do
    echo nonsense >"$index"
done
$MACHSYM crash -q --no-demangle -d "$work/store" "$reports/demo.crash" >"$work/out2"
same "$work/out" "$work/out2" "a damaged index is made anew"
mkdir "$work/beside"
cp -R "$reports/demo.crash" tests/fixtures/bin/demo.app.dSYM "$work/beside/"
$MACHSYM crash -q --no-demangle "$work/beside/demo.crash" >"$work/out"
same "$work/plain" "$work/out" "a dSYM beside the report"

# ---- Maps ----

mkdir "$work/maps" "$work/both"
$MACHSYM map build --no-progress --lines=people -o "$work/maps/x.symmap" tests/fixtures/bin/demo.app.dSYM 2>"$work/err"
check "a map of the demo" "$work/err"
for report in "$reports"/demo*; do
    case $report in
    *sentry* | *addresses* | *symbols*) continue ;; # columns, and names of files: a map keeps neither
    esac
    $MACHSYM crash -q $demo "$report" >"$work/dsym"
    $MACHSYM crash -q -d "$work/maps" "$report" >"$work/map"
    same "$work/dsym" "$work/map" "$(basename "$report") by a map"
done
$MACHSYM map build --no-progress --lines=atos -o "$work/both/x.symmap" tests/fixtures/bin/demo.app.dSYM 2>"$work/err"
says "a map of another policy" "x.symmap, a map built with --lines=atos: some lines differ; build it with --lines=people" \
    $MACHSYM crash -d "$work/both" --summary "$reports/demo.crash"
cp -R tests/fixtures/bin/demo.app.dSYM "$work/both/"
says "a dSYM of the policy asked for goes first" "demo.app.dSYM/Contents/Resources/DWARF/demo" \
    $MACHSYM crash -d "$work/both" --summary "$reports/demo.crash"
head -c 300 "$work/maps/x.symmap" >"$work/cut.symmap"
$MACHSYM crash -q -d "$work/cut.symmap" "$reports/demo.crash" >"$work/out" 2>"$work/err"
same "$reports/demo.crash" "$work/out" "a map that is cut short names nothing"

# ---- Names of the function after the call ----

# 0x100000a47 is in +[Player shared] (llvm-symbolizer), the next byte begins -[Player play:]
sed 's/0x0000000102a30aec .*/0x0000000102a30a48 -[Player play:] + 0 (player.mm:14)/
     s/0x0000000102a30a7c .*/0x0000000102a30a48 -[Player play:] + 0 (player.mm:14)/' "$reports/demo.crash" >"$work/next.crash"
$MACHSYM crash -q $demo "$work/next.crash" >"$work/out"
grep -q '^0 .*0x0000000102a30a48 -\[Player play:\] + 0 (player.mm:14)$' "$work/out" &&
    grep -q '^1 .*0x0000000102a30a48 +\[Player shared\] + 8 (player.mm:9)$' "$work/out"
check "a return address where a function begins is of the one before" "$work/out"
$MACHSYM crash -q --raw-addresses $demo "$work/next.crash" >"$work/raw"
grep '^1 ' "$work/raw" >"$work/out"
grep -q -- '-\[Player play:\] + 0 (player.mm:14)$' "$work/out"
check "but with --raw-addresses"

# ---- Many reports ----

mkdir "$work/in" "$work/other"
for i in 1 2 3 4 5 6 7 8; do
    cp "$reports/demo.crash" "$work/in/$i.crash"
    cp "$reports/demo.ips" "$work/in/$i.ips"
done
cp "$reports/demo.ips" "$work/other/1.ips"
echo '{"threads":[{"frames":[' >"$work/in/damaged.ips"
$MACHSYM crash $demo --no-demangle -j 4 -o "$work/out.d" "$work"/in/* "$work/other/1.ips" >"$work/table" 2>&1
[ $? -eq 1 ]
check "a damaged report shows in the exit status"
says "the table" "18 reports: 17 done, 1 failed" cat "$work/table"
says "the table names it" "damaged.ips: an array is not closed, at byte 24" cat "$work/table"
[ "$(ls "$work/out.d" | wc -l)" -eq 17 ] && [ -f "$work/out.d/1-2.ips" ]
check "every other report is written, two of a name side by side"
for name in a/x.ips b/X.ips c/x-2.ips d/x.ips e/x.ips; do
    mkdir -p "$work/named/${name%/*}"
    sed "s/demo \[412\]/${name%/*} [412]/" "$reports/demo.crash" >"$work/named/$name"
done
$MACHSYM crash -q $demo -o "$work/named.d" "$work/named"/?/*
for name in x.ips X-2.ips x-2-2.ips x-3.ips x-4.ips; do
    sed -n 's/^Process: *\(.\) .*/\1/p' "$work/named.d/$name"
done >"$work/order"
[ "$(tr -d '\n' <"$work/order")" = abcde ]
check "names that differ in case, or are taken already, get the next number"
for i in 1 5 8; do
    same "$work/plain" "$work/out.d/$i.crash" "report $i of many"
done
$MACHSYM crash -q $demo -j 4 "$work"/in/?.crash >"$work/many"
$MACHSYM crash -q $demo -j 1 "$work"/in/?.crash >"$work/one"
same "$work/one" "$work/many" "four jobs print what one does"
says "--group" "8 reports" $MACHSYM crash -q $demo --group "$work"/in/?.crash
says "--group: similar" "similar:" $MACHSYM crash -q $demo --group "$work"/in/?.crash "$reports/demo-leb.crash" \
    "$reports/demo-sentry.json" "$reports/demo-sample.txt"

# ---- Limits ----

awk 'BEGIN {
    print "Process: demo [1]\n\nThread 0:"
    for (i = 0; i < 4000; i++)
        printf "%d   demo  0x102a30aec 0x102a30000 + 1\n", i
    print "\nBinary Images:\n0x102a30000 - 0x102a33fff demo arm64  <4c4c44b555553144a1ba79ca685dec58> /demo"
}' >"$work/long.crash"
$MACHSYM crash -q $demo "$work/long.crash" >"$work/out"
check "a report of 4000 frames is within the usual limit"
for limit in ,1 0.0000001 10,1 10.5,1.5; do
    $MACHSYM crash -q $demo --limit=$limit "$work/long.crash" "$reports/demo.ips" >"$work/out" 2>"$work/err"
    [ $? -eq 1 ]
    check "--limit=$limit shows in the exit status"
    says "--limit=$limit" "long.crash: its " cat "$work/err"
done
$MACHSYM crash -q $demo --limit ,1 "$work/long.crash" "$reports/demo.ips" >"$work/out" 2>"$work/err"
$MACHSYM crash -q $demo "$reports/demo.ips" >"$work/only"
same "$work/only" "$work/out" "the batch goes on after a report past its limit"
$MACHSYM crash -q $demo --limit=0,0 "$work/long.crash" >"$work/out"
check "--limit=0,0 is no limit"
for limit in x 1,x 1,2,3 -1 1e; do
    $MACHSYM crash -q $demo --limit=$limit "$reports/demo.ips" >"$work/out" 2>&1
    [ $? -eq 2 ]
    check "--limit=$limit is refused"
done

# ---- Real reports ----

if [ -d "$corpus" ]; then
    crashprobe=$corpus/sentry-symbolic/py/tests/res/ext/1.4.1/release
    leaking=$corpus/mobiledev-symbolicator/Tests/SymbolicatorTests/Resources
    for arch in arm64 armv7; do
        for report in "$crashprobe/$arch"/*.json; do
            golden "corpus/$arch-$(basename "$report" | tr -d '() ')" "$report" -d "$crashprobe/dSYMs"
        done
    done
    for report in "$leaking"/*.crash "$leaking"/*.ips "$leaking"/memory_leak*; do
        golden "corpus/$(basename "$report")" "$report" -d "$leaking"
    done
    for report in "$corpus"/kscrash/Example-Reports/* "$corpus"/sentry-crash-parser/tests/fixtures/* \
        "$corpus"/electron-symbolicate-mac/*/spec/fixtures/* "$corpus"/idb/*/*/*.ips "$corpus"/crashprobe-data/ios/*/*; do
        $MACHSYM crash -q -d "$work/empty" "$report" >"$work/out" 2>/dev/null
        same "$report" "$work/out" "$report comes back as it was"
    done
    # What the sources of CrashProbe say: corpus/README.md.
    source="$MACHSYM crash --no-demangle --summary -d $crashprobe/dSYMs"
    says "CrashProbe abort" "-[CRLCrashAbort crash]  CRLCrashAbort.m:37" $source "$crashprobe/arm64/Call abort().json"
    says "CrashProbe objc_msgSend" "-[CRLCrashObjCMsgSend crash]  CRLCrashObjCMsgSend.m:47" \
        $source "$crashprobe/armv7/Crash inside objc_msgSend().json"
    says "CrashProbe null" "-[CRLCrashNULL crash]  CRLCrashNULL.m:37" $source "$crashprobe/arm64/Dereference a NULL pointer.json"
    for arch in arm64 armv7; do
        says "CrashProbe Swift" "_TFC11CrashLibiOS13CRLCrashSwift5crashfT_T_  CRLCrashSwift.swift:36  (inlined)" \
            $source "$crashprobe/$arch/Swift.json"
        says "CrashProbe Swift names" "CRLCrashSwift.crash()  CRLCrashSwift.swift:36  (inlined)" \
            $MACHSYM crash --summary -d "$crashprobe/dSYMs" "$crashprobe/$arch/Swift.json"
        says "CrashProbe caller" "-[CRLDetailViewController doCrash]  CRLDetailViewController.m:53" \
            $source "$crashprobe/$arch/Swift.json"
    done
else
    skip "real reports, ../shared/corpus is missing"
fi

# A page has each report as data: the JSON that --json prints, with no < in it.
page_has() # PAGE COUNT JSON WHAT
{
    sed -n 's|^<script type="application/json" class="report">\(.*\)</script>$|\1|p' "$1" >"$work/data"
    [ "$(wc -l <"$work/data")" -eq "$2" ] && ! grep -q '<' "$work/data" && [ "$(tail -n 1 "$1")" = '</html>' ]
    check "$4: the page is whole, and its data ends nothing"
    sed 's/^.*,"json":\({"schema":"crash.*}\)}$/\1/; s/\\u003c/</g' "$work/data" | diff -q - "$3" >"$work/out"
    check "$4: the page has the JSON" "$work/out"
}
reports=tests/fixtures/reports
$MACHSYM crash -q --json -d tests/fixtures/bin/demo.app.dSYM $reports/demo.crash >"$work/json"
$MACHSYM crash -q --html -d tests/fixtures/bin/demo.app.dSYM $reports/demo.crash >"$work/page"
page_has "$work/page" 1 "$work/json" "one report"
cat $reports/demo.crash $reports/demo.crash >"$work/two.crash"
$MACHSYM crash -q --json -d tests/fixtures/bin/demo.app.dSYM "$work/two.crash" >"$work/json"
$MACHSYM crash -q --html -d tests/fixtures/bin/demo.app.dSYM "$work/two.crash" -o "$work/two.html"
page_has "$work/two.html" 2 "$work/json" "two reports of a file"
$MACHSYM crash -q --signature --json -d tests/fixtures/bin/demo.app.dSYM "$work/two.crash" | sed 's/.*\("signature":"[^"]*"\).*/\1/' >"$work/want"
sed -n 's/.*\("signature":"[^"]*"\),"json":.*/\1/p' "$work/two.html" | diff "$work/want" - >"$work/out" && [ "$(wc -l <"$work/want")" -eq 2 ]
check "a page has the signatures that --signature tells" "$work/out"
$MACHSYM crash -q --html -d tests/fixtures/bin/demo.app.dSYM $reports/demo.crash $reports/demo.ips -o "$work/pages" 2>"$work/err"
[ "$(cd "$work/pages" && echo *)" = 'demo-2.html demo.html' ]
check "a page a report in a folder" "$work/err"

end

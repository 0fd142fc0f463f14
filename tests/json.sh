#!/bin/sh
# What every command prints with --json is what docs/json.md says, member by member; tests/json_page.py compares. A member that the
# page has and nothing here prints fails too.
. tests/checks
if ! command -v python3 >/dev/null; then
    skip "it needs python3"
    end
    exit
fi
bin=tests/fixtures/bin
reports=tests/fixtures/reports
dsym=$bin/demo.app.dSYM
out=$work/out
mkdir "$out" "$work/wrong.dSYM"
M() { # NAME ARGUMENT...: what a command prints goes to a file of that name
    to=$out/$1
    shift
    "$MACHSYM" "$@" >>"$to" 2>"$work/err"
}
M atos atos --json -o $dsym -i 0x100000aec 0x1 no-address
printf 'prefix demo/ = ours\n' >"$work/rules"
M atos atos --json -o $dsym --owners "$work/rules" 0x100000aec
M info info --json $dsym $bin/inline-fat.dwarf $bin/symbols-x86_64 $bin/demo $bin/map-x86_64-d4-O2/program
M info info --json $bin/inline-x86_64-d5-14-damaged.dwarf $bin/hand-lines.dwarf $bin/collection-arm64
python3 tests/cache/build.py tests/fixtures/bin/cache "$work/caches" macos12 ios15
M cache info --json "$work/caches/macos12/dyld_shared_cache_x86_64h" "$work/caches/ios15/dyld_shared_cache_arm64e"
M atos atos --json --nearest -o "$work/caches/macos12/dyld_shared_cache_x86_64h" 0x7ff800014625
M extract cache extract --json "$work/caches/macos12/dyld_shared_cache_x86_64h" Zoo -o "$work/Zoo"
M quick info --json --quick $dsym
head -c 12000 $dsym/Contents/Resources/DWARF/demo >"$work/cut"
M info info --json "$work/cut"
[ $? -eq 1 ]
check "a damaged file fails"
M objc objc --json $bin/demo
M objc objc --json $bin/zoo-arm64-chained
M symbols symbols --json $bin/symbols-x86_64
M owners owners --json --objects $bin/map-x86_64-d4-O2/program
M owners owners --json --objects --ranges $bin/map-x86_64-d4-O2/program
M owners owners --json --objects $bin/map-x86_64-d4-O2/program 0x100000440 0x1
M demangle demangle --json _ZN5QueueIiE2atEi main
printf '$s4main3fooyyF\nno name\n' | M demangle demangle --json
M build map build --json -o "$work/demo.symmap" $dsym
M build map build --json --damaged --lines=dwarf -o "$work/cut.symmap" "$work/cut"
M map-info map info --json "$work/demo.symmap" "$work/cut.symmap"
M lookup map lookup --json -i "$work/demo.symmap" 0x100000aec
M dump map dump --json "$work/demo.symmap"
M verify map verify --json "$work/demo.symmap" $dsym
M verify map verify --json "$work/cut.symmap" $dsym
"$MACHSYM" map export --format=bugly -o "$work/table" "$work/demo.symmap" 2>"$work/err"
M import map import --json --format=bugly -arch arm64 -o "$work/again.symmap" "$work/table"
"$MACHSYM" map export --chunks=4000 --format=jsonl "$work/demo.symmap" 2>"$work/err" |
    sed -n 's/.*"value":"\([^"]*\)".*/\1/p' | head -n 1 | M chunk map chunk --json --base64 0x100000aec
M find find --json $dsym 'Queue<int>::*'
M check check --json $dsym $bin/demo $bin/symbols-x86_64
M store-add store add --json "$work/store" $dsym $bin/inline-fat.dwarf
M store-list store list --json "$work/store"
M store-missing store missing --json "$work/store" 00000000-0000-0000-0000-000000000001
M store-gc store gc --json --newest 1 "$work/store"
find "$work/store" -exec touch -d 2020-01-01 {} +
M store-gc store gc --json --older 9 "$work/store"
printf x >>"$work/store/4C/4C4C44B5-5555-3144-A1BA-79CA685DEC58.symmap"
M store-verify store verify --json "$work/store"
many="tests/fixtures/services/* $reports/*.crash $reports/*.ips $reports/demo-*.json $reports/demo-*.txt tests/real/crashprobe/*.crash tests/real/*.ips"
# facts that none of them has
sed 's/^Exception Codes:.*/&\nException Subtype: KERN_INVALID_ADDRESS at 0x1/' $reports/demo.crash >"$work/subtype.crash"
sed '2s/^{/{"exceptionReason":{"composed_message":"because"},/' $reports/demo.ips >"$work/reason.ips"
printf '%s\n' "Exception Type:  EXC_BAD_ACCESS (SIGBUS)" "" "Thread 0 Crashed:" "0   demo   0x0000000102a30aec 0x102a30000 + 2796" "" \
    "Thread 0 crashed with ARM Thread State (64-bit):" "   far: 0x00000000000000e0  esr: 0x93c00021 (Data Abort)" >"$work/sized.crash"
printf '%s\n' "Exception Type:  EXC_GUARD" "Exception Codes: 0x4000000100000007, 0x08fd4dbfade2dead" "" \
    "Application Specific Information:" "demo/main.swift:12: Fatal error: none" "" \
    "Thread 0 Crashed:" "0   demo   0x0000000102a30aec 0x102a30000 + 2796" >"$work/guard.crash"
printf '%s\n' "Exception Type:  EXC_BAD_ACCESS (SIGSEGV)" "" "Thread 0 Crashed:" "0   gone   0x00000001c0000010 0x1c0000000 + 16" "" \
    "Binary Images:" "0x00000001c0000000 - 0x00000001c000ffff gone arm64 (unloaded) /gone" >"$work/unloaded.crash"
many="$many $work/unloaded.crash $work/guard.crash $work/sized.crash tests/fixtures/facts/tag.ips $work/subtype.crash $work/reason.ips tests/fixtures/stacks/mail.txt tests/fixtures/apple/*.ips"
# shellcheck disable=SC2086
for how in crash summary brief signature group missing; do
    case $how in
    crash) option= ;;
    missing) option=--missing=text ;;
    *) option=--$how ;;
    esac
    M crash-$how crash -q --json $option --no-cache -d $bin $many
done
M crash-damaged crash -q --json --no-cache -d "$work/cut" $reports/demo.crash
head -c 3800 tests/fixtures/apple/ios.ips >"$work/cut.ips"
M crash-damaged crash -q --json --no-cache -d $bin "$work/cut.ips"
# beside reports as they are, the same lines
# shellcheck disable=SC2086
"$MACHSYM" crash -q --no-cache -d $bin $many >"$work/reports" 2>"$work/err"
# shellcheck disable=SC2086
"$MACHSYM" crash -q --json-out "$work/beside" --no-cache -d $bin $many >"$work/same" 2>"$work/err"
cmp "$work/same" "$work/reports" && cmp "$work/beside" "$out/crash-crash"
check "--json-out: the lines of --json, and the reports as without it"
cp $reports/demo.crash "$work/input"
"$MACHSYM" crash -q --json-out "$work/input" "$work/input" >"$work/same" 2>"$work/err"
[ $? -eq 1 ] && cmp "$work/input" $reports/demo.crash
check "--json-out leaves the report alone"
"$MACHSYM" crash -q --json-out - "$work/input" >"$work/same" 2>"$work/err"
[ $? -eq 2 ] && grep -q '^machsym: --json-out wants a file' "$work/err"
check "--json-out is no standard output"
for both in '-o --json-out' '--groups-out --json-out' '-o --groups-out'; do
    "$MACHSYM" crash -q ${both% *} "$work/one" ${both#* } "$work/one" "$work/input" >"$work/same" 2>"$work/err"
    [ $? -eq 2 ] && grep -q 'name one file twice' "$work/err" && [ ! -e "$work/one" ]
    check "$both of one name"
done
"$MACHSYM" crash -q --json-out "$work/none/json" "$work/input" >"$work/same" 2>"$work/err"
[ $? -eq 1 ] && [ ! -s "$work/same" ] && grep -q "^machsym: $work/none/json: " "$work/err"
check "--json-out into no folder"
printf 'prefix -[Player = ours\nprefix demo/ = ours\nimage demo\nall = ours\n' >"$work/blame"
M crash-summary crash -q --json --summary --no-cache -d $dsym --owners "$work/blame" $reports/demo.crash $reports/demo-leaks.txt
for how in --brief --json; do
    M crash-links crash -q $how --no-cache -d $dsym --owners "$work/blame" --link='https://host/{path}#L{line}' --source-root=/fixtures= \
        --sources=tests/fixtures/src --context=1 $reports/demo.crash tests/fixtures/facts/tag.ips
done
# three images without symbols, and registers that point into one of them and into a function
printf 'Thread 0 Crashed:\n%s\n%s\n%s\n%s\n\nThread 0 crashed with ARM Thread State (64-bit):\n%s\n\nBinary Images:\n%s\n%s\n%s\n%s\n' \
    '0   A 0x100000010 0x100000000 + 16' '1   B 0x110000010 0x110000000 + 16' '2   C 0x120000010 0x120000000 + 16' \
    '3   demo 0x130000aec 0x130000000 + 2796' '    x0: 0x0000000100000020   x1: 0x0000000130000aec' \
    '0x100000000 - 0x100003fff A arm64  <00000000000000000000000000000001> /A' '0x110000000 - 0x110003fff B arm64  <00000000000000000000000000000002> /B' \
    '0x120000000 - 0x120003fff C arm64  <00000000000000000000000000000003> /C' \
    '0x130000000 - 0x130003fff demo arm64  <4c4c44b555553144a1ba79ca685dec58> /demo' >"$work/three.crash"
M crash-links crash -q --brief --no-cache -d $dsym "$work/three.crash"
# a caller that only lr has, and an address that no call ends at
printf 'Thread 0 Crashed:\n%s\n%s\n%s\n\nThread 0 crashed with ARM Thread State (64-bit):\n%s\n\nBinary Images:\n%s\n' \
    '0   demo 0x102a30a48 0x102a30000 + 2632' '1   demo 0x102a309bc 0x102a30000 + 2492' '2   demo 0x102a309b8 0x102a30000 + 2488' \
    '    fp: 0x000000016fdff010    lr: 0x0000000102a309fc    sp: 0x000000016fdff000    pc: 0x0000000102a30a48' \
    '0x102a30000 - 0x102a33fff demo arm64  <4c4c44b555553144a1ba79ca685dec58> /demo' >"$work/doubt.crash"
M crash-crash crash -q --json --check-stack --no-cache -d tests/fixtures/bin/demo -d $dsym "$work/doubt.crash"
M crash-unchecked crash -q --json --check-stack --no-cache -d $dsym "$work/doubt.crash"
M crash-doubt crash -q --brief --check-stack --no-cache -d tests/fixtures/bin/demo "$work/doubt.crash"
M crash-doubts crash -q --summary --json --check-stack --no-cache -d tests/fixtures/bin/demo "$work/doubt.crash"
# shellcheck disable=SC2086
"$MACHSYM" crash -q --groups-out "$out/state" --no-cache -d $bin $many >"$work/log" 2>"$work/err"
M pretty.json crash -q --to=json --no-cache -d $dsym --owners "$work/rules" $reports/demo.crash
M pretty.json crash -q --missing=json --no-cache -d $dsym $reports/demo.crash
head -c 700 tests/fixtures/services/crash.plcrash >"$work/cut.plcrash"
cat >"$work/requests" <<END
{"id":1,"do":"demangle","names":["_Z1fv"]}
{"id":"2","do":"frames","uuid":"4C4C44B5-5555-3144-A1BA-79CA685DEC58","offsets":["0xaec"]}
{"do":"stats"}
{"do":"crash","path":"tests/fixtures/reports/demo.crash","want":["json","text","summary","signature","same","brief","images","html"]}
{"do":"crash","base64":"VGhyZWFkIDAgQ3Jhc2hlZDoKMCAgIGRlbW8gMHgxMDAwMDBhZWMgMHgxMDAwMDAwMDAgKyAyNzk2Cg==","want":["same"]}
{"do":"crash","path":"$work/cut.plcrash"}
{"do":"crash","path":"tests/fixtures/reports/demo.crash","want":["stacks"]}
{"do":"crash","base64":"VGhyZWFkIDAgQ3Jhc2hlZDoKMCAgIGRlbW8gMHgxMDAwMDBhZWMgMHgxMDAwMDAwMDAgKyAyNzk2Cg==","want":["stacks"]}
{"do":"stop"}
{"do":"build","path":"$dsym","as":"chunks"}
{"do":"build","path":"$dsym"}
{"do":"build","path":"$dsym","as":"store"}
{"do":"reload"}
{"do":"symbolicate","memoryMap":[["demo","4C4C44B555553144A1BA79CA685DEC580"]],"stacks":[[[0,2796]]]}
{"do":"missing","path":"tests/fixtures/reports/demo.crash"}
{"do":"search","image":"demo","name":"a"}
END
# more calls than an answer has
deep=$bin/deep-arm64-d4.dwarf
M atos-deep atos -i --json -o $deep 0x3a4
folded=$bin/folded-arm64-all.dwarf
M atos-folded atos --json --folded -o $folded 0x100000448
M atos-stack atos --json --stack -o $folded 0x100000450 0x100000480 0x100000578
M crash-folded crash -q --json --no-cache -d $folded tests/fixtures/src/folded/folded.crash
printf 'Thread 0 Crashed:\n0   deep 0x1000003a4 0x100000000 + 932\n\nBinary Images:\n%s\n' \
    '0x100000000 - 0x100003fff deep arm64  <4c4c444155553144a1de6f2a8bc228da> /deep' >"$work/deep.crash"
M crash-deep crash -q --json --no-cache -d $deep "$work/deep.crash"
printf '%s\n' '{"do":"symbolicate","memoryMap":[["deep","4C4C444155553144A1DE6F2A8BC228DA0"]],"stacks":[[[0,932]]]}' |
    M worker-deep worker --no-cache -d $deep
M worker worker --build-store "$work/built" --paths --no-cache -d $dsym <"$work/requests"
printf '%s\n' '{"do":"frames","uuid":"4C4C44B5-5555-3144-A1BA-79CA685DEC58","offsets":[1]}' '{"do":"stats"}' | M worker-host worker --host
python3 -c 'import base64, json, sys
for line in open(sys.argv[1]):
    for made in json.loads(line).get("maps", []):
        print(base64.b64decode(made["values"][-1]["value"]).decode() if "values" in made else "")' "$out/worker" >"$out/chunks"
# the same without line and id
printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_symbols","arguments":{"image":"demo","name":"a"}}}' |
    "$MACHSYM" mcp --no-cache -d $dsym 2>"$work/err" |
    python3 -c 'import json, sys; print(json.dumps(json.loads(input())["result"]["structuredContent"]))' >"$out/mcp"
# a file of the name with another UUID
mkdir -p "$work/other"
"$MACHSYM" info --json --quick $bin/inline-arm64-d5-22.dSYM >"$work/err"
cp -R $bin/inline-arm64-d5-22.dSYM "$work/other/demo.dSYM"
mv "$work/other/demo.dSYM/Contents/Resources/DWARF/"* "$work/other/demo.dSYM/Contents/Resources/DWARF/demo"
M crash-missing crash -q --json --missing=text --no-cache -d "$work/other" $reports/demo.crash

python3 tests/json_page.py docs/json.md "$out"/* >"$work/log" 2>&1
add $? "$work/log" json_page.py || cat "$work/log"
[ "$(wc -l <"$out/crash-crash")" -gt 20 ]
check "a line a report"
# Frames are numbered from 0 on as they stand, or from where the thread was, in every kind of report; two have numbers of
# their own, since they leave frames out.
for report in tests/fixtures/stacks/* tests/fixtures/services/* tests/fixtures/system/* $reports/*; do
    case $report in */SOURCES | */demo-leb*.crash) continue ;; esac
    "$MACHSYM" crash -q --json --no-cache "$report" 2>"$work/err"
done >"$work/numbers"
python3 -c 'import json, sys
wrong = threads = 0
for line in open(sys.argv[1]):
    for thread in json.loads(line).get("threads", []):
        numbers = [frame["index"] for frame in thread["frames"]]
        threads += 1
        if numbers not in (list(range(len(numbers))), list(range(len(numbers)))[::-1] if thread["callers_first"] else []):
            wrong += 1
            print(line[:100], numbers)
sys.exit(wrong != 0 or threads < 100)' "$work/numbers" >"$work/log" 2>&1
check "frames are numbered one after the other" "$work/log"
# no command is without it, but for those that the page names
commands=$("$MACHSYM" help | sed -n '/^$/,$s/^  \([a-z]*\)  .*/\1/p' | grep -vx 'completion\|map\|store\|cache\|worker\|mcp')
for words in $commands "map build" "map lookup" "map info" "map dump" "map verify" "map import" "map chunk" "cache extract" "store add" "store list" \
    "store missing" "store gc" "store verify"; do
    # shellcheck disable=SC2086
    "$MACHSYM" help $words | grep -q '^  --json '
    check "$words has --json"
done
end

#!/bin/sh
# machsym crash: developers' stacks, and reports of the system. A golden file holds a sample with the demo's
# names, and its summary. Without symbols a sample comes back as it was; a second run changes nothing.
# `tests/kinds_b.sh update` writes the golden files anew.
MACHSYM=${MACHSYM:-build/machsym}
golden=tests/golden/kinds_b
update=$1
. tests/checks
export XDG_CACHE_HOME="$work/cache"
mkdir "$work/empty"
demo="--no-demangle -q -d tests/fixtures/bin/demo.app.dSYM"

sample() # FILE OPTIONS...
{
    file=$1
    name=$(basename "$file")
    shift
    $MACHSYM crash -q -d "$work/empty" "$file" >"$work/out"
    same "$file" "$work/out" "$name comes back as it was without symbols"
    $MACHSYM crash $demo "$@" "$file" >"$work/$name"
    { cat "$work/$name"; $MACHSYM crash $demo "$@" --summary "$file"; } >"$work/golden"
    [ "$update" = update ] && cp "$work/golden" "$golden/$name"
    same "$golden/$name" "$work/golden" "$name with names"
    $MACHSYM crash $demo "$@" "$work/$name" >"$work/out"
    same "$work/$name" "$work/out" "$name: a second run"
}

for file in tests/fixtures/stacks/*; do
    case $file in
    */SOURCES) ;;
    */mono.txt | */rust.txt | */go.txt | */symbols.json) sample "$file" --load demo=0x102a30000 ;;
    */backtrace-logger.txt | */kotlin.txt | */unreal.txt) sample "$file" --load demo=0x102a30000 ;;
    */ubsan.txt) sample "$file" --no-uuid ;;
    *) sample "$file" ;;
    esac
done
# A name of one letter is a name.
sed 's/"imageOffset":/"symbol":"f","imageOffset":/g' tests/fixtures/stacks/log.ndjson >"$work/letters.ndjson"
[ "$($MACHSYM crash -q --json --no-cache "$work/letters.ndjson" | grep -o '"given":"f"' | wc -l)" -eq 4 ]
check "names of one letter in a log"
# A line of lldb may end with the address and blanks, which stay; the image comes from --load.
lldb='* thread #1, stop reason = signal SIGTRAP
    frame #1: 0x0000000102a30a7c'
printf '%s  \n' "$lldb" >"$work/bare.txt"
printf '%s demo`-[Player play:] + 52 at player.mm:14  \n' "$lldb" >"$work/want"
$MACHSYM crash $demo --load demo=0x102a30000 "$work/bare.txt" >"$work/out"
same "$work/want" "$work/out" "an address of lldb that stands alone"
demo="$demo -d tests/fixtures/bin/kernel-arm64.dwarf"
# An image of an .ips whose source is T is loaded where its __TEXT_EXEC is, 0x8000 after __TEXT here: `llvm-symbolizer 0x100008020`.
for source in T P S; do
    printf '{"app_name":"kernel","timestamp":"2026-03-14 08:26:53.00 +0000","bug_type":"309"}\n{"threads":[{"triggered":true,"frames":[{"imageIndex":0,"imageOffset":32}]}],"usedImages":[{"source":"%s","base":18446741874972557312,%s}]}\n' \
        $source '"size":65536,"uuid":"4C4C4443-5555-3144-A1A7-F7BC8031A5D0","name":"kernel"' >"$work/source.ips"
    $MACHSYM crash -q --json $demo "$work/source.ips" >"$work/out"
    [ "$(grep -c '"calls":\[{"name":"boot","file":"/fixtures/plain/kernel.c","line":18,' "$work/out")" -eq "$([ $source != T ]; echo $?)" ]
    check "an image of source $source" "$work/out"
done
for file in tests/fixtures/system/*; do
    [ "$file" = tests/fixtures/system/SOURCES ] || sample "$file"
done
printf '{"bug_type":"999","os_version":"iPhone OS 17.4"}\n{"a":1}\n' >"$work/999.ips"
$MACHSYM crash -q --summary "$work/999.ips" | grep -q "no stacks: bug_type 999"
check "a kind that has no name is told by its number"
cat >"$work/bridge.ips" <<'END'
{"bug_type":"210","os_version":"Bridge OS 6.2 (19P744)","timestamp":"2022-02-24 03:46:45.00 +0000"}
{"panicString":"Unexpected SoC (system) watchdog reset","macOSPanicString":"not yet set"}
END
$MACHSYM crash -q --summary "$work/bridge.ips" >"$work/out"
grep -q "kernel panic: Unexpected SoC" "$work/out" && grep -q "hardware's watchdog" "$work/out"
check "a panic of a Mac's coprocessor"
sed '/^STACK OF/,$d' tests/fixtures/reports/demo-leaks.txt >"$work/leaks.txt"
$MACHSYM crash -q --summary "$work/leaks.txt" | grep -q "^  leaks: /usr/bin/leaks"
check "leaks without a stack"
echo "a.c:1:2: runtime error: a warning" | cat - tests/fixtures/reports/demo.crash >"$work/logged.crash"
$MACHSYM crash $demo --signature tests/fixtures/reports/demo.crash | cut -d' ' -f1 >"$work/before"
$MACHSYM crash $demo --signature "$work/logged.crash" | cut -d' ' -f1 >"$work/out"
same "$work/before" "$work/out" "what a program logged ahead of its crash is not the crash"
# Numbers of one report do not belong to its crash.
for change in 's/0x0000000000000004/0x0000000000000abc/ stacks/swift.txt' \
    's/in 94 seconds (1536/in 99 seconds (7/ system/panic-arm64.txt'; do
    file=tests/fixtures/${change##* }
    sed "${change% *}" "$file" >"$work/changed"
    $MACHSYM crash $demo --signature "$file" | cut -d' ' -f1 >"$work/before"
    $MACHSYM crash $demo --signature "$work/changed" | cut -d' ' -f1 >"$work/out"
    ! cmp -s "$file" "$work/changed"
    check "$file was changed"
    same "$work/before" "$work/out" "${change##* } has one signature"
done

# ---- Lines of C# ----

cat >"$work/LineNumberMappings.json" <<'END'
{"/b/player.mm" : {"/Assets/Player.cs" : {"13" : 7, "19" : 11}},
 "/b/queue.hpp" : {"/Assets/Queue \"1\".cs" : {"1" : 3, "12" : 5}}}
END
mkdir "$work/cpp"
printf '%s\n' 1 2 3 4 5 6 7 8 9 10 11 "  //<source_info:./Assets/Main.cs:40>" >"$work/cpp/main.cpp"
printf '//<source_info:<no-source>:1>\n' >"$work/none.cpp"
sed 's/main.cpp/main.mm/' "$work/cpp/main.cpp" >"$work/main.mm"
$MACHSYM crash $demo --line-map "$work/LineNumberMappings.json" --line-map "$work/main.mm" --full-path \
    tests/fixtures/reports/demo.crash >"$work/out" 2>&1
for line in '-[Player skip:] + 88 (/Assets/Player.cs:11)' '-[Player play:] + 52 (/Assets/Player.cs:7)' \
    '_ZN5QueueIiE2atEi (/Assets/Queue "1".cs:5) [inlined]' '__main_block_invoke + 36 (./Assets/Main.cs:40)' \
    '_ZN5QueueIiE4dropEi (/fixtures/demo/queue.hpp:19) [inlined]' \
    '_Z7requireb (/Assets/Queue "1".cs:3) [inlined]'; do
    grep -qF -e "$line" "$work/out"
    check "C#: $line"
done
$MACHSYM crash $demo --line-map "$work/cpp" tests/fixtures/reports/demo.crash >"$work/out" 2>&1
grep -qF "__main_block_invoke + 36 (main.mm:13)" "$work/out"
check "a folder of C++; main.cpp is not main.mm"
$MACHSYM crash $demo --line-map "$work/none.cpp" tests/fixtures/reports/demo.crash >"$work/out" 2>&1
[ $? -eq 2 ] && grep -q "none.cpp: no lines of C#" "$work/out"
check "C++ without a line of C# is refused"
printf '{"a":' >"$work/bad.json"
$MACHSYM crash $demo --line-map "$work/bad.json" tests/fixtures/reports/demo.crash >"$work/out" 2>&1
[ $? -eq 2 ] && grep -q "bad.json: no LineNumberMappings.json: .* at byte" "$work/out"
check "a broken map is refused"

# ---- Nothing is made up ----

# Nothing but its backtrace is a stack: not registers, cores, zones or threads.
$MACHSYM crash -q --to=json -d "$work/empty" tests/fixtures/system/panic-arm64.txt >"$work/out"
grep -q '"frames":4,' "$work/out"
check "a text panic has the frames of its backtrace only"
cat >"$work/two.txt" <<'END'
Process: demo [1]

Thread 0 Crashed:
0   demo                          0x0000000102a30aec 0x102a30000 + 2796

Binary Images:
0x102a30000 - 0x102a33fff demo arm64  <4c4c44b555553144a1ba79ca685dec58> /x/demo

Process: other [2]

Thread 0 Crashed:
0   other                         0x0000000202a30aec 0x202a30000 + 2796
1   ???                           0x0000000102a30a7c 0x0 + 4339206780

Binary Images:
0x202a30000 - 0x202a33fff other arm64  <4c4c44b555553144a1ba79ca685dec59> /x/other
END
$MACHSYM crash $demo "$work/two.txt" >"$work/out"
grep -q "queue.hpp:6" "$work/out" && grep -qx '1   ???  *0x0000000102a30a7c 0x0 + 4339206780' "$work/out"
check "an address in no image of its own report is in none of another's" "$work/out"
sed 's/name="[^"]*" addr/name="f(a;b)\&lt;c\&gt; \&amp;\&amp; d" addr/' tests/fixtures/stacks/xctrace.xml >"$work/names.xml"
$MACHSYM crash -q --to=json -d "$work/empty" "$work/names.xml" >"$work/out"
grep -qF '"given":"f(a;b)<c> && d"' "$work/out"
check "names in XML: what is no entity stays" "$work/out"
$MACHSYM crash -q --to=json -d "$work/empty" tests/fixtures/system/spindump-uuid.txt >"$work/out"
grep -q '"process":"helper \[413\]"' "$work/out"
check "a thread of a spindump has its process"

# ---- Lines, one by one ----

json_has() # FILE TEXT...
{
    $MACHSYM crash -q --json --no-cache "$1" >"$work/out"
    shift
    for text in "$@"; do
        grep -qF -e "$text" "$work/out"
        check "$text" "$work/out"
    done
}
# lldb: the codes of a stop, and marks after names.
for mark in '' ' [opt]' ' [artificial]' ' [opt] [artificial]'; do
    printf '* thread #1, stop reason = EXC_BAD_ACCESS (code=1, address=0x10)\n  * frame #0: 0x0000000102a30aec demo`fetch + 88%s\n' \
        "$mark" >"$work/mark.txt"
    json_has "$work/mark.txt" '"exception":"EXC_BAD_ACCESS"' '"codes":"code=1, address=0x10"' '"given":"fetch"'
done
# A kernel extension: its version stands between the brackets, its last byte belongs to it, and what is past it does not.
cat >"$work/kext.txt" <<'END'
panic(cpu 0 caller 0xffffff80174929bc): why

Backtrace (CPU 0), Frame : Return Address
0xffffff80727fb7a0 : 0xffffff7f98426fff
0xffffff80727fb7b0 : 0xffffff7f98427001
0xffffff80727fb7c0 : 0xffffff7f97c95010
      Kernel Extensions in backtrace:
         com.example.Outer(900.4.2)[B3A7BE9C-2002-3891-B7D1-A84CEA0AC9E0]@0xffffff7f9838c000->0xffffff7f98426fff
            dependency: com.example.Inner(2.9)[2CE7BCB3-0766-3A94-A8D4-29BF3EBAEFBC]@0xffffff7f97c95000->0xffffff7f97c95fff

System model name: MacBookPro15,1
END
json_has "$work/kext.txt" '"hardware":"MacBookPro15,1"' '"address":"0xffffff7f98426fff","return_address":true,"image":0,' \
    '"address":"0xffffff7f98427001","return_address":true,"image":null,' '"address":"0xffffff7f97c95010","return_address":true,"image":1,' \
    '"name":"com.example.Inner"'
$MACHSYM crash -q --missing=json --no-cache "$work/kext.txt" >"$work/out"
grep -qF '"image":"com.example.Outer","version":"900.4.2",' "$work/out" && grep -qF '"image":"com.example.Inner","version":"2.9",' "$work/out"
check "versions of kernel extensions" "$work/out"

# What a document says does not hang on what memory held before: with GNU's library MALLOC_PERTURB_ fills it. Stacks without images
# beside them are one report; images that lie further out belong to what is beside them.
stack='0   demo                          0x0000000102a30aec 0x102a30000 + 2796\n1   demo                          0x0000000102a30a7c 0x102a30000 + 2684\n'
images='Binary Images:\n0x102a30000 - 0x102a33fff demo arm64  <4c4c44b555553144a1ba79ca685dec58> \/x\/demo\n'
one="{\"a\":{\"stack\":\"$stack\"},\"list\":[{\"stack\":\"$stack\",\"images\":\"$images\"}]}"
printf '%s\n' "{\"first\":$one,\"second\":$one}" >"$work/documents.json"
for file in "$work/documents.json" tests/fixtures/stacks/*.json tests/fixtures/services/*.json tests/fixtures/system/*.ips; do
    $MACHSYM crash -q --json --no-cache "$file" >"$work/before" 2>&1
    for byte in 1 85 255; do
        MALLOC_PERTURB_=$byte $MACHSYM crash -q --json --no-cache "$file" >"$work/out" 2>&1
        cmp -s "$work/before" "$work/out" || echo "$byte"
    done >"$work/differs"
    [ -s "$work/before" ] && [ ! -s "$work/differs" ]
    check "$file: the same whatever memory held" "$work/differs"
done
$MACHSYM crash -q --signature --no-cache "$work/documents.json" >"$work/out"
[ "$(wc -l <"$work/out")" -eq 3 ]
check "stacks without images are one report" "$work/out"

# Each stack goes with the images beside it, whichever member comes first.
other='0   demo                          0x0000000202a30aec 0x202a30000 + 2796\n1   demo                          0x0000000202a30a7c 0x202a30000 + 2684\n2   demo                          0x0000000202a30a00 0x202a30000 + 2560\n'
others='Binary Images:\n0x202a30000 - 0x202a33fff demo arm64  <5c4c44b555553144a1ba79ca685dec58> \/x\/demo\n'
while IFS='|' read -r what first second; do
    printf '%s\n' "{\"a\":{$first},\"b\":{$second}}" >"$work/beside.json"
    $MACHSYM crash -q --missing=json --no-cache "$work/beside.json" >"$work/out"
    [ "$(grep -oE '"uuid":"[45]C4C44B5|"frames":[1-9]+' "$work/out" | tr '\n' ' ')" = '"uuid":"5C4C44B5 "frames":3 "uuid":"4C4C44B5 "frames":2 ' ]
    check "images beside a stack: $what" "$work/out"
done <<END
stacks first|"stack":"$stack","images":"$images"|"stack":"$other","images":"$others"
images first|"images":"$images","stack":"$stack"|"images":"$others","stack":"$other"
one of each|"stack":"$stack","images":"$images"|"images":"$others","stack":"$other"
END
end

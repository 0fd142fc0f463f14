#!/bin/sh
# Inlined calls that are easily lost: those without a range of their own, and more of them than an answer has. Frames
# are compared with llvm-symbolizer's (*.frames): what a session, a map, a batch, a chunk, a report and a service say.
MACHSYM=${MACHSYM:-build/machsym}
bin=tests/fixtures/bin
. tests/checks
export XDG_CACHE_HOME="$work/cache"
uuid=4C4C4441-5555-3144-A1DE-6F2A8BC228DA

# What `atos -i` printed as "ADDRESS NAME LINE", like the frames.
lines() # ADDRESS
{
    sed -n "s/^\([a-z0-9]*\) (in .*:\([0-9]*\))\$/$1 \1 \2/p"
}

# ---- Without a range ----

for at in 0x0 0x4 0x8 0xc; do
    $MACHSYM atos -i -o $bin/bare-arm64.o $at | lines $at
done >"$work/bare"
same "$work/bare" $bin/bare-arm64.o.frames "calls without a range are told"
printf '0x0\n0x4\n0x8\n0xc\n' | $MACHSYM atos --lines=dwarf -o $bin/bare-arm64.o >"$work/outer"
sed -n 's/.*:\([0-9]*\))$/\1/p' "$work/outer" | tr '\n' ' ' >"$work/numbers"
[ "$(cat "$work/numbers")" = "5 10 10 6 " ]
check "the function's line is that of the outermost call" "$work/outer"

# ---- One call of 600 ranges ----

# In a unit of few bytes: read with its function, with the unit (many addresses), and for a map.
for file in merged-arm64-d4.o merged-arm64-d5.o; do
    cut -d ' ' -f 1 $bin/$file.frames | uniq >"$work/addresses"
    xargs -I {} sh -c '"$0" atos -i -o "$1" {} | sed "s/^/{} /"' "$MACHSYM" $bin/$file <"$work/addresses" |
        sed -n 's/^\([^ ]*\) \([^ ]*\) (in .*:\([0-9]*\))$/\1 \2 \3/p' >"$work/got"
    same $bin/$file.frames "$work/got" "$file: every range of the call"
    $MACHSYM map build $bin/$file -o "$work/merged.symmap" >"$work/out" 2>&1
    check "$file: map build finds no damage" "$work/out"
    for what in $bin/$file "$work/merged.symmap"; do
        seq 0 4 4796 | awk '{ printf "0x%x\n", $1 }' | $MACHSYM atos -i -o "$what" | grep -c '^inner (in ' >"$work/got"
        [ "$(cat "$work/got")" = 600 ]
        check "$what: every range of the call, of all addresses" "$work/got"
    done
done

# ---- More calls than an answer has ----

# The innermost 256 and the function: all that every way has to say.
grep ^0x3a4 $bin/deep-arm64-d4.dwarf.frames >"$work/all"
{
    head -n 256 "$work/all"
    tail -n 1 "$work/all"
} >"$work/want"
[ "$(wc -l <"$work/all")" -eq 600 ]
check "the fixture has 599 calls"
$MACHSYM map build $bin/deep-arm64-d4.dwarf -o "$work/deep.symmap" >"$work/out" 2>&1
check "map build" "$work/out"
$MACHSYM map verify "$work/deep.symmap" $bin/deep-arm64-d4.dwarf >"$work/out" 2>&1
check "the map says what its file does" "$work/out"

left_out="0x3a4: more than 256 calls are inlined into each other; those between the innermost 256 and the function around them are left out"
try() # WHAT COMMAND...: that atos -i has these frames, and says what is left out
{
    what=$1
    shift
    "$@" >"$work/out" 2>"$work/err"
    check "$what"
    lines 0x3a4 <"$work/out" >"$work/got"
    same "$work/want" "$work/got" "$what: the innermost calls and the function"
    grep -qxF "machsym: $left_out" "$work/err"
    check "$what: it says that calls are left out" "$work/err"
}
try "atos" $MACHSYM atos -i -o $bin/deep-arm64-d4.dwarf 0x3a4
try "atos of a map" $MACHSYM atos -i -o "$work/deep.symmap" 0x3a4
try "map lookup" $MACHSYM map lookup -i "$work/deep.symmap" 0x3a4
$MACHSYM atos -o $bin/deep-arm64-d4.dwarf 0x3a4 >"$work/out" 2>"$work/err"
[ "$(cat "$work/out")" = "f599 (in deep-arm64-d4.dwarf) (deep.c:601)" ] && [ ! -s "$work/err" ]
check "without -i nothing is left out" "$work/err"
$MACHSYM atos -i -o $bin/deep-arm64-d4.dwarf 0x398 >"$work/out" 2>"$work/err"
[ "$(lines 0x398 <"$work/out")" = "0x398 f599 601" ] && [ ! -s "$work/err" ]
check "nor where nothing is inlined" "$work/err"
# As many addresses as threads share.
seq 1 3000 | sed 's/.*/0x3a4/' | $MACHSYM atos -i -o "$work/deep.symmap" 2>"$work/err" | lines 0x3a4 | sort | uniq -c |
    awk '{ print $2, $3, $4, $1 }' | sort >"$work/got"
sed 's/$/ 3000/' "$work/want" | sort >"$work/sorted"
same "$work/sorted" "$work/got" "many addresses"
grep -qxF "machsym: $left_out" "$work/err"
check "many addresses: it says so"
$MACHSYM atos -i --explain -o $bin/deep-arm64-d4.dwarf 0x3a4 2>"$work/err" | grep -A 1 '^  inlined: f255, ' | tail -n 1 >"$work/out"
[ "$(cat "$work/out")" = "  left out: the calls between this one and the function" ]
check "--explain says where" "$work/out"

objects() # FILE WHAT: frames of JSON, each on a line; the 256th says that its callers are left out, and no other
{
    grep -o '{"name":"f[0-9]*"[^}]*}' "$1" |
        sed 's/^{"name":"\(f[0-9]*\)".*"line":\([0-9]*\),.*/0x3a4 \1 \2/' >"$work/got"
    same "$work/want" "$work/got" "$2: the innermost calls and the function"
    grep -o '{"name":"f[0-9]*"[^}]*}' "$1" | grep -n '"callers_left_out":true' | cut -d '"' -f 1,4 >"$work/got"
    [ "$(cat "$work/got")" = '256:{"f255' ]
    check "$2: the flag" "$work/got"
}
for file in $bin/deep-arm64-d4.dwarf "$work/deep.symmap"; do
    $MACHSYM atos -i --json -o "$file" 0x3a4 >"$work/out" 2>"$work/err"
    [ ! -s "$work/err" ]
    check "--json says it in the objects"
    objects "$work/out" "atos --json -o $file"
done

# A report, its JSON, and the report again.
cat >"$work/deep.crash" <<END
Incident Identifier: 00000000-0000-0000-0000-000000000001
Process:             deep [1]
Report Version:      104
Exception Type:  EXC_BAD_ACCESS (SIGSEGV)

Thread 0 Crashed:
0   deep                          	0x00000001000003a4 0x100000000 + 932

Binary Images:
0x100000000 - 0x100003fff deep arm64  <$(echo $uuid | tr -d - | tr 'A-F' 'a-f')> /deep
END
for file in $bin/deep-arm64-d4.dwarf "$work/deep.symmap"; do
    $MACHSYM crash -q --no-cache -d "$file" "$work/deep.crash" >"$work/named" 2>"$work/err"
    sed -n 's/^0 .* \(f[0-9]*\)\( + [0-9]*\)\{0,1\} (deep.c:\([0-9]*\)).*/0x3a4 \1 \3/p' "$work/named" >"$work/got"
    same "$work/want" "$work/got" "crash -d $file"
    grep -c ' (deep.c:257) \[callers left out\] \[inlined\]$' "$work/named" >"$work/got"
    [ "$(cat "$work/got") $(grep -c 'left out' "$work/named")" = "1 1" ]
    check "crash -d $file says where calls are left out" "$work/named"
    $MACHSYM crash -q --no-cache --json -d "$file" "$work/deep.crash" >"$work/out" 2>"$work/err"
    objects "$work/out" "crash --json -d $file"
done
$MACHSYM crash -q --no-cache --json "$work/named" >"$work/out" 2>"$work/err"
grep -c '"given":"f[0-9]*","given_place":"deep.c:[0-9]*"' "$work/out" >"$work/got"
grep -q '"given":"f255","given_place":"deep.c:257"' "$work/out"
check "a named report is read again: the mark is no part of a name" "$work/out"

# A service, and what a chunk of a map has.
cat >"$work/requests" <<END
{"do":"frames","uuid":"$uuid","offsets":["0x3a4"]}
{"do":"symbolicate","memoryMap":[["deep","$(echo $uuid | tr -d -)0"]],"stacks":[[[0,932]]]}
END
$MACHSYM worker --no-cache -d $bin/deep-arm64-d4.dwarf <"$work/requests" >"$work/out" 2>"$work/err"
sed -n 1p "$work/out" >"$work/frames"
objects "$work/frames" "worker frames"
sed -n 2p "$work/out" | grep -o '{"function":"f[0-9]*"[^}]*}' | grep -n left_out | cut -d , -f 1,4 >"$work/got"
[ "$(cat "$work/got")" = '256:{"function":"f255","callers_left_out":true}' ]
check "worker symbolicate" "$work/got"
$MACHSYM map export --chunks=65536 --format=jsonl "$work/deep.symmap" | sed -n 's/.*"value":"\([^"]*\)".*/\1/p' |
    head -n 1 >"$work/chunk"
try "map chunk" $MACHSYM map chunk -i --base64 0x3a4 <"$work/chunk"
end

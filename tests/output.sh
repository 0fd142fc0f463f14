#!/bin/bash
# Output that is lost is said: every command on a full disk, and into a pipe that nobody reads any more. Files that a
# command writes are whole or not there, whatever ends it; no two inputs share one.
bin=tests/fixtures/bin
dsym=$bin/demo.app.dSYM
reports=tests/fixtures/reports
M=${MACHSYM:-build/machsym}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
passed=0
failed=0

ok() { # NAME STATUS
    if [ "$2" -eq 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "output: $1 failed: $(head -c 300 "$tmp/err")"
    fi
}

$M map build -o "$tmp/demo.symmap" $dsym >"$tmp/built" 2>"$tmp/err" || cat "$tmp/err"
$M map export --format=bugly "$tmp/demo.symmap" >"$tmp/table" 2>"$tmp/err"
$M map export --chunks=1000000 --format=jsonl "$tmp/demo.symmap" 2>"$tmp/err" | sed -n '1s/.*"value":"\([^"]*\)".*/\1/p' >"$tmp/chunk"
printf '0x100000940 _Z1fv\n' >"$tmp/in"

# ---- Every command ----

# A name, what it reads, the command line.
commands="atos|in|atos -o $dsym 0x100000940
atos from input|in|atos -o $dsym
atos json|in|atos -o $dsym --json -i 0x100000940
info|in|info $dsym
symbols|in|symbols $dsym
symbols json|in|symbols --json $dsym
objc|in|objc $bin/demo
objc json|in|objc --json $bin/demo
demangle|in|demangle _Z1fv
demangle from input|in|demangle
owners|in|owners --objects $bin/map-arm64-d4-O0/program
owners of addresses|in|owners --between main main $bin/symbols-x86_64 0x1000003f0
map build|in|map build -o $tmp/new.symmap $dsym
map lookup|in|map lookup $tmp/demo.symmap 0x100000940
map info|in|map info $tmp/demo.symmap
map dump|in|map dump $tmp/demo.symmap
map verify|in|map verify $tmp/demo.symmap $dsym
map export bugly|in|map export --format=bugly $tmp/demo.symmap
map export breakpad|in|map export --format=breakpad $tmp/demo.symmap
map export chunks|in|map export --chunks=1000 --format=tsv $tmp/demo.symmap
map import|table|map import -o $tmp/imported.symmap $tmp/table
map chunk|chunk|map chunk --base64 0x100000940
crash|in|crash -q -d $dsym $reports/demo.crash
crash summary|in|crash --summary -d $dsym $reports/demo.crash
crash signature|in|crash --signature -d $dsym $reports/demo.crash
crash group|in|crash -q --group -d $dsym $reports/demo.crash
help|in|--help
help of a command|in|help atos
version|in|--version"

while IFS='|' read -r name input line; do
    # shellcheck disable=SC2086
    $M $line <"$tmp/$input" >"$tmp/out" 2>"$tmp/err"
    usual=$?
    [ $usual -eq 0 ] && [ -s "$tmp/out" ]
    ok "$name: runs and prints" $?
    if [ -w /dev/full ]; then
        # shellcheck disable=SC2086
        $M $line <"$tmp/$input" >/dev/full 2>"$tmp/err"
        [ $? -eq 1 ] && grep -q '^machsym: standard output: No space left on device$' "$tmp/err"
        ok "$name on a full disk" $?
    fi
    # The reader is gone before the first byte; the signal is ignored, as under many services, or ends the program.
    # shellcheck disable=SC2086
    (trap '' PIPE; sleep 0.1; $M $line <"$tmp/$input" 2>"$tmp/err"; echo $? >"$tmp/status") | :
    [ "$(cat "$tmp/status")" = $usual ] && ! grep -q 'standard output' "$tmp/err"
    ok "$name into a closed pipe, the signal ignored" $?
done <<EOF
$commands
EOF
($M symbols $dsym 2>"$tmp/err"; echo $? >"$tmp/status") | head -c 1 >/dev/null
[ ! -s "$tmp/err" ]
ok "into a closed pipe: quiet" $?
$M atos -o $dsym 0x100000940 >&- 2>"$tmp/err"
[ $? -eq 1 ] && grep -q 'standard output' "$tmp/err"
ok "standard output is closed" $?

# ---- Files ----

crash() { # ARGUMENT...
    $M crash -q -d $dsym "$@" >"$tmp/out" 2>"$tmp/err"
}

mkdir "$tmp/d1" "$tmp/d2" "$tmp/o"
for name in d1/a.crash d2/a.crash d1/a-2.crash d2/A.crash; do cp $reports/demo.crash "$tmp/$name"; done
cp $reports/demo.ips "$tmp/d1/a.ips"
crash -o "$tmp/o" "$tmp/d1/a.crash" "$tmp/d2/a.crash" "$tmp/d1/a-2.crash" "$tmp/d2/A.crash"
[ $? -eq 0 ] && [ "$(ls "$tmp/o" | wc -l)" -eq 4 ] && [ "$(ls "$tmp/o" | tr A-Z a-z | sort -u | wc -l)" -eq 4 ]
ok "reports of one name, also in other letters, get files of their own" $?
crash -o "$tmp/o2" --to=text "$tmp/d1/a.ips" "$tmp/d1/a.crash"
[ $? -eq 0 ] && [ -s "$tmp/o2/a.crash" ] && [ -s "$tmp/o2/a-2.crash" ]
ok "reports that get one name by their format get files of their own" $?

mkdir "$tmp/o3"
echo mine >"$tmp/o3/a.crash"
crash -o "$tmp/o3" "$tmp/d1/a.crash" "$tmp/d1/a.ips"
[ $? -eq 1 ] && grep -q 'a.crash: is there already; --force replaces it' "$tmp/err" &&
    [ "$(cat "$tmp/o3/a.crash")" = mine ] && [ -s "$tmp/o3/a.ips" ]
ok "a file that is there already stays, the others are written" $?
ln -s "$tmp/nowhere" "$tmp/o3/a-2.crash"
crash -o "$tmp/o3" --force "$tmp/d1/a.crash" "$tmp/d2/a.crash"
[ $? -eq 0 ] && grep -q drop "$tmp/o3/a.crash" && [ ! -L "$tmp/o3/a-2.crash" ] && [ ! -e "$tmp/nowhere" ]
ok "--force replaces it, and a link itself" $?
echo mine >"$tmp/named"
crash -o "$tmp/named" "$tmp/d1/a.crash"
[ $? -eq 0 ] && grep -q drop "$tmp/named"
ok "a named file is replaced" $?
crash -o /dev/null "$tmp/d1/a.crash"
[ $? -eq 0 ] && [ -c /dev/null ]
ok "a device is written to, not replaced" $?

# A name that somebody else could have put a link at is not followed.
ln -s "$tmp/elsewhere" "$tmp/named.part"
crash -o "$tmp/named" "$tmp/d1/a.crash"
[ $? -eq 0 ] && [ ! -e "$tmp/elsewhere" ]
ok "no link beside the output is written through" $?

pids=
for i in 1 2 3 4 5 6; do
    $M crash -q -d $dsym -o "$tmp/shared" "$tmp/d1/a.crash" 2>"$tmp/err.$i" &
    pids="$pids $!"
done
good=0
for pid in $pids; do wait "$pid" && good=$((good + 1)); done
[ $good -eq 6 ] && cmp -s "$tmp/shared" "$tmp/named"
ok "six at once into one file" $?

# Killed at any time: no half file, and no temporary file after a signal that can be caught.
crash -o "$tmp/whole" "$tmp/d1/a.crash"
mkdir "$tmp/k"
for i in 0 1 2 3 4 5 6 7 8 9; do
    $M map build -o "$tmp/k/$i.symmap" $dsym >"$tmp/out" 2>&1 &
    pid=$!
    sleep 0.00$i
    kill -TERM $pid 2>/dev/null
    wait $pid 2>/dev/null
done
halves=0
for file in "$tmp"/k/*; do
    [ ! -e "$file" ] || cmp -s "$file" "$tmp/demo.symmap" || halves=$((halves + 1))
done
[ $halves -eq 0 ]
ok "killed builds leave nothing that is not whole" $?
if [ -w /dev/full ]; then
    (ulimit -f 1; trap '' XFSZ; $M map build -o "$tmp/limited.symmap" $dsym >"$tmp/out" 2>"$tmp/err")
    [ $? -eq 1 ] && [ ! -e "$tmp/limited.symmap" ] && [ "$(ls "$tmp" | grep -c tmp)" -eq 0 ]
    ok "a file too large for the limit: said, and nothing is left" $?
    (ulimit -f 1; $M map build -o "$tmp/limited.symmap" $dsym >"$tmp/out" 2>"$tmp/err") 2>/dev/null
    [ $? -gt 128 ] && [ "$(ls "$tmp" | grep -c tmp)" -eq 0 ]
    ok "the same, ended by the signal: nothing is left" $?
fi

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]

#!/bin/sh
# Symbol maps in Redis: starts a server of its own, loads the chunks of the demo program's map, looks a crash stack up in
# them, shows times and how keys expire, and stops the server. Prints "N passed, N failed, N skipped" and ends accordingly.
# Needs redis-server and redis-cli (7 or newer), a C compiler, and build/machsym.
cd "$(dirname "$0")/../.." || exit 1
machsym=${MACHSYM:-build/machsym}
dsym=tests/fixtures/bin/demo.app.dSYM
load=0x102a30000
chunk=100 # bytes; the program is small
expire=3600
passed=0
failed=0
server=
dir=$(mktemp -d)
cleanup() {
    [ -z "$server" ] || kill "$server" 2>/dev/null
    rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

check() { # what, got, want
    if [ "$2" = "$3" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'failed: %s is "%s", not "%s"\n' "$1" "$2" "$3"
    fi
}

if ! command -v redis-server >/dev/null || ! command -v redis-cli >/dev/null; then
    echo "skipped: it needs redis-server"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi

# ---- Build ----

$machsym map build --no-progress "$dsym" -o "$dir/demo.symmap" || exit 1
${CC:-cc} ${CFLAGS:--O2} $LDFLAGS -D_GNU_SOURCE -o "$dir/lookup" examples/redis/lookup.c || exit 1

# ---- Start ----

port=$((20000 + $$ % 20000))
for try in 1 2 3 4 5; do
    redis-server --port $port --bind 127.0.0.1 --save '' --appendonly no --dir "$dir" --logfile "$dir/log" &
    server=$!
    for wait in 1 2 3 4 5 6 7 8 9 10; do
        [ "$(redis-cli -p $port ping 2>/dev/null)" = PONG ] && break 2
        kill -0 $server 2>/dev/null || break
        sleep 0.2
    done
    port=$((port + 1))
done
redis="redis-cli -p $port"
check "a ping" "$($redis ping)" PONG
check "the server's process" "$($redis info server | tr -d '\r' | sed -n 's/^process_id://p')" "$server"

# ---- Load ----

$machsym map export --chunks=$chunk --format=resp --expire=$expire "$dir/demo.symmap" 2>/dev/null >"$dir/demo.resp"
keys=$(grep -ac '^SET' "$dir/demo.resp")
$redis --pipe <"$dir/demo.resp" | tail -n 1
check "the number of keys" "$($redis dbsize)" "$keys"
echo "the first keys:"
$redis --scan --pattern 'dwarf:demo:*' | sort | head -n 3 | sed 's/^/  /'

# ---- A crash stack ----

"$dir/lookup" $port "$dir/demo.symmap" $chunk $expire $load <tests/fixtures/bin/demo-stack.txt >"$dir/stack"
check "the status of the lookups" $? 0
echo "the stack:"
sed 's/^/  /' "$dir/stack"
addresses=
while read -r address; do
    addresses="$addresses $(printf '0x%x' $((address - 1)))"
done <tests/fixtures/bin/demo-stack.txt
# the same from the dSYM, without the image's name
$machsym atos -i -l $load -o "$dsym" $addresses | sed 's/ (in demo)//' >"$dir/want"
check "the stack" "$(cat "$dir/stack")" "$(cat "$dir/want")"

# ---- Times ----

awk 'BEGIN { srand(1); for (i = 0; i < 20000; i++) printf "%.0f\n", 4339204096 + 2368 + int(rand() * 800) }' \
    >"$dir/addresses"
"$dir/lookup" $port "$dir/demo.symmap" $chunk $expire $load <"$dir/addresses" >/dev/null
check "the status of many lookups" $? 0

# ---- Expiry ----

key=$($redis --scan --pattern 'dwarf:demo:*' | sort | head -n 1)
ttl=$($redis ttl "$key")
check "whether a key ends in time" "$([ "$ttl" -gt 0 ] && [ "$ttl" -le $expire ] && echo yes)" yes
for other in $($redis --scan --pattern 'dwarf:demo:*'); do
    $redis expire "$other" 100 >/dev/null
done
"$dir/lookup" $port "$dir/demo.symmap" $chunk $expire $load <"$dir/addresses" >/dev/null 2>&1
ttl=$($redis ttl "$key")
check "whether reading renews a key" "$([ "$ttl" -gt 100 ] && echo yes)" yes
echo "after reading, $key lives for $ttl seconds"
$redis pexpire "$key" 1 >/dev/null
sleep 0.1
check "the number of keys after one has ended" "$($redis dbsize)" $((keys - 1))

# ---- Stop ----

$redis shutdown nosave 2>/dev/null
wait $server
check "the status of the server" $? 0
server=
echo "$passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ]

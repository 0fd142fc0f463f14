#!/bin/sh
# examples/remote: answers from a map on an nginx are those of the file, for few requests and few bytes; a server that lies
# about ranges, or goes away, is an error and no answer. It says "skipped" where no nginx or no python3 is installed.
machsym=${MACHSYM:-build/machsym}
CC=${CC:-cc}
. tests/checks
server=
liar=
trap '[ -z "$server$liar" ] || kill $server $liar 2>/dev/null; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

if [ -n "${RUN:-}" ]; then
    skip "answers over HTTP: programs run under another"
    end
    exit
fi
need "answers over HTTP" nginx python3 || { end; exit; }

free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

wait_for() # PORT
{
    python3 - "$1" <<'END'
import socket, sys, time
for i in range(200):
    try:
        socket.create_connection(("127.0.0.1", int(sys.argv[1])), 1).close()
        break
    except OSError:
        time.sleep(0.05)
END
}

# ---- A map of 2 MB, of a table ----

python3 - >"$work/table" <<'END'
for i in range(20000):
    name = "_ZN4work%x5thingEv" % (i * 0x9E3779B97F4A7C15 % 2**64)
    print("%x\t%x\t%s\tsrc/part%d/file%d.cpp:%d" % (i * 64, i * 64 + 64, name, i % 40, i // 16, i % 999 + 1))
END
$machsym map import "$work/table" --name far -o "$work/far.symmap" >/dev/null
check "a map is made"
$CC -std=c99 -D_GNU_SOURCE -Wall -Wextra -Werror ${CFLAGS:-} ${LDFLAGS:-} -I. -DMACHSYM_IMPLEMENTED -o "$work/remote" \
    examples/remote/lookup.c "${B:-build}/tool/machsym.o"
check "the example compiles"
size=$(wc -c <"$work/far.symmap")
addresses=$(python3 -c 'print(*("0x%x" % (i * 0x9E3779B1 % (20000 * 64)) for i in range(60)))')

# ---- nginx ----

port=$(free_port)
cat >"$work/nginx.conf" <<END
daemon off;
master_process off;
pid $work/nginx.pid;
error_log $work/error.log;
events {}
http {
    access_log off;
    keepalive_requests 20;
    client_body_temp_path $work;
    proxy_temp_path $work;
    fastcgi_temp_path $work;
    uwsgi_temp_path $work;
    scgi_temp_path $work;
    server { listen 127.0.0.1:$port; root $work; location /whole { alias $work; max_ranges 0; } }
}
END
nginx -p "$work" -c "$work/nginx.conf" -e "$work/error.log" 2>/dev/null &
server=$!
wait_for "$port"
url=http://127.0.0.1:$port

lookup() # STATUS WHAT ARGUMENT...: the example ends so
{
    want=$1
    what=$2
    shift 2
    timeout 60 "$work/remote" "$@" >"$work/out" 2>"$work/err"
    got=$?
    [ $got -eq "$want" ]
    check "status of $what is $got, not $want" "$work/err"
}

says() # TEXT
{
    grep -q "$1" "$work/err"
    check "it does not say $1" "$work/err"
}

at_most() # REQUESTS BYTES: of the last lookup
{
    read -r requests _ bytes _ <"$work/err"
    [ "${requests:-999}" -le "$1" ] && [ "${bytes:-999999999}" -le "$2" ]
    check "more than $1 requests or $2 bytes" "$work/err"
}

lookup 0 "the file" "$work/far.symmap" $addresses
mv "$work/out" "$work/want"
lookup 0 "the server" "$url/far.symmap" $addresses
same "$work/want" "$work/out" "other answers than of the file"
says "of $size bytes"
at_most 120 "$size" # 60 cold places; nginx hangs up after each 20 requests, and is asked again
lookup 0 "one address" "$url/far.symmap" 0x8040
[ "$(cat "$work/out")" = "$(grep '^0x8040 ' "$work/want" || "$work/remote" "$work/far.symmap" 0x8040)" ]
check "another answer for one address"
at_most 6 180000
lookup 0 "neighbours" "$url/far.symmap" 0x8040 0x8080 0x80c0 0x8100
at_most 8 220000

# ---- What goes wrong ----

lookup 1 "a file that is not there" "$url/near.symmap" 0x40
says "status 404, not 206"
lookup 1 "a server without ranges" "$url/whole/far.symmap" 0x40
says "ignores ranges"
printf 'no map, but long enough to be one of those that have the right letters in front' >"$work/none"
lookup 1 "a file that is no map" "$url/none" 0x40
says "not a Mach-O file"
lookup 2 "a URL without a host" http:///x 0x40
python3 - "$work/far.symmap" "$work/damaged.symmap" <<'END'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
for at in range(100000, len(data), 50000):
    data[at] ^= 1
open(sys.argv[2], "wb").write(data)
END
lookup 1 "a damaged map" "$url/damaged.symmap" $addresses
says "pieces of the map are damaged"
python3 - "$work/want" "$work/out" <<'END'
import sys
want, out = (dict(line.split(" ", 1) for line in open(name)) for name in sys.argv[1:])
other = [a for a in want if out[a] not in (want[a], "?\n") and any(w and w not in want[a] for w in out[a].split())]
sys.exit(want.keys() != out.keys() or want == out or len(other) != 0)
END
check "a damaged map has other answers"

# A server that tells the truth of the begin, and lies about what follows, as its path says.
cat >"$work/liar.py" <<'END'
import re, socketserver, sys
data = open(sys.argv[2], "rb").read()


class Liar(socketserver.StreamRequestHandler):
    def handle(self):
        while True:
            line = self.rfile.readline().decode()
            first = last = None
            for header in iter(self.rfile.readline, b"\r\n"):
                if not header:
                    return
                found = re.match(rb"Range: bytes=(\d+)-(\d+)", header)
                if found:
                    first, last = int(found[1]), min(int(found[2]), len(data) - 1)
            if first is None:
                return
            lie = line.split()[1] if first else ""
            status, total, body = "206 Partial Content", len(data), data[first:last + 1]
            length = len(body)
            if lie == "/whole":
                status = "200 OK"
            elif lie == "/short":
                body = body[:length // 2]
            elif lie == "/shorter":
                body = body[:length // 2]
                length = len(body)
            elif lie == "/shifted":
                first, last = first + 1, last + 1
            elif lie == "/grown":
                total += 1
            elif lie == "/other":
                body = bytes(length)
            self.wfile.write(b"HTTP/1.1 %s\r\n" % status.encode())
            if lie != "/bare":
                self.wfile.write(b"Content-Range: bytes %d-%d/%d\r\n" % (first, last, total))
            self.wfile.write(b"Content-Length: %d\r\n\r\n" % length + body)
            if lie == "/short":
                return


socketserver.TCPServer.allow_reuse_address = True
socketserver.ThreadingTCPServer(("127.0.0.1", int(sys.argv[1])), Liar).serve_forever()
END
port=$(free_port)
python3 "$work/liar.py" "$port" "$work/far.symmap" 2>/dev/null &
liar=$!
wait_for "$port"
url=http://127.0.0.1:$port
lookup 0 "an honest server" "$url/" $addresses
same "$work/want" "$work/out" "other answers of an honest server"
while read -r lie text; do
    lookup 1 "a server that sends /$lie" "$url/$lie" 0x80040
    says "$text"
    says "pieces of the map"
    [ "$(cat "$work/out")" = "0x80040 ?" ]
    check "an answer of a server that sends /$lie" "$work/out"
done <<END
whole ignores ranges
short cut short
shorter another range
shifted another range
grown another size
bare lacks Content-Range
other pieces
END
end

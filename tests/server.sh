#!/bin/sh
# The server loses no report, works on none twice and answers as `machsym crash -d` of the dSYMs does, whatever is killed:
# server.py starts the real one, with workers that hang, die and eat memory when a report says so. server_postgres.py kills the PostgreSQL of two,
# and server_faults.py its replica, its network and all at once. server_two.py pastes the two machines of docs/server.md.
. tests/checks
why=
[ -z "$RUN$LDFLAGS" ] || why="go runs on this host only"
case "$CFLAGS" in *-fsanitize* | *--coverage*) why="once is enough, without sanitizers" ;; esac
[ -n "$why" ] || need "the server" go gofmt python3 nginx openssl systemd-analyze || { end; exit; }
gocode=/usr/share/gocode/src/github.com
if [ -z "$why" ] && ! { [ -d $gocode/getkin/kin-openapi ] && python3 -c "import jsonschema" 2>/dev/null && [ -d $gocode/mattn/go-sqlite3 ] && [ -d $gocode/lib/pq ] && [ -d $gocode/prometheus/client_golang ] && [ -d $gocode/minio/sha256-simd ] && [ -d $gocode/minio/minio-go ] && [ -f /usr/include/zstd.h ]; }; then
    why="it needs golang-github-mattn-go-sqlite3-dev, golang-github-lib-pq-dev, golang-github-prometheus-client-golang-dev, golang-github-minio-sha256-simd-dev, golang-github-minio-minio-go-v7-dev, golang-github-getkin-kin-openapi-dev, libzstd-dev and python3-jsonschema"
fi
if [ -n "$why" ]; then
    skip "$why"
    end
    exit
fi
unformatted=$(gofmt -l server)
[ -z "$unformatted" ]
check "gofmt: $unformatted"
export GO111MODULE=off GOPATH=/usr/share/gocode GOFLAGS="" GOTOOLCHAIN=local CGO_ENABLED=1
[ -n "${GOCACHE:-}" ] || export GOCACHE="$work/cache"
(cd server && go vet -tags "libsqlite3 openapi" . && go build -tags libsqlite3 -o "$work/machsym-server" .) >"$work/log" 2>&1
check "go vet and build" "$work/log"
(cd server && go test -tags "libsqlite3 openapi" .) >"$work/log" 2>&1
check "go test: late results, symbols that come meanwhile, older schemas, SQLite and PostgreSQL, what is packed, /openapi.json" "$work/log"
sed "s|/usr/local/bin|$work|" server/packaging/machsym-server.service >"$work/machsym-server.service"
said=$(systemd-analyze verify "$work/machsym-server.service" 2>&1)
check "the unit is one for systemd: $said"
[ -z "$said" ]
check "systemd says nothing against it: $said"
systemd-analyze --no-pager security --offline=true --threshold=20 "$work/machsym-server.service" >"$work/log" 2>&1
check "what the service may do is at most 2.0 of 10" "$work/log"
mkdir "$work/postgres"
PYTHONDONTWRITEBYTECODE=1 timeout 300 python3 tests/server_postgres.py "$work/machsym-server" "${MACHSYM:-build/machsym}" "$work/postgres" >"$work/log" 2>&1
add $? "$work/log" server_postgres.py || cat "$work/log"
mkdir "$work/faults"
PYTHONDONTWRITEBYTECODE=1 timeout 300 python3 tests/server_faults.py "$work/machsym-server" "${MACHSYM:-build/machsym}" "$work/faults" 60 >"$work/log" 2>&1
add $? "$work/log" server_faults.py || cat "$work/log"
mkdir "$work/two"
PYTHONDONTWRITEBYTECODE=1 timeout 300 python3 tests/server_two.py "$work/machsym-server" "${MACHSYM:-build/machsym}" "$work/two" >"$work/log" 2>&1
add $? "$work/log" server_two.py || cat "$work/log"
PYTHONDONTWRITEBYTECODE=1 timeout 300 python3 tests/server.py "$work/machsym-server" "${MACHSYM:-build/machsym}" "$work" >"$work/log" 2>&1
add $? "$work/log" server.py || cat "$work/log"
end

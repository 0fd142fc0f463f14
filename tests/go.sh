#!/bin/sh
# examples/go answers as `machsym atos` does: its own tests, run by go.
if ! command -v go >/dev/null; then
    echo "skipped: it needs go"
    exit 0
fi
if [ -n "$RUN" ] || [ -n "$LDFLAGS" ]; then
    echo "skipped: go runs on this host only"
    exit 0
fi
case "$CFLAGS" in *-fsanitize* | *--coverage*) echo "skipped: once is enough, without sanitizers"; exit 0 ;; esac
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd examples/go || exit 1
GOFLAGS=-mod=mod GOTOOLCHAIN=local GOCACHE="$tmp/cache" GOPATH="$tmp/path" CGO_ENABLED=1 CC="$CC" \
    CGO_CFLAGS="-O1 -w" go test -vet=all -count=1 -v . >"$tmp/log" 2>&1
status=$?
passed=$(grep -c '^ *--- PASS' "$tmp/log")
failed=$(grep -c '^ *--- FAIL' "$tmp/log")
unformatted=$(gofmt -l . 2>/dev/null)
[ -z "$unformatted" ] || { failed=$((failed + 1)); echo "gofmt: $unformatted"; }
[ $status -eq 0 ] || [ "$failed" -ne 0 ] || failed=1
[ "$failed" -eq 0 ] || cat "$tmp/log"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

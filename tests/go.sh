#!/bin/sh
# examples/go answers as `machsym atos` does: its own tests, run by go.
. tests/checks
why=
command -v go >/dev/null || why="it needs go"
[ -z "$RUN$LDFLAGS" ] || why="go runs on this host only"
case "$CFLAGS" in *-fsanitize* | *--coverage*) why="once is enough, without sanitizers" ;; esac
if [ -n "$why" ]; then
    skip "$why"
    end
    exit
fi
# the package asks for -O2, and compiling takes a tenth without
printf '#!/bin/sh\nexec %s "$@" -O0 -w\n' "$CC" >"$work/cc"
chmod +x "$work/cc"
cd examples/go || exit 1
GOFLAGS=-mod=mod GOTOOLCHAIN=local GOCACHE="$work/cache" GOPATH="$work/path" CGO_ENABLED=1 CC="$work/cc" \
    go test -vet=all -count=1 -v . >"$work/log" 2>&1
status=$?
passed=$(grep -c '^ *--- PASS' "$work/log")
failed=$(grep -c '^ *--- FAIL' "$work/log")
unformatted=$(gofmt -l . 2>/dev/null)
[ -z "$unformatted" ]
check "gofmt: $unformatted"
[ $status -eq 0 ] || [ "$failed" -ne 0 ] || failed=1
[ "$failed" -eq 0 ] || cat "$work/log"
end

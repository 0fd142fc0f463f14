#!/bin/sh
# bindings/go answers as `machsym atos` does: its own tests, run by go on the sources of today.
# tests/bindings runs them with the race detector.
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
export GOFLAGS=-mod=mod GOTOOLCHAIN=local GOCACHE="${GOCACHE:-$work/cache}" GOPATH="$work/path" CGO_ENABLED=1 CC="$work/cc"
# where the copies may be stale, and no other test looks
mkdir -p "$work/bindings" "$work/tests"
cp -R bindings/go "$work/bindings/go"
cp machsym.h machsym_report.h bindings/flat.c bindings/flat.h "$work/bindings/go"
ln -s "$PWD/tests/fixtures" "$work/tests/fixtures"
ln -s "$PWD/tests/stacks" "$work/tests/stacks"
# A checkout may be met by a link: what lies beside it lies beside the real one.
CORPUS=${CORPUS:-$(cd -P ../shared/corpus 2>/dev/null && pwd -P)}
export CORPUS="${CORPUS:-../shared/corpus}"
unformatted=$(gofmt -l bindings/go)
[ -z "$unformatted" ]
check "gofmt: $unformatted"
(cd "$work/bindings/go" && go test -vet=all -count=1 -v .) >"$work/log" 2>&1
status=$?
passed=$((passed + $(grep -c '^ *--- PASS' "$work/log")))
failed=$((failed + $(grep -c '^ *--- FAIL' "$work/log")))
[ -d "$CORPUS" ] || skip "../shared/corpus is missing"
[ $status -eq 0 ] || [ "$failed" -ne 0 ] || failed=1
[ "$failed" -eq 0 ] || cat "$work/log"
end

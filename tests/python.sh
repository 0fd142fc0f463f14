#!/bin/sh
# bindings/python answers as `machsym atos` does: its own tests, run by pytest on the package as its backend builds it.
. tests/checks
why="it needs python3 and python3-pytest"
# Debian's own has its packages where the first one of PATH is another; where PATH has none, none is asked.
debian=
command -v python3 >/dev/null && why="it needs python3-pytest" && [ -x /usr/bin/python3 ] && debian=/usr/bin/python3
for python in python3 $debian; do
    $python -c 'import pytest' 2>/dev/null && why= && break
done
[ -z "$RUN$LDFLAGS" ] || why="python runs on this host only"
case "$CFLAGS" in *-fsanitize*) why="python cannot load a sanitized library" ;; esac
if [ -n "$why" ]; then
    skip "$why"
    end
    exit
fi
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$work/package"
# the backend asks for -O2, and compiling takes a tenth without; the tool is the one that is tested
MACHSYM_TOOL=$(realpath "$MACHSYM") CFLAGS="$CFLAGS -O0" $python - "$work" >"$work/log" 2>&1 <<'END_PYTHON'
import os, sys, zipfile
out = os.path.abspath(sys.argv[1])
sys.path.insert(0, "bindings/python")
import backend
zipfile.ZipFile(os.path.join(out, backend.build_wheel(out))).extractall(os.path.join(out, "package"))
END_PYTHON
check "the package builds" || cat "$work/log"
counted() { # WORD: how many
    n=$(printf '%s\n' "$last" | sed -n "s/.*\b\([0-9][0-9]*\) $1.*/\1/p")
    echo "${n:-0}"
}
run() { # PYTHON: what pytest counts of $tests
    TMPDIR="$work" timeout -k 30 600 "$@" -m pytest -q -p no:cacheprovider $tests >"$work/log" 2>&1
    status=$?
    last=$(tail -n 1 "$work/log")
    before=$failed
    passed=$((passed + $(counted passed)))
    failed=$((failed + $(counted failed) + $(counted error)))
    [ $status -eq 0 ] || [ "$failed" -ne "$before" ] || failed=$((failed + 1))
    [ "$failed" -eq "$before" ] || cat "$work/log"
}
tests="bindings/python/tests --ignore=bindings/python/tests/test_dask.py"
run $python
tests=bindings/python/tests/test_dask.py
if [ -n "$debian" ] && $debian -c 'import distributed, pytest' 2>/dev/null; then
    run $debian
else
    skip "Dask: it needs python3-distributed and python3-pytest (Debian's)"
fi
end

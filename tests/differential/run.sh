#!/bin/bash
# make differential: compares machsym with llvm-symbolizer over every DWARF file of fixtures and corpus.
# Usage: tests/differential/run.sh [-v] [FILE...]     MACHSYM=path of the tool (default build/machsym); QUICK: no corpus
# Exit status 1: a difference of a class that KNOWN.md does not list, or of a listed class above 0.1 %.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
for tool in llvm-symbolizer-22 llvm-dwarfdump-22 python3; do
    command -v "$tool" >/dev/null || {
        echo "skipped: differential: $tool is not installed"
        echo "0 passed, 0 failed, 1 skipped"
        exit 0
    }
done
export MACHSYM=${MACHSYM:-$root/build/machsym} PYTHONDONTWRITEBYTECODE=1
[ -x "$MACHSYM" ] || {
    echo "differential: $MACHSYM is missing: run make first" >&2
    exit 1
}
options=()
if [ "${1:-}" = -v ]; then
    options=(-v)
    shift
fi
if [ $# -gt 0 ]; then
    exec python3 "$here/compare.py" "${options[@]}" "$here/KNOWN.md" "$@"
fi
roots=("$root/tests/fixtures/bin")
corpus=$root/../shared/corpus
if [ -n "${QUICK:-}" ]; then
    :
elif [ -d "$corpus" ]; then
    roots+=("$corpus")
else
    echo "differential: no corpus beside this checkout: fixtures only"
fi
exec python3 "$here/compare.py" "${options[@]}" "$here/KNOWN.md" "${roots[@]}"

#!/bin/bash
# The differential test must fail when the tool is wrong: it is given answers with one thing changed, and
# has to notice.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
for tool in llvm-symbolizer-22 llvm-dwarfdump-22 python3; do
    command -v "$tool" >/dev/null || {
        echo "skipped: differential selftest: $tool is not installed"
        echo "0 passed, 0 failed, 1 skipped"
        exit 0
    }
done
real=${MACHSYM:-$root/build/machsym}
[ -x "$real" ] || {
    echo "differential selftest: $real is missing: run make first" >&2
    exit 1
}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
file=$root/tests/fixtures/bin/inline-x86_64-d4-22.dwarf

# expect STATUS SED_PROGRAM: the comparison of one fixture, with the tool's answers sent through sed
expect()
{
    printf '#!/bin/bash\nset -o pipefail\n"%s" "$@" | sed -e %q\n' "$real" "$2" >"$tmp/tool"
    chmod +x "$tmp/tool"
    local status=0
    MACHSYM=$tmp/tool "$here/run.sh" "$file" >"$tmp/log" 2>&1 || status=$?
    if [ "$status" -ne "$1" ]; then
        cat "$tmp/log"
        echo "differential selftest: status $status instead of $1 with: $2"
        failed=$((failed + 1))
    else
        passed=$((passed + 1))
    fi
}
passed=0
failed=0
expect 0 's/^//'
expect 1 's/"line":16,/"line":17,/'
expect 1 's/"column":15,/"column":14,/'
expect 1 's/shape\.hpp/shade.hpp/'
expect 1 's/_Z4scanPKN5shape3BoxIiEEi/_Z4scan/g'
expect 1 's/"frames":\[{[^}]*},/"frames":[/'
expect 1 '5d'
echo "$passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ]

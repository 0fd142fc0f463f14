#!/bin/sh
# Compares the C++ demangler with llvm-cxxfilt 22, which is what it must print: on the names in the files
# given, or on the symbols of this system's shared libraries, and on a broken copy of each.
# usage: tests/names_cxx_diff.sh [file with one name a line]...
# LLVM_CXXFILT names the tool. Exit: 0 same (or skipped), 1 different.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)

tool=${LLVM_CXXFILT:-}
for t in "$tool" llvm-cxxfilt-22 llvm-cxxfilt; do
    if [ -n "$t" ] && command -v "$t" >/dev/null && "$t" --version | grep -q 'version 2[2-9]'; then
        tool=$t
        break
    fi
    tool=
done
if [ -z "$tool" ]; then
    echo "skipped: needs llvm-cxxfilt 22 or newer"
    exit 0
fi

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
${CC:-cc} -std=c99 -O2 -o "$dir/ours" "$top/tests/test_names_cxx.c"

if [ $# -gt 0 ]; then
    cat "$@"
else
    find /usr/lib -name '*.so*' -type f -exec nm -D {} + 2>/dev/null | awk '{ print $NF }' | sed 's/@.*//'
fi | grep -a '^_*Z[A-Za-z0-9_.$]*$' | sort -u > "$dir/names"

# A byte goes, comes or changes, at places that follow from a fixed seed.
awk 'BEGIN { srand(1); bytes = "_ENIXSTLZJKPRDQFvizc0123.dpslt" }
{
    at = 3 + int(rand() * (length($0) - 2))
    what = int(rand() * 4)
    with = substr(bytes, 1 + int(rand() * length(bytes)), 1)
    if (what == 0)
        with = ""
    if (what == 3)
        with = substr($0, at, 1 + int(rand() * 6))
    print substr($0, 1, at - 1) with substr($0, at + (what < 2))
}' "$dir/names" > "$dir/broken"

# The tool splits its input at odd bytes, so names are passed as arguments. A long double of 16 digits is
# ARM's, which the tool knows only when it runs there.
status=0
for set in names broken; do
    grep -av 'Le[0-9a-f]\{16\}E' "$dir/$set" > "$dir/in" || true
    xargs -d '\n' -n 1000 "$tool" -n < "$dir/in" > "$dir/want"
    "$dir/ours" - < "$dir/in" > "$dir/got"
    paste "$dir/in" "$dir/want" "$dir/got" | awk -F '\t' '$2 != $3' > "$dir/different"
    count=$(wc -l < "$dir/different")
    echo "$set: $(wc -l < "$dir/in") compared, $count differ"
    head -n 5 "$dir/different"
    [ "$count" -eq 0 ] || status=1
done
exit $status

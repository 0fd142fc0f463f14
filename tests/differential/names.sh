#!/bin/sh
# Compares machsym demangle with llvm-cxxfilt 22 for C++, Rust v0 and D: on the symbols of the fixtures, of this
# system's libstdc++ and libLLVM, on the vectors beside this checkout, and for C++ on a broken copy of each name.
# Usage: tests/differential/names.sh [FILE...]     files with one name a line in place of all that
# Environment: MACHSYM, the tool (default build/machsym); LLVM_CXXFILT.
# Exit status 1: a difference of a class that ../vectors/KNOWN.md does not list.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
ours=${MACHSYM:-$top/build/machsym}
for theirs in "${LLVM_CXXFILT:-llvm-cxxfilt-22}" llvm-cxxfilt none; do
    command -v "$theirs" >/dev/null && "$theirs" --version | grep -q 'version 2[2-9]' && break
done
if [ "$theirs" = none ]; then
    echo "skipped: differential names: llvm-cxxfilt 22 is not installed"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# Mach-O's symbols have one more underscore.
collect() {
    find "$top/tests/fixtures/bin" -type f -exec llvm-nm-22 --format=just-symbols {} + 2>/dev/null | sed 's/^_//'
    find /usr/lib -type f \( -name 'libstdc++.so*' -o -name 'libLLVM*.so*' \) -exec nm -D {} + 2>/dev/null |
        awk '{ print $NF }' | sed 's/@.*//'
    vectors=${VECTORS:-$top/../shared/vectors}
    cut -f 1 "$vectors"/cxx.tsv "$vectors"/rust*.tsv "$vectors"/d*.tsv 2>/dev/null || true
}
if [ $# -gt 0 ]; then
    cat "$@"
else
    collect
fi | sort -u >"$tmp/all"

# Left out, see KNOWN.md: the older Rust scheme, which llvm takes for C++; long doubles of 16 digits; vendor suffixes.
cxx_only() {
    grep -av -e '17h[0-9a-f]\{16\}E' -e '\$[A-Zu][A-Z0-9a-f]*\$' -e 'Le[0-9a-f]\{16\}E' || true
}
grep -a '^_\{1,4\}Z[A-Za-z0-9_.$]*$' "$tmp/all" | cxx_only >"$tmp/cxx"
grep -a '^_R[A-Za-z0-9_.$]*$' "$tmp/all" | grep -av '\.llvm\.' >"$tmp/rust" || true
grep -a '^_D[A-Za-z0-9_.$]*$' "$tmp/all" >"$tmp/d" || true

[ -s "$tmp/cxx" ] || {
    echo "names: no C++ names found" >&2
    exit 1
}

# A byte goes, comes or changes, or a few come twice, at places that follow from a fixed seed.
awk 'BEGIN { srand(1); bytes = "_ENIXSTZLJKPRDQFvizc0123.dpslt" }
{
    at = 3 + int(rand() * (length($0) - 2))
    what = int(rand() * 4)
    with = substr(bytes, 1 + int(rand() * length(bytes)), 1)
    if (what == 0)
        with = ""
    if (what == 3)
        with = substr($0, at, 1 + int(rand() * 6))
    print substr($0, 1, at - 1) with substr($0, at + (what < 2))
}' "$tmp/cxx" | cxx_only >"$tmp/cxx-broken"

# The classes of KNOWN.md that a line shows by itself; any other difference is printed.
cat >"$tmp/classes.awk" <<'END'
$2 == $3 { next }
set == "rust" || set == "d" {
    if ($1 == $2 || (set == "rust" && $2 ~ /\\u\{|'z1/) || (set == "d" && $2 ~ /\.__T[0-9]/)) {
        known++
        next
    }
}
{ print; differ++ }
END { printf "%d differ, %d of known classes\n", differ, known >report }
END

# As arguments: both tools split text at odd bytes, each at its own.
failed=0
for set in cxx cxx-broken rust d; do
    xargs -r -d '\n' -n 1000 "$theirs" -n <"$tmp/$set" >"$tmp/want"
    xargs -r -d '\n' -n 1000 $ours demangle -- <"$tmp/$set" >"$tmp/got"
    paste "$tmp/$set" "$tmp/want" "$tmp/got" |
        awk -F '\t' -v set=$set -v report="$tmp/report" -f "$tmp/classes.awk" >"$tmp/different"
    printf 'names: %-10s %7d compared, %s\n' $set "$(wc -l <"$tmp/$set")" "$(cat "$tmp/report")"
    head -n 5 "$tmp/different"
    [ ! -s "$tmp/different" ] || failed=$((failed + 1))
done

# In text: what stands ahead of a name and after it, where both tools take the name. Full stops at the end and $
# are left out: ours belong to the sentence and to Swift.
grep -a '^_Z[A-Za-z0-9_.]*[A-Za-z0-9_]$' "$tmp/cxx" | awk '
BEGIN {
    ahead = split("\" @\" @ % ( [ < &quot; &#39; &lt; : :: . # - + = / * ! ? ~ | ` {, -> @@ \\\" 0x1, call@", a, " ")
    after = split(".cold .cold.1 .llvm.123 .constprop.0 .isra.0 .part.0 .isra.0.constprop.1 @plt \" &quot; ) ] > : , ; \\n \\\" () .o /x -x +12", b, " ")
}
{ print a[NR % (ahead + 1)] $0 b[int(NR / 7) % (after + 1)] }' >"$tmp/text"
"$theirs" <"$tmp/text" >"$tmp/want"
$ours demangle <"$tmp/text" >"$tmp/got"
different=$(paste -d '\n' "$tmp/want" "$tmp/got" | awk 'NR % 2 { want = $0; next } $0 != want { print want; print; n++ } END { exit n > 0 }') || failed=$((failed + 1))
printf 'names: %-10s %7d compared, %d differ\n' text "$(wc -l <"$tmp/text")" "$(printf '%s' "$different" | grep -c '' | awk '{ print $1 / 2 }')"
[ -z "$different" ] || printf '%s\n' "$different" | head -n 10
echo "$((5 - failed)) passed, $failed failed, 0 skipped"
[ $failed -eq 0 ]

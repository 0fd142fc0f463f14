#!/bin/sh
# What is said of a release is the same everywhere: the version, its date, who made it.
. tests/checks
version=$("$MACHSYM" --version)
number='[0-9]+\.[0-9]+\.[0-9]+'
grep '^## ' CHANGELOG.md >"$work/headings"
grep -vxE "## ($number, 20[0-9][0-9]-[01][0-9]-[0-3][0-9]|Not released yet)" "$work/headings" >"$work/others"
[ ! -s "$work/others" ]
check "CHANGELOG.md has a version and a date over each part" "$work/others"
! sed 1d "$work/headings" | grep -q 'Not released'
check "CHANGELOG.md: what is not released stands first"
sed -nE "s/^## ($number), .*/\1/p" CHANGELOG.md >"$work/versions"
sort -rV "$work/versions" >"$work/sorted"
same "$work/sorted" "$work/versions" "CHANGELOG.md begins with the newest version"
[ "$(head -n 1 "$work/versions")" = "$version" ]
check "CHANGELOG.md has the version $version of machsym.h first" "$work/versions"
# Debian's form of the first heading: the version, and the day at its end.
date=$(sed -nE "s/^## $number, //p" CHANGELOG.md | head -n 1)
head -n 1 debian/changelog | grep -qF "machsym ($version) "
check "debian/changelog has the version $version first" debian/changelog
[ -n "$date" ] && months=JanFebMarAprMayJunJulAugSepOctNovDec &&
    sed -n 's/^ -- .*>  ..., \([0-9]*\) \(...\) \([0-9]*\) .*/\1 \2 \3/p' debian/changelog | head -n 1 |
    awk -v months=$months '{ printf "%04d-%02d-%02d\n", $3, (index(months, $2) + 2) / 3, $1 }' | grep -qxF "$date"
check "debian/changelog has the date of CHANGELOG.md" debian/changelog
end

#!/bin/sh
# A release is described in the same way everywhere: the version, its date, who made it.
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

# packaging/project is the one description of the project: packaging/describe has nothing to change.
mkdir -p "$work/copy/bindings"
cp -R packaging debian "$work/copy"
cp -R bindings/rust bindings/go "$work/copy/bindings"
described() { # WHAT: what differs from the checkout then
    sh packaging/describe "$work/copy" >"$work/log" 2>&1
    check "make describe: $1" "$work/log"
    for folder in debian bindings/rust bindings/go; do
        diff -r "$folder" "$work/copy/$folder"
    done >"$work/differs"
}
described "as it is"
[ ! -s "$work/differs" ]
check "make describe changes nothing" "$work/differs"
sed 's#^homepage =.*#homepage = https://a.example/#; s#^repository =.*#repository = https://b.example/r.git#; s#^email =.*#email = us@a.example#' \
    packaging/project >"$work/copy/packaging/project"
described "with addresses"
sed -n 's/^> //p' "$work/differs" | sort >"$work/said"
sort >"$work/want" <<END
 -- machsym authors <us@a.example>  $(sed -n 's/^ -- .*>  //p' debian/changelog | head -n 1)
Homepage: https://a.example/
Maintainer: machsym authors <us@a.example>
Source: https://b.example/r.git
Vcs-Git: https://b.example/r.git
authors = ["machsym authors <us@a.example>"]
homepage = "https://a.example/"
repository = "https://b.example/r.git"
module b.example/r/bindings/go
	machsym "b.example/r/bindings/go"
$(sed -n '/^go mod edit/s,machsym\.invalid,b.example/r,gp' bindings/go/README.md)
END
same "$work/want" "$work/said" "addresses stand in Debian's files, the crate's and the Go module's"
cp packaging/project "$work/copy/packaging/project"
described "without addresses again"
[ ! -s "$work/differs" ]
check "addresses that are taken out of packaging/project go from the files" "$work/differs"
end

#!/bin/sh
# Pages, help, the man page and the public comments avoid words that readers stumble over: "so many" for a number, "nobody",
# "whoever", "of which", "is said" for "is reported", "behind" for "after". The truth is the text itself.
machsym=${MACHSYM:-build/machsym}
. tests/checks
words='so many|nobody|whoever|of which|is said|behind'

for page in README.md CONTRIBUTING.md SECURITY.md docs/*.md src/README.md tool/README.md report/README.md server/README.md \
    examples/*/README.md bindings/*/README.md machsym.1 src/api/*.h; do
    [ -f "$page" ] || continue
    tr '\n' ' ' <"$page" | tr -s ' *' ' ' | grep -oiE ".{0,40}\\b($words)\\b.{0,20}" >"$work/out"
    [ ! -s "$work/out" ]
    check "$page in plain words" "$work/out"
done

$machsym --help >"$work/help" 2>&1
sed -n 's/^  \([a-z][a-z-]*\( [a-z][a-z-]*\)\{0,1\}\)  .*/\1/p' "$work/help" | sort -u >"$work/names"
[ "$(wc -l <"$work/names")" -ge 12 ]
check "the commands are listed" "$work/names"
while read -r name; do
    # shellcheck disable=SC2086 # a command may be two words
    $machsym $name --help
done <"$work/names" >>"$work/help" 2>&1
grep -inwE "$words" "$work/help" >"$work/out"
[ ! -s "$work/out" ]
check "help in plain words" "$work/out"
end

#!/bin/sh
# Pages, help, the man page, comments and messages avoid words that readers stumble over: "so many" for a number, "nobody",
# "whoever", "of which", "is said" for "is reported", "behind" for "after", "none" as a noun ("a file that is none"). The truth
# is the text itself.
machsym=${MACHSYM:-build/machsym}
. tests/checks

# Prints where struck words are. Lines follow each other without the marks of comments; "there is none" is allowed, and so is
# the user nobody. Two groups of texts in tests are left out. The first are data: names of symbols, files, fields, consumers,
# and bytes of reports. The second are help and messages of tests/symmap.py and tests/mutate/mutate.py.
struck() { # FILE...
    awk '
        function find(word,  at, found, from) {
            from = 1
            while ((at = index(substr(line, from), " " word " ")) > 0) {
                at += from - 1
                found = at + length(word) + 1
                if (found > kept && !(word ~ / none$/ && substr(line, 1, at) ~ /[Tt]here (can |may )?$/))
                    print FILENAME ":" FNR ": " word
                from = at + 1
            }
        }
        FNR == 1 { carry = "" }
        {
            text = $0
            gsub(/\$nobody|need_nobody|nobody=/, "", text)
            gsub(/"(behind|nobody)"|uint8_t behind\[|good-behind-a-script/, "", text)
            gsub(/What was said: it crashed|of a kind that nobody knows"/, "", text)
            gsub(/^[ \t]*(\/\*|\*|#|\/\/)/, " ", text)
            gsub(/[^A-Za-z0-9_]+/, " ", text)
            kept = length(carry) + 1
            line = " " carry " " text " "
            gsub(/ +/, " ", line)
            for (i = 1; i <= split("is are was were be", be, " "); i++)
                find(be[i] " none") # as it is written: Python has None
            line = tolower(line)
            for (i = 1; i <= split("so many|nobody|whoever|of which|is said|are said|was said|were said|behind", struck, "|"); i++)
                find(struck[i])
            count = split(text, word, " ")
            carry = count > 2 ? word[count - 2] " " word[count - 1] " " word[count] : carry " " text
            count = split(carry, word, " ")
            carry = count > 2 ? word[count - 2] " " word[count - 1] " " word[count] : carry
        }' "$@"
}

echo 'one that is none of
# them, nobody knows, so
# many: there is none, there
# are none; $nobody, None is None, "behind"' >"$work/planted"
struck "$work/planted" | sed 's/.*: //' | tr '\n' ',' >"$work/out"
[ "$(cat "$work/out")" = "is none,nobody,so many," ]
check "struck words are found" "$work/out"

# What users read, and what makers read: sources, scripts, pages. What is generated from them is left out, and so are the
# sources in tests/fixtures: checksums of them are kept, so a comment there cannot change.
struck README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md Makefile machsym.1 >"$work/out" 2>&1
[ ! -s "$work/out" ]
check "pages in plain words" "$work/out"
for folder in docs src report tool server examples bench fuzz bindings packaging tests; do
    [ -d "$folder" ] || continue # an archive may lack some
    find "$folder" -type f \( -name '*.md' -o -name '*.sh' -o -name run -o -name checks -o -name sum -o -name '*.lua' \) \
        ! -path '*/node_modules/*' ! -path '*/target/*' ! -path tests/english.sh ! -path tests/mutate/last.md >"$work/files"
    find "$folder" -type f \( -name '*.[ch]' -o -name '*.py' -o -name '*.go' -o -name '*.js' -o -name '*.mjs' -o -name '*.ts' \
        -o -name '*.rs' -o -name '*.swift' \) ! -name machsym.h ! -path '*/node_modules/*' ! -path '*/target/*' \
        ! -path '*/.build/*' ! -path '*/dist/*' ! -path 'tests/fixtures/*' >>"$work/files"
    # shellcheck disable=SC2046 # names of the project have no blanks
    struck /dev/null $(cat "$work/files") >"$work/out"
    [ ! -s "$work/out" ]
    check "$folder/ in plain words" "$work/out"
done

$machsym --help >"$work/help" 2>&1
sed -n 's/^  \([a-z][a-z-]*\( [a-z][a-z-]*\)\{0,1\}\)  .*/\1/p' "$work/help" | sort -u >"$work/names"
[ "$(wc -l <"$work/names")" -ge 12 ]
check "the commands are listed" "$work/names"
while read -r name; do
    # shellcheck disable=SC2086 # a command may be two words
    $machsym $name --help
done <"$work/names" >>"$work/help" 2>&1
struck "$work/help" >"$work/out"
[ ! -s "$work/out" ]
check "help in plain words" "$work/out"
end

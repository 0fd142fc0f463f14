#!/bin/sh
# The man page has what help says of every command, to the letter, and no formatter complains about it.
. tests/checks
sh packaging/man "$MACHSYM" >"$work/machsym.1"
diff machsym.1 "$work/machsym.1"
check "machsym.1 is what the option tables say; make man writes it anew"
for words in $("$MACHSYM" help | sed -n '/^$/,$s/^  \([a-z]*\)  .*/\1/p'); do
    grep -q "^\.SS machsym $words$" machsym.1
    check "the man page has $words"
done
[ "$(grep -c '^\.SS machsym map ' machsym.1)" -eq 8 ]
check "the man page has the commands below map"
if command -v groff >/dev/null; then
    groff -man -Tutf8 -ww machsym.1 >"$work/text" 2>"$work/said"
    [ ! -s "$work/said" ] || { cat "$work/said" && false; }
    check "groff has nothing to say"
    # what is shown is what help prints, backslashes, dashes and quotes included
    "$MACHSYM" help owners | sed 's/^usage: //; s/^ *//; s/  */ /g; /^$/d' >"$work/help"
    sed 's/.\[[0-9;]*m//g; s/^ *//; s/  */ /g' "$work/text" >"$work/shown"
    while IFS= read -r line; do
        grep -qxF -- "$line" "$work/shown"
        check "the man page shows: $line"
    done <"$work/help"
fi
end

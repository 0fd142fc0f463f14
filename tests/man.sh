#!/bin/sh
# The man page has what help says of every command, to the letter, and no formatter complains about it.
. tests/checks
sh packaging/man "$MACHSYM" >"$work/machsym.1"
diff machsym.1 "$work/machsym.1"
check "machsym.1 is what the option tables say; make man writes it anew"
# the names of the command tables, as the sources have them; the tool answers to two of them by its own name only
grep -rhA1 '^\(static \)\?const command [a-z_]* = {' tool | sed -n 's/^ *"\([a-z][a-z -]*\)",.*/\1/p' |
    grep -vx 'dwarfdump\|symbolicatecrash' | sort >"$work/table"
[ "$(wc -l <"$work/table")" -ge 29 ]
check "the tables have all commands" "$work/table"
sed -n 's/^\.SS machsym //p' machsym.1 | sort >"$work/sections"
comm -23 "$work/table" "$work/sections" >"$work/lacks"
[ ! -s "$work/lacks" ]
check "COMMANDS of the man page has every command" "$work/lacks"
sed -n '/^\.SH SYNOPSIS/,/^\.SH DESCRIPTION/s/^\.B machsym //p' machsym.1 | sed 's/\\-/-/g' | sort >"$work/synopsis"
while read -r name; do # those that have commands below them stand there by these
    grep -q "^$name " "$work/table" || echo "$name"
done <"$work/table" >"$work/want"
same "$work/want" "$work/synopsis" "SYNOPSIS of the man page has every command, and no other"
while read -r name; do
    grep -qE "machsym ${name%% *}\b|\`${name%% *}\`" README.md || echo "$name"
done <"$work/table" >"$work/lacks"
[ ! -s "$work/lacks" ]
check "README.md has every command" "$work/lacks"
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

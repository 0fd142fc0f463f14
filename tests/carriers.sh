#!/bin/sh
# Each report is its own, whatever carries it: strings of JSON, quotes of a mail, lines of a log, several in a file. Held
# against the same reports alone by tests/carriers.py.
MACHSYM=${MACHSYM:-build/machsym}
. tests/checks
export XDG_CACHE_HOME="$work/cache"

if need "reports in what carries them" python3; then
    python3 tests/carriers.py "$MACHSYM" "$work" >"$work/log" 2>&1
    add $? "$work/log" carriers.py
    grep -v ' passed, ' "$work/log" | head -n 20
fi
end

#!/bin/sh
# JSON that explains: tests/brief.py says what is held, and against what.
. tests/checks
if ! command -v python3 >/dev/null; then
    skip "it needs python3"
    end
    exit
fi
export XDG_CACHE_HOME="$work/cache"
PYTHONDONTWRITEBYTECODE=1 timeout 300 python3 tests/brief.py "${MACHSYM:-build/machsym}" "$work" >"$work/log" 2>&1
add $? "$work/log" brief.py || cat "$work/log"
end

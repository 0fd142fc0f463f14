#!/bin/sh
# machsym worker: it answers as machsym crash, atos and demangle do; errors are answers; order, back-pressure, limits and memory.
# tests/worker.py is the host that drives it.
. tests/checks
if ! command -v python3 >/dev/null; then
    skip "it needs python3"
    end
    exit
fi
export XDG_CACHE_HOME="$work/cache"
PYTHONDONTWRITEBYTECODE=1 timeout 300 python3 tests/worker.py "${MACHSYM:-build/machsym}" "$work" >"$work/log" 2>&1
add $? "$work/log" worker.py || cat "$work/log"
end

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
if need "search, and the byte at which a line is no JSON" llvm-nm-22 llvm-cxxfilt-22 llvm-dwarfdump-22; then
    PYTHONDONTWRITEBYTECODE=1 python3 tests/members/search.py "${MACHSYM:-build/machsym}" "$work/search" >"$work/out" 2>&1
    check "search finds the functions that llvm-nm lists, and lines are no JSON at the byte that Python names" "$work/out"
fi
end

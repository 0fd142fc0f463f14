#!/bin/sh
# machsym mcp: the Model Context Protocol as its published schema has it (tests/mcp.py); its tools answer as machsym worker does.
. tests/checks
if ! command -v python3 >/dev/null; then
    skip "it needs python3"
    end
    exit
fi
export XDG_CACHE_HOME="$work/cache"
PYTHONDONTWRITEBYTECODE=1 timeout 300 python3 tests/mcp.py "${MACHSYM:-build/machsym}" "$work" >"$work/log" 2>&1
add $? "$work/log" mcp.py || cat "$work/log"
end

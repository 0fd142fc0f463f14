#!/bin/sh
# examples/symbolicate-v5 answers as atos does, and as llvm-symbolizer where there is one; what is wrong is refused.
. tests/checks
if ! need "answers over HTTP" python3 curl; then
    end
    exit
fi
export XDG_CACHE_HOME="$work/cache"
PYTHONDONTWRITEBYTECODE=1 timeout 100 python3 tests/symbolicate.py "${MACHSYM:-build/machsym}" "$work" >"$work/log" 2>&1
add $? "$work/log" symbolicate.py || cat "$work/log"
end

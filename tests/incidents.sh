#!/bin/sh
# Incidents that a generator writes as .ips: what JSON tells of each, the text that Apple's tools show, in its five forms, and what JSON
# tells of that text. The truth is a second reader and writer, members/ips.py. SEED=... for others.
machsym=${MACHSYM:-build/machsym}
. tests/checks
export XDG_CACHE_HOME="$work/cache" PYTHONDONTWRITEBYTECODE=1

if need "generated incidents" python3; then
    python3 tests/members/ips.py "$machsym" "$work/ips" ${SEED:+"$SEED"} >"$work/out" 2>&1
    check "generated incidents: JSON, Apple's text, and JSON of that text" "$work/out"
fi
end

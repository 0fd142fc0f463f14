#!/bin/sh
# Incidents and values by chance. Of incidents that a generator writes as .ips: what JSON tells of each, the text that Apple's tools
# show, in its five forms, and what JSON tells of that text, against a second reader and writer, members/ips.py. Of --only, --redact and
# others the rules that the pages state, applied a second time by members/rules.py. Limits that answers
# show, at their edges: members/edges.py. Minidumps, and texts of other kinds: one second reader each, members/minidumps.py, members/lldb.py
# and others. SEED=... for other ones.
machsym=${MACHSYM:-build/machsym}
. tests/checks
export XDG_CACHE_HOME="$work/cache" PYTHONDONTWRITEBYTECODE=1

if need "generated incidents" python3; then
    python3 tests/members/ips.py "$machsym" "$work/ips" ${SEED:+"$SEED"} >"$work/out" 2>&1
    check "generated incidents: JSON, Apple's text, and JSON of that text" "$work/out"
    python3 tests/members/rules.py "$machsym" "$work/rules" ${SEED:+"$SEED"} >"$work/out" 2>&1
    check "rules over values by chance: --only, --redact, registers of briefs, jetsam, stackshots" "$work/out"
    python3 tests/members/edges.py "$machsym" "$work/edges" >"$work/out" 2>&1
    check "limits that answers show, at their edges" "$work/out"
    python3 tests/members/metrickit.py "$machsym" "$work/metrickit" ${SEED:+"$SEED"} >"$work/out" 2>&1
    check "payloads of MetricKit by chance" "$work/out"
    python3 tests/members/minidumps.py "$machsym" "$work/minidumps" ${SEED:+"$SEED"} >"$work/out" 2>&1
    check "minidumps by chance" "$work/out"
    for kind in lldb panics crashlytics samples; do
        python3 tests/members/$kind.py "$machsym" "$work/$kind" ${SEED:+"$SEED"} >"$work/out" 2>&1
        check "texts by chance: $kind" "$work/out"
    done
fi
end

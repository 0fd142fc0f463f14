#!/bin/sh
# The drawings of docs/drawings: names, prefixes, storeys and numbers in them are those of the code, and a drawing is found stale
# when one of these changes. The truths: the rooms, the tables of make rooms, and the demo's map as tests/symmap.py reads it.
machsym=${MACHSYM:-build/machsym}
. tests/checks
export PYTHONDONTWRITEBYTECODE=1
need "the drawings" python3 || { end; exit; }

python3 docs/drawings/draw.py --check >"$work/out" 2>&1
check "every drawing is what docs/drawings/draw.py writes" "$work/out"

python3 -c '
import sys, xml.etree.ElementTree
for path in sys.argv[1:]:
    xml.etree.ElementTree.parse(path)' docs/drawings/*.svg >"$work/out" 2>&1
check "every drawing is XML" "$work/out"

for drawing in docs/drawings/*.svg; do
    name=${drawing##*/}
    grep -qF "drawings/$name)" README.md CONTRIBUTING.md docs/*.md src/README.md tool/README.md report/README.md
    check "a page shows $name"
    grep -oE '\b(machsym|MACHSYM)_[A-Za-z_]+[a-zA-Z]\b' "$drawing" | sort -u >"$work/names"
    while read -r what; do
        grep -qw -e "$what" machsym.h || echo "$what"
    done <"$work/names" >"$work/out"
    [ ! -s "$work/out" ]
    check "machsym.h has the names in $name" "$work/out"
done

# ---- A change of the code is seen ----

fresh() {
    rm -rf "$work/house"
    mkdir -p "$work/house/docs" "$work/house/tests"
    cp -R src "$work/house"
    cp -R docs/drawings "$work/house/docs"
    cp tests/rooms.storeys tests/rooms.prefixes tests/rooms_tool.prefixes "$work/house/tests"
}
fresh
while IFS='|' read -r file from to; do
    sed "s@$from@$to@" "$file" >"$work/house/$file"
    ! cmp -s "$file" "$work/house/$file" && ! python3 "$work/house/docs/drawings/draw.py" --check >"$work/out" 2>&1 &&
        grep -q '^draw.py: ' "$work/out"
    check "a drawing is stale after $from in $file" "$work/out"
    cp "$file" "$work/house/$file"
done <<'END'
src/symmap/pack.h|ms_PK_BLOCK_BITS = 10|ms_PK_BLOCK_BITS = 11
src/symmap/pack.h|ms_PK_DICT = 16384|ms_PK_DICT = 32768
src/symmap/pack.h|ms_PK_MIN = 4|ms_PK_MIN = 5
src/symmap/symmap.h|ms_MAP_UNIT = 8|ms_MAP_UNIT = 16
src/symmap/symmap.h|ms_MAP_STEPS = 8|ms_MAP_STEPS = 9
src/symmap/symmap.h|ms_MAP_HEAD = 96|ms_MAP_HEAD = 104
src/symmap/symmap.h|ms_MAP_RUN_HEAD = 36|ms_MAP_RUN_HEAD = 40
src/symmap/symmap.h|ms_MAP_RUN_MAX = 64|ms_MAP_RUN_MAX = 32
src/symmap/symmap.h|ms_MAP_VERSION = 3|ms_MAP_VERSION = 4
src/symmap/symmap.h|    ms_MAP_DICT,|    ms_MAP_WORDS,
src/symmap/symmap.h|p + 24|p + 23
src/symmap/pages.h|ms_PG_BYTES = 16384|ms_PG_BYTES = 4096
src/api/options.h|MACHSYM_CACHE_LIMIT (32u|MACHSYM_CACHE_LIMIT (64u
src/api/options.h|MACHSYM_KEPT_UNITS 3|MACHSYM_KEPT_UNITS 4
src/api/options.h|MACHSYM_MAX_TEXT 65536|MACHSYM_MAX_TEXT 32768
src/api/api.h|machsym_session_trim|machsym_session_drop
src/answer/session.h|ms_ses_drop_units|ms_ses_drop_all
tests/rooms.prefixes|ms_eng_|ms_engine_
tests/rooms_tool.prefixes|bcsymbolmap_|hidden_
tests/rooms.storeys|^src src/names .*|& src/macho
tests/rooms.storeys|^tool tool/symbols|tool tool/places
END

# ---- The demo's run, and the lookup in it ----

$machsym map build --lines=atos -o "$work/demo.symmap" tests/fixtures/bin/demo.app.dSYM >"$work/out" 2>&1
check "the demo's map" "$work/out"
python3 - "$work/demo.symmap" >"$work/out" 2>&1 <<'END'
import sys
sys.path[:0] = ["tests", "docs/drawings"]
import draw
import symmap

with open(sys.argv[1], "rb") as file:
    runs = symmap.Map(file.read()).runs
run = symmap.Run(runs, 0)
read = {"begin": run.begin, "length": run.length, "end": run.end, "text": run.text, "base": run.base, "ranges": len(run.ranges),
        "roots": len(run.roots), "calls": len(run.calls), "files": len(run.files), "widths": tuple(runs[28:36])}
assert read == draw.RUN, read
number = max(i for i, row in enumerate(run.ranges) if row[0] <= 0xaec)
link = run.ranges[number][2]
chain = ["range %d" % number]
while link >= 2 + len(run.roots):
    call = link - 2 - len(run.roots)
    chain.append("link %d = call %d" % (link, call))
    if len(chain) == 2:
        assert run.calls[call][4] == 546, run.calls[call]
    link = run.calls[call][0]
chain.append("link %d = root %d" % (link, link - 2))
with open("docs/drawings/run.svg", encoding="utf-8") as file:
    svg = file.read()
at = 0
for what in chain:
    at = svg.index(">%s<" % what, at)
END
check "the run and the frames of docs/drawings/run.svg are those of the map" "$work/out"
end

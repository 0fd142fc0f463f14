#!/bin/bash
# examples/sqlite: a function of SQL that answers from a store's maps. The truth is machsym atos for the same offsets.
. tests/checks
machsym=${MACHSYM:-build/machsym}
if [ -n "${RUN:-}" ]; then
    skip "an emulator loads no library of this host"
    end
    exit
fi
if ! need "the function of SQL" sqlite3; then
    end
    exit
fi
if ! echo '#include <sqlite3ext.h>' | ${CC:-cc} -E - >/dev/null 2>&1; then
    skip "it needs libsqlite3-dev"
    end
    exit
fi
$machsym store add "$work/symbols" tests/fixtures/bin/demo.app.dSYM >"$work/out" 2>&1
check "a store" "$work/out"
# shellcheck disable=SC2086 # flags are words
${CC:-cc} -std=c99 -D_GNU_SOURCE -Wall -Wextra -Werror -Wno-unused-function -O0 -DMACHSYM_NO_SWIFT -DMACHSYM_NO_RUST -DMACHSYM_NO_D -fPIC -shared \
    -I. -o "$work/symbolicate.so" examples/sqlite/symbolicate.c >"$work/out" 2>&1
check "it compiles" "$work/out"
sql() { # SQL: $work/out
    (cd "$work" && printf '%s\n' ".load ./symbolicate" "$1" | sqlite3 -batch -bail) >"$work/out" 2>"$work/err"
}
uuid=4C4C44B5-5555-3144-A1BA-79CA685DEC58
sql "SELECT symbols('symbols'); SELECT symbolicate('$uuid', 0xaec); SELECT symbolicate('$uuid', 0xa7b);"
printf '%s\n' symbols 'require(bool) (queue.hpp:6) < Queue<int>::at(int) (queue.hpp:13) < Queue<int>::drop(int) (queue.hpp:19) < -[Player skip:] (player.mm:19)' \
    '-[Player play:] (player.mm:14)' | diff - "$work/out" >"$work/diff"
check "names, lines and inlined calls" "$work/diff"
$machsym atos -i --lines=people -offset -o tests/fixtures/bin/demo.app.dSYM 0xaec | sed 's/ (in demo)//' | grep -v '^$' | sed ':a;N;$!ba;s/\n/ < /g' >"$work/want"
sed -n 2p "$work/out" | cmp -s - "$work/want"
check "as machsym atos answers" "$work/want"
sql "SELECT symbols('symbols'); SELECT count(symbolicate('$uuid', value * 4)) FROM (WITH RECURSIVE n(value) AS (SELECT 0 UNION ALL SELECT value + 1 FROM n LIMIT 2000) SELECT value FROM n);"
[ "$(tail -n 1 "$work/out")" -gt 50 ]
check "many rows" "$work/out"
sql "SELECT symbols('symbols'); SELECT symbolicate('00000000-0000-0000-0000-000000000000', 1) IS NULL, symbolicate('../../x', 1) IS NULL, symbolicate(NULL, NULL) IS NULL, symbolicate('$uuid', -1) IS NULL;"
[ "$(tail -n 1 "$work/out")" = '1|1|1|1' ]
check "NULL where nothing is known" "$work/out"
sql "SELECT symbolicate('$uuid', 1);"
[ $? -ne 0 ] && grep -q "no folder of symbols" "$work/err"
check "no folder is an error" "$work/err"
head -c 500 "$work/symbols/4C/$uuid.symmap" >"$work/half" && mv "$work/half" "$work/symbols/4C/$uuid.symmap"
sql "SELECT symbols('symbols'); SELECT symbolicate('$uuid', 0xaec);"
[ $? -ne 0 ] && grep -q "$uuid.symmap\|map" "$work/err"
check "a damaged map is an error" "$work/err"
end

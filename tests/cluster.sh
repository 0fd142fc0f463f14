#!/bin/sh
# The crash service of examples/cluster: a symbolicator and a primary are killed while reports come in, and one is poison; and what
# HTTP, the page, Redis' ACL and TLS refuse. examples/cluster/faults.py has the long form.
. tests/checks
why=
/usr/bin/python3 -c 'import redis' 2>/dev/null || why="it needs python3-redis (Debian's)"
command -v redis-server >/dev/null && command -v redis-cli >/dev/null || why="it needs redis-server"
[ -z "$RUN$LDFLAGS" ] || why="once is enough, without sanitizers"
case "$CFLAGS" in *-fsanitize*) why="once is enough, without sanitizers" ;; esac
if [ -n "$why" ]; then
    skip "$why"
    end
    exit
fi
export PYTHONDONTWRITEBYTECODE=1 TMPDIR="$work"
timeout -k 30 500 /usr/bin/python3 examples/cluster/faults.py --short >"$work/log" 2>&1
check "the faults" "$work/log" || cat "$work/log"
timeout -k 30 500 /usr/bin/python3 tests/cluster.py >"$work/log" 2>&1
add $? "$work/log" cluster.py || cat "$work/log"
end

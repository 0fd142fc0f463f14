#!/bin/sh
# make mutate sees where a fault can be planted, and nowhere else, and takes a busy machine for no fault; tests/README.md names
# every test; tests/mutants and tests/mutate/nearest.tsv name files and lines that are there.
. tests/checks

for path in tests/test_*.c tests/corrupt.c tests/damage.c tests/oom.c tests/*.sh; do
    grep -q "\`${path#tests/}\`" tests/README.md
    check "tests/README.md names ${path#tests/}"
done
grep -o '`[a-z_]*\.\(c\|sh\)`' tests/README.md | tr -d '`' | sort -u >"$work/named"
while read -r name; do
    [ -f "tests/$name" ] || [ -f "tests/fixtures/$name" ]
    check "tests/README.md: $name is there"
done <"$work/named"

if ! command -v python3 >/dev/null; then
    skip "faults in C: it needs python3"
    end
    exit
fi
export PYTHONDONTWRITEBYTECODE=1
cat >"$work/one.c" <<'END'
/* a < b && 1 */
#define LIMIT (3 + \
               4)
static const int outside = 7;
static const struct row rows[] = {
    {"one", 1},
    {"two", 2},
};
int f(int a, int b)
{
    say("a < b"); // 5
    if (a < b && b != 3)
        return;
    while (-a > 0x10u)
        break;
    *p = &a;
    return g(a, b) + 1;
}
END
python3 - "$work/one.c" >"$work/got" 2>"$work/err" <<'END'
import sys
sys.path.insert(0, 'tests/mutate')
import faults
text = open(sys.argv[1]).read()
for fault in faults.faults('one.c', text):
    print('%d\t%s\t%s' % (fault.line, fault.kind, faults.shown(text, fault)[1]))
END
check "faults of a small file" "$work/err"
cat >"$work/want" <<'END'
6	constant	{"one", 2},
6	table row	{"two", 1},
7	constant	{"two", 1},
7	constant	{"two", 3},
11	dropped statement	; // 5
12	condition	if (!(a < b && b != 3))
12	condition	if (0 && (a < b && b != 3))
12	constant	if (a < b && b != 2)
12	constant	if (a < b && b != 4)
12	dropped condition	if (a < b )
12	operator	if (a <= b && b != 3)
12	operator	if (a < b && b == 3)
12	operator	if (a < b || b != 3)
12	operator	if (a > b && b != 3)
13	early return	;
14	condition	while (0 && (-a > 0x10u))
14	constant	while (-a > 0x11u)
14	constant	while (-a > 0x20u)
14	constant	while (-a > 0xfu)
14	operator	while (-a < 0x10u)
14	operator	while (-a >= 0x10u)
15	early return	;
17	constant	return g(a, b) + 2;
17	operator	return g(a, b) - 1;
17	swapped arguments	return g(b, a) + 1;
END
LC_ALL=C sort "$work/got" >"$work/got.sorted"
LC_ALL=C sort "$work/want" >"$work/want.sorted"
same "$work/want.sorted" "$work/got.sorted" "faults are where code is, and not in comments, texts, macros and declarations"

# What a test waits for the machine does not count: its seconds of CPU do, and that it does something.
python3 - >"$work/out" 2>&1 <<'END'
import subprocess, sys
sys.path.insert(0, 'tests/mutate')
import reach
def ended(limit, command):
    child = subprocess.Popen(['sh', '-c', command], start_new_session=True)
    by_itself = reach.wait(child, limit, 0)
    reach.end_session(child.pid)
    child.wait()
    return by_itself
spin = 'ulimit -t 5; i=0; while [ $i -lt %d ]; do i=$((i + 1)); done'
reach.IDLE = 3
for limit, command, want in ((9, 'sleep 0.2', True), (9, 'sleep 60', False), (9, spin % 1000, True), (0.5, spin % 10**9, False),
                             (0.5, '(%s) & wait' % spin % 10**9, False)):
    if ended(limit, command) != want:
        print('%s: ended by itself: %s' % (command, not want))
END
[ ! -s "$work/out" ]
check "the time of a test is that of its CPU" "$work/out"

# A test that is red without a fault kills one if it counts otherwise; a green one if something fails, or it does not end.
python3 - >"$work/out" 2>&1 <<'END'
import sys
sys.path.insert(0, 'tests/mutate')
import reach
reach.RED['red'] = (9, 1)
for name, counts, want in (('green', (9, 0), False), ('green', (8, 0), False), ('green', (9, 1), True), ('green', None, True),
                           ('red', (9, 1), False), ('red', (10, 0), True), ('red', (0, 1), True), ('red', (8, 2), True), ('red', None, True)):
    if reach.fails(name, counts) != want:
        print('%s, %s: %s' % (name, counts, not want))
END
[ ! -s "$work/out" ]
check "which counts are a fault's work" "$work/out"

# A file without a row of nearest tests gets no fault in a short run.
python3 - >"$work/out" 2>&1 <<'END'
import glob, os, re, sys
for number, row in enumerate(open('tests/mutants'), 1):
    if row.startswith('#') or not row.strip():
        continue
    file, was, becomes, why = row.rstrip('\n').split('\t')
    if not os.path.exists(file) or was not in (line.strip() for line in open(file)) or was == becomes or not why:
        print('tests/mutants:%d: no such line in %s' % (number, file))
files = set()
for row in open('tests/mutate/nearest.tsv'):
    if not row.startswith('#'):
        file, tests = row.rstrip('\n').split('\t')
        files.add(file)
        for name in tests.split():
            if not os.path.exists('tests/' + name) and not os.path.exists('tests/%s.c' % name):
                print('nearest.tsv: there is no test %s' % name)
for pattern in ('src/*.h', 'src/*/*.h', 'report/*.c', 'report/*/*.c', 'tool/*/*.c', 'tool/*/*/*.c'):
    for file in glob.glob(pattern):
        if file not in files and re.search(r'^\{', open(file).read(), re.M):
            print('nearest.tsv: no row for %s' % file)
END
[ ! -s "$work/out" ]
check "the lists name what is there" "$work/out"
end

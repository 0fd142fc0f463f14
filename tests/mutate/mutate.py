#!/usr/bin/env python3
"""make mutate: plants one small fault at a time and sees whether a test finds it.

Usage: tests/mutate/mutate.py [--count N] [--seed SEED] [--budget SECONDS] [--only PREFIX] [--jobs J] [--known] [--map]
--help says what each is.

A fault is planted in a copy of the tree (build/mutate), in a line that tests execute. What it changes is compiled, then tests
run that execute the line, the quickest first, until one fails: the fault is killed. Tests that do not execute a line
cannot see a fault in it, so a fault that lives has outlived all of make test. A fault that changes no instruction at -O2
counts for nothing, and neither do those of tests/mutants, which lists faults that change no answer, with the reason.

Which test executes which line is measured once (build/mutate/reach.json; remove it to measure anew). With --budget the table
tests/mutate/nearest.tsv is enough, which --map writes: then a fault may live because no test executes its line.
"""
import argparse
import collections
import glob
import json
import os
import random
import shutil
import subprocess
import sys
import threading
import time

import faults
import reach

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), '..', '..'))
HOME = os.path.join(TOP, 'build', 'mutate')
NEAREST = os.path.join(TOP, 'tests', 'mutate', 'nearest.tsv')
EQUIVALENT = os.path.join(TOP, 'tests', 'mutants')
BUILD = 'build/one'
# A kind is drawn first, then a place: there are 26,000 constants and 281 rows of tables.
WEIGHTS = {'operator': 4, 'constant': 4, 'condition': 3, 'dropped condition': 3, 'dropped statement': 2, 'swapped arguments': 2,
           'early return': 1, 'table row': 2}
# Tests about how the project is built or written: a fault in the code is not for them.
NOT_FOR_FAULTS = {'package.sh', 'rooms.sh', 'switches.sh', 'names_switches.sh', 'bench.sh', 'mutate.sh', 'stranger.sh'}


def say(text):
    print(text, flush=True)


def sources():
    found = glob.glob('src/*.h', root_dir=TOP) + glob.glob('src/*/*.h', root_dir=TOP)
    for half in ('tool', 'report'):
        found += glob.glob(half + '/*.[ch]', root_dir=TOP) + glob.glob(half + '/**/*.[ch]', root_dir=TOP, recursive=True)
    return sorted(set(found) - {'src/machsym.h', 'src/api/manual.h', 'src/api/options.h'})


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def copy_tree(to):
    """The files that git knows of, as they are in the working tree, with the times that they have here."""
    names = subprocess.run(['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'], cwd=TOP, capture_output=True,
                           check=True).stdout.decode().split('\0')
    for name in names:
        there = os.path.join(TOP, name)
        if not name or not os.path.isfile(there):
            continue
        copy = os.path.join(to, name)
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        if not os.path.exists(copy) or os.path.getmtime(copy) != os.path.getmtime(there) or os.path.getsize(copy) != os.path.getsize(there):
            shutil.copy2(there, copy)
    shared = os.path.join(TOP, '..', 'shared')
    beside = os.path.join(to, '..', 'shared')
    if os.path.isdir(shared) and not os.path.lexists(beside):
        os.symlink(os.path.abspath(shared), beside)


def make(tree, goals, limit=900, **options):
    flags = dict(B=BUILD, CC='gcc', CFLAGS='-O0 -g0', TEST_CFLAGS='-O0 -g0', LONG_CFLAGS='')
    flags.update(options)
    return subprocess.run(['make', '-s'] + goals + ['%s=%s' % pair for pair in flags.items()], cwd=tree, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, timeout=limit).returncode == 0


def known_reach(budget):
    """Which tests to run for a fault: a function fault -> names, the quickest first; none where no test executes its line."""
    path = os.path.join(HOME, 'reach.json')
    if os.path.exists(path):
        with open(path) as file:
            data = json.load(file)
    elif budget:
        table = {}
        with open(NEAREST) as file:
            for row in file:
                if not row.startswith('#'):
                    name, tests = row.rstrip('\n').split('\t')
                    table[name] = tests.split()
        return (lambda fault: [name for name in table.get(fault.file, []) if name not in NOT_FOR_FAULTS]), {}
    else:
        tree = os.path.join(HOME, 'tree0')
        os.makedirs(tree, exist_ok=True)
        copy_tree(tree)
        data = reach.measure(tree, say)
        with open(path + '.new', 'w') as file:
            json.dump(data, file)
        os.rename(path + '.new', path)
    seconds = data['tests']
    every = {}
    for file, lines in data['lines'].items():
        every[file] = sorted({name for names in lines.values() for name in names}, key=lambda name: seconds[name])

    def tests_of(fault):
        lines = data['lines'].get(fault.file, {})
        # A statement of several lines is counted at its first; a row of a table is executed by nothing.
        names = next((lines[str(line)] for line in range(fault.line, fault.line - 12, -1) if str(line) in lines), [])
        if fault.kind == 'table row':
            names = every.get(fault.file, [])
        return sorted(set(names) - NOT_FOR_FAULTS, key=lambda name: seconds[name])
    return tests_of, data


def equivalents():
    """The faults of tests/mutants: file, the line as it is, the line with the fault, why it changes no answer."""
    found = {}
    if os.path.exists(EQUIVALENT):
        for row in read(EQUIVALENT).splitlines():
            if row and not row.startswith('#'):
                file, was, becomes, why = row.split('\t')
                found[(file, was, becomes)] = why
    return found


def goals_of(test):
    """What make builds for a test, beside the tool."""
    if test == 'replay.sh':
        return [BUILD + '/replay/' + os.path.basename(path)[5:-2] for path in sorted(glob.glob('fuzz/fuzz_*.c', root_dir=TOP))]
    return ['all'] if test.endswith('.sh') else [BUILD + '/tests/' + test]


class Result:
    def __init__(self, fault, was, becomes):
        self.fault, self.was, self.becomes = fault, was, becomes
        self.killer, self.tried, self.state = None, 0, 'alive'


class Planter:
    """One copy of the tree, in which one fault at a time stands."""

    def __init__(self, number, tests_of, seconds):
        self.tree = os.path.join(HOME, 'tree%d' % number)
        self.tests_of, self.seconds = tests_of, seconds
        os.makedirs(self.tree, exist_ok=True)
        copy_tree(self.tree)
        if not make(self.tree, ['all', BUILD + '/rooms/rooms.o']):
            sys.exit('mutate: the tree does not build without a fault: make -C %s B=%s CC=gcc' % (self.tree, BUILD))

    def compiles(self, path):
        """The front of the compiler alone: quick, and of another type is what a fault must not be."""
        command = ['gcc', '-std=c11', '-D_GNU_SOURCE', '-I%s/include' % BUILD, '-fsyntax-only', '-w', '-Werror=int-conversion',
                   '-Werror=incompatible-pointer-types', '-Werror=implicit-function-declaration', '-Werror=return-type']
        if path.endswith('.h') and path.startswith('src/'):
            command += ['-x', 'c']
        return subprocess.run(command + [path], cwd=self.tree, capture_output=True).returncode == 0

    def code(self, path):
        """The optimised code of what a file is compiled into, as bytes; the same bytes are the same program."""
        unit = 'tool/machsym.c' if path.startswith('src/') else path
        if unit.endswith('.h'):
            return None
        out = os.path.join(self.tree, BUILD, 'code.s')
        subprocess.run(['src/join'], cwd=self.tree, check=True)
        subprocess.run(['gcc', '-std=c11', '-D_GNU_SOURCE', '-I.', '-O2', '-g0', '-w', '-S', '-o', out, unit], cwd=self.tree,
                       capture_output=True)
        return read(out) if os.path.exists(out) else None

    def try_fault(self, result, deadline):
        fault = result.fault
        path = os.path.join(self.tree, fault.file)
        text = read(path)
        with open(path, 'w', encoding='utf-8') as file:
            file.write(faults.planted(text, fault))
        try:
            if not self.compiles(fault.file):
                result.state = 'does not compile'
                return
            try:
                if not make(self.tree, ['all']):
                    result.state = 'does not compile'
                    return
                for name in self.tests_of(fault):
                    if deadline and time.time() > deadline:
                        result.state = 'out of time'
                        return
                    if not make(self.tree, goals_of(name)):
                        result.state, result.killer = 'killed', name + ' (does not link)'
                        return
                    result.tried += 1
                    failed, _ = reach.run(self.tree, BUILD, name, 15 + 4 * self.seconds.get(name, 30))
                    if failed:
                        result.state, result.killer = 'killed', name
                        return
            except subprocess.TimeoutExpired:
                result.state, result.killer = 'killed', 'make (timeout)'
                return
            if not deadline:
                with_fault = self.code(fault.file)
                with open(path, 'w', encoding='utf-8') as file:
                    file.write(text)
                if with_fault is not None and with_fault == self.code(fault.file):
                    result.state = 'same code'
        finally:
            with open(path, 'w', encoding='utf-8') as file:
                file.write(text)


def draw(rng, places):
    """Faults without end, a kind first, then a place."""
    kinds = [kind for kind in WEIGHTS if places.get(kind)]
    while True:
        kind = rng.choices(kinds, [WEIGHTS[kind] for kind in kinds])[0]
        yield rng.choice(places[kind])


def main():
    options = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    options.add_argument('--count', type=int, default=300)
    options.add_argument('--seed', default=None, help='any text; another for each run unless given')
    options.add_argument('--budget', type=float, default=0, help='stop after so many seconds; needs no measuring')
    options.add_argument('--only', default='', help='faults in files that begin so')
    options.add_argument('--jobs', type=int, default=1, help='copies of the tree that are worked on at once')
    options.add_argument('--map', action='store_true', help='write tests/mutate/nearest.tsv and end')
    options.add_argument('--known', action='store_true', help='before the others, a fault that is known to be found, and none')
    args = options.parse_args()
    os.makedirs(HOME, exist_ok=True)
    os.chdir(TOP)
    began = time.time()
    tests_of, data = known_reach(args.budget)
    if args.map:
        with open(NEAREST, 'w') as file:
            file.write('# file, the tests that reach most of its lines in the least time, the best first (make mutate-map)\n')
            for name, tests in reach.nearest(data).items():
                file.write('%s\t%s\n' % (name, ' '.join(tests)))
        return 0

    seed = args.seed or time.strftime('%Y%m%d-%H%M%S')
    rng = random.Random(seed)
    texts = {path: read(path) for path in sources() if path.startswith(args.only)}
    places = collections.defaultdict(list)
    for path, text in texts.items():
        for fault in faults.faults(path, text):
            if tests_of(fault):
                places[fault.kind].append(fault)
    if args.known and not known(texts, tests_of, data):
        return 1
    if not places:
        sys.exit('mutate: no line of %s* is executed by a test' % args.only)
    planters = [Planter(number, tests_of, data.get('tests', {})) for number in range(args.jobs)]
    deadline = time.time() + args.budget if args.budget else 0
    say('seed %s, %d faults of %d in lines that tests execute' % (seed, args.count, sum(len(v) for v in places.values())))

    drawn, seen = draw(rng, places), set()
    lock = threading.Lock()
    results = []
    is_equivalent = equivalents()

    def next_fault():
        for fault in drawn:
            if fault in seen:
                continue
            seen.add(fault)
            was, becomes = faults.shown(texts[fault.file], fault)
            if (fault.file, was, becomes) not in is_equivalent:
                return Result(fault, was, becomes)

    def work(planter):
        while True:
            with lock:
                done = sum(result.state in ('killed', 'alive') for result in results)
                if done >= args.count or (deadline and time.time() > deadline):
                    return
                result = next_fault()
                result.state = 'alive'
                results.append(result)
            planter.try_fault(result, deadline)
            with lock:
                if result.state in ('does not compile', 'same code'):
                    continue
                fault = result.fault
                say('%-6s %s:%d %s%s' % (result.state, fault.file, fault.line, fault.kind,
                                         ' by ' + result.killer if result.killer else ', %d tests' % result.tried))
                if result.state == 'alive':
                    say('    was      %s\n    becomes  %s' % (result.was, result.becomes))

    threads = [threading.Thread(target=work, args=(planter,)) for planter in planters]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    counted = [result for result in results if result.state in ('killed', 'alive')]
    table(counted)
    say('seed %s, %d s, %s' % (seed, time.time() - began, time.strftime('%Y-%m-%d')))
    return 0 if counted or deadline else 1


def table(counted):
    rooms = collections.OrderedDict()
    for result in sorted(counted, key=lambda r: r.fault.file):
        for key in (os.path.dirname(result.fault.file), result.fault.file.split('/')[0]):
            planted = rooms.setdefault(key + '/', [0, 0])
            planted[0] += result.state == 'killed'
            planted[1] += 1
    say('killed of planted:')
    for room, (killed, planted) in sorted(rooms.items()):
        say('| %-20s %4d of %4d  %5.1f %%' % (room, killed, planted, 100 * killed / planted))
    alive = [result for result in counted if result.state == 'alive']
    for result in alive:
        say('| alive: %s:%d %s' % (result.fault.file, result.fault.line, result.becomes[:90]))


def known(texts, tests_of, data):
    """One fault that the nearest test must find, and the same line unchanged, which nothing may: whether both hold."""
    file = 'src/base/reader.h'
    fault = next(f for f in faults.faults(file, texts[file]) if f.kind == 'condition' and tests_of(f))
    planter = Planter(0, tests_of, data.get('tests', {}))
    wrong = Result(fault, *faults.shown(texts[file], fault))
    planter.try_fault(wrong, 0)
    right = Result(fault._replace(new=texts[file].split('\n')[fault.line - 1][fault.begin:fault.end]), '', '')
    planter.try_fault(right, 0)
    say('a planted fault: %s by %s; nothing planted: %s%s' % (wrong.state, wrong.killer, right.state, ' by ' + right.killer if right.killer else ''))
    return wrong.state == 'killed' and right.state in ('alive', 'same code')


if __name__ == '__main__':
    sys.exit(main())

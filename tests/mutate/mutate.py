#!/usr/bin/env python3
"""make mutate: plants one small fault at a time and sees whether a test finds it.

Usage: tests/mutate/mutate.py [--count N] [--seed SEED] [--budget SECONDS] [--only PREFIXES] [--jobs J] [--again TESTS]
[--known] [--map]; --help says what each is. README.md says how it works.
"""
import argparse
import collections
import glob
import json
import os
import random
import sys
import threading
import time

import faults
import plant
import reach

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), '..', '..'))
HOME = os.path.join(TOP, 'build', 'mutate')
NEAREST = os.path.join(TOP, 'tests', 'mutate', 'nearest.tsv')
EQUIVALENT = os.path.join(TOP, 'tests', 'mutants')
# A kind is drawn first, then a place: there are 26,000 constants and 281 rows of tables.
WEIGHTS = {'operator': 4, 'constant': 4, 'condition': 3, 'dropped condition': 3, 'dropped statement': 2, 'swapped arguments': 2,
           'early return': 1, 'table row': 2}
# Tests about how the project is built or written: a fault in the code is not for them.
NOT_FOR_FAULTS = {'package.sh', 'rooms.sh', 'switches.sh', 'names_switches.sh', 'bench.sh', 'mutate.sh', 'stranger.sh'}
# A minute is over before all fuzz targets are built for one fault.
LONG_TO_BUILD = {'replay.sh'}


def say(text):
    print(text, flush=True)


def sources():
    found = glob.glob('src/*.h', root_dir=TOP) + glob.glob('src/*/*.h', root_dir=TOP)
    for half in ('tool', 'report'):
        found += glob.glob(half + '/*.[ch]', root_dir=TOP) + glob.glob(half + '/**/*.[ch]', root_dir=TOP, recursive=True)
    return sorted(set(found) - {'src/machsym.h', 'src/api/manual.h', 'src/api/options.h'})


def measured(again):
    """What executes which line, for --map: from the last time, but for the tests of `again`."""
    path = os.path.join(HOME, 'reach.json')
    data = None
    if os.path.exists(path):
        with open(path) as file:
            data = json.load(file)
    if data is None or again:
        tree = os.path.join(HOME, 'tree0')
        os.makedirs(tree, exist_ok=True)
        plant.copy_tree(TOP, tree)
        data = reach.measure(tree, say, data, again)
        with open(path + '.new', 'w') as file:
            json.dump(data, file)
        os.rename(path + '.new', path)
    return data


def tests_that_meet(results, seconds, reached):
    """For each fault, the tests that execute its place. A fault without a switch leaves no mark. The tests
    that meet another fault of its file may meet it, and so may the tests that are nearest to the file."""
    nearest, of_file, found = nearest_tests(), collections.defaultdict(set), {}
    for result in results:
        of_file[result.fault.file] |= set(reached.get(result.number, []))
    for result in results:
        names = reached.get(result.number, []) if result.number is not None else \
            of_file[result.fault.file] | set(nearest(result.fault)) & set(seconds)
        found[result.fault] = sorted(names, key=lambda name: seconds[name])
    return found


def nearest_tests():
    table = {}
    with open(NEAREST) as file:
        for row in file:
            if not row.startswith('#'):
                name, tests = row.rstrip('\n').split('\t')
                table[name] = [test for test in tests.split() if test not in NOT_FOR_FAULTS and test not in LONG_TO_BUILD]
    return lambda fault: table.get(fault.file, [])


def equivalents():
    """The faults of tests/mutants: file, the line as it is, the line with the fault, why it changes no answer."""
    found = {}
    if os.path.exists(EQUIVALENT):
        for row in plant.read(EQUIVALENT).splitlines():
            if row and not row.startswith('#'):
                file, was, becomes, why = row.split('\t')
                found[(file, was, becomes)] = why
    return found


def spread(rng, places, lines, count):
    """As many files, each as often as its share of the lines that tests execute."""
    files = sorted(places)
    total = sum(lines[file] for file in files)
    points = [(i + rng.random()) * total / count for i in range(count)]
    chosen, upto = [], 0
    for file in files:
        upto += lines[file]
        while len(chosen) < count and points[len(chosen)] < upto:
            chosen.append(file)
    chosen += files[-1:] * (count - len(chosen))
    rng.shuffle(chosen)
    return chosen


class Draw:
    """The faults of one run. Each file gets its share; one that does not count is drawn again in the same file."""

    def __init__(self, seed, count, tests_of, texts, wanted=''):
        self.rng = random.Random(seed)
        self.texts, self.equivalents = texts, equivalents()
        self.places = {}
        lines = {}
        for path, text in texts.items():
            kinds = collections.defaultdict(list)
            executed = set()
            for fault in faults.faults(path, text):
                if wanted in ('', fault.kind) and tests_of(fault):
                    kinds[fault.kind].append(fault)
                    executed.add(fault.line)
            if kinds:
                self.places[path] = kinds
                lines[path] = len(executed)
        if not self.places:
            sys.exit('mutate: no line of these files is executed by a test')
        self.files = spread(self.rng, self.places, lines, count)
        self.seen = set()

    def next(self):
        """A Result, or None when all are drawn."""
        while self.files:
            file = self.files[0]
            for _ in range(50):
                kinds = self.places[file]
                kind = self.rng.choices(list(kinds), [WEIGHTS[kind] for kind in kinds])[0]
                fault = self.rng.choice(kinds[kind])
                was, becomes = faults.shown(self.texts[file], fault)
                if fault not in self.seen and (file, was, becomes) not in self.equivalents:
                    self.seen.add(fault)
                    self.files.pop(0)
                    return plant.Result(fault, was, becomes)
            self.files.pop(0)
        return None

    def again(self, file):
        self.files.insert(0, file)


def show(result):
    fault = result.fault
    told = ' by ' + result.killer if result.killer else ', %d tests%s' % (result.tried, ', waits for %d' % len(result.left) if result.left else '')
    say('%-6s %s:%d %s%s' % (result.state, fault.file, fault.line, fault.kind, told))
    if result.state == 'alive':
        say('    was      %s\n    becomes  %s' % (result.was, result.becomes))


class Run:
    """The work of all planters: first each fault alone, then those that wait, together."""

    def __init__(self, results, deadline, draw=None, until=0):
        self.todo, self.deadline, self.draw, self.until = results, deadline, draw, until
        self.lock, self.results, self.groups = threading.Lock(), [], []

    def next(self, planter):
        with self.lock:
            if self.until and time.time() > self.until:
                return None
            if self.draw:
                return self.draw.next()
            at = next((i for i, result in enumerate(self.todo) if planter.fits(result)), None)
            return None if at is None else self.todo.pop(at)

    def alone(self, planter):
        while not self.deadline or time.time() < self.deadline:
            result = self.next(planter)
            if result is None:
                return
            planter.try_fault(result, self.deadline)
            with self.lock:
                if result.state in ('alive', 'killed'):
                    self.results.append(result)
                    show(result)
                elif self.draw:
                    self.draw.again(result.fault.file)

    def together(self, planter):
        while True:
            with self.lock:
                at = next((i for i, group in enumerate(self.groups) if planter.fits(group[0])), None)
                group = None if at is None else self.groups.pop(at)
            if group is None:
                return
            planter.try_together(group, show)

    def compare(self, planter):
        while True:
            with self.lock:
                result = self.todo.pop() if self.todo else None
            if result is None:
                return
            if planter.is_same_code(result):
                result.state = 'same code'
                show(result)

    def each(self, work, planters):
        threads = [threading.Thread(target=work, args=(planter,)) for planter in planters]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def go_on(self, planters):
        """What lives so far meets the other tests; what lives then is compared with the code without it."""
        waiting = [result for result in self.results if result.left]
        self.groups = plant.together(waiting)
        say('%d faults wait: the tests that are left run with up to %d of them at once' % (len(waiting), plant.TOGETHER))
        self.each(self.together, planters)
        self.todo = [result for result in self.results if result.state == 'alive']
        self.each(self.compare, planters)


def all_drawn(draw, tree):
    """All faults of a run, and those with a switch as {file: [Result]}. Each fault with a switch compiles."""
    found = []
    os.makedirs(tree, exist_ok=True)
    plant.copy_tree(TOP, tree)
    plant.make(tree, [plant.BUILD + '/joined.mk'], plant.SWITCHED)
    while True:
        fresh = list(iter(draw.next, None))
        if not fresh:
            break
        found = [result for result in found + fresh if result.state == 'alive']
        switches = plant.give_switches(tree, draw.texts, found)
        for result in found:
            if result.state == 'does not compile':
                draw.again(result.fault.file)
    return found, switches


def main():
    args = arguments()
    os.makedirs(HOME, exist_ok=True)
    os.chdir(TOP)
    began = time.time()
    if args.map:
        write_map(measured(args.again.split()))
        return 0
    seed = args.seed or time.strftime('%Y%m%d-%H%M%S')
    texts = {path: plant.read(path) for path in sources() if path.startswith(tuple(args.only.split()) or '')}
    nearest = nearest_tests()
    # Of ten faults one is at a place that no test executes: it is drawn, and does not count.
    draw = Draw(seed, args.count if args.budget else args.count * 10 // 9 + 2, nearest if args.budget else lambda fault: True, texts, args.kind)
    trees = [os.path.join(HOME, 'tree%d' % (i + 1)) for i in range(max(args.jobs, 2))]
    say('seed %s, %d faults of %d' % (seed, args.count, sum(len(v) for kinds in draw.places.values() for v in kinds.values())))
    run = short_run(args, trees, draw, nearest, began, texts) if args.budget else long_run(args, trees, draw, began)
    if run is None:
        return 1
    table([result for result in run.results if result.state in ('alive', 'killed')])
    say('seed %s, %d s, %s' % (seed, time.time() - began, time.strftime('%Y-%m-%d')))
    return 0 if run.results or args.budget else 1


def long_run(args, trees, draw, began):
    """All faults in one build. Each test runs once without a fault, which shows what it meets; then each fault meets those tests."""
    results, switches = all_drawn(draw, trees[0])
    say('%d of %d with switches in one build' % (sum(map(len, switches.values())), len(results)))
    if args.nearest:
        nearest = nearest_tests()
        names = sorted(({name for result in results for name in nearest(result.fault)} | set(args.also.split())) - set(args.without.split()))
    else:
        names = [name for name in reach.names_of_tests(TOP) if name not in NOT_FOR_FAULTS and name not in args.without.split() and
                 not (args.until and name in LONG_TO_BUILD)]
    plant.build_switched(TOP, trees[0], switches, names)
    say('built after %d s; %d tests run without a fault' % (time.time() - began, len(names)))
    seconds, reached = reach.without_faults(trees[0], plant.BUILD, names, args.jobs, say)
    of = tests_that_meet(results, seconds, reached)
    met = [result for result in results if of[result.fault]]
    say('%d of %d are met by a test, after %d s' % (len(met), len(results), time.time() - began))
    shares = {name: sum(name in of[result.fault] for result in met) / max(1, len(met)) for name in seconds}
    planters = [plant.Planter(TOP, trees[0], of.get, seconds, i, True, shares) for i in range(args.jobs)]
    if any(result.number is None for result in met[:args.count]):
        planters.append(plant.Planter(TOP, trees[1], of.get, seconds, shares=shares))
    run = Run(met[:args.count], 0, until=began + args.until if args.until else 0)
    run.each(run.alone, planters)
    run.go_on(planters)
    return run


def short_run(args, trees, draw, tests_of, began, texts):
    """As many as there is time for, each compiled for itself: one build of all tests would take longer."""
    planters = [plant.Planter(TOP, tree, tests_of, {}) for tree in trees[:args.jobs]]
    if args.known and not known(planters[0], texts, tests_of):
        return None
    run = Run([], began + args.budget, draw)
    run.each(run.alone, planters)
    return run


def arguments():
    options = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    options.add_argument('--count', type=int, default=300)
    options.add_argument('--seed', default=None, help='any text; another for each run unless given')
    options.add_argument('--budget', type=float, default=0, help='stop after this many seconds; needs no measuring')
    options.add_argument('--nearest', action='store_true', help='the tests of tests/mutate/nearest.tsv alone: quick, and kills less')
    options.add_argument('--also', default='', help='with --nearest: these tests, too, for all faults that they meet')
    options.add_argument('--without', default='', help='leave these tests out, which take long: the figure is then a lower bound')
    options.add_argument('--until', type=float, default=0, help='begin no other fault after this many seconds')
    options.add_argument('--only', default='', help='faults in files that begin with one of these words')
    options.add_argument('--kind', default='', choices=[''] + sorted(WEIGHTS), help='faults of this kind alone')
    options.add_argument('--jobs', type=int, default=2, help='copies of the tree that are worked on at once')
    options.add_argument('--again', default='', help='with --map: tests that have changed since it was measured what they execute')
    options.add_argument('--map', action='store_true', help='write tests/mutate/nearest.tsv and end')
    options.add_argument('--known', action='store_true', help='before the others, a fault that is known to be found, and none')
    return options.parse_args()


def write_map(data):
    with open(NEAREST, 'w') as file:
        file.write('# file, the tests that reach most of its lines in the least time, the best first (make mutate-map)\n')
        for name, tests in reach.nearest(data).items():
            file.write('%s\t%s\n' % (name, ' '.join(tests)))


def table(counted):
    rooms = {}
    for result in counted:
        for key in (os.path.dirname(result.fault.file), result.fault.file.split('/')[0]):
            planted = rooms.setdefault(key + '/', [0, 0])
            planted[0] += result.state == 'killed'
            planted[1] += 1
    say('killed of planted:')
    for room, (killed, planted) in sorted(rooms.items()):
        say('| %-20s %4d of %4d  %5.1f %%' % (room, killed, planted, 100 * killed / planted))
    for result in counted:
        if result.state == 'alive':
            say('| alive: %s:%d %s' % (result.fault.file, result.fault.line, result.becomes[:90]))


def known(planter, texts, tests_of):
    """One fault that the nearest test must find, and the same line unchanged, which nothing may: whether both hold."""
    file = 'src/base/reader.h'
    fault = next(f for f in faults.faults(file, texts[file]) if f.kind == 'condition' and tests_of(f))
    wrong = plant.Result(fault, *faults.shown(texts[file], fault))
    planter.try_fault(wrong, 0)
    unchanged = texts[file].split('\n')[fault.line - 1][fault.begin:fault.end]
    right = plant.Result(fault._replace(new=unchanged), '', '')
    planter.set([right])
    if wrong.killer and planter.fails(wrong.killer)[0]:
        right.kill(wrong.killer)
    say('a planted fault: %s by %s; nothing planted: %s' % (wrong.state, wrong.killer, 'killed, too' if right.killer else 'alive'))
    return wrong.state == 'killed' and not right.killer


if __name__ == '__main__':
    sys.exit(main())

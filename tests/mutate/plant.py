"""One copy of the tree, in which faults are planted, built and shown to the tests."""
import filecmp
import glob
import hashlib
import os
import re
import shutil
import subprocess
import time

import faults
import reach
import switched

BUILD = 'build/one'
# What a fault must not be: of another type. Other warnings say nothing about tests.
TYPES = '-Werror=int-conversion -Werror=incompatible-pointer-types -Werror=implicit-function-declaration -Werror=return-type'
FLAGS = dict(B=BUILD, CC='gcc', CFLAGS=TYPES + ' -O0 -g0', TEST_CFLAGS='-w -O0 -g0', LONG_CFLAGS='', WARN='', TEST_WARN='', HARDEN='')
# What is built once for many faults is worth optimising.
# The copies of rooms that tests link define the tables of faults once more.
SWITCHED = dict(FLAGS, CFLAGS=TYPES + ' -O1 -g0', LONG_CFLAGS='-O1', LDFLAGS='-Wl,-z,muldefs')
# Seconds of tests, as they were measured, after which a fault that lives waits for the others: what is left runs once for many.
PATIENCE = 12
# As many meet the slow tests together. More of them hide each other more often, fewer take longer.
TOGETHER = 64


def copy_tree(top, to):
    """The files that git knows of, as they are in the working tree, and no others but what is built. Only what differs is written, so
    that make builds just that."""
    names = subprocess.run(['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'], cwd=top, capture_output=True,
                           check=True).stdout.decode().split('\0')
    known = {name for name in names if os.path.isfile(os.path.join(top, name))}
    for half in ('src', 'report', 'tool', 'tests', 'fuzz'):
        for where, _, files in os.walk(os.path.join(to, half)):
            for path in [os.path.join(where, file) for file in files]:
                if os.path.relpath(path, to) not in known:
                    os.remove(path)
    for name in names:
        there, copy = os.path.join(top, name), os.path.join(to, name)
        if name not in known:
            continue
        if not os.path.exists(copy) or not filecmp.cmp(there, copy, shallow=False):
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            shutil.copy(there, copy)
    shared = os.path.join(top, '..', 'shared')
    beside = os.path.join(to, '..', 'shared')
    if os.path.isdir(shared) and not os.path.lexists(beside):
        os.symlink(os.path.abspath(shared), beside)


def make(tree, goals, flags, limit=3600):
    return subprocess.run(['make', '-s', '-k', '-j2'] + goals + ['%s=%s' % pair for pair in flags.items()], cwd=tree, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, timeout=limit).returncode == 0


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def write(path, text):
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)


class Result:
    """A fault and what became of it. state: alive, killed, 'same code', 'does not compile', 'out of time'; number: of its switch, or
    None; left: tests that it has not met."""

    def __init__(self, fault, was, becomes):
        self.fault, self.was, self.becomes = fault, was, becomes
        self.number, self.function = None, (fault.file, fault.line)
        self.killer, self.tried, self.state, self.left = None, 0, 'alive', None

    def kill(self, name):
        self.state, self.killer, self.left = 'killed', name, []


def front(tree, path, flags):
    """What the front of the compiler says of a file: quick."""
    command = ['gcc', '-std=c11', '-D_GNU_SOURCE', '-I%s/include' % BUILD, '-fsyntax-only'] + flags.split()
    if path.endswith('.h'):
        command += ['-x', 'c']
    return subprocess.run(command + [path], cwd=tree, capture_output=True, text=True,
                          env=dict(os.environ, LC_ALL='C'))


def build_switched(top, tree, switches, names):
    """Builds the tool and these tests with these faults ({file: [Result]}) and a switch for each."""
    copy_tree(top, tree)
    for path, results in switches.items():
        text = read(os.path.join(top, path))
        write(os.path.join(tree, path), switched.with_faults(text, [(result.number, result.fault) for result in results]))
    if not make(tree, ['all'], SWITCHED):
        raise SystemExit('mutate: the tree does not build with its switches: make -C %s B=%s' % (tree, BUILD))
    make(tree, [goal for name in names for goal in goals_of(top, name)], SWITCHED)


def goals_of(top, test):
    """What make builds for a test, beside the tool."""
    if test == 'replay.sh':
        return [BUILD + '/replay/' + os.path.basename(path)[5:-2] for path in sorted(glob.glob(top + '/fuzz/fuzz_*.c'))]
    return [] if test.endswith('.sh') else [BUILD + '/tests/' + test]


class Planter:
    """Shows one fault after the other to the tests. tests_of: of a fault the tests to run; seconds: how long each takes. Planters with
    switches share a tree, which build_switched has built; one without has a tree of its own, and builds it for each fault."""

    def __init__(self, top, tree, tests_of, seconds, number=0, is_switched=False, shares=None):
        self.top, self.tree, self.tests_of, self.seconds, self.is_switched = top, tree, tests_of, seconds, is_switched
        self.shares = shares or {}  # of each test, which part of all faults it meets
        self.logs = 'logs%d' % number
        self.same = {}      # of a file that is compiled: the hash of its code without a fault
        self.score = {}     # of a room and a test: how often it met a fault, and killed it
        self.trusted = {}   # of a test that killed: whether it passes without a fault
        self.planted = []   # the files in which a fault stands
        self.extra, self.deadline = {}, 0
        if not is_switched:
            os.makedirs(tree, exist_ok=True)
            copy_tree(top, tree)
            if not make(tree, ['all'], FLAGS):
                raise SystemExit('mutate: the tree does not build without a fault: make -C %s B=%s' % (tree, BUILD))

    def fits(self, result):
        return self.is_switched == (result.number is not None)

    def text(self, path):
        return read(os.path.join(self.top, path))

    def set(self, results):
        """These faults act from now on, and no others. False when they do not compile."""
        if self.is_switched:
            self.extra = {'FAULT': ','.join(str(result.number) for result in results)}
            return True
        of = {}
        for result in results:
            of.setdefault(result.fault.file, []).append(result.fault)
        for path in set(of) | set(self.planted):
            text = self.text(path)
            for fault in of.get(path, []):
                text = faults.planted(text, fault)
            write(os.path.join(self.tree, path), text)
        self.planted = list(of)
        return make(self.tree, ['all'], FLAGS)

    def fails(self, name):
        """Whether a test fails with the faults that act, and whether it waited for a busy machine."""
        goals = [] if self.is_switched else goals_of(self.top, name)
        if goals and not make(self.tree, goals, FLAGS):
            return True, False
        counts, spent, took = reach.run(self.tree, BUILD, name, 6 + 4 * self.seconds.get(name, 10), self.extra, self.logs, self.deadline)
        return reach.fails(name, counts), took > reach.BUSY * spent + 5

    def kills(self, name, results):
        """Whether a test fails with these faults, which act, and passes without. Those that always fail are left out from now on. One
        that waited for the machine runs without them right afterwards: whether it fails then, too, tells what time limits did."""
        if self.trusted.get(name) is False:
            return False
        failed, waited = self.fails(name)
        if not failed:
            return False
        if name not in self.trusted or waited:
            self.set([])
            passes = not self.fails(name)[0]
            self.set(results)
            if name in self.trusted:
                return passes
            self.trusted[name] = passes
            if not passes:
                print('%s fails without a fault: it kills nothing' % name, flush=True)
        return self.trusted[name]

    def order(self, fault, names):
        """Tests that have killed much in the same room for the seconds that they take come first, and those that meet few other
        faults: what only some tests reach, they are about."""
        room = os.path.dirname(fault.file)

        def worth(name):
            met, killed = self.score.get((room, name), (0, 0))
            cost = self.seconds.get(name, 10) + (1 if name.endswith('.sh') else 2)
            return (killed + 0.5) / (met + 1) / cost / (0.05 + self.shares.get(name, 1))
        return sorted(names, key=worth, reverse=True)

    def try_fault(self, result, deadline):
        """The quick tests. What lives and has met all is alive; otherwise it waits, with the tests that are left."""
        room = os.path.dirname(result.fault.file)
        self.deadline = deadline
        if not self.set([result]):
            result.state = 'does not compile'
            return
        left = self.order(result.fault, self.tests_of(result.fault))
        spent = 0
        while left and spent < PATIENCE:
            name = left.pop(0)
            spent += self.seconds.get(name, 10)
            result.tried += 1
            failed = self.kills(name, [result])
            if deadline and time.time() > deadline:
                result.state = 'out of time'
                return
            met, killed = self.score.get((room, name), (0, 0))
            self.score[room, name] = met + 1, killed + failed
            if failed:
                result.kill(name)
                return
        result.left = left

    def is_same_code(self, result):
        """Whether the optimised code of what a file is compiled into is that without the fault."""
        path = result.fault.file
        unit = 'tool/machsym.c' if path.startswith('src/') else path
        if unit.endswith('.h'):
            return False
        if unit not in self.same:
            self.same[unit] = self.code(unit, path, self.text(path))
        with_fault = self.code(unit, path, faults.planted(self.text(path), result.fault))
        return with_fault is not None and with_fault == self.same[unit]

    def code(self, unit, path, text):
        """Of what a file with this text is compiled into. All other files are as they are without faults."""
        tree = '%s.%s' % (self.tree, self.logs)
        os.makedirs(tree, exist_ok=True)
        copy_tree(self.top, tree)
        write(os.path.join(tree, path), text)
        subprocess.run(['src/join'], cwd=tree, check=True)
        said = subprocess.run(['gcc', '-std=c11', '-D_GNU_SOURCE', '-I.', '-O2', '-g0', '-w', '-S', '-o', '-', unit], cwd=tree,
                              capture_output=True)
        write(os.path.join(tree, path), self.text(path))
        return hashlib.sha256(said.stdout).digest() if said.returncode == 0 else None

    def try_together(self, results, say):
        """The tests that are left, while all faults that wait act at once. Where one fails, it runs for half of them, and so on."""
        standing = None
        names = {name for result in results for name in result.left}
        for name in sorted(names, key=lambda name: self.seconds.get(name, 10)):
            waiting = [result for result in results if result.state == 'alive']
            concerned = [result for result in waiting if name in result.left]
            if not concerned:
                continue
            if standing != waiting:
                self.set(waiting)
                standing = waiting
            if self.kills(name, waiting):
                standing = None
                self.try_halves(concerned, name, say)
            for result in concerned:
                result.tried += 1
        for result in results:
            result.left = []

    def try_halves(self, results, name, say):
        """Finds those of these faults for which a test fails: it runs for half of them, and so on."""
        self.set(results)
        if not self.kills(name, results):
            return
        if len(results) == 1:
            results[0].kill(name)
            say(results[0])
            return
        half = len(results) // 2
        self.try_halves(results[:half], name, say)
        self.try_halves(results[half:], name, say)


def together(results):
    """Those that wait, in groups that can act at once: no two in one function."""
    groups = []
    for result in results:
        for group in groups:
            if len(group) < TOGETHER and (group[0].number is None) == (result.number is None) and \
                    result.function not in [other.function for other in group]:
                group.append(result)
                break
        else:
            groups.append([result])
    return groups


def functions_with_errors(said):
    """The numbers of the faults in whose copies of a function the compiler found errors."""
    bad, number = set(), None
    for line in said.splitlines():
        inside = re.search(r"In function '(\w+)'", line)
        if inside:
            copy = re.search(r'_f(\d+)$', inside.group(1))
            number = int(copy.group(1)) if copy else None
        elif ' error: ' in line and number is not None:
            bad.add(number)
    return bad


def give_switches(tree, texts, results):
    """Numbers the faults that can have switches. Those that do not compile get the state. Returns {file: [Result]}."""
    of = {}
    for number, result in enumerate(results, 1):
        fault = result.fault
        place = switched.place_of(texts[fault.file].split('\n'), fault)
        if place is not None and number < switched.MOST:
            result.number, result.function = number, (fault.file, place.name)
            of.setdefault(fault.file, []).append(result)
    for path in of:
        while of[path]:
            write(os.path.join(tree, path), switched.with_faults(texts[path], [(result.number, result.fault) for result in of[path]]))
            said = front(tree, path, TYPES)
            if said.returncode == 0:
                break
            bad = functions_with_errors(said.stderr)
            if not bad:
                # A table whose macro does not fit, or something that is not understood.
                alone = [result for result in of[path] if result.fault.is_table] or of[path]
                for result in alone:
                    result.number, result.function = None, (path, result.fault.line)
                of[path] = [result for result in of[path] if result not in alone]
            for result in of[path]:
                if result.number in bad:
                    result.state = 'does not compile'
            of[path] = [result for result in of[path] if result.number not in bad]
        write(os.path.join(tree, path), texts[path])
    return {path: found for path, found in of.items() if found}

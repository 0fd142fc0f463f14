"""Which test executes which line: built and run once with --coverage, kept in build/mutate/reach.json.

A line of a room is executed where it was compiled: in machsym.h, whose lines are those of the rooms from their banners on, or
in the copies of the rooms that tests link.
"""
import glob
import json
import os
import re
import subprocess
import threading
import time

import switched

# What `make differential` compares with LLVM's tools, too: rows of all fixtures, and names.
DIFFERENTIAL = ['differential/run.sh', 'differential/names.sh']
# Seconds in which a test that does anything takes some CPU, on the busiest machine.
IDLE = 120
# Seconds between two looks at what a test has taken.
POLL = 0.5
# A test that took more than this many times its CPU waited for the machine: a time limit of its own may have made it red.
BUSY = 2
# What tests that are red without a fault count then. Switches make the library larger, and some checks measure that.
RED = {}
OBJECTS = ('tool', 'report', 'rooms', 'counted', 'tests', 'replay')


def names_of_tests(tree):
    found = sorted(os.listdir(os.path.join(tree, 'tests')))
    programs = [name[:-2] for name in found if re.fullmatch(r'test_\w+\.c|corrupt\.c|damage\.c|oom\.c', name)]
    return programs + [name for name in found if name.endswith('.sh')] + DIFFERENTIAL


def end_session(session):
    """Ends what a test has left running: `timeout` makes a group of its own, and shells do for what runs in the background."""
    said = subprocess.run(['ps', '-A', '-o', 'pid=,sess='], capture_output=True, text=True).stdout
    for line in said.splitlines():
        pid, of = line.split()
        if of == str(session):
            try:
                os.kill(int(pid), 9)
            except OSError:
                pass


def spent_by(session):
    """The seconds of CPU that the processes of a session have taken, and those that they have waited for."""
    ticks = 0
    for path in glob.glob('/proc/[0-9]*/stat'):
        try:
            with open(path) as file:
                fields = file.read().rpartition(')')[2].split()
        except OSError:
            continue
        if fields[3] == str(session):
            ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf('SC_CLK_TCK')


def wait(child, limit, deadline):
    """Waits for a test. Returns whether it ended by itself. It may take `limit` seconds of CPU in all, however long a busy machine
    needs for them. One that takes none for two minutes waits for ever."""
    most, since = 0, time.time()
    while True:
        now = time.time()
        try:
            child.wait(min(POLL, max(0, deadline - now)) if deadline else POLL)
            return True
        except subprocess.TimeoutExpired:
            spent = spent_by(child.pid)
        if spent > most + 0.1:
            most, since = spent, now
        if most > limit or now - since > IDLE or (deadline and now >= deadline):
            return False


def run(tree, build, name, limit, extra=None, logs='logs', deadline=0):
    """Runs a test as tests/run does. It may take `limit` seconds of CPU, and ends at the deadline. Returns ((passed, failed) or None
    where it did not end, seconds of CPU, seconds)."""
    logs = os.path.join(tree, build, logs)
    os.makedirs(logs, exist_ok=True)
    env = dict(os.environ, B=build, RUN='', QUICK='1', CC='gcc', CFLAGS='-O0', LDFLAGS='', SAMPLE=os.environ.get('SAMPLE', '7'), LOGS=logs, LIMIT='36000',
               MACHSYM=os.path.join(tree, build, 'machsym'))
    env.update(extra or {})
    test = 'tests/' + name if name.endswith('.sh') else build + '/tests/' + name
    log = os.path.join(logs, os.path.basename(name))
    for old in (log, log + '.sum'):
        if os.path.exists(old):
            os.remove(old)
    began = time.time()
    child = subprocess.Popen(['sh', '-c', 'ulimit -t %d; exec sh tests/run --one %s' % (limit, test)], cwd=tree, env=env,
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    ended = wait(child, limit, deadline)
    end_session(child.pid)
    child.wait()
    took = time.time() - began
    try:
        with open(log + '.sum') as sums, open(log + '.times') as times:
            counts = tuple(map(int, sums.read().split()[:2]))
            spent = sum(60 * float(m) + float(s) for m, s in re.findall(r'(\d+)m([\d.]+)s', times.read()))
    except (OSError, ValueError):
        ended = False
    return (counts, spent, took) if ended else (None, took, took)


def fails(name, counts):
    """Whether a test counts otherwise than without a fault. Of a green one only what fails matters."""
    return counts is None or (counts != RED[name] if name in RED else counts[1] != 0)


def without_faults(tree, build, names, jobs, say):
    """Runs tests of a build with switches as it is. Returns (seconds of CPU of each that passes, {number of a fault: their names})."""
    todo, lock, seconds, reached = list(reversed(names)), threading.Lock(), {}, {}

    def work(number):
        while True:
            with lock:
                if not todo:
                    return
                name = todo.pop()
            marks = os.path.join(tree, build, 'marks.%d' % number)
            with open(marks, 'wb') as file:
                file.write(bytes(switched.MOST))
            os.chmod(marks, 0o666)
            counts, spent, took = run(tree, build, name, 600, {'REACHED': marks}, 'logs%d' % number)
            first = counts
            if fails(name, first):
                counts, spent, took = run(tree, build, name, 600, {'REACHED': marks}, 'logs%d' % number)
            with open(marks, 'rb') as file, lock:
                if fails(name, counts) and (counts is None or counts != first):
                    say('%s is red without a fault, each time otherwise: left out' % name)
                    continue
                if fails(name, counts):
                    RED[name] = counts
                    say('%s: %d checks fail without a fault, and do not count' % (name, counts[1]))
                seconds[name] = max(spent, 0.05)
                for fault, mark in enumerate(file.read()):
                    if mark:
                        reached.setdefault(fault, []).append(name)
    threads = [threading.Thread(target=work, args=(number,)) for number in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return seconds, reached


def banners(tree):
    """Of each room: its lines minus the joined header's, counted from its banner."""
    rooms = subprocess.run(['src/join', '--list'], cwd=tree, capture_output=True, text=True, check=True).stdout.split()
    mark = re.compile(r'/\* ==== (>>[\w-]+) =')
    at = {}
    with open(os.path.join(tree, 'machsym.h')) as header:
        for number, line in enumerate(header, 1):
            match = mark.match(line)
            if match:
                at[match.group(1)] = number
    order = []
    for room in rooms:
        with open(os.path.join(tree, room)) as text:
            for number, line in enumerate(text, 1):
                match = mark.match(line)
                if match:
                    order.append((at[match.group(1)], number, room))
                    break
    return sorted(order)


def to_room(order, line):
    found = None
    for header_line, room_line, room in order:
        if header_line > line:
            break
        found = (room, line - header_line + room_line)
    return found


def said_by_gcov(tree, files, order):
    """What gcov says of these files of data or of notes: of each line with code its file, its number and how often it ran."""
    for first in range(0, len(files), 40):
        said = subprocess.run(['gcov', '-j', '-t'] + files[first:first + 40], cwd=tree, capture_output=True, text=True).stdout
        for document in said.splitlines():
            if not document.startswith('{'):
                continue
            for file in json.loads(document)['files']:
                name = re.sub(r'.*/rooms/(src/)', r'\1', os.path.normpath(file['file']))
                for line in file['lines']:
                    number = line['line_number']
                    place = to_room(order, number) if name == 'machsym.h' else (name, number)
                    if place and place[0].startswith(('src/', 'tool/', 'report/')):
                        yield place[0], place[1], line['count']


def found_below(top, end):
    return sorted(os.path.join(where, file) for objects in OBJECTS for where, _, files in os.walk(os.path.join(top, objects))
                  for file in files if file.endswith(end))


def read_gcov(tree, build, folder, order):
    """The lines that were executed, as {file: set of lines}."""
    data = found_below(os.path.join(folder, tree.lstrip('/'), build), '.gcda')
    for path in data:
        notes, link = path.replace(folder, '', 1)[:-4] + 'gcno', path[:-4] + 'gcno'
        if os.path.exists(notes) and not os.path.exists(link):
            os.symlink(notes, link)
    hit = {}
    for file, line, count in said_by_gcov(tree, data, order):
        if count > 0:
            hit.setdefault(file, set()).add(line)
    return hit


def lines_of_code(tree, build, order):
    """The lines that have code, executed or not, as {file: [lines]}."""
    code = {}
    for file, line, _ in said_by_gcov(tree, found_below(os.path.join(tree, build), '.gcno'), order):
        code.setdefault(file, set()).add(line)
    return {file: sorted(lines) for file, lines in code.items()}


def measure(tree, say, reach=None, again=()):
    """Builds and runs all tests with --coverage, or those of `again`, whose reach is forgotten first. Returns
    the reach: {'tests': {name: seconds}, 'lines': {file: {line: [names]}}, 'code': {file: [lines]}, 'red':
    [names]}."""
    build = 'build/reach'
    flags = '-O0 -g0 --coverage'
    say('building with --coverage')
    subprocess.run(['make', '-s', '-k', '-j2', 'build-tests', 'B=' + build, 'CC=gcc', 'CFLAGS=' + flags, 'TEST_CFLAGS=' + flags,
                    'LDLIBS=--coverage', 'LONG_CFLAGS='], cwd=tree, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    order = banners(tree)
    reach = reach or {'tests': {}, 'lines': {}, 'red': []}
    reach['code'] = lines_of_code(tree, build, order)
    names = [name for name in names_of_tests(tree) if not again or name in again]
    reach['red'] = [name for name in reach['red'] if name not in names]
    for lines in reach['lines'].values():
        for line in lines:
            lines[line] = [name for name in lines[line] if name not in names]
    for number, name in enumerate(names, 1):
        folder = os.path.join(tree, build, 'data', name)
        subprocess.run(['rm', '-rf', folder])
        failed, seconds, _ = run(tree, build, name, 900, {'GCOV_PREFIX': folder, 'LDFLAGS': '--coverage'})
        if failed:
            reach['red'].append(name)
            say('%d of %d: %s is red without a fault: left out' % (number, len(names), name))
            continue
        hit = read_gcov(tree, build, folder, order)
        subprocess.run(['rm', '-rf', folder])
        reach['tests'][name] = round(seconds, 2)
        for file, lines in hit.items():
            of = reach['lines'].setdefault(file, {})
            for line in lines:
                of.setdefault(str(line), []).append(name)
        say('%d of %d: %s, %.1f s, %d lines' % (number, len(names), name, seconds, sum(len(lines) for lines in hit.values())))
    return reach


def nearest(reach, most=6):
    """Of each file the tests that reach most of its lines in the least time: greedily, the best first."""
    table = {}
    for file, lines in sorted(reach['lines'].items()):
        left = {line: set(names) for line, names in lines.items()}
        chosen = []
        while left and len(chosen) < most:
            gain = {}
            for names in left.values():
                for name in names:
                    if name not in chosen:
                        gain[name] = gain.get(name, 0) + 1
            if not gain:
                break
            best = max(sorted(gain), key=lambda name: gain[name] / (1 + reach['tests'][name]))
            chosen.append(best)
            left = {line: names for line, names in left.items() if best not in names}
        table[file] = chosen
    return table

"""Which test executes which line: built and run once with --coverage, kept in build/mutate/reach.json.

A line of a room is executed where it was compiled: in machsym.h, whose lines are those of the rooms from their banners on, or
in the copies of the rooms that tests link.
"""
import json
import os
import re
import subprocess
import time

OBJECTS = ('tool', 'rooms', 'counted')


def names_of_tests(tree):
    found = sorted(os.listdir(os.path.join(tree, 'tests')))
    programs = [name[:-2] for name in found if re.fullmatch(r'test_\w+\.c|corrupt\.c|damage\.c|oom\.c', name)]
    return programs + [name for name in found if name.endswith('.sh')]


def run(tree, build, name, limit, extra=None):
    """Runs a test as tests/run does. Returns (failed, seconds)."""
    logs = os.path.join(tree, build, 'logs')
    os.makedirs(logs, exist_ok=True)
    env = dict(os.environ, B=build, RUN='', CC='gcc', CFLAGS='-O0', LDFLAGS='', SAMPLE=os.environ.get('SAMPLE', '7'), LOGS=logs,
               MACHSYM=os.path.join(tree, build, 'machsym'))
    env.update(extra or {})
    test = 'tests/' + name if name.endswith('.sh') else build + '/tests/' + name
    log = os.path.join(logs, name)
    for old in (log, log + '.sum'):
        if os.path.exists(old):
            os.remove(old)
    began = time.time()
    child = subprocess.Popen(['sh', 'tests/run', '--one', test], cwd=tree, env=env, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        child.wait(limit)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, 9)
        child.wait()
        return True, time.time() - began
    try:
        with open(log + '.sum') as sums:
            failed = sums.read().split()[1] != '0'
    except (OSError, IndexError):
        failed = True
    return failed, time.time() - began


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


def read_gcov(tree, build, folder, order):
    """The lines that were executed, as {file: set of lines}."""
    hit = {}
    top = os.path.join(folder, tree.lstrip('/'), build)
    data = []
    for objects in OBJECTS:
        for where, _, files in os.walk(os.path.join(top, objects)):
            for file in files:
                if file.endswith('.gcda'):
                    notes = os.path.join(where.replace(folder, '', 1), file[:-4] + 'gcno')
                    link = os.path.join(where, file[:-4] + 'gcno')
                    if os.path.exists(notes) and not os.path.exists(link):
                        os.symlink(notes, link)
                    data.append(os.path.join(where, file))
    for first in range(0, len(data), 40):
        said = subprocess.run(['gcov', '-j', '-t'] + data[first:first + 40], cwd=tree, capture_output=True, text=True).stdout
        for document in said.splitlines():
            if not document.startswith('{'):
                continue
            for file in json.loads(document)['files']:
                name = os.path.normpath(file['file'])
                name = re.sub(r'.*/rooms/(src/)', r'\1', name)
                lines = [line['line_number'] for line in file['lines'] if line['count'] > 0]
                for line in lines:
                    place = to_room(order, line) if name == 'machsym.h' else (name, line)
                    if place:
                        hit.setdefault(place[0], set()).add(place[1])
    return hit


def measure(tree, say):
    """Builds and runs all tests with --coverage. Returns the reach: {'tests': {name: seconds}, 'lines': {file: {line: [names]}}}."""
    build = 'build/reach'
    flags = '-O0 -g0 --coverage'
    say('building with --coverage')
    subprocess.run(['make', '-s', '-k', '-j2', 'build-tests', 'B=' + build, 'CC=gcc', 'CFLAGS=' + flags, 'TEST_CFLAGS=' + flags,
                    'LDLIBS=--coverage', 'LONG_CFLAGS='], cwd=tree, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    order = banners(tree)
    reach = {'tests': {}, 'lines': {}, 'red': []}
    names = names_of_tests(tree)
    for number, name in enumerate(names, 1):
        folder = os.path.join(tree, build, 'data', name)
        subprocess.run(['rm', '-rf', folder])
        failed, seconds = run(tree, build, name, 900, {'GCOV_PREFIX': folder, 'QUICK': '1'})
        if failed:
            reach['red'].append(name)
            say('%d of %d: %s is red without a fault: left out' % (number, len(names), name))
            continue
        hit = read_gcov(tree, build, folder, order)
        subprocess.run(['rm', '-rf', folder])
        reach['tests'][name] = round(seconds, 2)
        for file, lines in hit.items():
            if file.startswith(('src/', 'tool/', 'report/')):
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

#!/usr/bin/env python3
"""What the people policy of lines takes beside dwarf, in instructions as callgrind counts them: of `machsym crash` for 200 reports of 200
frames each, in functions by chance, and of `machsym atos -i` for the addresses of all rows. Needs valgrind and llvm-dwarfdump-22.
Usage, from the top of the checkout: bench/people.py MACHSYM DSYM... Prints a row of Markdown for each dSYM."""
import os
import random
import re
import subprocess
import sys
import tempfile

REPORTS, THREADS, FRAMES, BASE = 200, 10, 20, 0x4000000
CODES = {'arm64': 'ARM-64', 'armv7': 'ARM', 'x86_64': 'X86-64'}
HEAD = '''Incident Identifier: %032X
Process:             App [1]
Identifier:          org.example.app
Version:             1.0 (1)
Code Type:           %s (Native)
OS Version:          iPhone OS 17.4 (21E219)
Report Version:      104

Exception Type:  EXC_BAD_ACCESS (SIGSEGV)
Exception Codes: KERN_INVALID_ADDRESS at 0x0000000000000008
Triggered by Thread:  0

'''


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, errors='replace', check=True).stdout


def report(chance, uuid, arch, name, text, offsets):
    lines = []
    for thread in range(THREADS):
        lines.append('Thread %d%s:\n' % (thread, '' if thread else ' Crashed'))
        for frame in range(FRAMES):
            at = chance.choice(offsets) + (4 if frame else 0)  # a return address follows the call
            lines.append('%-4d%-30s\t0x%016x 0x%x + %d\n' % (frame, name, BASE + at, BASE, at))
        lines.append('\n')
    image = 'Binary Images:\n0x%x - 0x%x %s %s  <%s> /private/App.app/%s\n' % (BASE, BASE + text, name, arch, uuid, name)
    return HEAD % (chance.getrandbits(128), CODES[arch]) + ''.join(lines) + image


def instructions(*command):
    done = subprocess.run(['valgrind', '--tool=callgrind', '--callgrind-out-file=/dev/null', *command], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, errors='replace', check=True)
    return int(re.search(r'refs: +([0-9,]+)', done.stderr).group(1).replace(',', ''))


def more(tool, *command):
    """How many per cent the people policy takes more."""
    counts = [instructions(tool, command[0], '--lines=' + policy, *command[1:]) for policy in ('dwarf', 'people')]
    return 100 * (counts[1] / counts[0] - 1)


def measure(tool, dsym, work):
    uuid, arch = re.match(r'UUID: (\S+) \((\w+)\)', output('llvm-dwarfdump-22', '--uuid', dsym)).groups()
    rows = sorted({int(row, 16) for row in re.findall(r'(?m)^0x([0-9a-f]{16}) ', output('llvm-dwarfdump-22', '--debug-line', dsym))})
    start = rows[-1] & ~0xfffffff  # programs of this size begin at a multiple of it, or at 0
    rows = [row for row in rows if row >= start]  # of code that the linker dropped, rows are at 0
    offsets = [row - start for row in rows]
    chance = random.Random(34)
    name = os.path.basename(dsym)
    paths = []
    for i in range(REPORTS):
        paths.append(os.path.join(work, '%d.crash' % i))
        with open(paths[-1], 'w', encoding='utf-8') as file:
            file.write(report(chance, uuid.replace('-', '').lower(), arch, name, offsets[-1] + 4096, offsets))
    addresses = os.path.join(work, 'addresses')
    with open(addresses, 'w', encoding='utf-8') as file:
        file.writelines('%#x\n' % row for row in rows)
    told = subprocess.run([tool, 'crash', '--no-cache', '-d', dsym, '--to=text', paths[0]], capture_output=True, text=True, errors='replace', check=True)
    assert '200 of 200 frames named' in told.stderr, told.stderr
    in_reports = more(tool, 'crash', '--no-cache', '-q', '-j1', '-d', dsym, '--to=text', *paths)
    in_rows = more(tool, 'atos', '-i', '-o', dsym, '-f', addresses)
    print('| %s | %.1f %% | %.1f %% |' % (name, in_reports, in_rows), flush=True)


print('| | reports | rows |\n|---|---|---|')
for path in sys.argv[2:]:
    with tempfile.TemporaryDirectory() as folder:
        measure(sys.argv[1], path, folder)

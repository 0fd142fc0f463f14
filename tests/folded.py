#!/usr/bin/env python3
"""Makes programs with functions of equal code, links them with and without folding, and compares what machsym says.

folded.py PROGRAMS SEED MACHSYM    (needs clang-22, ld64.lld-22, dsymutil-22, llvm-gsymutil-22, llvm-objdump-22)

Truth of sets and lines: llvm-gsymutil --merged-functions, of programs whose functions state their rows
(DW_AT_LLVM_stmt_sequence). Of the others gsymutil mixes the rows, so there the truth is the generator: every
function has the lines of its own source and no others. Truth of decided names: the same objects linked without
folding, where each call's target is in the code. A stack is a walk along those calls; its addresses are
translated to the folded program, function by function.
"""
import json
import os
import random
import re
import subprocess
import sys
import tempfile

LANGUAGES = {'c': '.c', 'cxx': '.cc', 'objc': '.m'}


def run(*args, **more):
    done = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)
    if done.returncode != 0:
        sys.exit('%s: %s' % (' '.join(args[:3]), done.stderr.decode()[:500]))
    return done.stdout.decode()


class Program:
    """Sources of functions in levels: each calls some of the next level, also through inlined functions."""

    def __init__(self, rng, language):
        self.rng = rng
        self.language = language
        self.lines = {}  # function: its first and last line, and its file
        self.files = [[] for _ in range(rng.randint(1, 3))]
        self.levels = []
        self.externs = []
        for level in range(rng.randint(2, 3)):
            self.levels.append(self.level(level))

    def emit(self, file, text):
        self.files[file] += text

    def level(self, level):
        functions = []
        below = self.levels[-1] if level else []
        for group in range(self.rng.randint(2, 4)):
            picks = [self.rng.choice(range(len(below))) for _ in range(2)] if below else []
            twins = ['f%d_%d_%dz' % (level, group, twin) for twin in range(self.rng.randint(1, 5))]
            turns = self.rng.random() < .3  # they call each other last
            for name in twins:
                callees = []
                for pick in picks:  # another one of the same group folds, too
                    group_of = [f for f in below if f[1] == below[pick][1]]
                    callees.append(self.rng.choice(group_of))
                functions.append(self.function(level, group, name, callees, self.rng.choice(twins) if turns else None))
        return functions

    def function(self, level, group, name, callees, last):
        file = self.rng.randrange(len(self.files))
        wraps = self.rng.random() < .4
        body = self.files[file]
        inline = '__attribute__((always_inline)) static inline '
        calls = []
        for at, callee in enumerate(callees):
            call = callee[2]('x + %d' % at)
            if wraps and at == 0:
                body += [inline + 'int w_%s(int x)' % name, '{', '    return %s;' % call, '}']
                call = 'w_%s(x)' % name
            calls.append(call)
        form = 'plain'
        if self.language == 'cxx' and not last:
            form = self.rng.choice(['plain', 'member', 'space', 'template'])
        if self.language == 'objc' and not last:
            form = self.rng.choice(['plain', 'plain', 'method'])
        head, tail, call, declare = self.form(form, name)
        body += head
        first = len(body)
        body += [''] * self.rng.randint(0, 2)
        body += ['    x = x * %d + sink;' % (level * 10 + group + 3)]
        body += ['    /* %s */' % name] * self.rng.randint(0, 2)
        body += ['    sink += x;']
        body += ['    x ^= %s;' % c for c in calls]
        if calls and not last and self.rng.random() < .3:  # the last one takes no frame
            body += ['    sink = x;', '    return %s;' % callees[-1][2]('x'), '}']
        else:
            body += ['    sink = x;', '    return %s;' % ('x < 0 ? %s(x + 1) : x' % last if last else 'x + 1'), '}']
        self.lines[name] = (first - 1, len(body), file)
        body += tail
        self.externs += declare
        return name, group, call, form

    def form(self, form, name):
        hold = '__attribute__((noinline)) '
        if form == 'member':
            return ([hold + 'int C_%s::%s(int x)' % (name, name), '{'], [],
                    lambda x: 'c_%s.%s(%s)' % (name, name, x),
                    ['struct C_%s { int %s(int x); };' % (name, name), 'extern C_%s c_%s;' % (name, name)])
        if form == 'space':
            return (['namespace n_%s {' % name, hold + 'int %s(int x)' % name, '{'], ['}'],
                    lambda x: 'n_%s::%s(%s)' % (name, name, x), ['namespace n_%s { int %s(int x); }' % (name, name)])
        if form == 'template':
            return (['template <class T> ' + hold + 'int %s(int x)' % name, '{'],
                    ['template int %s<long>(int);' % name],
                    lambda x: '%s<long>(%s)' % (name, x),
                    ['template <class T> int %s(int x);' % name, 'extern template int %s<long>(int);' % name])
        if form == 'method':
            return (['@implementation K_%s' % name, '+ (int)%s:(int)x' % name, '{'], ['@end'],
                    lambda x: '[K_%s %s:%s]' % (name, name, x),
                    ['__attribute__((objc_root_class)) @interface K_%s' % name, '+ (int)%s:(int)x;' % name, '@end'])
        return ([hold + 'int %s(int x)' % name, '{'], [], lambda x: '%s(%s)' % (name, x), ['int %s(int x);' % name])

    def write(self, folder):
        with open(os.path.join(folder, 'all.h'), 'w') as out:
            out.write('\n'.join(['extern volatile int sink;'] + self.externs) + '\n')
        names = []
        for number, body in enumerate(self.files):
            names.append('u%d%s' % (number, LANGUAGES[self.language]))
            with open(os.path.join(folder, names[-1]), 'w') as out:
                out.write('#include "all.h"\n' + '\n'.join(body) + '\n')
        names.append('main' + LANGUAGES[self.language])
        with open(os.path.join(folder, names[-1]), 'w') as out:
            out.write('#include "all.h"\nvolatile int sink;\n')
            out.write(''.join('C_%s c_%s;\n' % (f[0], f[0]) for fs in self.levels for f in fs if f[3] == 'member'))
            taken = [f[0] for fs in self.levels for f in fs if f[3] == 'plain' and self.rng.random() < .3]
            out.write('typedef int (*call)(int);\ncall table[] = {%s};\n' % ', '.join(['0'] + taken))
            out.write('int main(void)\n{\n    int x = 0;\n')
            out.write(''.join('    x += %s;\n' % f[2]('x') for f in self.levels[-1]))
            out.write('    return table[sink] == 0 ? x : table[sink](x);\n}\n')
        return names


def base(name):
    """The generator's name in a symbol or a shown name."""
    found = re.search(r'f\d+_\d+_\d+z', name)
    return found.group(0) if found else name.lstrip('_')


def build(folder, names, language, icf, lto, states, stabs, dwarf, optimise):
    flags = ['-target', 'arm64-apple-macos13', '-g', '-gdwarf-%d' % dwarf, optimise, '-fno-inline-functions',
             '-I', folder, '-w', '-faddrsig']
    flags += ['-mllvm', '-emit-func-debug-line-table-offsets'] if states and lto == 'none' else []
    flags += {'none': [], 'full': ['-flto=full'], 'thin': ['-flto=thin']}[lto]
    objects = []
    for name in names:
        objects.append(os.path.join(folder, name + '.o'))
        run('clang-22', *flags, '-c', os.path.join(folder, name), '-o', objects[-1])
    programs = {}
    for kind in ['none', icf]:
        out = programs[kind] = os.path.join(folder, 'p_' + kind)
        stated = ['-mllvm', '-emit-func-debug-line-table-offsets'] if states and lto != 'none' else []
        run('ld64.lld-22', '-arch', 'arm64', '-platform_version', 'macos', '13', '13', '-dylib', '-undefined',
            'dynamic_lookup', '--icf=' + kind, *(['--keep-icf-stabs'] if stabs else []), '-object_path_lto', folder + '/lto_' + kind, *stated, *objects,
            '-o', out)
        run('dsymutil-22', '--flat', '-j', '1', out, '-o', out + '.dwarf')
    return programs['none'], programs[icf]


def read_code(program):
    """By function: its address, the target of each call by the offset of its return address, and those of tail calls."""
    functions = {}
    at = None
    for line in run('llvm-objdump-22', '-d', '--no-show-raw-insn', program).splitlines():
        head = re.match(r'([0-9a-f]+) <(.*)>:$', line)
        call = re.match(r'\s*([0-9a-f]+):\s+bl\s+0x[0-9a-f]+ <([^+>]+)>', line)
        tail = re.match(r'\s*[0-9a-f]+:\s+b\s+0x[0-9a-f]+ <([^+>]+)>', line)
        if head:
            at = functions.setdefault(base(head.group(2)), (int(head.group(1), 16), {}, []))
        elif call and at:
            at[1][int(call.group(1), 16) + 4 - at[0]] = base(call.group(2))
        elif tail and at:
            at[2].append(base(tail.group(1)))
    return functions


def read_bodies(dwarf):
    """By function of the debug info: where its code is."""
    bodies = {}
    low = None
    for line in run('llvm-dwarfdump-22', '--debug-info', dwarf).splitlines():
        if 'DW_TAG_' in line:
            low = None
        found = re.search(r'DW_AT_low_pc\s+\(0x([0-9a-f]+)\)', line)
        low = int(found.group(1), 16) if found else low
        found = re.search(r'DW_AT_(?:linkage_name|name|abstract_origin|specification)\s+\((?:0x[0-9a-f]+ )?"(.*)"\)', line)
        if found and low is not None and re.search(r'f\d+_\d+_\d+z', found.group(1)):
            bodies.setdefault(base(found.group(1)), low)
    return bodies


def read_symbols(program):
    """By function: where its code is, as symbols have it. A jump that stands in place of a function leads to its code.
    The second result is the functions with such a jump."""
    places = {}
    for line in run('llvm-nm-22', program).splitlines():
        found = re.match(r'([0-9a-f]+) [tT] (.*)$', line)
        if found and re.search(r'f\d+_\d+_\d+z', found.group(2)):
            places[base(found.group(2))] = int(found.group(1), 16)
    jumps = {}
    text = run('llvm-objdump-22', '-d', '--no-show-raw-insn', program)
    for at, to in re.findall(r'^([0-9a-f]+) <[^>]*>:\n\s*[0-9a-f]+:\s+b\s+0x([0-9a-f]+)', text, re.M):
        jumps[int(at, 16)] = int(to, 16)
    thunks = {name for name, at in places.items() if at in jumps}
    return {name: jumps.get(at, at) for name, at in places.items()}, thunks


def group_of(name):
    """Functions of one group have equal sources but for their lines: no others share their code."""
    return name.rsplit('_', 1)[0]


def read_gsym(dwarf):
    gsym = dwarf + '.gsym'
    run('llvm-gsymutil-22', '--convert=' + dwarf, '--merged-functions', '--quiet', '-o', gsym)
    return parse_gsym(run('llvm-gsymutil-22', gsym), base)


def parse_gsym(text, base):
    """By address: what gsymutil tells of the functions there, name to rows of address and line."""
    bodies = {}
    rows = None
    for line in text.splitlines():
        head = re.match(r'(?:FunctionInfo @ 0x[0-9a-f]+:|\s+)\s*\[0x([0-9a-f]+) - 0x([0-9a-f]+)\) "(.*)"', line)
        row = re.match(r'\s+0x([0-9a-f]+) (.*):(\d+)$', line)
        if line.startswith('FunctionInfo') or (head and line.startswith('    [')):
            lo, hi = int(head.group(1), 16), int(head.group(2), 16)
            rows = bodies.setdefault((lo, hi), {}).setdefault(base(head.group(3)), [])
        elif line.strip() == 'InlineInfo:':
            rows = None
        elif row and rows is not None:
            rows.append((int(row.group(1), 16), int(row.group(3))))
    return {at: functions for at, functions in bodies.items() if at[0] < at[1]}


class Tally:
    def __init__(self):
        self.programs = self.compared = self.bodies = self.sets = self.lines = self.stacks = self.decided = self.asked = 0
        self.wrong = []
        self.thunks = 0
        self.by = []  # how many are decided: of a dSYM, of its map, of the next dSYM, ...

    def fail(self, *what):
        self.wrong.append(' '.join(str(w) for w in what))


def make_map(machsym, folded):
    """A map answers as its dSYM does."""
    run(machsym, 'map', 'build', '--no-progress', '--columns', '--lines=dwarf', '-o', folded + '.symmap', folded + '.dwarf')
    return folded + '.symmap'


def compare_sets(tally, machsym, program, folded, states, stabs, symbols):
    bodies = read_bodies(folded + '.dwarf')
    gsym = read_gsym(folded + '.dwarf')
    shared = {}
    for name, low in bodies.items():
        shared.setdefault(low, set()).add(name)
    for (lo, hi), functions in gsym.items():
        tally.bodies += 1
        addrs = ['0x%x' % a for a in range(lo, hi, 4)]
        out = run(machsym, 'atos', '--json', '--folded', '--lines=dwarf', '-o', symbols, *addrs)
        answers = [json.loads(line) for line in out.splitlines()]
        for addr, answer in zip(range(lo, hi, 4), answers):
            if not answer['frames'] and not any(functions.values()):
                continue  # past a thunk: gsymutil takes a symbol to reach to the next one
            if not answer['frames']:
                tally.fail(folded, hex(addr), 'has no frames', *functions)
                continue
            own = answer['frames'][-1]
            found = {base(own['name']): own['line']}
            found.update((base(f['name']), f['line']) for f in answer.get('folded', []))
            # without stabs gsymutil has one function of a body, and symbols tell of the others
            others = set(found) - set(functions)
            if set(functions) - set(found) or (others and (stabs or len({group_of(name) for name in found}) > 1)):
                tally.fail(folded, hex(addr), 'set', sorted(found), 'not', sorted(functions))
            tally.sets += len(functions) > 1
            for name, line in found.items():
                where = program.lines.get(name)
                if where is None:
                    continue
                tally.lines += 1
                if line != 0 and not where[0] <= line - 1 <= where[1]:
                    tally.fail(folded, hex(addr), 'line of', name, line, 'not in', where)
                if line == 0 and (len(found) == 1 or name in others):
                    continue
                # where dsymutil joined sequences gsymutil has no rows, but that of the declaration; rows of inlined
                # code are not the function's own
                rows = functions.get(name, [])
                rows = [l for a, l in rows if a == addr and len(rows) > 1 and where[0] <= l - 1 <= where[1]]
                tally.compared += states and len(rows)
                if states and rows and line != rows[-1]:
                    tally.fail(folded, hex(addr), 'line of', name, line, 'gsymutil', rows[-1])


def make_stack(rng, code, start):
    """A walk along calls from a function: names and the offset of each return address, innermost first. A function that is
    called last has the place of the one that called it."""
    stack = []
    name = start
    while code[name][1]:
        offset = rng.choice(sorted(code[name][1]))
        stack.insert(0, (name, offset))
        name = code[name][1][offset]
        for _ in range(3):
            if name in code and code[name][2] and rng.random() < .5:
                name = rng.choice(code[name][2])
        if name not in code:
            break
    return name, stack


def compare_stacks(tally, machsym, rng, plain, folded, count, stabs, symbols):
    code = read_code(plain)
    bodies = read_bodies(folded + '.dwarf')
    thunks = set()
    if not stabs:
        bodies, thunks = read_symbols(folded)
    bodies.setdefault('main', read_code(folded)['main'][0])
    for _ in range(count):
        innermost, stack = make_stack(rng, code, 'main')
        truth = [innermost] + [name for name, _ in stack]
        if any(name not in bodies for name in truth):
            continue
        addrs = ['0x%x' % bodies[innermost]] + ['0x%x' % (bodies[name] + offset) for name, offset in stack]
        out = run(machsym, 'atos', '--stack', '--json', '--lines=dwarf', '-o', symbols, *addrs)
        tally.stacks += 1
        for name, line in zip(truth, out.splitlines()):
            answer = json.loads(line)
            found = base(answer['frames'][-1]['name'])
            is_decided = answer.get('folded_by') == 'call-site'
            tally.asked += is_decided or 'folded' in answer
            tally.decided += is_decided
            names = [base(f['name']) for f in answer.get('folded', []) if not is_decided] + [found]
            if name in names:
                continue
            if name in thunks:
                tally.thunks += 1  # the dSYM does not say where the jump leads: README says so
            else:
                tally.fail(folded, addrs, 'is', *names, 'but was', name)


def compare_gsym(machsym, dwarf, text):
    """Names of each function's code; rows of stated sequences where gsymutil has more than the declaration."""
    wrong = 0
    checked = 0
    states = 'stated' in dwarf
    for (lo, _), functions in sorted(parse_gsym(text, lambda name: name).items()):
        addrs = sorted(set([lo] + [a for rows in functions.values() for a, _ in rows]))
        out = run(machsym, 'atos', '--json', '--folded', '--lines=dwarf', '-o', dwarf, *map(hex, addrs))
        for addr, answer in zip(addrs, map(json.loads, out.splitlines())):
            all_of = answer['frames'][-1:] + answer.get('folded', [])
            checked += 1
            # gsymutil makes no set of symbols: those of the debug info must be there, and none is missing
            names = set(f['name'] for f in all_of if f['name_source'] == 'dwarf')
            if not functions.keys() <= set(f['name'] for f in all_of) or not names <= functions.keys():
                print(hex(addr), sorted(names), 'gsymutil', sorted(functions))
                wrong += 1
            rows = {name: line for name, rows in functions.items() for a, line in rows if a == addr and len(rows) > 1}
            lines = {}
            for frame in all_of:
                lines.setdefault(frame['name'], set()).add(frame['line'])
            for name, line in rows.items():
                if states and len(answer['frames']) == 1 and line not in lines.get(name, ()):
                    print(hex(addr), name, sorted(lines.get(name, ())), 'gsymutil', line)
                    wrong += 1
    sys.exit(wrong != 0 or checked == 0)


def main():
    if sys.argv[1] == '--gsym':
        compare_gsym(sys.argv[2], sys.argv[3], open(sys.argv[4]).read())
    programs, seed, machsym = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    per_program = int(sys.argv[4]) if len(sys.argv) > 4 else 40
    tally = Tally()
    kinds = [(language, icf, lto) for lto in ['none', 'full', 'thin'] for icf in ['all', 'safe', 'safe_thunks']
             for language in sorted(LANGUAGES)]
    for number in range(programs):
        rng = random.Random(seed * 1000003 + number)
        language, icf, lto = kinds[(number + seed) % len(kinds)]
        states = rng.random() < .5
        stabs = rng.random() < .7
        with tempfile.TemporaryDirectory() as folder:
            program = Program(rng, language)
            names = program.write(folder)
            plain, folded = build(folder, names, language, icf, lto, states, stabs, rng.choice([4, 5]),
                                  rng.choice(['-O1', '-O2', '-Os']))
            for symbols in [folded + '.dwarf', make_map(machsym, folded)]:
                compare_sets(tally, machsym, program, folded, states, stabs, symbols)
                decided = tally.decided
                if per_program:
                    compare_stacks(tally, machsym, random.Random(seed + number), plain, folded, per_program,
                                   stabs, symbols)
                tally.by.append(tally.decided - decided)
        tally.programs += 1
    print('%d programs, %d functions of code: %d addresses with several functions, %d lines, %d of them compared with gsymutil; %d stacks, %d frames '
          'of several functions, %d decided' % (tally.programs, tally.bodies, tally.sets, tally.lines, tally.compared, tally.stacks,
                                                tally.asked, tally.decided))
    print('%d names of the body that a jump leads to' % tally.thunks)
    print('%d decided of dSYMs, %d of maps' % (sum(tally.by[0::2]), sum(tally.by[1::2])))
    print('%d wrong' % len(tally.wrong))
    for wrong in tally.wrong[:20]:
        print(wrong)
    sys.exit(len(tally.wrong) != 0)


main()

#!/usr/bin/env python3
"""Holds the lines of the people policy against the debug info as llvm-dwarfdump tells it.

    people.py check MACHSYM DWARFDUMP DSYM [BINARY]

Asks MACHSYM atos for the calls that BINARY has (all its bl and blr instructions; without BINARY for the
address of every line row), with --lines=dwarf and --lines=people. Says what share of those in functions that
somebody wrote has no line in the innermost frame, and in no frame at all. Then it checks:

- names and frames are the same under both policies, and so are lines that are not marked as near;
- no frame loses a line, and functions that a compiler made keep theirs;
- a line near by lies in the function: in the file that it is declared in, from the line of its declaration
  to the largest line that its rows and calls have; or, for an inlined call, in a function that calls it, or
  where the debug info says that it is called.

Ends with 1 when a line does not hold.
"""
import bisect
import json
import os
import re
import struct
import subprocess
import sys


class Block:
    def __init__(self, tag, off, parent):
        self.tag, self.off, self.parent = tag, off, parent
        self.attrs = {}
        self.ranges = []
        self.children = []
        self.span = None


def numbers(text):
    return [int(n, 16) for n in re.findall(r'0x([0-9a-f]+)', text)]


def read_info(dwarfdump, path):
    """All functions and inlined calls by their offset."""
    entries, stack, current, in_ranges = {}, [], None, False
    out = subprocess.Popen([dwarfdump, '--debug-info', path], stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, text=True, errors='replace')
    head = re.compile(r'^0x([0-9a-f]+):(\s+)(DW_TAG_\w+|NULL)')
    attr = re.compile(r'^\s+(DW_AT_\w+)\s+\((.*)$')
    for line in out.stdout:
        at = head.match(line)
        if at:
            depth = len(at.group(2))
            while stack and stack[-1][0] >= depth:
                stack.pop()
            current = None
            if at.group(3) in ('DW_TAG_subprogram', 'DW_TAG_inlined_subroutine'):
                parent = stack[-1][1] if stack and at.group(3) != 'DW_TAG_subprogram' else None
                current = Block(at.group(3), int(at.group(1), 16), parent)
                entries[current.off] = current
                stack.append((depth, current))
            continue
        if current is None:
            continue
        at = attr.match(line)
        if at:
            current.attrs[at.group(1)] = at.group(2).rstrip(')\n')
            in_ranges = at.group(1) == 'DW_AT_ranges'
            if at.group(1) == 'DW_AT_ranges':
                current.attrs[at.group(1)] = ''
        elif in_ranges:
            got = numbers(line.split('"')[0])
            if len(got) >= 2:
                current.ranges.append((got[0], got[1]))
    for block in entries.values():
        if 'DW_AT_low_pc' in block.attrs and 'DW_AT_high_pc' in block.attrs:
            block.ranges.append((int(block.attrs['DW_AT_low_pc'], 16), int(block.attrs['DW_AT_high_pc'], 16)))
        if block.parent is not None:
            block.parent.children.append(block)
    return entries


def declaration(entries, block):
    """File and line where a function was written; None when a compiler made it."""
    file = line = None
    seen = 0
    while block is not None and seen < 16:
        if 'DW_AT_artificial' in block.attrs:
            return None
        file = file or block.attrs.get('DW_AT_decl_file', '').strip('"') or None
        line = line or int(block.attrs.get('DW_AT_decl_line', '0'))
        link = block.attrs.get('DW_AT_abstract_origin') or block.attrs.get('DW_AT_specification')
        block = entries.get(numbers(link)[0]) if link else None
        seen += 1
    if not line or not file or file.endswith('<compiler-generated>'):
        return None
    return os.path.normpath(file), line


def call_of(block):
    """File and line where an inlined call stands in the source; None when the debug info does not tell."""
    file, line = block.attrs.get('DW_AT_call_file', '').strip('"'), int(block.attrs.get('DW_AT_call_line', '0'))
    return (os.path.normpath(file), line) if file and line else None


def read_rows(dwarfdump, path):
    """(begin, end, file, line) of all rows, sorted."""
    rows, files, dirs, run, version, name = [], {}, {}, [], 4, ''
    out = subprocess.Popen([dwarfdump, '--debug-line', path], stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, text=True, errors='replace')
    row = re.compile(r'^0x([0-9a-f]+)\s+(\d+)\s+(\d+)\s+(\d+)(.*)$')
    for line in out.stdout:
        if line.startswith('debug_line['):
            files, dirs, run = {}, {}, []
            continue
        at = re.match(r'^include_directories\[\s*(\d+)\] = "(.*)"', line)
        if at:
            dirs[int(at.group(1))] = at.group(2)
            continue
        at = re.match(r'^file_names\[\s*(\d+)\]:', line)
        if at:
            number = int(at.group(1))
            continue
        at = re.match(r'^\s+name: "(.*)"', line)
        if at:
            name = at.group(1)
            continue
        at = re.match(r'^\s+dir_index: (\d+)', line)
        if at:
            files[number] = os.path.normpath(os.path.join(dirs.get(int(at.group(1)), ''), name))
            continue
        at = row.match(line)
        if not at:
            continue
        addr, number_of_line, file = int(at.group(1), 16), int(at.group(2)), int(at.group(4))
        ends = 'end_sequence' in at.group(5)
        if run and run[-1][0] < addr:
            rows.append((run[-1][0], addr, run[-1][1], run[-1][2]))
        run.append((addr, files.get(file, ''), number_of_line))
        if ends:
            run = []
    rows.sort()
    return rows


def ends_alike(a, b):
    """Whether a path without its compilation directory is the same as another."""
    return a == b or a.endswith('/' + b) or b.endswith('/' + a)


class Truth:
    def __init__(self, dwarfdump, path):
        self.entries = read_info(dwarfdump, path)
        self.rows = read_rows(dwarfdump, path)
        self.starts = [row[0] for row in self.rows]
        functions = [b for b in self.entries.values() if b.parent is None and b.ranges]
        self.pieces = sorted((lo, hi, b.off) for b in functions for lo, hi in b.ranges)
        self.piece_starts = [piece[0] for piece in self.pieces]
        self.spans = {}

    def function_at(self, addr):
        at = bisect.bisect_right(self.piece_starts, addr)
        for lo, hi, off in reversed(self.pieces[max(0, at - 8):at]):
            if lo <= addr < hi:
                return self.entries[off]
        return None

    def is_shared(self, addr):
        """Whether several functions have the code: tests/folded.py knows of them."""
        at = bisect.bisect_right(self.piece_starts, addr)
        return sum(lo <= addr < hi for lo, hi, _ in self.pieces[max(0, at - 8):at]) > 1

    def chain(self, addr):
        """Blocks at an address, the innermost first."""
        block = self.function_at(addr)
        chain = []
        while block is not None:
            chain.insert(0, block)
            inside = [b for b in self.inside(block) if any(lo <= addr < hi for lo, hi in b.ranges)]
            block = inside[-1] if inside else None
        return chain

    def inside(self, block):
        """Calls right inside a block; in place of one without code those inside it."""
        for child in block.children:
            if child.ranges:
                yield child
            else:
                yield from self.inside(child)

    def lines_of(self, function):
        """The lines that each block of a function has: its rows, and its calls."""
        lines = {}

        def visit(block):
            lines.setdefault(block.off, set())
            for child in block.children:
                if call_of(child):
                    lines[block.off].add(call_of(child))
                visit(child)
        visit(function)
        for lo, hi in function.ranges:
            at = max(0, bisect.bisect_right(self.starts, lo) - 1)
            while at < len(self.rows) and self.rows[at][0] < hi:
                begin, end, file, line = self.rows[at]
                at += 1
                if line == 0 or file.endswith('<compiler-generated>') or end <= lo:
                    continue
                for probe in {max(begin, lo)} | {b for b in self.borders(function) if begin < b < end}:
                    chain = self.chain(probe)
                    if chain and chain[-1] is function:
                        lines[chain[0].off].add((file, line))
        return lines

    def borders(self, function):
        if function.span is None:
            function.span = set()

            def visit(block):
                for lo, hi in block.ranges:
                    function.span.update((lo, hi))
                for child in block.children:
                    visit(child)
            visit(function)
        return function.span

    def span_of(self, block, root):
        """File, first and last line of a block's function; None when it has no lines of its own."""
        if root.off not in self.spans:
            self.spans[root.off] = self.lines_of(root)
        own = self.spans[root.off].get(block.off, ())
        decl = declaration(self.entries, block)
        whole = declaration(self.entries, root)
        if decl is None and whole is not None and block is not root:
            lines = [line for file, line in own if ends_alike(file, whole[0])]
            return (whole[0], min(lines), max(lines)) if lines else None
        if decl is None:
            return None
        return decl[0], decl[1], max([line for file, line in own if ends_alike(file, decl[0])] + [decl[1]])

    def is_written(self, function):
        """Whether somebody wrote a function: it is declared on a line, and has lines."""
        if declaration(self.entries, function) is None:
            return False
        if function.off not in self.spans:
            self.spans[function.off] = self.lines_of(function)
        return bool(self.spans[function.off][function.off])


def calls_of(path):
    """Addresses in all bl and blr instructions of a thin arm64 file: one byte before the return address."""
    data = open(path, 'rb').read()
    count, at = struct.unpack_from('<I', data, 16)[0], 32
    calls = []
    for _ in range(count):
        command, size = struct.unpack_from('<II', data, at)
        if command == 0x19:
            for i in range(struct.unpack_from('<I', data, at + 64)[0]):
                section = at + 72 + 80 * i
                name = data[section:section + 16].rstrip(b'\0')
                addr, length, offset = struct.unpack_from('<QQI', data, section + 32)
                if name == b'__text' and offset != 0:
                    for i, word in enumerate(struct.unpack_from('<%dI' % (length // 4), data, offset)):
                        if word >> 26 == 0x25 or word & 0xfffffc1f == 0xd63f0000:
                            calls.append(addr + 4 * i + 3)
        at += size
    return calls


def ask(machsym, dsym, policy, addrs):
    text = '\n'.join('0x%x' % a for a in addrs)
    out = subprocess.run([machsym, 'atos', '-o', dsym, '--lines=' + policy, '--json', '--full-path'], input=text,
                         capture_output=True, text=True, check=True)
    return [json.loads(line)['frames'] for line in out.stdout.splitlines()]


def has_line(frame):
    return bool(frame.get('line')) and not (frame.get('file') or '').endswith('<compiler-generated>')


def main():
    machsym, dwarfdump, dsym = sys.argv[2:5]
    truth = Truth(dwarfdump, dsym)
    addrs = calls_of(sys.argv[5]) if len(sys.argv) > 5 else sorted({row[0] for row in truth.rows})
    addrs = [a for a in addrs if truth.function_at(a) is not None and not truth.is_shared(a)]
    answers = {p: ask(machsym, dsym, p, addrs) for p in ('dwarf', 'people')}
    written = [i for i, a in enumerate(addrs) if truth.is_written(truth.function_at(a))]
    for policy in ('dwarf', 'people'):
        frames = [answers[policy][i] for i in written]
        inner = sum(not has_line(f[0]) for f in frames)
        none = sum(not any(has_line(x) for x in f) for f in frames)
        print('%s: %d calls in written functions; innermost without a line %d (%.1f %%), no line at all %d (%.1f %%)'
              % (policy, len(frames), inner, 100 * inner / max(1, len(frames)), none, 100 * none / max(1, len(frames))))
    near = changed = 0
    faults = []
    for i, addr in enumerate(addrs):
        chain, before, after = truth.chain(addr), answers['dwarf'][i], answers['people'][i]
        root = chain[-1]
        if len(before) != len(after) or len(chain) != len(after):
            faults.append((addr, 'frames', len(chain), len(before), len(after)))
            continue
        changed += any(f['line_source'] == 'near' for f in after)
        for k, (old, new) in enumerate(zip(before, after)):
            if new['line_source'] != 'near':
                if old != new:
                    faults.append((addr, k, 'differs', old, new))
                continue
            near += 1
            if has_line(old):
                faults.append((addr, k, 'had a line', old, new))
            spans = [truth.span_of(b, root) for b in chain[k:]]
            file = os.path.normpath(new['file'])
            spans += [(c[0], c[1], c[1]) for c in map(call_of, chain[k:]) if c]
            if not any(s and ends_alike(s[0], file) and s[1] <= new['line'] <= s[2] for s in spans):
                faults.append((addr, k, 'outside', new['name'], new['file'], new['line'], spans))
            if k == len(after) - 1 and not truth.is_written(root):
                faults.append((addr, k, 'a compiler made it', new))
    print('%d addresses, %d with a line near by, %d such frames, %d faults' % (len(addrs), changed, near, len(faults)))
    for fault in faults[:20]:
        print('  0x%x' % fault[0], *fault[1:])
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())

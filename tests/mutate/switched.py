"""All faults of a run in one build. Each has a switch, so that nothing is compiled for a single fault.

A function with a fault is written twice: as it is, and once more under another name with the fault. The first begins by calling
the second when the environment's FAULT names the fault's number. A table with a fault is written twice, too, and a macro of its
name chooses. Where a fault would act, the text as it is leaves a mark in the file that the environment's REACHED names: so one
run of a test without a fault shows which faults it can meet. Faults in enums, and the few in functions whose head is not
understood, are planted in a build of their own.
"""
import bisect
import re

import faults

MOST = 4096
SWITCHES = '''#ifndef MACHSYM_FAULTS
#define MACHSYM_FAULTS
#include <stdlib.h>
__attribute__((weak, visibility("hidden"))) char ms_fault_at[%(most)d];
__attribute__((weak, visibility("hidden"))) char ms_fault_none[%(most)d];
__attribute__((weak, visibility("hidden"))) char *volatile ms_fault_marks = ms_fault_none;
#if defined __linux__ && !defined __cplusplus
#include <sys/syscall.h>
extern long syscall(long, ...);
static void ms_fault_map(const char *path)
{
    long file = path != NULL && ms_fault_marks == ms_fault_none ? syscall(SYS_openat, -100, path, 2, 0) : -1;
    long at = file >= 0 ? syscall(SYS_mmap, (void *)0, (size_t)%(most)d, 3, 1, (int)file, 0L) : -1;
    if (file >= 0)
        syscall(SYS_close, (int)file);
    if (at > 0 || at < -4096)
        ms_fault_marks = (char *)at;
}
#else
static void ms_fault_map(const char *path)
{
    (void)path;
}
#endif
__attribute__((constructor)) static void ms_fault_read(void)
{
    const char *at = getenv("FAULT");
    ms_fault_map(getenv("REACHED"));
    while (at != NULL && *at != '\\0') {
        char *end;
        ms_fault_at[strtol(at, &end, 10) %% %(most)d] = 1;
        at = *end == ',' ? end + 1 : NULL;
    }
}
__attribute__((unused)) static inline int ms_fault_here(int number)
{
    ms_fault_marks[number] = 1;
    return ms_fault_at[number];
}
#endif
''' % {'most': MOST}


class Function:
    """Lines first..brace are its head, brace..last its body; counted from 0."""

    def __init__(self, first, brace, last, kind, name, parameters, arguments):
        self.first, self.brace, self.last = first, brace, last
        self.kind, self.name, self.parameters, self.arguments = kind, name, parameters, arguments


class Table:
    """Lines first..last are the rows of a table outside of functions, counted from 0; start: of the first line, what stands ahead of
    them."""

    def __init__(self, first, last, name, start):
        self.first, self.last, self.name, self.start = first, last, name, start


def split_parameters(text):
    parts, depth, part = [], 0, ''
    for c in text:
        depth += (c in '([') - (c in ')]')
        if c == ',' and depth == 0:
            parts.append(part)
            part = ''
        else:
            part += c
    return parts + [part]


def name_of(parameter):
    pointer = re.search(r'\(\s*\*\s*(\w+)', parameter)
    plain = re.search(r'(\w+)\s*(\[[^\]]*\]\s*)*$', parameter.strip())
    return pointer.group(1) if pointer else plain.group(1) if plain else None


def function_around(lines, at):
    """The function whose body has this line, or None where its head is of another form than the layout of the project gives."""
    brace = at
    while brace >= 0 and lines[brace] != '{':
        if lines[brace] == '}' and brace != at:
            return None
        brace -= 1
    last = next((i for i in range(at, len(lines)) if lines[i] == '}'), None)
    first = brace
    while first > 0 and lines[first - 1] and not re.search(r'[;}]$|\*/$|^#', lines[first - 1]):
        first -= 1
    head = ' '.join(lines[first:brace]) if brace > 0 else ''
    match = re.fullmatch(r'(.*?[\s*])(\w+)\((.*)\)\s*', head)
    if match is None or last is None or '...' in head or '__attribute__' in head:
        return None
    kind, name, parameters = match.groups()
    parts = [] if parameters.strip() == 'void' else split_parameters(parameters)
    arguments = [name_of(part) for part in parts]
    return None if None in arguments else Function(first, brace, last, kind, name, parameters, arguments)


def table_around(lines, at):
    """The table of constants that has this line, or None where it has another form."""
    first = at
    while first > 0 and not re.match(r'[\w}]', lines[first]):
        first -= 1
    match = re.match(r'(?:static const [\w* ]*?\b|\} )(\w+)(?:\[[^\]]*\])* = \{', lines[first])
    last = next((i for i in range(at, len(lines)) if lines[i].rstrip().endswith('};')), None)
    if match is None or last is None or any(line.startswith('#') for line in lines[first:last]):
        return None
    return Table(first, last, match.group(1), match.group())


def place_of(lines, fault):
    """The function or the table that a fault is in, or None."""
    return (table_around if fault.is_table else function_around)(lines, fault.line - 1)


class Marks:
    """Where the marks of faults go in a file: before the statement that a fault is in, or into its condition."""

    def __init__(self, text):
        self.tokens = faults.tokens(text)
        self.places = [(token.line, token.column) for token in self.tokens]
        self.depth, self.block, opened, depth = [], [], [], 0
        for i, token in enumerate(self.tokens):
            if token.text in (')', ']'):
                depth -= 1
            self.depth.append(depth)
            if token.text in ('(', '['):
                depth += 1
            is_block = False
            if token.text == '{':
                before = self.tokens[i - 1] if i else None
                is_block = token.column == 0 or before.text in ('else', 'do', ';', ':') or self.heads(i - 1) or self.block[i - 1]
                opened.append(is_block)
            elif token.text == '}':
                is_block = opened.pop() if opened else False
            self.block.append(is_block)

    def heads(self, i):
        """Whether the bracket at i ends the head of an if or a loop."""
        if self.tokens[i].text != ')':
            return False
        depth = 0
        for j in range(i, 0, -1):
            depth += (self.tokens[j].text == ')') - (self.tokens[j].text == '(')
            if depth == 0:
                return self.tokens[j - 1].text in ('if', 'for', 'while', 'switch')
        return False

    def is_label(self, i):
        """Whether the colon at i ends a label of a switch."""
        while i > 0 and self.tokens[i].text not in (';', '{', '}', '?'):
            if self.tokens[i].text in ('case', 'default'):
                return True
            i -= 1
        return False

    def first_of(self, i):
        """The first token of the statement that the one at i is in."""
        while i > 0:
            before = self.tokens[i - 1].text
            if self.depth[i] == 0 and (before == ';' or before in ('else', 'do') or (before in '{}' and self.block[i - 1]) or
                                       (before == ':' and self.is_label(i - 1)) or self.heads(i - 1)):
                return i
            i -= 1
        return 0

    def of(self, fault):
        """What to insert for a fault, as [(line, column, text)] with %d for its number; None where there is no such place."""
        at = bisect.bisect_right(self.places, (fault.line, fault.begin)) - 1
        first = self.first_of(at)
        token, before = self.tokens[first], self.tokens[first - 1]
        if token.text in ('if', 'while', 'switch') and at > first:
            after = self.tokens[first + 2]
            return [(after.line, after.column, 'ms_fault_here(%d), ')]
        if token.text in ('case', 'default', 'while', 'else'):
            return None
        if before.text in (';', ':') or (before.text in '{}' and self.block[first - 1]):
            return [(token.line, token.column, 'ms_fault_here(%d); ')]
        if token.text in ('for', 'do', '{', 'switch', 'if'):
            return None
        end = next(i for i in range(first, len(self.tokens)) if self.tokens[i].text == ';' and self.depth[i] == 0)
        last = self.tokens[end]
        return [(token.line, token.column, '{ ms_fault_here(%d); '), (last.line, last.column + 1, ' }')]


def with_faults(text, numbered):
    """The text of a file with these faults and their switches. `numbered` has pairs of a number and a
    fault."""
    lines = text.split('\n')
    of = {}
    for number, fault in numbered:
        place = place_of(lines, fault)
        of.setdefault(place.first, (place, []))[1].append((number, fault))
    marks = Marks(text)
    for first in sorted(of, reverse=True):
        place, here = of[first]
        written = table_with(lines, place, here) if isinstance(place, Table) else function_with(lines, place, here, marks)
        lines[place.first:place.last + 1] = written
    at = min(of)
    return '\n'.join(lines[:at] + SWITCHES.split('\n')[:-1] + lines[at:])


def row_with(lines, fault):
    row = lines[fault.line - 1]
    return row[:fault.begin] + fault.new + row[fault.end:]


def table_with(lines, table, here):
    written, choice = lines[table.first:table.last + 1], '&' + table.name
    for number, fault in here:
        other = lines[table.first:table.last + 1]
        other[fault.line - 1 - table.first] = row_with(lines, fault)
        name = '%s_f%d' % (table.name, number)
        other[0] = 'static const __typeof__(%s) %s = {%s' % (table.name, name, other[0][len(table.start):])
        written += other
        choice = 'ms_fault_here(%d) ? &%s : %s' % (number, name, choice)
    return written + ['#define %s (*(%s))' % (table.name, choice)]


def function_with(lines, function, here, marks):
    head, body = lines[function.first:function.brace], lines[function.brace:function.last + 1]
    kind = re.sub(r'\b(static|inline|MACHSYM_API|extern|ms_INLINE|ms_SHARED|ms_NOINLINE)\b', '', function.kind).strip()
    copies, switches, inserted = [' '.join(head) + ';'], [], []
    for number, fault in here:
        other = list(body)
        other[fault.line - 1 - function.brace] = row_with(lines, fault)
        copies += ['static %s %s_f%d(%s)' % (kind, function.name, number, function.parameters)] + other
        call = '%s_f%d(%s);' % (function.name, number, ', '.join(function.arguments))
        back = '{ %s return; }' % call if kind == 'void' else 'return ' + call
        switches.append('    if (ms_fault_at[%d]) %s' % (number, back))
        places = marks.of(fault)
        if places is None:
            switches.append('    ms_fault_here(%d);' % number)
        else:
            inserted += [(line, column, text % number if '%d' in text else text) for line, column, text in places]
    # From the end on, so that columns stay. What ends a statement stands after all that begins it.
    marked = list(body)
    for line, column, text in sorted(inserted, key=lambda each: each[:2], reverse=True):
        row = marked[line - 1 - function.brace]
        marked[line - 1 - function.brace] = row[:column] + text + row[column:]
    return copies + head + ['{'] + switches + marked[1:]

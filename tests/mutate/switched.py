"""All faults of a run in one build, each behind a switch, so that nothing is compiled for a fault.

A function with a fault is written twice: as it is, and once more under another name with the fault. The first begins by calling
the second when the environment's FAULT names the fault's number. Faults in tables, and the few in functions whose head is
not understood, are planted in a build of their own.
"""
import re

MOST = 4096
SWITCHES = '''#ifndef MACHSYM_FAULTS
#define MACHSYM_FAULTS
#include <stdlib.h>
__attribute__((weak, visibility("hidden"))) char ms_fault_at[%d];
__attribute__((constructor)) static void ms_fault_read(void)
{
    const char *at = getenv("FAULT");
    while (at != NULL && *at != '\\0') {
        char *end;
        ms_fault_at[strtol(at, &end, 10) %% %d] = 1;
        at = *end == ',' ? end + 1 : NULL;
    }
}
#endif
''' % (MOST, MOST)


class Function:
    """Lines first..brace are its head, brace..last its body; counted from 0."""

    def __init__(self, first, brace, last, kind, name, parameters, arguments):
        self.first, self.brace, self.last = first, brace, last
        self.kind, self.name, self.parameters, self.arguments = kind, name, parameters, arguments


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


def with_faults(text, numbered):
    """The text of a file with these faults, as pairs of a number and a fault, behind their switches."""
    lines = text.split('\n')
    of = {}
    for number, fault in numbered:
        function = function_around(lines, fault.line - 1)
        of.setdefault(function.first, (function, []))[1].append((number, fault))
    for first in sorted(of, reverse=True):
        function, here = of[first]
        head, body = lines[function.first:function.brace], lines[function.brace:function.last + 1]
        kind = re.sub(r'\b(static|inline|MACHSYM_API|extern|ms_INLINE|ms_SHARED|ms_NOINLINE)\b', '', function.kind).strip()
        call = ' '.join(head) + ';'
        copies, switches = [call], []
        for number, fault in here:
            other = list(body)
            row = lines[fault.line - 1]
            other[fault.line - 1 - function.brace] = row[:fault.begin] + fault.new + row[fault.end:]
            copies += ['static %s %s_f%d(%s)' % (kind, function.name, number, function.parameters)] + other
            call = '%s_f%d(%s);' % (function.name, number, ', '.join(function.arguments))
            back = '{ %s return; }' % call if kind == 'void' else 'return ' + call
            switches.append('    if (ms_fault_at[%d]) %s' % (number, back))
        lines[function.first:function.last + 1] = copies + head + ['{'] + switches + body[1:]
    at = min(of)
    return '\n'.join(lines[:at] + SWITCHES.split('\n')[:-1] + lines[at:])

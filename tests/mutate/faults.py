"""The faults that can be planted in a C file: each replaces a few characters of one line.

A fault is a Fault(file, line, begin, end, new, kind). Comments, the texts of messages and lines of the preprocessor are left
alone: a fault there changes nothing that answers depend on.
"""
import collections
import re

# is_table: the line is of a table or of an enum, outside of functions.
Fault = collections.namedtuple('Fault', 'file line begin end new kind is_table')

TOKEN = re.compile(r'''
    (?P<comment>/\*.*?\*/|//[^\n]*)
  | (?P<string>"(?:\\.|[^"\\\n])*")
  | (?P<char>'(?:\\.|[^'\\\n])+')
  | (?P<number>\b(?:0[xX][0-9a-fA-F]+|[0-9]+)[uUlL]*\b)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<op><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[-+*/%&|^~!<>=?:;,.(){}\[\]])
  | (?P<newline>\n)
''', re.S | re.X)

OPERATORS = {
    '<': ['<=', '>'], '<=': ['<', '>'], '>': ['>=', '<'], '>=': ['>', '<'], '==': ['!='], '!=': ['=='], '&&': ['||'], '||': ['&&'],
    '+': ['-'], '-': ['+'], '<<': ['>>'], '>>': ['<<'], '&': ['|'], '|': ['&'], '+=': ['-='], '-=': ['+='], '|=': ['&='], '&=': ['|='],
    '++': ['--'], '--': ['++'], '%': ['/'],
}

Token = collections.namedtuple('Token', 'kind text line column')


def tokens(text):
    """All tokens of a file but those of preprocessor lines, whose continuation lines count too."""
    found = []
    line, start = 1, 0
    skipping = None
    for match in TOKEN.finditer(text):
        while True:
            newline = text.find('\n', start, match.start())
            if newline < 0:
                break
            line, start = line + 1, newline + 1
        kind = match.lastgroup
        if kind not in ('newline', 'comment'):
            if skipping != line:
                head = text[start:match.start()].strip()
                if head.startswith('#'):
                    skipping = line
            if skipping == line:
                end = text.find('\n', match.start())
                if end > 0 and text[end - 1] == '\\':
                    skipping = line + 1
                continue
            found.append(Token(kind, match.group(), line, match.start() - start))
        elif kind == 'newline' and skipping == line and text[match.start() - 1:match.start()] == '\\':
            skipping = line + 1
    return found


def is_binary(before):
    """Whether an operator that stands after this token has a left operand."""
    return before is not None and (before.kind in ('number', 'char', 'string') or before.text in (')', ']') or
                                   (before.kind == 'word' and before.text not in ('return', 'case', 'sizeof', 'else', 'do')))


def number_faults(token):
    digits = re.match(r'0[xX][0-9a-fA-F]+|[0-9]+', token.text).group()
    suffix = token.text[len(digits):]
    value = int(digits, 0) if not (digits.startswith('0') and digits.isdigit() and len(digits) > 1) else int(digits, 8)
    form = (lambda v: hex(v)) if digits[:2] in ('0x', '0X') else str
    yield form(value + 1) + suffix
    if value > 1:
        yield form(value - 1) + suffix
    if value > 2 and value & (value - 1) == 0:
        yield form(value * 2) + suffix


def closing(all_tokens, i):
    """The index of the bracket that closes the one at i."""
    depth = 0
    for j in range(i, len(all_tokens)):
        if all_tokens[j].text in '([{':
            depth += 1
        elif all_tokens[j].text in ')]}':
            depth -= 1
            if depth == 0:
                return j
    return None


def on_one_line(all_tokens, i, j):
    return all_tokens[i].line == all_tokens[j].line


def drop_condition(all_tokens, i):
    """The end of the operand on the right of the && or || at i, exclusive; None where it goes on beyond the line."""
    depth = 0
    for j in range(i + 1, len(all_tokens)):
        if all_tokens[j].line != all_tokens[i].line:
            return None
        text = all_tokens[j].text
        if text in ('(', '[', '{'):
            depth += 1
        elif text in (')', ']', '}'):
            if depth == 0:
                return j
            depth -= 1
        elif depth == 0 and text in ('&&', '||', '?', ':', ';', ','):
            return j
    return None


def arguments(all_tokens, i, j):
    """The arguments between the brackets at i and j as pairs of columns, where each is on one line."""
    parts, depth, first = [], 0, i + 1
    for k in range(i + 1, j + 1):
        text = all_tokens[k].text
        if k == j or (text == ',' and depth == 0):
            if k > first:
                last = all_tokens[k - 1]
                parts.append((all_tokens[first].column, last.column + len(last.text)))
            first = k + 1
        elif text in '([{':
            depth += 1
        elif text in ')]}':
            depth -= 1
    return parts


# Lines on which no answer depends: what tests count of work, what is fetched ahead.
NO_ANSWER = re.compile(r'MACHSYM_COUNT_WORK|PREFETCH|prefetch|_Static_assert|static_assert')


# Of a comparison for qsort only the sign counts.
SIGN = re.compile(r'\breturn .*\? (-1 : 1|1 : -1);')
OTHER_SYSTEMS = re.compile(r'#\s*if(def | defined\()(_WIN32|__APPLE__)')


def lines_elsewhere(lines):
    """The numbers of the lines that are compiled on other systems alone."""
    found, open_ifs = set(), []
    for number, row in enumerate(lines, 1):
        row = row.strip()
        if re.match(r'#\s*if', row):
            open_ifs.append(True if OTHER_SYSTEMS.match(row) else False if re.match(r'#\s*ifndef _WIN32', row) else None)
        elif re.match(r'#\s*else', row) and open_ifs and open_ifs[-1] is not None:
            open_ifs[-1] = not open_ifs[-1]
        elif re.match(r'#\s*endif', row) and open_ifs:
            open_ifs.pop()
        if True in open_ifs:
            found.add(number)
    return found


def faults(path, text):
    """Every fault that can be planted in the text of a file."""
    lines = text.split('\n')
    elsewhere = lines_elsewhere(lines)
    all_tokens = [token for token in tokens(text) if token.line not in elsewhere]
    found = []

    def add(token, end, new, kind, begin=None):
        begin = token.column if begin is None else begin
        row = lines[token.line - 1]
        if row[begin:end] != new and not NO_ANSWER.search(row) and not (kind == 'constant' and SIGN.search(row)):
            found.append(Fault(path, token.line, begin, end, new, kind, is_table))

    is_table = False
    depth = 0  # of braces: 0 is outside of functions and tables
    for i, token in enumerate(all_tokens):
        before = all_tokens[i - 1] if i else None
        after = all_tokens[i + 1] if i + 1 < len(all_tokens) else None
        if token.text == '{':
            if depth == 0:
                is_table = before is None or before.text != ')'
            depth += 1
        elif token.text == '}':
            depth -= 1
        if depth == 0:
            continue
        if token.kind == 'number' and not (before and before.text == '[' and depth == 0):
            for new in number_faults(token):
                add(token, token.column + len(token.text), new, 'constant')
        elif token.kind == 'char' and len(token.text) == 3 and token.text[1].isalnum():
            add(token, token.column + 3, "'%s'" % chr(ord(token.text[1]) + 1), 'constant')
        elif token.kind == 'op' and token.text in OPERATORS:
            if token.text in '+-&' and not is_binary(before):
                continue
            for new in OPERATORS[token.text]:
                add(token, token.column + len(token.text), new, 'operator')
            if token.text in ('&&', '||'):
                end = drop_condition(all_tokens, i)
                if end is not None and on_one_line(all_tokens, i, end):
                    add(token, all_tokens[end].column, '', 'dropped condition')
        elif token.text in ('if', 'while') and after and after.text == '(':
            end = closing(all_tokens, i + 1)
            if end is not None and on_one_line(all_tokens, i, end):
                inner = lines[token.line - 1][after.column:all_tokens[end].column + 1]
                stop = all_tokens[end].column + 1
                if token.text == 'if':
                    add(token, stop, '(!%s)' % inner, 'condition', after.column)
                add(token, stop, '(0 && %s)' % inner, 'condition', after.column)
        elif token.text == 'return' and after and after.text == ';':
            add(token, after.column + 1, ';', 'early return')
        elif token.text in ('continue', 'break') and after and after.text == ';' and 'case' not in lines[token.line - 1]:
            add(token, after.column + 1, ';', 'early return')
        elif token.text in ('true', 'false'):
            add(token, token.column + len(token.text), 'false' if token.text == 'true' else 'true', 'constant')
        elif token.text == '(' and before and before.kind == 'word' and before.text not in ('if', 'while', 'for', 'switch', 'return', 'sizeof'):
            end = closing(all_tokens, i)
            if end is not None and on_one_line(all_tokens, i, end):
                parts = arguments(all_tokens, i, end)
                for one, two in zip(parts, parts[1:]):
                    row = lines[token.line - 1]
                    add(token, two[1], row[two[0]:two[1]] + row[one[1]:two[0]] + row[one[0]:one[1]], 'swapped arguments', one[0])
        elif token.text == '{' and depth > 1 and before and before.text in (',', '{') and after and after.kind in ('string', 'number', 'word'):
            found.extend(row_faults(path, all_tokens, i, is_table))
        elif token.kind == 'word' and before and before.text in (';', '{', '}') and after and after.text in ('(', '=', '+=', '->', '.', '['):
            end = next((j for j in range(i, len(all_tokens)) if all_tokens[j].text in (';', '{')), None)
            if end is not None and all_tokens[end].text == ';' and on_one_line(all_tokens, i, end):
                add(token, all_tokens[end].column + 1, ';', 'dropped statement')
    return found


def row_faults(path, all_tokens, i, is_table):
    """Of a row of a table, {KEY, ...} on a line of its own: its key swapped with that of the next row. Both rows change, so
    the fault is two lines long; the text of the first is replaced by both keys' exchange on this line alone: the key of the
    next row stands twice, this row's no longer."""
    end = closing(all_tokens, i)
    if end is None or not on_one_line(all_tokens, i, end) or end + 2 >= len(all_tokens):
        return
    following = all_tokens[end + 2] if all_tokens[end + 1].text == ',' else None
    if following is None or following.text != '{' or end + 3 >= len(all_tokens):
        return
    key, other = all_tokens[i + 1], all_tokens[end + 3]
    if key.kind == other.kind and key.text != other.text and all_tokens[i + 2].text == ',':
        yield Fault(path, key.line, key.column, key.column + len(key.text), other.text, 'table row', is_table)


def planted(text, fault):
    lines = text.split('\n')
    row = lines[fault.line - 1]
    lines[fault.line - 1] = row[:fault.begin] + fault.new + row[fault.end:]
    return '\n'.join(lines)


def shown(text, fault):
    row = text.split('\n')[fault.line - 1]
    return row.strip(), (row[:fault.begin] + fault.new + row[fault.end:]).strip()

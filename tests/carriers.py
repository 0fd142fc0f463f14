#!/usr/bin/env python3
"""Reports in whatever carries them: each must be answered as it is alone.

An oracle that knows nothing of the tool's ways: it puts reports of two builds of a program, which lie at the same
addresses, into a carrier in every order, runs the tool once over that and once over each report alone, and wants equal
answers. What is written in the input's own form is taken out of the carrier by Python and compared, too.
QUICK in the environment is for builds that are slow: one carrier of four is tried.
usage: carriers.py TOOL FOLDER"""
import html
import itertools
import json
import os
import re
import subprocess
import sys

tool, work = sys.argv[1], sys.argv[2]
DEMO = 'tests/fixtures/bin/demo.app.dSYM'
passed = failed = 0


def check(ok, what):
    global passed, failed
    passed += ok
    failed += not ok
    if not ok:
        print('failed:', what)


def read(name):
    with open('tests/fixtures/reports/' + name, encoding='utf-8') as file:
        return file.read()


def other_build(text):
    """The same report of another build, which has no dSYM."""
    text = text.replace('4c4c44b555553144a1ba79ca685dec58', 'a' * 32)
    return re.sub('4c4c44b5-5555-3144-a1ba-79ca685dec58', 'a' * 8 + '-aaaa-aaaa-aaaa-' + 'a' * 12, text, flags=re.I)


def run(path, *options):
    done = subprocess.run([tool, 'crash', '-q', '--no-demangle', '-d', DEMO, *options, path], capture_output=True, timeout=120,
                          check=False)
    return done.returncode, done.stdout.decode('utf-8', 'surrogateescape')


def write(name, text):
    path = os.path.join(work, name)
    with open(path, 'w', encoding='utf-8', errors='surrogateescape', newline='') as file:
        file.write(text)
    return path


def answers(path):
    """The answers for each report: JSON, signature, summary. Names of files are not part of them."""
    status, out = run(path, '--json')
    documents = []
    for line in out.splitlines():
        document = json.loads(line)
        document.pop('part', None)
        documents.append(document)
    status2, out = run(path, '--json', '--signature')
    signatures = [(s['hash'], s['signature']) for s in map(json.loads, out.splitlines())]
    status3, out = run(path, '--json', '--summary')
    summaries = []
    for line in out.splitlines():
        summary = json.loads(line)
        summary.pop('report', None), summary.pop('part', None)
        summaries.append(summary)
    return status, status2, status3, documents, signatures, summaries


alone = {}


def answers_alone(text):
    if text not in alone:
        path = write('alone', text)
        alone[text] = (answers(path), run(path)[1])
    return alone[text]


def in_any_order(document, images=None):
    """A report or a summary in which frames have their images, not the number in a list of them."""
    if isinstance(document, list):
        return [in_any_order(one, images) for one in document]
    if not isinstance(document, dict):
        return document
    images = document.get('images', images)
    plain = {key: in_any_order(value, images) for key, value in document.items()}
    if isinstance(document.get('image'), int):
        plain['image'] = images[document['image']]
    if 'images' in document:
        plain['images'] = sorted(images, key=json.dumps)
    return plain


turn = itertools.count()


def compare(what, carried, texts, take=None, same=lambda value: value):
    """carried holds the texts; take gets them out again; same leaves out what may differ."""
    if 'QUICK' in os.environ and next(turn) % 4:
        return
    path = write('carried', carried)
    got = answers(path)
    wanted = [answers_alone(text)[0] for text in texts]
    for i, part in ((3, 'json'), (4, 'signature'), (5, 'summary')):
        check(same(got[i]) == same([one for answer in wanted for one in answer[i]]), f'{what}: {part}')
    check(got[0] == max(answer[0] for answer in wanted), f'{what}: status {got[0]}')
    status, out = run(path)
    if take is not None:
        check(take(out) == [answers_alone(text)[1] for text in texts], f'{what}: in its own form')
        check(take(carried) == list(texts), f'{what}: the carrier itself')
    empty = subprocess.run([tool, 'crash', '-q', '-d', work + '/empty', path], capture_output=True, timeout=120, check=False)
    check(empty.stdout.decode('utf-8', 'surrogateescape') == carried, f'{what}: as it was without symbols')


def go_json(value):
    """As Go and others write it: no <, > or & in it."""
    return json.dumps(value).replace('<', '\\u003c').replace('>', '\\u003e').replace('&', '\\u0026')


def all_unicode(value):
    return json.dumps(''.join(value)).replace('\\n', '\\u000a').replace('0x', '\\u0030x')


# Each: a name, a function that puts texts in, one that takes them out of what the tool writes.
JSON_CARRIERS = [
    ('ndjson', lambda v: ''.join(json.dumps({'id': i, 'crash': t}) + '\n' for i, t in enumerate(v)),
     lambda s: [json.loads(line)['crash'] for line in s.splitlines()]),
    ('ndjson of strings', lambda v: ''.join(json.dumps(t) + '\n' for t in v), lambda s: [json.loads(line) for line in s.splitlines()]),
    ('array of strings', lambda v: json.dumps(list(v)), json.loads),
    ('members of an object', lambda v: json.dumps({'r%d' % i: t for i, t in enumerate(v)}, indent=1),
     lambda s: list(json.loads(s).values())),
    ('objects in an array', lambda v: json.dumps({'rows': [{'n': 1, 'deep': {'text': t}} for t in v]}, indent=2),
     lambda s: [row['deep']['text'] for row in json.loads(s)['rows']]),
    ('not ascii, escaped slashes', lambda v: '[' + ',\n'.join(json.dumps(t, ensure_ascii=False).replace('/', '\\/') for t in v) + ']',
     json.loads),
    ('as Go writes it', lambda v: '\n'.join(go_json({'crash': t}) for t in v), lambda s: [json.loads(line)['crash'] for line in s.splitlines()]),
    ('a document in a string', lambda v: json.dumps({'payload': json.dumps({'rows': [{'t': t} for t in v]})}),
     lambda s: [row['t'] for row in json.loads(json.loads(s)['payload'])['rows']]),
    ('a string in a string in a string', lambda v: ''.join(json.dumps({'a': json.dumps(json.dumps(t))}) + '\n' for t in v),
     lambda s: [json.loads(json.loads(json.loads(line)['a'])) for line in s.splitlines()]),
    ('documents of any depth', lambda v: json.dumps(['x', {'y': json.dumps([v[0], {'z': json.dumps(list(v[1:]))}])}]),
     lambda s: (lambda w: [w[0]] + json.loads(w[1]['z']))(json.loads(json.loads(s)[1]['y']))),
    ('numbers for escapes', lambda v: '\n'.join('{"crash":%s}' % all_unicode(t) for t in v),
     lambda s: [json.loads(line)['crash'] for line in s.splitlines()]),
]


def prefixed(prefix):
    return lambda v: ''.join(prefix + line + '\n' for t in v for line in t.splitlines())


def unprefixed(prefix):
    def take(text):
        check(all(line.startswith(prefix) for line in text.splitlines()), f'{prefix!r} is ahead of all lines')
        whole = ''.join(line[len(prefix):] + '\n' for line in text.splitlines())
        return [t for t in re.split(r'(?m)^(?=Incident Identifier:)', whole) if t != '']
    return take


PREFIXES = ['> ', '> > ', '>> ', 'Mar 14 08:26:53 mac demo[412]: ', '2026-03-14 08:26:53.123 demo[412:9] ', 'I/crash   (  412): ',
            '2026-03-14T08:26:53Z stdout F | ', '[08:26:53] ', '2026-03-14T08:26:53.123456789Z stdout F ',
            '<165>1 2026-03-14T08:26:53.003Z mac demo 412 ID47 - ', '{level=info} ', '\x1b[31mERROR\x1b[0m ', '\x1b[2m2026-03-14T08:26:53Z\x1b[0m \x1b[1;32mINFO\x1b[0m ']
LINE_CARRIERS = [(repr(p), prefixed(p), unprefixed(p)) for p in PREFIXES]
LINE_CARRIERS += [
    ('one after another', ''.join,
     lambda s: [t for t in re.split(r'(?m)^(?=Incident Identifier:)', s) if t != '']),
    ('quoted in a string', lambda v: json.dumps({'mail': prefixed('> ')(v)}), lambda s: unprefixed('> ')(json.loads(s)['mail'])),
    ('several in a string', lambda v: json.dumps({'all': ''.join(v)}),
     lambda s: [t for t in re.split(r'(?m)^(?=Incident Identifier:)', json.loads(s)['all']) if t != '']),
]


def stamp(i):
    return '2026-03-14T08:%02d:%02d.%09dZ' % (i // 60 % 60, i % 60, 1000 + 37 * i % 99991)


def lines_of(v):
    return [line for t in v for line in re.sub('\n$', '', t).split('\n')]


def by_lines(record, put=lambda records: ''.join(json.dumps(one) + '\n' for one in records)):
    """Each line in a record of its own."""
    return lambda v: put([record(line, i) for i, line in enumerate(lines_of(v))])


def of_lines(line_of, records_of=lambda s: list(values_in(s))):
    def take(text):
        whole = ''.join(line_of(record).rstrip('\n') + '\n' for record in records_of(text))
        return [t for t in re.split(r'(?m)^(?=Incident Identifier:)', whole) if t != '']
    return take


def values_in(text):
    """Documents that follow each other."""
    decoder, at = json.JSONDecoder(), 0
    while text[at:].strip() != '':
        at += len(text[at:]) - len(text[at:].lstrip())
        value, at = decoder.raw_decode(text, at)
        yield value


# What collectors of logs make of a report: each line in a record.
RECORD_CARRIERS = [
    ('Docker', by_lines(lambda line, i: {'log': line + '\n', 'stream': 'stderr', 'time': stamp(i)}), of_lines(lambda r: r['log'])),
    ('Logstash', by_lines(lambda line, i: {'@timestamp': stamp(i), 'level': 'info', 'n': i, 'message': line, 'host': {'name': 'mac 1'}}),
     of_lines(lambda r: r['message'])),
    ('documents of several lines', by_lines(lambda line, i: {'time': stamp(i), 'fields': {'a': [1, {}], 'text': line}},
                                            lambda records: '\n'.join(json.dumps(one, indent=2) for one in records) + '\n'),
     of_lines(lambda r: r['fields']['text'])),
    ('an array of entries', by_lines(lambda line, i: {'insertId': 'a%d' % i, 'textPayload': line, 'timestamp': stamp(i)},
                                     lambda records: json.dumps(records, indent=2)), of_lines(lambda r: r['textPayload'], json.loads)),
    ('hits of a search', by_lines(lambda line, i: {'_index': 'x', '_source': {'@timestamp': stamp(i), 'message': line}},
                                  lambda records: json.dumps({'took': 3, 'hits': {'total': len(records), 'hits': records}})),
     of_lines(lambda r: r['_source']['message'], lambda s: json.loads(s)['hits']['hits'])),
    ('pairs of a time and a line', by_lines(lambda line, i: [str(1773476813000000000 + i), line],
                                            lambda records: json.dumps({'status': 'ok', 'data': {'result': [{'stream': {'app': 'demo'}, 'values': records}]}})),
     of_lines(lambda r: r[1], lambda s: json.loads(s)['data']['result'][0]['values'])),
    ('an array of lines', by_lines(lambda line, i: line, lambda records: json.dumps({'crash': records, 'id': 1})),
     of_lines(lambda r: r, lambda s: json.loads(s)['crash'])),
    ('records after other ones',
     lambda v: ''.join(json.dumps({'msg': 'started %d' % i, 'pid': i}) + '\n' for i in range(40)) +
     by_lines(lambda line, i: {'msg': line, 'pid': 412})(v) + '{"msg": "ended", "pid": 412}\n', None),
    ('a log in records', by_lines(lambda line, i: {'log': '2026-03-14 08:26:53.%03d demo[412:9] %s' % (i % 1000, line)}), None),
]


KINDS = """reports/demo.crash reports/demo.ips reports/demo-lldb.txt stacks/lldb.txt reports/demo-sample.txt reports/demo-leaks.txt
reports/demo-spindump.txt stacks/swift.txt services/crashlytics-crashed.txt reports/demo-kscrash.json reports/demo-sentry.json
reports/demo-translated.ips system/panic-arm64.txt system/stackshot.ips system/jetsam.ips stacks/asan.txt
services/metrickit-all.json system/spindump-uuid.txt reports/demo-body-only.ips stacks/xctrace.xml stacks/dart.txt stacks/tsan.txt services/bugsnag-event.json
reports/demo-html.crash stacks/go.txt stacks/mono.txt stacks/rust.txt stacks/ubsan.txt system/panic-intel.txt
services/datadog-error.json""".split()


def documents_in(text):
    """The values of members "doc", as they are written."""
    decoder, found = json.JSONDecoder(), []
    for at in (match.end() for match in re.finditer('"doc": ', text)):
        found.append(text[at:decoder.raw_decode(text, at)[1]])
    return found


# Documents as they are, not as strings.
OBJECT_CARRIERS = [
    ('array of documents', lambda v: '[' + ',\n'.join(v) + ']'),
    ('members', lambda v: ''.join('{"id": 1, "doc": %s}\n' % t for t in v)),
    ('deep in one document', lambda v: '{"rows": [' + ', '.join('{"a": {"doc": %s}, "b": "0x1"}' % t for t in v) + ']}'),
    ('beside other values', lambda v: '[1, {"x": [2]}, ' + ', '.join('{"doc": %s}' % t for t in v) + ']'),
]
OBJECTS = """reports/demo-body-only.ips reports/demo-kscrash.json reports/demo-sentry.json services/metrickit-all.json
services/bugsnag-event.json services/datadog-error.json""".split()


def objects():
    """Documents of reports in other documents."""
    texts = []
    for name in OBJECTS:
        with open('tests/fixtures/' + name, encoding='utf-8', newline='') as file:
            texts.append(file.read().strip())
    for a, b in itertools.product(range(len(texts)), repeat=2):
        v = [texts[a], elsewhere(texts[b]), texts[b]]
        for name, put in OBJECT_CARRIERS:
            what = f'{name}, {OBJECTS[a]}, then {OBJECTS[b]}'
            if name == 'array of documents' and 'metrickit' in OBJECTS[a] and a == b:
                # Payloads of one array have one list of images, in whose order each diagnostic lists its own.
                compare(what, put(v), v, None, in_any_order)
                continue
            compare(what, put(v), v, documents_in if '"doc"' in put(v) else None)


def borrowed():
    """A stack of lldb's without images follows a report. It gets names only if its frames name the report's
    images."""
    stack = '* thread #1, stop reason = signal SIGABRT\n  * frame #0: 0x%s %s\n    frame #1: 0x0000000102a30a7c %s\n'
    for address, first, second, wanted in (('0000000102a309fc', 'demo`main + 4', 'demo`x + 8', 'used'),
                                           ('0000000102a309fc', 'demo`main + 4', 'other`x + 8', 'refused'),
                                           ('0000000102a309fc', 'other`main + 4', 'other`x + 8', 'refused'),
                                           ('0000000502a309fc', 'demo`main + 4', 'demo`x + 8', 'refused'),
                                           ('0000000502a309fc', 'far`main + 4', 'demo`x + 8', 'used')):
        path = write('borrowed', read('demo.crash') + '\n' + stack % (address, first, second))
        what = f'lldb after a report, {address} {first} {second}'
        lines = run(path, '--json')[1].splitlines()
        check(len(lines) == 1, f'{what}: one report')
        thread = [t for t in json.loads(lines[0])['threads'] if 'borrowed_images' in t]
        check([t['borrowed_images'] for t in thread] == [wanted], f'{what}: {wanted}')
        for frame in [f for t in thread for f in t['frames']] if wanted == 'refused' else []:
            check(frame['image'] is None and frame['calls'] == [], f'{what}: no name')
        status, out = run(path, '--summary')
        check(('the stack of lldb lists no images' in out) and (('no names' in out) == (wanted == 'refused')), f'{what}: said')
    for text in (read('demo.crash'), read('demo-lldb.txt')):
        check('borrowed_images' not in run(write('borrowed', text), '--json')[1], 'a report with its own images borrows none')


def elsewhere(text):
    """Another build that was loaded at another address."""
    text = re.sub('102a3(?=[0-9a-f]{4})', '112a3', other_build(text), flags=re.I)
    return re.sub(r'4339[0-9]{6}(?![0-9])', lambda found: str(int(found.group(0)) + 0x10000000), text)


def records():
    """Records of reports that are left out go, the others stay; persons go from records as they do from the report alone."""
    first = read('demo.crash').replace('/private/var', '/Users/alice x/var')
    second = elsewhere(first).replace('Process:             demo [', 'Process:             other [')
    check(first != second and 'alice' in first and 'other [' in second, 'two processes')
    for name, put, take in RECORD_CARRIERS:
        if take is None:
            continue
        for process, kept in (('demo', first), ('other', second)):
            path = write('records', put([first, second, first]))
            out = run(path, '--only=process=' + process)[1]
            alone = run(write('one', kept))[1]
            check(take(out) == [alone] * (2 if process == 'demo' else 1), f'{name}: --only=process={process}')
        wanted = [run(write('one', t), '--redact-key=x')[1] for t in (first, second)]
        out = run(write('records', put([first, second])), '--redact-key=x')[1]
        check(take(out) == wanted and 'alice' not in out, f'{name}: --redact')


def behind_prefixes():
    """Documents and tables that a mail quotes, or a log has line by line, are what they are alone."""
    names = ('reports/demo.ips', 'reports/demo-pretty.ips', 'reports/demo-body-only.ips', 'reports/demo-kscrash.json', 'reports/demo-sentry.json',
             'services/metrickit-all.json', 'stacks/xctrace.xml')
    for prefix, (a, b) in itertools.product(PREFIXES, zip(names, names[1:] + names[:1])):
        texts, what = [], f'{prefix!r}, {a}, then {b}'
        for name in (a, b):
            with open('tests/fixtures/' + name, encoding='utf-8', newline='') as file:
                texts.append(file.read().rstrip('\n').replace('/private/var', '/Users/alice x/var') + '\n')
        texts[1] = elsewhere(texts[1])
        path = write('wrapped', 'see below\n\n' + ''.join(map(prefixed(prefix), ([t] for t in texts))) + '\nand above\n')
        for options in ((), ('--redact-key=x',)):
            out = run(path, *options)[1]
            alone = ''.join(run(write('one', t), *options)[1] for t in texts)
            lines = out.split('\n')[2:-3]
            check(all(line.startswith(prefix) for line in lines), f'{what}, {options}: the prefix is ahead of all lines')
            check(''.join(line[len(prefix):] + '\n' for line in lines) == alone, f'{what}, {options}: in its own form')
        check(answers(path)[3:] == tuple(answers(write('one', texts[0]))[i] + answers(write('one', texts[1]))[i] for i in (3, 4, 5)), f'{what}: answers')


def signatures(text):
    status, out = run(write('pair', text), '--json', '--signature')
    check(status in (0, 1), f'status {status}')
    return [(s['hash'], s['signature']) for s in map(json.loads, out.splitlines())]


# What holds several texts of any kind.
PAIR_CARRIERS = [
    ('strings', lambda v: json.dumps({'r%d' % i: t for i, t in enumerate(v)})),
    ('one string', lambda v: json.dumps({'all': ''.join(v)})),
    ('quotes', prefixed('> ')),
    ('a log', prefixed('2026-03-14 08:26:53.123 demo[412:9] ')),
    ('records', by_lines(lambda line, i: {'log': line + '\n', 'stream': 'stderr', 'time': stamp(i)})),
    ('entries of an array', by_lines(lambda line, i: {'timestamp': i, 'm': {'text': line}}, json.dumps)),
]


def carried_pairs(texts, step):
    """Pairs in strings, quotes and logs."""
    every = [(name, put, a, b) for name, put in PAIR_CARRIERS for a, b in itertools.product(range(len(KINDS)), repeat=2)]
    for name, put, a, b in every[::step * 7]:
        (first, one), (second, two) = texts[a][0], texts[b][1]
        check(signatures(put([first, second])) == one + two, f'{name}: {KINDS[a]}, then {KINDS[b]}: signatures')


def chosen_pairs(texts, step):
    """What --only leaves of pairs, and how --group counts them."""
    for a, b in list(itertools.product(range(len(KINDS)), repeat=2))[::step * 7]:
        v, what = [texts[a][0][0], texts[b][1][0]], f'{KINDS[a]}, then {KINDS[b]}'
        for only in ('kind=EXC_BREAKPOINT', 'process=demo', 'since=2026-03-14'):
            alone = [line for text in v for line in run(write('one', text), '--json', '--signature', '--only=' + only)[1].splitlines()]
            both = run(write('pair', ''.join(v)), '--json', '--signature', '--only=' + only)[1].splitlines()
            check([json.loads(s)['hash'] for s in both] == [json.loads(s)['hash'] for s in alone], f'{what}: --only={only}')
        groups = map(json.loads, run(write('pair', ''.join(v)), '--json', '--group')[1].splitlines())
        wanted = {}
        for one, _ in texts[a][0][1] + texts[b][1][1]:
            wanted[one] = wanted.get(one, 0) + 1
        check({group['hash']: group['count'] for group in groups} == wanted, f'{what}: --group')


def broken_pairs():
    """Other ends of lines, NULs, and a report that is cut ahead of a whole one."""
    first, second = read('demo.crash'), elsewhere(read('demo.crash'))
    wanted = signatures(first) + signatures(second)
    for name, text in (('\\r\\n', (first + second).replace('\n', '\r\n')), ('\\r', (first + second).replace('\n', '\r')),
                       ('NULs', first + '\0\0\n' + second + '\0')):
        check(signatures(text) == wanted, f'two reports, {name}')
    for name in ('demo.crash', 'demo.ips', 'demo-leaks.txt', 'demo-sample.txt', 'demo-kscrash.json'):
        whole = read(name)
        for cut in range(200, len(whole), len(whole) // 5):
            half = whole[:cut] + '\n'
            check(signatures(half + second) == signatures(half) + signatures(second), f'{name} cut at {cut}, then a whole report')


def pairs(step):
    """Reports of two kinds and two builds in one file give the names and reports that each gives alone."""
    texts = []
    for name in KINDS:
        with open('tests/fixtures/' + name, encoding='utf-8', newline='') as file:
            text = file.read()
        text += '' if text.endswith('\n') else '\n'
        texts.append([(one, signatures(one)) for one in (text, elsewhere(text))])
    carried_pairs(texts, step)
    chosen_pairs(texts, step)
    every = [(a, b, i) for a, b in itertools.product(range(len(KINDS)), repeat=2) for i in (0, 1)]
    for at, (a, b, i) in enumerate(every):
        (first, one), (second, two) = texts[a][i], texts[b][1 - i]
        if at % step == 0:
            check(signatures(first + second) == one + two, f'{KINDS[a]}, then {KINDS[b]}, {i}: signatures')
        if at % (step * 8) == 0:
            compare(f'{KINDS[a]}, then {KINDS[b]}, {i}', first + second, [first, second])


def main():
    os.makedirs(os.path.join(work, 'empty'), exist_ok=True)
    objects()
    borrowed()
    records()
    behind_prefixes()
    broken_pairs()
    every = 1 if os.environ.get('SAMPLE') == '1' else 7
    pairs(every)
    text = read('demo.crash')
    right, wrong = text, other_build(text)
    orders = ([right, wrong], [wrong, right], [wrong, wrong], [right, right], [right, wrong, right], [wrong, right, wrong],
              [right, right, wrong], [wrong, right, right])
    for at, v in enumerate(orders):
        order = ''.join('wr'[t == right] for t in v)
        # where SAMPLE is not 1, each carrier in every third order
        for name, put, take in (JSON_CARRIERS + LINE_CARRIERS + RECORD_CARRIERS)[at % min(3, every)::min(3, every)]:
            compare(f'{name}, {order}', put(v), v, take)
    kinds = [read(name) for name in ('demo.ips', 'demo-body-only.ips', 'demo-kscrash.json', 'demo-sentry.json', 'demo-pretty.ips', 'demo-side.crash')]
    kinds += [text, read('demo-html.crash')]
    for a, b in list(itertools.permutations(kinds, 2))[::min(5, every)]:
        v = [a, other_build(b), b]
        for name, put, take in JSON_CARRIERS[:1] + JSON_CARRIERS[4:5] + JSON_CARRIERS[7:8]:
            compare(f'{name}, kinds {kinds.index(a)} {kinds.index(b)}', put(v), v, take)


main()
print(f'{passed} passed, {failed} failed, 0 skipped')
sys.exit(failed > 0)

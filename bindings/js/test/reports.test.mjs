// Whole reports without the tool, under node, against the tool that a compiler made: every form of every report of the
// project's fixtures, hostile input, memory.
// Environment: PACKAGE, the built package; TOOL, the native tool.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import zlib from 'node:zlib';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';

const root = path.resolve(path.dirname(new URL(import.meta.url).pathname), '../../..');
const fixture = (name) => path.join(root, 'tests/fixtures', name);
const built = path.resolve(process.env.PACKAGE);
const machsym = await import(pathToFileURL(path.join(built, 'node.js')).href);
const DEMO = fixture('bin/demo.app.dSYM');
const dwarf = path.join(DEMO, 'Contents/Resources/DWARF/demo');
const demo = () => ({ path: dwarf, data: fs.readFileSync(dwarf) }); // with the path that the tool tells
const FORMS = ['same', 'text', 'apple', 'json', 'brief', 'summary', 'signature'];
const FOLDERS = ['reports', 'services', 'stacks', 'apple', 'system'];
const CORPUS = process.env.CORPUS ?? path.resolve(root, '../shared/corpus');
const MB = 1 << 20;

function filesOf(folder) {
  return fs.readdirSync(fixture(folder), { withFileTypes: true }).flatMap((one) => {
    const name = `${folder}/${one.name}`;
    if (one.isDirectory()) return filesOf(name);
    return one.isFile() && one.name !== 'SOURCES' ? [fixture(name)] : [];
  }).sort();
}

/** What `machsym crash` writes of a file, in a form. */
function asked(file, form, ...more) {
  return askedWith(DEMO, file, form, ...more);
}

function askedWith(symbols, file, form, ...more) {
  const option = form === 'same' || form === 'text' ? `--to=${form}` : `--${form}`;
  const { stdout } = spawnSync(process.env.TOOL, ['crash', '-q', '--no-cache', option, ...more, '-d', symbols, file], { maxBuffer: 1 << 28 });
  const text = stdout.toString('latin1');
  if (form === 'summary') return text.replaceAll(/^== .*\n/gm, ''); // the name of each of several
  return form === 'signature' ? text.replaceAll(/(.*) {2}.*\n/g, '$1\n') : text; // after it the name of the file
}

const latin1 = (bytes) => Buffer.from(bytes).toString('latin1'); // each byte is a letter
const written = ({ reports, same }, form) => (form === 'same' ? latin1(same) : reports.map((one) => latin1(one.written[form])).join(''));

for (const folder of FOLDERS) {
  test(`every report of ${folder} in every form, byte for byte as the tool`, async () => {
    const symbols = await machsym.symbols([demo()]);
    let named = 0;
    for (const file of filesOf(folder)) {
      const bytes = fs.readFileSync(file);
      const answer = await machsym.symbolicate(bytes, symbols, { forms: FORMS, name: file });
      for (const form of FORMS) assert.equal(written(answer, form), asked(file, form), `${file}: ${form}`);
      const redacted = await machsym.symbolicate(bytes, symbols, { forms: 'same', name: file, redact: 'words' });
      assert.equal(written(redacted, 'same'), asked(file, 'same', '--redact-key=words'), `${file}: redacted`);
      named += answer.reports.reduce((sum, one) => sum + one.named, 0);
    }
    assert.ok(named > 0);
    await symbols.close();
  });
}

const published = fs.existsSync(CORPUS) ? test : () => {};
published('published reports in every form, byte for byte as the tool', async () => {
  const all = fs.readdirSync(CORPUS, { recursive: true }).sort().map((name) => path.join(CORPUS, name)).filter((file) => fs.statSync(file).isFile());
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'machsym-'));
  all.filter((file) => file.includes('.dSYM/Contents/Resources/DWARF/')).forEach((file, i) => fs.copyFileSync(file, path.join(folder, `${i}`)));
  const symbols = await machsym.symbols(fs.readdirSync(folder).sort((a, b) => a - b).map((name) => {
    const file = path.join(folder, name);
    return { path: file, data: fs.readFileSync(file) };
  }));
  let count = 0;
  for (const file of all.filter((name) => /\.(crash|ips|txt|json|dmp)$/.test(name))) {
    const answer = await machsym.symbolicate(fs.readFileSync(file), symbols, { forms: FORMS, name: file });
    for (const form of FORMS) assert.equal(written(answer, form), askedWith(folder, file, form), `${file}: ${form}`);
    count += answer.reports.length;
  }
  assert.ok(count > 0);
  fs.rmSync(folder, { recursive: true });
});

// ---- Dumps, and stacks that are checked ----

const stacks = (name) => path.join(root, 'tests/stacks', name);

/** As asked, with several files of symbols, each option before its value. */
function askedOf(symbols, file, form, ...more) {
  const [first, ...others] = symbols;
  return askedWith(first, file, form, ...more, ...others.flatMap((one) => ['-d', one]));
}

const given = (files) => files.map((file) => ({ path: file, data: fs.readFileSync(file) }));

test('stacks of dumps are unwound by the tables of programs', async () => {
  const program = stacks('x86_64.program');
  for (const dump of ['x86_64.dmp', 'arm64.core'].map(stacks)) {
    const answer = await machsym.symbolicate(fs.readFileSync(dump), given([program]), { forms: FORMS, name: dump });
    for (const form of FORMS) assert.equal(written(answer, form), askedOf([program], dump, form), `${dump}: ${form}`);
  }
  const bytes = fs.readFileSync(stacks('x86_64.dmp'));
  const kept = await machsym.symbols(given([program])); // opened piece by piece first, and then as a whole
  await machsym.symbolicate(fs.readFileSync(stacks('x86_64.json')), kept);
  for (const symbols of [given([program]), kept]) {
    const { reports: [{ frames }] } = await machsym.symbolicate(bytes, symbols);
    assert.equal(frames.filter((frame) => !frame.isInline).length, 10); // tests/minidump.sh
  }
  assert.equal((await machsym.symbolicate(bytes, [])).reports[0].frames.length, 2);
});

test('stacks are checked as crash --check-stack does', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'machsym-'));
  const wrong = path.join(folder, 'off.ips');
  fs.writeFileSync(wrong, fs.readFileSync(fixture('reports/demo.ips'), 'latin1').replace('"imageOffset":2684', '"imageOffset":2688'), 'latin1');
  const files = [dwarf, fixture('bin/demo'), stacks('x86_64.program')];
  const symbols = await machsym.symbols(given(files));
  const frames = [];
  for (const file of [wrong, stacks('x86_64.json')]) {
    const answer = await machsym.symbolicate(fs.readFileSync(file), symbols, { forms: FORMS, name: file, checkStack: true });
    for (const form of FORMS) { // the tool refuses Apple's form with it
      const more = form === 'apple' ? [] : ['--check-stack'];
      assert.equal(written(answer, form), askedOf(files, file, form, ...more), `${file}: ${form}`);
    }
    frames.push(...answer.reports[0].frames);
  }
  assert.deepEqual(frames.filter(({ doubt }) => doubt.startsWith('no call ends here: ')).map(({ address }) => address), [0x102a30a80n]);
  assert.deepEqual(frames.filter(({ isInferred }) => isInferred).map(({ address }) => address), [0x10234042cn]);
  const { reports: [plain] } = await machsym.symbolicate(fs.readFileSync(wrong), symbols);
  assert.ok(plain.frames.every(({ doubt, isInferred }) => doubt === '' && !isInferred));
  fs.rmSync(folder, { recursive: true });
});

// ---- Archives ----

/** Makes archives of the files below a folder by Python: their names are those of the result. */
function archivesOf(folder, to) {
  const script = `
import io, os, sys, tarfile, zipfile, gzip
folder, to = sys.argv[1:]
paths = [os.path.relpath(os.path.join(top, name), folder) for top, _, names in os.walk(folder) for name in names]
def zipped(name, how, **more):
    with zipfile.ZipFile(os.path.join(to, name), "w", how) as z:
        for path in paths:
            with z.open(zipfile.ZipInfo(path) if more else path, "w", **more) as out:
                out.write(open(os.path.join(folder, path), "rb").read())
zipped("stored.zip", zipfile.ZIP_STORED)
zipped("deflated.zip", zipfile.ZIP_DEFLATED)
zipped("large.zip", zipfile.ZIP_DEFLATED, force_zip64=True)
limits = zipfile.ZIP64_LIMIT, zipfile.ZIP_FILECOUNT_LIMIT
zipfile.ZIP64_LIMIT, zipfile.ZIP_FILECOUNT_LIMIT = 10, 1 # every number has 64 bits
zipped("zip64.zip", zipfile.ZIP_DEFLATED, force_zip64=True)
zipfile.ZIP64_LIMIT, zipfile.ZIP_FILECOUNT_LIMIT = limits
with open(os.path.join(to, "before.zip"), "wb") as out:
    out.write(b"PK\\3\\4" + b"x" * 99) # bytes before the zip
    out.write(open(os.path.join(to, "deflated.zip"), "rb").read())
for name, format in (("gnu.tar", tarfile.GNU_FORMAT), ("pax.tar", tarfile.PAX_FORMAT), ("ustar.tar", tarfile.USTAR_FORMAT)):
    with tarfile.open(os.path.join(to, name), "w", format=format) as t:
        for path in paths:
            t.add(os.path.join(folder, path), path)
for name in ("gnu.tar", "stored.zip"):
    with open(os.path.join(to, name), "rb") as f, gzip.open(os.path.join(to, name + ".gz"), "wb") as out:
        out.write(f.read())
with zipfile.ZipFile(os.path.join(to, "nested.zip"), "w") as z:
    z.write(os.path.join(to, "pax.tar"), "inner/pax.tar")
`;
  const { status, stderr } = spawnSync('python3', ['-c', script, folder, to]);
  assert.equal(status, 0, String(stderr));
  return fs.readdirSync(to).sort();
}

function temporary() {
  return fs.mkdtempSync(path.join(os.tmpdir(), 'machsym-'));
}

test('archives of symbols answer as what is in them', async () => {
  const [folder, to] = [temporary(), temporary()];
  const long = path.join(folder, 'a folder whose name, with the folders in it, is longer than the hundred bytes that a header of tar has', 'x');
  fs.cpSync(DEMO, path.join(long, 'demo.app.dSYM'), { recursive: true });
  fs.writeFileSync(path.join(folder, 'Info.plist'), '<plist/>');
  const names = archivesOf(folder, to);
  assert.equal(names.length, 11);
  const report = fs.readFileSync(fixture('reports/demo.crash'));
  const want = (await machsym.symbolicate(report, [demo()])).text;
  assert.match(want, /queue\.hpp:6/);
  for (const name of names) {
    const answer = await machsym.symbolicate(report, [{ path: name, data: fs.readFileSync(path.join(to, name)) }]);
    assert.deepEqual([answer.text, answer.messages], [want, ''], name);
    const byTool = await machsym.symbolicate(report, [{ path: name, data: fs.readFileSync(path.join(to, name)) }], { args: [] });
    assert.equal(answer.text, byTool.text, `${name}: the tool`);
  }
  for (const one of [folder, to]) fs.rmSync(one, { recursive: true });
});

test('archives of reports, and .xccrashpoint bundles, are read as the tool does', async () => {
  const [folder, to] = [temporary(), temporary()];
  const logs = path.join(folder, 'a.xccrashpoint/Filters/Filter_1/Logs');
  const copies = path.join(folder, 'a.xccrashpoint/LocallySymbolicated/Logs');
  for (const one of [logs, copies]) fs.mkdirSync(one, { recursive: true });
  for (const one of [path.join(logs, 'b.crash'), path.join(logs, 'a.crash'), path.join(copies, 'c.crash')])
    fs.copyFileSync(fixture('reports/demo.crash'), one);
  fs.copyFileSync(fixture('reports/demo.ips'), path.join(folder, 'z.ips'));
  fs.copyFileSync(fixture('reports/demo-sample.txt'), path.join(folder, '_sample.txt'));
  fs.copyFileSync(fixture('reports/demo.crash'), path.join(folder, 'a.xccrashpoint/Filters/other.crash')); // not in Logs
  const long = 'a folder whose name, with the folders in it, is longer than the hundred bytes that a header of tar has/x/y.crash';
  fs.mkdirSync(path.join(folder, path.dirname(long)), { recursive: true });
  fs.copyFileSync(fixture('reports/demo.crash'), path.join(folder, long));
  const paths = ['_sample.txt', long, 'a.xccrashpoint/Filters/Filter_1/Logs/a.crash', 'a.xccrashpoint/Filters/Filter_1/Logs/b.crash', 'z.ips'];
  fs.writeFileSync(path.join(folder, 'readme.md'), '# none');
  fs.writeFileSync(path.join(folder, '._z.ips'), 'x');
  const names = archivesOf(folder, to);
  for (const name of [...names, undefined]) {
    const report = { path: name ? path.join(to, name) : folder };
    const answer = await machsym.symbolicate(report, [DEMO]);
    const plainZip = { path: path.join(to, 'stored.zip') }; // the tool does not look for reports in a zip that gzip compressed
    const byTool = await machsym.symbolicate(name === 'stored.zip.gz' ? plainZip : report, [DEMO], { args: [] });
    assert.equal(answer.reports.length, 5, name);
    const { reports } = await machsym.symbolicate(report, [DEMO], { forms: 'brief', name: 'it' });
    const told = reports.map((one) => JSON.parse(Buffer.from(one.written.brief)).report);
    assert.deepEqual(told, paths.map((one) => told.find((of) => of.includes(`/${one === long ? one.slice(0, 30) : one}`))), name);
    assert.equal(answer.text, byTool.text, name);
    const plain = (one) => JSON.stringify([one.json, one.documents, one.isComplete]).replaceAll(/"(symbols|file|report)":"[^"]*"/g, '');
    assert.equal(plain(answer), plain(byTool), name);
  }
  for (const one of [folder, to]) fs.rmSync(one, { recursive: true });
});

test('archives that are damaged, hostile or of another kind are told, and nothing else is lost', async () => {
  const [folder, to] = [temporary(), temporary()];
  fs.copyFileSync(fixture('reports/demo.crash'), path.join(folder, 'a.crash'));
  fs.copyFileSync(dwarf, path.join(folder, 'demo'));
  archivesOf(folder, to);
  const read = (name) => fs.readFileSync(path.join(to, name));
  const report = fs.readFileSync(fixture('reports/demo.crash'));
  const kept = await machsym.symbols([demo()]);
  const { reports: [{ missing }] } = await machsym.symbolicate(report, kept);
  const cutAt = (bytes, share) => bytes.subarray(0, Math.floor(bytes.length * share));
  for (const name of ['stored.zip', 'deflated.zip', 'large.zip', 'gnu.tar', 'pax.tar', 'gnu.tar.gz', 'nested.zip']) {
    for (const share of [0.02, 0.3, 0.6, 0.9, 0.999]) {
      const half = cutAt(read(name), share);
      const { failures, reports } = await machsym.symbolicate(half, kept);
      assert.ok(failures.length > 0 || reports.length === 1 && /tar$/.test(name), `${name} at ${share}`);
      const { reports: [still], messages } = await machsym.symbolicate(report, [{ path: name, data: half }, demo()]);
      assert.equal(still.missing, missing, `${name} at ${share}`);
      if (!/tar/.test(name)) assert.match(messages, /./, `${name} at ${share}`);
    }
  }
  // one bit of each of many places: what is read is as it was, or is told
  const whole = (await machsym.symbolicate(read('deflated.zip'), kept, { forms: 'same' })).same;
  const bytes = new Uint8Array(read('deflated.zip'));
  for (let at = 0; at < bytes.length; at += Math.ceil(bytes.length / 150)) {
    bytes[at] ^= 0x10;
    const answer = await machsym.symbolicate(bytes, kept, { forms: 'same' });
    assert.ok(answer.failures.length > 0 || latin1(answer.same) === latin1(whole), `byte ${at}`);
    bytes[at] ^= 0x10;
  }
  const bomb = zlib.gzipSync(new Uint8Array(64 * MB));
  const { failures: [why] } = await machsym.symbolicate(bomb, []);
  assert.match(why.why, /256 times/);
  const wrong = zlib.gzipSync(report);
  wrong[wrong.length - 8] ^= 1; // of the checksum
  assert.match((await machsym.symbolicate(wrong, [])).failures[0].why, /damaged/);
  const lie = read('deflated.zip');
  lie.writeUInt32LE(0x7ffffff0, lie.indexOf('PK\x01\x02') + 24); // the size of a member
  assert.match((await machsym.symbolicate(lie, [])).failures[0].why, /256 times/);
  const { failures: [none] } = await machsym.symbolicate(zlib.gzipSync('nothing'), []);
  assert.match(none.why, /no report/);
  for (const one of [folder, to]) fs.rmSync(one, { recursive: true });
});

test('a report is an object: kind, images, frames, forms', async () => {
  const bytes = fs.readFileSync(fixture('reports/demo.crash'));
  const { reports: [report, ...more], failures, same } = await machsym.symbolicate(bytes, [DEMO], { forms: ['json', 'apple', 'text', 'summary'] });
  assert.ok(report instanceof machsym.Report);
  assert.deepEqual([more.length, failures, same.length, report.kind, report.number, report.cutAt], [0, [], 0, 'crash text', 0, 0]);
  assert.deepEqual(report.frames.slice(0, 4).map((f) => [f.name, f.line, f.isInline]), [['require(bool)', 6, true],
    ['Queue<int>::at(int)', 13, true], ['Queue<int>::drop(int)', 19, true], ['-[Player skip:]', 19, false]]);
  const [frame] = report.frames;
  assert.deepEqual([frame.isCrashed, frame.address, frame.image, path.basename(frame.path)], [true, 0x102a30aecn, 'demo', 'queue.hpp']);
  const [image] = report.images;
  assert.deepEqual([image.name, image.uuid, image.missing, image.isSystem], ['demo', '4C4C44B5-5555-3144-A1BA-79CA685DEC58', 0, false]);
  assert.ok(report.frameCount >= report.named + report.missing);
  assert.equal(report.json.schema, 'crash/1');
  for (const text of [report.text, report.summary]) assert.match(text, /queue\.hpp:6/);
  const { reports: [bare] } = await machsym.symbolicate(bytes, [], { forms: 'text', walk: false });
  assert.deepEqual([bare.frames, bare.images, bare.json], [[], [], undefined]);
  assert.doesNotMatch(bare.text, /require/);
});

test('options are those of the tool', async () => {
  for (const [file, options, ...args] of [
    ['reports/demo.crash', { fullPaths: true }, '--full-path'], ['reports/demo.crash', { inline: false }, '--no-inline'],
    ['reports/demo.crash', { namedToo: true }, '--all'], ['reports/demo.crash', { fullNames: true }, '--full-names']]) {
    const report = fixture(file);
    const answer = await machsym.symbolicate(fs.readFileSync(report), [demo()], { forms: ['text'], name: report, ...options });
    assert.equal(written(answer, 'text'), asked(report, 'text', ...args), args.join());
    if (options.fullPaths || options.inline === false) assert.notEqual(asked(report, 'text', ...args), asked(report, 'text'), args.join());
  }
});

test('without forms there are the members that the tool gives, and with args the tool gives them', async () => {
  for (const name of ['demo.crash', 'demo.ips', 'two.ips', 'cut.ips', 'demo-sample.txt'].filter((one) => fs.existsSync(fixture(`reports/${one}`)))) {
    const report = { path: fixture(`reports/${name}`) };
    const here = await machsym.symbolicate(report, [DEMO]);
    const byTool = await machsym.symbolicate(report, [DEMO], { args: [] });
    const plain = (one) => JSON.stringify([one.text, one.json, one.documents, one.isComplete]).replaceAll(/"(symbols|file)":"[^"]*"/g, '');
    assert.equal(plain(here), plain(byTool), name);
    assert.ok(here.reports.length > 0 && byTool.reports === undefined);
  }
  const none = await machsym.symbolicate('nothing', [DEMO]);
  assert.deepEqual([none.text, none.json, none.documents, none.isComplete, none.reports], ['', undefined, [], false, []]);
  assert.match(none.messages, /no report/);
  assert.match(none.failures[0].why, /no report/);
  const said = await machsym.symbolicate({ path: fixture('reports/demo.crash') }, [{ path: 'plist', data: Buffer.from('<plist>') }]);
  assert.deepEqual([said.messages, said.isComplete], ['no Mach-O file and no map among the symbols\n', true]);
});

test('an image and a map are symbols, too: as the dSYM of the image', async () => {
  const report = fs.readFileSync(fixture('reports/demo.crash'));
  const options = { forms: FORMS, name: 'a' };
  const plain = (answer) => FORMS.map((form) => written(answer, form).replaceAll(/"(symbols|file)":"[^"]*"/g, ''));
  const want = plain(await machsym.symbolicate(report, [demo()], options));
  const image = await machsym.open(dwarf);
  const map = await image.buildMap('people');
  assert.match(want[0], /queue\.hpp:6/);
  const kept = await machsym.symbols([image]);
  for (const symbols of [image, [image], image, kept, [image, map], [demo(), image]])
    assert.deepEqual(plain(await machsym.symbolicate(report, symbols, options)), want);
  const { reports: [byMap] } = await machsym.symbolicate(report, map, options);
  assert.match(byMap.text, /queue\.hpp:6/);
  await assert.rejects(machsym.symbolicate(report, [image], { args: [] }), TypeError);
  await assert.rejects((await machsym.load()).symbolicate(report, image), TypeError);
  await image.close();
  await assert.rejects(machsym.symbolicate(report, [image]), { message: 'the image is closed' });
  await assert.rejects(machsym.symbolicate(report, image), { code: 'ERR_ARGUMENT' });
});

test('a program is loaded when it is first needed', async () => {
  const none = path.join(root, 'none.wasm');
  const looks = await machsym.load({ reports: none, tool: none });
  assert.ok((await (await looks.open(DEMO)).frames(0x100000aef)).length > 0);
  await assert.rejects(looks.symbolicate('', []), { code: 'ENOENT' });
  await assert.rejects(looks.run(['--version']), { code: 'ENOENT' });
  const reads = await machsym.load({ tool: none });
  assert.equal((await reads.symbolicate({ path: fixture('reports/demo.crash') }, [DEMO])).reports.length, 1);
  await assert.rejects(reads.symbolicate('', [DEMO], { args: [] }), { code: 'ENOENT' });
  const runs = await machsym.load({ reports: none });
  assert.equal((await runs.run(['--version'])).status, 0);
  // what failed once is tried again
  const late = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'machsym-')), 'reports.wasm');
  const again = await machsym.load({ reports: late });
  await assert.rejects(again.symbolicate('', []), { code: 'ENOENT' });
  fs.copyFileSync(path.join(built, 'machsym-reports.wasm'), late);
  assert.equal((await again.symbolicate({ path: fixture('reports/demo.crash') }, [])).reports.length, 1);
  fs.rmSync(path.dirname(late), { recursive: true });
});

test('a program for reports of another version is refused', async () => {
  const { version } = JSON.parse(fs.readFileSync(path.join(built, 'package.json'), 'utf8'));
  const bytes = fs.readFileSync(path.join(built, 'machsym-reports.wasm'));
  const text = bytes.toString('latin1');
  const other = Buffer.from(text.replaceAll(`${version}\0`, `${version.replace(/./, '9')}\0`), 'latin1');
  assert.ok(!other.equals(bytes));
  const one = await machsym.load({ reports: other });
  await assert.rejects(one.symbolicate('', []), { code: 'ERR_ARGUMENT', message: /of different versions/ });
});

test('of many files only those that a report wants are opened', async () => {
  const count = (bytes) => {
    const data = { size: bytes.length, bytes: 0, read: (into, at) => {
      const part = bytes.subarray(at, at + into.length);
      into.set(part);
      data.bytes += part.length;
      return part.length;
    } };
    return data;
  };
  const bytes = fs.readFileSync(fixture('../real/TNSWidgets.dwarf'));
  const [listed, other] = [count(bytes), count(bytes)];
  await machsym.slices(listed);
  const mine = count(fs.readFileSync(dwarf));
  const symbols = await machsym.symbols([{ path: 'other', data: other }, { path: 'it', data: mine }, { path: 'plist', data: Buffer.from('<plist>') }]);
  const report = fs.readFileSync(fixture('reports/demo.crash'));
  const { reports, messages } = await machsym.symbolicate(report, symbols, { forms: 'text' });
  assert.match(reports[0].text, /queue\.hpp:6/);
  assert.equal(messages, '');
  assert.ok(mine.bytes > 0 && other.bytes === listed.bytes, `${other.bytes} bytes, ${listed.bytes} for its slices`);
  const once = mine.bytes;
  await machsym.symbolicate(report, symbols, { forms: 'text' });
  assert.equal(mine.bytes, once);
});

test('wrong arguments are errors in words', async () => {
  const symbols = await machsym.symbols([DEMO]);
  await assert.rejects(machsym.symbolicate('', [], { forms: ['html'] }), { name: 'MachsymError', code: 'ERR_ARGUMENT', message: 'no such form: html' });
  await assert.rejects(machsym.symbolicate('', symbols, { args: [] }), TypeError);
  await assert.rejects((await machsym.load()).symbolicate('', symbols), TypeError);
  await assert.rejects(machsym.symbolicate('', [path.join(root, 'none')]), { code: 'ENOENT' });
  for (const wrong of [{ name: 'a\0b' }, { redact: 'a\0b' }])
    await assert.rejects(machsym.symbolicate('', symbols, wrong), { code: 'ERR_ARGUMENT' });
  await symbols.close();
  await symbols.close();
  await assert.rejects(machsym.symbolicate('', symbols), { message: 'the symbols are closed' });
});

/** Numbers from 0 on, below a limit, the same in every run. */
function randomFrom(seed) {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor(state / 2 ** 32 * limit);
  };
}

test('half files, changed bytes and random bytes are answered or refused, and the next report is answered', async () => {
  const symbols = await machsym.symbols([DEMO]);
  const random = randomFrom(1);
  const good = fs.readFileSync(fixture('reports/demo.crash'));
  const want = written(await machsym.symbolicate(good, symbols, { forms: 'text' }), 'text');
  const inputs = FOLDERS.flatMap(filesOf).flatMap((file) => {
    const bytes = fs.readFileSync(file);
    if (bytes.length > MB) return [];
    const changed = Buffer.from(bytes);
    for (let i = 0; i < 20; i++) changed[random(changed.length)] = random(256);
    return [bytes.subarray(0, bytes.length / 2), bytes.subarray(random(bytes.length)), changed];
  });
  for (let i = 0; i < 50; i++) inputs.push(Buffer.from(Array.from({ length: random(4096) }, () => random(256))));
  for (const deep of ['[', '{"a":', '<array>']) inputs.push(Buffer.from(deep.repeat(200000)));
  for (const input of inputs) {
    const { reports, failures } = await machsym.symbolicate(input, symbols, { forms: FORMS });
    assert.ok(reports.length + failures.length > 0);
    for (const { why, at } of failures) assert.ok(why !== '' && at <= input.length, `${why} at ${at}`);
  }
  assert.equal(written(await machsym.symbolicate(good, symbols, { forms: 'text' }), 'text'), want);
  // files of symbols that are cut short or changed
  const bytes = fs.readFileSync(dwarf);
  for (let i = 0; i < 40; i++) {
    const changed = Buffer.from(bytes.subarray(0, i % 2 ? bytes.length : random(bytes.length)));
    for (let k = 0; k < 30; k++) changed[random(changed.length)] = random(256);
    const { reports } = await machsym.symbolicate(good, [{ path: 'demo', data: changed }], { forms: ['text', 'json'] });
    assert.equal(reports.length, 1);
  }
});

/** The library with a limit to its memory: its section 5 is made anew. */
function limited(bytes, pages) {
  const leb = (at) => {
    let [value, shift, end] = [0, 0, at];
    do {
      value |= (bytes[end] & 0x7f) << shift;
      shift += 7;
    } while (bytes[end++] & 0x80);
    return [value, end];
  };
  const put = (value) => (value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...put(value >>> 7)]);
  for (let at = 8; at < bytes.length;) {
    const [len, from] = leb(at + 1);
    if (bytes[at] === 5) {
      const [least] = leb(from + 2);
      const section = [1, 1, ...put(least), ...put(least + pages)];
      return Buffer.concat([bytes.subarray(0, at), Buffer.from([5, ...put(section.length), ...section]), bytes.subarray(from + len)]);
    }
    at = from + len;
  }
  throw new Error('no memory section');
}

test('out of memory is an error, wherever it happens, and the next input is answered', async () => {
  const library = fs.readFileSync(path.join(built, 'machsym.wasm'));
  const report = fs.readFileSync(fixture('reports/demo.crash'));
  const want = written(await machsym.symbolicate(report, [DEMO], { forms: FORMS }), 'json');
  const seen = new Set();
  let first = 0;
  for (let pages = 1; first === 0; pages += 3) {
    const one = await machsym.load({ library: limited(library, pages) });
    const kept = await one.symbols([DEMO]);
    for (let again = 0; again < 2; again++) {
      try {
        assert.equal(written(await one.symbolicate(report, kept, { forms: FORMS }), 'json'), want);
        first = pages;
      } catch (error) {
        assert.deepEqual([error.name, error.code], ['MachsymError', 'ERR_MEMORY'], error.stack);
        seen.add(error.message);
      }
    }
    assert.ok(pages < 400);
  }
  assert.ok(first > 10, `${first} pages`);
  assert.ok([...seen].some((message) => message.startsWith('no memory left')), [...seen].join());
  // large input fails, a small one is answered after it by the same symbols
  const one = await machsym.load({ library: limited(library, first + 20) });
  const kept = await one.symbols([DEMO]);
  const large = Buffer.concat(Array.from({ length: 3000 }, () => report));
  await assert.rejects(one.symbolicate(large, kept, { forms: FORMS }), { code: 'ERR_MEMORY' });
  assert.equal(written(await one.symbolicate(report, kept, { forms: FORMS }), 'json'), want);
});

test('many calls take no more memory than a few', { skip: typeof globalThis.gc !== 'function' }, async () => {
  const reports = ['demo.crash', 'demo.ips', 'demo-sample.txt', 'watchdog.ips'].map((name) => fs.readFileSync(fixture(`reports/${name}`)));
  reports.push(Buffer.concat([reports[0], Buffer.alloc(1 << 16, '\n')]));
  const symbols = await machsym.symbols([DEMO]);
  const settled = async () => {
    globalThis.gc();
    await new Promise((done) => setTimeout(done, 10));
    globalThis.gc();
    return process.memoryUsage().rss;
  };
  const calls = async (count, files) => {
    for (let i = 0; i < count; i++) {
      await machsym.symbolicate(reports[i % reports.length], files, { forms: FORMS });
      if (i % 50 === 0) await settled();
    }
    return settled();
  };
  for (const [files, count, words] of [[symbols, 4000, 'kept symbols'], [[DEMO], 300, 'symbols of one call']]) {
    const before = await calls(count / 4, files);
    const grown = (await calls(count, files) - before) / MB;
    assert.ok(grown < 20, `${words}: ${Math.round(grown)} MB more`);
  }
});

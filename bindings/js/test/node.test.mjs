// The package under node, against the tool that a compiler made.
// Environment: PACKAGE, the built package; TOOL, the native tool.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';

const root = path.resolve(path.dirname(new URL(import.meta.url).pathname), '../../..');
const fixture = (name) => path.join(root, 'tests/fixtures', name);
const machsym = await import(pathToFileURL(path.join(path.resolve(process.env.PACKAGE), 'node.js')).href);
const work = fs.mkdtempSync(path.join(os.tmpdir(), 'machsym-node-'));
after(() => fs.rmSync(work, { recursive: true }));

function native(...args) {
  try {
    return execFileSync(process.env.TOOL, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 1 << 28 });
  } catch (error) {
    return error.stdout; // status 1: some of what was asked is not known
  }
}

const FILES = [
  ['bin/demo.app.dSYM', 'arm64', 0x100000940, 0x100000af0], ['bin/inline-x86_64-d4-22.dwarf', 'x86_64', 0x100000000, 0x100001000],
  ['bin/inline-arm64-d5-22.dSYM', 'arm64', 0x100000000, 0x100001000], ['bin/inline-x86_64-d2-14.dwarf', 'x86_64', 0x100000000, 0x100001000],
];

for (const [name, arch, from, to] of FILES) {
  test(`every fourth address of ${name} as the tool answers, from the file and from its map`, async () => {
    const addresses = Array.from({ length: Math.floor((to - from) / 4) }, (_, i) => from + 4 * i);
    const lines = native('atos', '--json', '-i', '-o', fixture(name), '--arch', arch, ...addresses.map((at) => `0x${at.toString(16)}`));
    const want = lines.trim().split('\n').map((line) => JSON.parse(line).frames
      .map(({ name: function_, file, line: number }) => [function_, file || undefined, number || undefined]));
    const image = await machsym.open(fixture(name), { arch });
    const map = await image.buildMap();
    for (const one of [image, map]) {
      const got = (await one.lookup(addresses)).map((frames) => frames.map((f) => [f.name, f.file, f.line]));
      assert.deepEqual(got, want);
    }
    assert.ok(want.some((frames) => frames.length > 0));
    const again = await machsym.open(map.bytes);
    assert.ok(again instanceof machsym.Map);
    await Promise.all([image, map, again].map((one) => one.close()));
  });
}

test('bytes, Blob, URL and path are the same file; addresses of a process', async () => {
  const file = path.join(fixture('bin/demo.app.dSYM'), 'Contents/Resources/DWARF/demo');
  const bytes = fs.readFileSync(file);
  const answers = [];
  for (const source of [file, pathToFileURL(file), bytes, new Blob([bytes]), bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)]) {
    const image = await machsym.open(source);
    answers.push(await image.frames(0x102a30aec, { load: 0x102a30000 }));
    assert.equal(image.info.uuid, '4C4C44B5-5555-3144-A1BA-79CA685DEC58');
    assert.ok(image.info.bytesRead > 0);
    await image.close();
  }
  assert.deepEqual(answers[0].map((frame) => frame.name), ['require(bool)', 'Queue<int>::at(int)', 'Queue<int>::drop(int)', '-[Player skip:]']);
  for (const answer of answers) assert.deepEqual(answer, answers[0]);
});

test('names of all languages as the tool reads them', async () => {
  const names = ['_ZN3foo3barEi', '$s4main3fooyyF', '_RNvCs1234_7mycrate3foo', '_D3std5stdio7writelnFZv', 'plain', '', 'é'.repeat(3000)];
  const want = native('demangle', ...names.slice(0, 5)).trim().split('\n');
  assert.deepEqual((await machsym.demangle(names, 'full')).slice(0, 5), want);
  assert.equal(await machsym.demangle('$s4main3fooyyF'), 'foo()');
  assert.deepEqual((await machsym.demangle(names)).slice(5), names.slice(5));
});

test('reports as the tool writes them, text and JSON', async () => {
  const dsym = fixture('bin/demo.app.dSYM');
  for (const name of ['demo.crash', 'demo.ips', 'demo-sample.txt', 'demo-metrickit.json', 'demo-lldb.txt', 'watchdog.ips']) {
    const report = fixture(`reports/${name}`);
    const { text, json } = await machsym.symbolicate({ path: report }, [dsym]);
    assert.equal(text, native('crash', '-q', '-d', dsym, report), name);
    const want = native('crash', '-q', '--to=json', '-d', dsym, report);
    const plain = (one) => JSON.stringify(one).replaceAll(/"symbols":"[^"]*"/g, '"symbols":""');
    assert.equal(plain(json), plain(JSON.parse(want)), name);
  }
});

test('text and JSON of a report come from one lookup: its dSYM is read once', async () => {
  const bytes = fs.readFileSync(path.join(fixture('bin/demo.app.dSYM'), 'Contents/Resources/DWARF/demo'));
  let read = 0;
  const data = { size: bytes.length, read: (into, at) => {
    const part = bytes.subarray(at, at + into.length);
    into.set(part);
    read += part.length;
    return part.length;
  } };
  const report = fs.readFileSync(fixture('reports/demo.crash'), 'utf8');
  await machsym.symbolicate(report, [{ path: 'demo', data }], { forms: 'same' });
  const once = read;
  read = 0;
  const { text, json } = await machsym.symbolicate(report, [{ path: 'demo', data }]);
  assert.match(text, /queue\.hpp:13/);
  assert.equal(json.schema, 'crash/1');
  assert.ok(once > 0 && read === once, `${read} bytes; one form reads ${once}`);
});

test('wrong files and closed images are errors in words', async () => {
  await assert.rejects(machsym.open(new Uint8Array(0)), { name: 'MachsymError', code: 'ERR_FORMAT' });
  await assert.rejects(machsym.open(path.join(work, 'none')), { code: 'ENOENT' });
  await assert.rejects(machsym.open(work), { code: 'EISDIR' });
  await assert.rejects(machsym.open(fixture('bin/demo.app.dSYM'), { arch: 'i386' }), { code: 'ERR_ARCH' });
  await assert.rejects(machsym.open(fixture('bin/demo.app.dSYM'), { uuid: 'x' }), { code: 'ERR_ARGUMENT' });
  const image = await machsym.open(fixture('bin/demo.app.dSYM'));
  await assert.rejects(image.frames('x'));
  await assert.rejects(image.buildMap('none'), { code: 'ERR_ARGUMENT' });
  await image.close();
  await image.close();
  await assert.rejects(image.frames(1), { message: 'the image is closed' });
});

test('of a large map a lookup reads a little, and says how much', async () => {
  const file = path.join(work, 'large.symmap');
  native('map', 'build', '-o', file, fixture('../real/TNSWidgets.dwarf'));
  const asked = [];
  const fd = fs.openSync(file);
  const source = { size: fs.fstatSync(fd).size, read: (into, at) => {
    const got = fs.readSync(fd, into, 0, into.length, at);
    asked.push(got);
    return got;
  } };
  const map = await machsym.open(source);
  const { textAddress, bytesRead } = map.info;
  assert.deepEqual(await map.reads(), { count: map.info.reads, bytes: bytesRead });
  await map.frames(textAddress);
  assert.deepEqual(await map.reads(), { count: asked.length, bytes: asked.reduce((sum, one) => sum + one, 0) });
  await map.close();
  fs.closeSync(fd);
});

test('one file with all inside answers as well', async () => {
  const inline = await import(pathToFileURL(path.join(path.resolve(process.env.PACKAGE), 'inline.js')).href);
  const image = await inline.open(fs.readFileSync(path.join(fixture('bin/demo.app.dSYM'), 'Contents/Resources/DWARF/demo')));
  assert.equal((await image.frames(0x100000aef))[0].name, 'require(bool)');
  await image.close();
  assert.equal(new TextDecoder().decode((await inline.run(['demangle', '_ZN3foo3barEv'])).stdout), 'foo::bar()\n');
});

test('names of files that are no UTF-8', { skip: process.platform !== 'linux' }, async () => {
  const folder = path.join(work, 'names');
  const name = Buffer.concat([Buffer.from(path.join(folder, 'é')), Buffer.from([0xff, 0xc3]), Buffer.from('ü.app.dSYM')]);
  fs.mkdirSync(folder);
  fs.copyFileSync(path.join(fixture('bin/demo.app.dSYM'), 'Contents/Resources/DWARF/demo'), name);
  const report = fixture('reports/demo.crash');
  const want = native('crash', '-q', '-d', folder, report);
  assert.match(want, /queue\.hpp:13/);
  const cli = path.join(path.resolve(process.env.PACKAGE), 'cli.js');
  assert.equal(execFileSync(process.execPath, [cli, 'crash', '-q', '-d', folder, report], { encoding: 'utf8' }), want);
  assert.equal((await machsym.symbolicate({ path: report }, [folder])).text, want);
});

test('paths of Windows, as they are written after the folder of the call', async () => {
  const { folderForProgram, windowsPath } = await import(pathToFileURL(path.join(path.resolve(process.env.PACKAGE), 'disk.js')).href);
  const folder = folderForProgram('C:\\Users\\x', 'win32');
  assert.equal(folder, '/C:/Users/x');
  for (const [written, want] of [['a.ips', 'C:\\Users\\x\\a.ips'], ['b\\a.ips', 'C:\\Users\\x\\b\\a.ips'],
    ['..\\a.ips', 'C:\\Users\\a.ips'], ['D:\\y\\a.ips', 'D:\\y\\a.ips'], ['D:/y/a.ips', 'D:\\y\\a.ips'],
    ['D:', 'D:\\'], ['\\\\server\\share\\a.ips', '\\\\server\\share\\a.ips']])
    assert.equal(path.win32.normalize(windowsPath(`${folder}/${written}`)), want, written);
});

test('the tool runs on files in memory, and gives back what it writes', async () => {
  const { status, outputs } = await machsym.run(['map', 'build', '-o', '/out/demo.symmap', '/demo.app.dSYM'],
    { files: [fixture('bin/demo.app.dSYM')], outputs: ['/out/demo.symmap'] });
  assert.equal(status, 1); // there is no folder /out
  assert.equal(outputs['/out/demo.symmap'], undefined);
  const built = await machsym.run(['map', 'build', '-o', '/demo.symmap', '/demo.app.dSYM'],
    { files: [fixture('bin/demo.app.dSYM')], outputs: ['/demo.symmap'] });
  assert.equal(built.status, 0, built.stderr);
  native('map', 'build', '-o', path.join(work, 'demo.symmap'), fixture('bin/demo.app.dSYM'));
  assert.ok(Buffer.from(built.outputs['/demo.symmap']).equals(fs.readFileSync(path.join(work, 'demo.symmap'))));
});

test('a file as standard input is ready at once, so that many addresses are answered together', async () => {
  const { Host } = await import(pathToFileURL(path.join(path.resolve(process.env.PACKAGE), 'host.js')).href);
  const [CLOCK, READ] = [0, 1];
  for (const [isFile, want] of [[true, READ], [false, CLOCK]]) {
    const host = new Host({ args: [], files: {}, stdin: { isFile }, stdout: {}, stderr: {} });
    host.memory = new WebAssembly.Memory({ initial: 1 });
    host.view.setUint8(8, READ);
    host.view.setUint8(48 + 8, CLOCK);
    host.wasi_poll_oneoff(0, 512, 2, 1024);
    assert.equal(host.view.getUint32(1024, true), 1);
    assert.equal(host.view.getUint8(512 + 10), want);
  }
});

test('a thousand images that are not closed do not stay in memory', { skip: typeof globalThis.gc !== 'function' }, async () => {
  const bytes = fs.readFileSync(path.join(fixture('bin/demo.app.dSYM'), 'Contents/Resources/DWARF/demo'));
  const before = process.memoryUsage().rss;
  for (let i = 0; i < 1000; i++) {
    await (await machsym.open(bytes)).frames(0x100000aef);
    if (i % 50 === 0) {
      globalThis.gc();
      await new Promise((done) => setTimeout(done, 1));
    }
  }
  const grown = (process.memoryUsage().rss - before) / (1 << 20);
  assert.ok(grown < 400, `${Math.round(grown)} MB more`);
});

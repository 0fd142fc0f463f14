// The page in a real browser: real files are dropped, the network is cut, every request is a failure.
// Environment: PAGE, the folder of the built page; TOOL, the native tool; BROWSER, a Chromium; SHOTS, a folder for screenshots
// (optional).
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { after, before, test as nodeTest } from 'node:test';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const root = path.resolve(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), '../../..');
const fixture = (name) => path.join(root, 'tests/fixtures', name);
const built = path.resolve(process.env.PAGE);
const axe = fs.readFileSync(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
const work = fs.mkdtempSync(path.join(os.tmpdir(), 'machsym-page-'));

// A page that is not built, or does not work at all, fails each test only after the time of its waiting: three tell.
const MOST_FAILURES = 3;
let failures = 0;
assert.ok(fs.existsSync(path.join(built, 'machsym.html')), `${built} has no machsym.html: build the package first`);

function test(name, body) {
  nodeTest(name, { timeout: 120000 }, async (t) => {
    assert.ok(failures < MOST_FAILURES, `not tried: ${failures} tests have failed`);
    failures++;
    await body(t);
    failures--;
  });
}

let browser;
let page;
let client;
let requests;
let problems;

before(async () => {
  browser = await chromium.launch({ executablePath: process.env.BROWSER, args: ['--no-sandbox', '--disable-gpu'] });
});
after(async () => {
  await browser?.close();
  fs.rmSync(work, { recursive: true });
});

async function fresh(url = pathToFileURL(path.join(built, 'machsym.html')).href, options = {}) {
  await page?.context().close();
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, ...options });
  page = await context.newPage();
  requests = [];
  problems = [];
  page.on('request', (request) => requests.push(request.url()));
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  client = await context.newCDPSession(page);
  await page.goto(url);
}

/** Drops files and folders as a person does. */
async function drop(...files) {
  const box = await page.locator('#drop').boundingBox();
  const at = { x: box.x + box.width / 2, y: box.y + 20 };
  const data = { items: [], files, dragOperationsMask: 1 };
  for (const type of ['dragEnter', 'dragOver', 'drop']) await client.send('Input.dispatchDragEvent', { type, ...at, data });
}

async function settled() {
  await page.waitForFunction(() => document.getElementById('progress').hidden
    && (!document.getElementById('results').hidden || document.getElementById('errors').textContent !== ''), null,
  { timeout: 20000 });
}

async function shot(name) {
  if (process.env.SHOTS) await page.screenshot({ path: path.join(process.env.SHOTS, `${name}.png`), fullPage: true });
}

function assertQuiet() {
  const own = (url) => url.startsWith('file:') || url.startsWith('blob:') || url.startsWith('http://127.0.0.1');
  assert.deepEqual(requests.filter((url) => !own(url)), []);
  assert.deepEqual(problems, []);
}

async function assertAccessible() {
  // the policy of the page allows no script: it is put in past it
  await client.send('Runtime.evaluate', { expression: axe });
  const { result } = await client.send('Runtime.evaluate', {
    expression: 'axe.run().then((r) => JSON.stringify(r.violations.map((v) => [v.id, v.nodes.map((n) => n.html.slice(0, 120))])))',
    awaitPromise: true,
  });
  assert.deepEqual(JSON.parse(result.value), []);
}

const report = fixture('reports/demo.crash');
const dsym = fixture('bin/demo.app.dSYM');

test('the empty page: nothing is asked of the network', async () => {
  await fresh();
  await shot('empty');
  await assertAccessible();
  assertQuiet();
});

test('a report and the folder of its dSYM are dropped', async () => {
  await fresh();
  await drop(report, dsym);
  await settled();
  const text = await page.locator('#report').innerText();
  assert.match(text, /Queue<int>::at\(int\)/);
  assert.match(text, /queue\.hpp:13/);
  assert.equal(await page.locator('details.crashed[open]').count(), 1);
  assert.ok(await page.locator('.mark', { hasText: 'inlined' }).count() > 0);
  assert.ok(await page.locator('td.found').count() > 0);
  assert.match(text, /First own frame\s+require\(bool\)\s+queue\.hpp:6\s+in demo/);
  assert.equal(await page.locator('#chosen').innerText(), '1 report: demo.crash\n1 file with symbols: demo');
  const ofSystem = page.locator('tr', { hasText: 'libsystem_kernel.dylib' });
  assert.match(await ofSystem.textContent(), /of the system: no file has this UUID/);
  assert.equal(await page.locator('td.missing').count(), 0); // there is no dSYM of the system
  assert.match(await page.locator('footer').innerText(), /^machsym \d+\.\d+\.\d+\./);
  await shot('report');
  await assertAccessible();
  assertQuiet();
});

/** Where what people came for ends, and where the stack begins. */
async function firstScreen() {
  const box = (selector) => page.locator(selector).boundingBox();
  const end = async (selector) => { const { y, height } = await box(selector); return y + height; };
  return { told: Math.max(await end('.sentence'), await end('.own-frame')), stack: (await box('details.crashed')).y };
}

// A report with all that the first screen has: long names, a long path, a sentence of its own, an image that is wanted.
const long = `Process:             Conference Companion for Attendees and Speakers [412]
Version:             2026.11.25 (20261125.4711)
OS Version:          iPhone OS 26.1 (23B85)

Exception Type:  EXC_CRASH (SIGABRT)
Triggered by Thread:  0

Application Specific Information:
Fatal error: Unexpectedly found nil while unwrapping an Optional value: file ConferenceCompanion/Schedule/ScheduleViewController.swift, line 1042

Thread 0 name:   Dispatch queue: com.apple.root.user-initiated-qos.cooperative.of.the.schedule
Thread 0 Crashed:
0   demo                          \t0x0000000102a30aec 0x102a30000 + 2796
1   Companion                     \t0x0000000202a30a7c 0x202a30000 + 2684

Binary Images:
0x102a30000 - 0x102a33fff demo arm64  <4c4c44b555553144a1ba79ca685dec58> /private/var/containers/Bundle/Application/0C1D/Demo Player.app/demo
0x202a30000 - 0x202a33fff Companion arm64  <4c4c44b555553144a1ba79ca685dec59> /private/var/containers/Bundle/Application/0C1D/Demo Player.app/Companion
`;

test('the first screen: what happened, where, and the stack, on a desk and on a phone', async () => {
  const file = path.join(work, 'long.crash');
  fs.writeFileSync(file, long);
  for (const [name, viewport, most] of [['desk', { width: 1280, height: 900 }, 300], ['phone', { width: 390, height: 844 }, 500]]) {
    for (const one of [report, fixture('reports/watchdog.ips'), file]) {
      await fresh(undefined, { viewport });
      await drop(one, dsym);
      await settled();
      const { told, stack } = await firstScreen();
      assert.ok(told < most, `${name}, ${one}: sentence and first own frame end at ${told}`);
      assert.ok(stack < viewport.height - 100, `${name}, ${one}: the stack begins at ${stack}`);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(wide <= 0, `${name}, ${one}: ${wide} px wider than the screen`);
    }
    await shot(`first-${name}`);
    await assertAccessible();
  }
  assertQuiet();
});

test('the stack is copied, as text and as Markdown, and the page says truly whether it was', async () => {
  await fresh();
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const file = path.join(work, 'ticks.crash');
  fs.writeFileSync(file, fs.readFileSync(report, 'utf8').replace('start + 2340', 'a`b```c + 2340').replace('demo [412]', '*demo* <b>x</b> [412]'));
  await drop(file, dsym);
  await settled();
  const copied = async (label) => {
    await page.getByText(label, { exact: true }).click();
    await page.getByText('copied', { exact: true }).waitFor();
    await page.getByText(label, { exact: true }).waitFor(); // the button has its own words again
    return page.evaluate(() => navigator.clipboard.readText());
  };
  const stack = await copied('Copy stack');
  assert.match(stack, /^Thread 0, queue com\.apple\.main-thread, crashed:\n0 +demo +0x102a30aec require\(bool\) \(queue\.hpp:6\) \[inlined\]\n/);
  assert.match(stack, /-\[Player skip:\] \+ 88 \(player\.mm:19\)\n/);
  const markdown = await copied('Copy as Markdown');
  assert.ok(markdown.endsWith(`\n\`\`\`\`\n${stack}\`\`\`\`\n`), markdown); // a fence that nothing in it ends
  assert.ok(markdown.includes('\\*demo\\* \\<b\\>x\\</b\\>'), markdown);
  await page.evaluate(() => {
    Object.defineProperty(navigator, 'clipboard', { value: { writeText: () => Promise.reject(new Error('no')) } });
    document.execCommand = () => false;
  });
  await page.getByText('Copy stack', { exact: true }).click();
  await page.getByText('not copied: the browser refused').waitFor();
  assertQuiet();
});

test('the example is answered; UUIDs that are wanted are copied', async () => {
  await fresh();
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.locator('#example').click();
  await page.locator('.place', { hasText: 'queue.hpp:13' }).first().waitFor();
  await page.locator('#clear').click();
  await drop(report);
  await settled();
  await page.getByText('Copy UUID').click();
  await page.getByText('copied', { exact: true }).waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), '4C4C44B5-5555-3144-A1BA-79CA685DEC58');
  assertQuiet();
});

test('what is redacted is gone from the page, its copies and its downloads', async () => {
  await fresh();
  await drop(report, dsym);
  await settled();
  const key = '0123456789abcdef0123456789abcdef01234567';
  assert.ok((await page.locator('#report').textContent()).includes(key));
  await page.locator('#settings summary').click();
  await page.locator('#redact').check();
  await page.locator('#apply').click();
  await page.waitForFunction((gone) => !document.getElementById('report').textContent.includes(gone)
    && document.getElementById('report').textContent.includes('queue.hpp:13'), key);
  await settled();
  await page.locator('.menu summary').click();
  for (const label of ['Download text', 'Download JSON']) {
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByText(label).click()]);
    const saved = fs.readFileSync(await download.path(), 'utf8');
    assert.ok(saved.includes('queue.hpp') && !saved.includes(key), label);
  }
  assertQuiet();
});

test('lines are links to sources by a template, which the browser keeps', async () => {
  await fresh();
  await drop(report, dsym);
  await settled();
  const link = () => page.locator('.own-frame a.place');
  assert.equal(await link().count(), 0);
  await page.locator('#settings summary').click();
  await page.locator('#template').fill('https://host.example/blob/v{version}/{path}#L{line}');
  await page.locator('#root').fill('/fixtures/=');
  await page.locator('#apply').click();
  await link().waitFor();
  assert.equal(await page.locator('#applied').innerText(), 'Kept in this browser.');
  const wanted = 'https://host.example/blob/v1.2/demo/queue.hpp#L6';
  assert.equal(await link().getAttribute('href'), wanted);
  await page.reload();
  await drop(report, dsym);
  await settled();
  assert.equal(await link().getAttribute('href'), wanted);
  assert.equal(await page.locator('details.crashed a.place').first().getAttribute('href'), wanted);
  assertQuiet();
});

test('of many reports each is there as soon as it is done', async () => {
  await fresh();
  const many = Array.from({ length: 20 }, (_, i) => {
    const copy = path.join(work, `soon-${i}.crash`);
    fs.copyFileSync(report, copy);
    return copy;
  });
  await page.evaluate(() => {
    globalThis.seen = new Set();
    new MutationObserver(() => {
      if (!document.getElementById('progress').hidden) globalThis.seen.add(document.querySelectorAll('#reports button').length);
    }).observe(document.getElementById('reports'), { childList: true, subtree: true });
  });
  await drop(...many, dsym);
  await settled();
  const seen = await page.evaluate(() => [...globalThis.seen]);
  assert.ok(seen.length > 10, `buttons while it worked: ${seen}`);
  assert.equal(await page.locator('#reports button').count(), 20);
  assert.match(await page.locator('#reports').innerText(), /^1 group of crashes/);
  assertQuiet();
});

test('on paper there is the stack, and no button', async () => {
  await fresh();
  await drop(report, dsym);
  await settled();
  await page.emulateMedia({ media: 'print' });
  assert.equal(await page.locator('.sentence:visible, details.crashed:visible').count(), 2);
  assert.equal(await page.locator('#input:visible, .tools:visible, .why:visible, #settings:visible').count(), 0);
  await shot('print');
});

test('machsym crash --html: the same first screen in one file, which asks for nothing, whatever the names are', async () => {
  const evil = '</script><script>document.title = "evil"</script><!--<script>';
  const file = path.join(work, 'evil.crash');
  fs.writeFileSync(file, fs.readFileSync(report, 'utf8').replace('demo [412]', `${evil} [412]`).replace('start + 2340', `${evil} + 2340`));
  for (const [one, most, args] of [[report, 1, []], [file, 1, ['--redact']], [path.join(work, 'both.crash'), 2, []]]) {
    if (most === 2) fs.writeFileSync(one, fs.readFileSync(report, 'utf8') + fs.readFileSync(file, 'utf8'));
    const out = path.join(work, 'page.html');
    execFileSync(process.env.TOOL, ['crash', '-q', '--html', ...args, '-d', dsym, one, '-o', out]);
    await fresh(pathToFileURL(out).href, { viewport: { width: 1280, height: 900 } });
    const { told, stack } = await firstScreen();
    assert.ok(told < (most === 1 ? 300 : 400) && stack < 800, `${told}, ${stack}`);
    assert.match(await page.locator('#report').innerText(), /First own frame\s+require\(bool\)\s+queue\.hpp:6/);
    assert.equal(await page.locator('#reports button').count(), most === 1 ? 0 : most);
    if (most > 1) assert.match(await page.locator('#reports').innerText(), /^1 group of crashes.*^2\s+EXC_BREAKPOINT: -\[Player skip:\] \|/ms);
    assert.equal(await page.title(), 'A crash report, read by machsym');
    assert.equal((await page.locator('#report').textContent()).includes(evil), one === file);
    assert.equal((await page.content()).includes('0123456789abcdef0123456789abcdef01234567'), args.length === 0);
    await shot(`html-${most}`);
    await assertAccessible();
    assertQuiet();
  }
});

test('why a frame has its names: the words of --explain', async () => {
  await fresh();
  await drop(report, dsym);
  await settled();
  const why = page.locator('details.crashed details.why');
  await why.nth(1).locator('summary').click();
  const said = why.nth(1).locator('pre');
  await said.getByText('nearest symbol').waitFor();
  const want = execFileSync(process.env.TOOL, ['atos', '--explain', '-i', '--lines=people', '-o',
    path.join(dsym, 'Contents/Resources/DWARF/demo'), '--arch', 'arm64', '-l', '0x102a30000', '0x102a30a7b'], { encoding: 'utf8' });
  const own = (text) => text.replace(/^ +slice: .*$/m, '').trim();
  assert.equal(own(await said.textContent()), `0x102a30a7c is a return address: looked up one byte before\n${own(want)}`);
  assert.match(want, /function: -\[Player play:\], entry at \.debug_info/);
  await assertAccessible();
  assertQuiet();
});

test('a report without its dSYM says what is wanted; the dSYM comes after', async () => {
  await fresh();
  await drop(report);
  await settled();
  assert.match(await page.locator('#report').innerText(), /Wanted: the dSYM of demo/);
  await shot('missing');
  await drop(dsym);
  await page.locator('.place', { hasText: 'queue.hpp' }).first().waitFor();
  assert.doesNotMatch(await page.locator('#report').innerText(), /Wanted/);
  assertQuiet();
});

test('several reports are grouped; each can be opened by the keyboard', async () => {
  await fresh();
  await drop(report, fixture('reports/demo.ips'), fixture('reports/watchdog.ips'), dsym);
  await settled();
  assert.match(await page.locator('#reports').innerText(), /^2 groups of crashes/);
  assert.match(await page.locator('#reports tbody tr').first().innerText(), /^2\s+EXC_BREAKPOINT: .*\s+demo\.crash\s+demo\.ips$/s);
  assert.equal(await page.locator('#reports button').count(), 3);
  await page.locator('#reports button').nth(1).focus();
  await page.keyboard.press('Enter');
  assert.equal(await page.locator('#reports button').nth(1).getAttribute('aria-current'), 'true');
  await shot('groups');
  await assertAccessible();
  assertQuiet();
});

test('by Tab alone every control is reached, and it shows', async () => {
  await fresh();
  await drop(report, fixture('reports/demo.ips'), dsym);
  await settled();
  const controls = await page.locator('button:visible, input:visible, summary:visible, pre:visible, .scroll:visible').count();
  assert.ok(controls > 20);
  let reached = 0;
  for (let i = 0; i < controls; i++) {
    await page.keyboard.press('Tab');
    reached = await page.evaluate(() => {
      globalThis.reached ??= new Set();
      if (getComputedStyle(document.activeElement).outlineStyle === 'solid') globalThis.reached.add(document.activeElement);
      return globalThis.reached.size;
    });
  }
  assert.equal(reached, controls);
  await page.locator('details.crashed > summary').focus();
  await page.keyboard.press('Enter');
  assert.equal(await page.locator('details.crashed[open]').count(), 0);
  assertQuiet();
});

test('registers of JSON are shown with all their 64 bits', async () => {
  await fresh();
  const file = path.join(work, 'registers.ips');
  const text = fs.readFileSync(fixture('reports/demo.ips'), 'utf8');
  assert.match(text, /"x":\[\{"value":0\}/);
  fs.writeFileSync(file, text.replace('"x":[{"value":0}', '"x":[{"value":18446744073709551615}'));
  await drop(file, dsym);
  await settled();
  const state = await page.getByLabel('Registers').textContent();
  assert.match(state, /x0: 0xffffffffffffffff/);
  assert.match(state, /pc: 0x0000000102a30aec/);
  assertQuiet();
});

test('a report in JSON is shown as text that people read, and saved in both formats', async () => {
  await fresh();
  await drop(fixture('reports/demo.ips'), dsym);
  await settled();
  await shot('ips');
  const text = await page.getByLabel('The report as text').textContent();
  assert.match(text, /^Incident Identifier: /);
  assert.match(text, /^0 +demo +\t +0x102a30aec Queue<int>::at\(int\) \(queue\.hpp:13\) \[inlined\]$/m);
  await page.locator('.menu summary').click();
  const save = async (label) => {
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByText(label).click()]);
    return [download.suggestedFilename(), fs.readFileSync(await download.path(), 'utf8')];
  };
  assert.deepEqual(await save('Download text'), ['demo.ips.symbolicated.txt', text]);
  const [name, own] = await save('Download in its own format');
  assert.equal(name, 'demo.symbolicated.ips');
  assert.equal(own, execFileSync(process.env.TOOL, ['crash', '-q', '-d', dsym, fixture('reports/demo.ips')], { encoding: 'utf8' }));
  assertQuiet();
});

test('text is pasted', async () => {
  await fresh();
  await drop(dsym);
  await settled();
  assert.match(await page.locator('#errors').innerText(), /no report yet/);
  await page.locator('#paste summary').click();
  await page.locator('#pasted').fill(fs.readFileSync(report, 'utf8'));
  await page.locator('#take').click();
  await page.locator('.place', { hasText: 'queue.hpp' }).first().waitFor();
  await shot('pasted');
  assertQuiet();
});

test('files are searched, and what is found can be downloaded', async () => {
  await fresh();
  await drop(report, dsym);
  await settled();
  await page.locator('#filter').fill('queue.hpp:13');
  const shown = await page.locator('ol.frames li:visible').allInnerTexts();
  assert.ok(shown.length > 0 && shown.every((text) => text.includes('queue.hpp:13')), shown.join('\n'));
  assert.match(await page.locator('#hits').innerText(), /^\d+ lines?$/);
  await page.locator('#filter').fill('in no frame');
  assert.equal(await page.locator('#hits').innerText(), 'No frame has this.');
  await page.locator('.menu summary').click();
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByText('Download text').click()]);
  const saved = fs.readFileSync(await download.path(), 'utf8');
  assert.match(saved, /queue\.hpp:13/);
  assertQuiet();
});

test('a deep link opens its thread', async () => {
  await fresh(`${pathToFileURL(path.join(built, 'machsym.html')).href}#report=1&thread=0`);
  await drop(report, fixture('reports/demo.ips'), dsym);
  await settled();
  assert.equal(await page.locator('#reports button').nth(1).getAttribute('aria-current'), 'true');
  assert.equal(await page.locator('#thread-0[open]').count(), 1);
});

test('errors are words: no report, half a dSYM, nothing of use', async () => {
  await fresh();
  const half = path.join(work, 'half');
  fs.writeFileSync(half, fs.readFileSync(path.join(dsym, 'Contents/Resources/DWARF/demo')).subarray(0, 7000));
  const junk = path.join(work, 'notes.txt');
  fs.writeFileSync(junk, 'nothing to see here\n');
  await drop(junk);
  await settled();
  assert.match(await page.locator('.message').innerText(), /^Not read as a report: neither stacks/);
  assert.equal(await page.locator('#chosen').innerText(), '1 file not read as a report: notes.txt');
  await shot('no-report');
  await fresh();
  await drop(report, half);
  await settled();
  const said = (await page.locator('.message').allInnerTexts()).join('\n');
  assert.match(said, /cut short/);
  assert.match(said, /^Wanted: the dSYM of demo \(arm64\), UUID [-\dA-F]{36}: half is damaged: /m);
  assert.equal(await page.locator('td.found').count(), 0);
  assert.doesNotMatch(said, /frames? named/); // that is no fault, and stands with the counts
  assert.doesNotMatch(said, /\/symbols\/|-d /); // neither a path of the page's own nor advice for the command line
  await shot('damaged');
  assertQuiet();
});

/** A dSYM of demo with other bytes. */
function dsymOf(name, bytes) {
  const folder = path.join(work, name, 'demo.app.dSYM/Contents/Resources/DWARF');
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, 'demo'), bytes);
  return path.join(work, name, 'demo.app.dSYM');
}

test('a damaged dSYM is reported where its image is wanted, with what to do', async () => {
  const whole = fs.readFileSync(path.join(dsym, 'Contents/Resources/DWARF/demo'));
  const fat = fs.readFileSync(fixture('bin/inline-fat.dwarf'));
  const misleading = Buffer.from(whole);
  misleading[misleading.indexOf('__TEXT') + 16 + 2] ^= 1 << 4; // vmaddr
  const empty = path.join(work, 'demo');
  fs.writeFileSync(empty, '');
  const cases = [
    [dsymOf('cut-fat', fat.subarray(0, 20000)), 'demo.app.dSYM is damaged: the file is cut short: a slice lies past its end'],
    [dsymOf('cut-header', fat.subarray(0, 30)), 'demo.app.dSYM is damaged: the file is cut short: a slice lies past its end'],
    [dsymOf('cut', whole.subarray(0, whole.length >> 1)), 'demo.app.dSYM is damaged: a section runs past the end of the file'],
    [dsymOf('misleading', misleading), 'demo.app.dSYM is damaged: a section lies outside of its segment'],
    [dsymOf('no-bytes', Buffer.alloc(0)), 'demo.app.dSYM is damaged: no Mach-O file, but in a dSYM'],
    [dsymOf('zeros', Buffer.alloc(9000)), 'demo.app.dSYM is damaged: no Mach-O file, but in a dSYM'],
    [empty, 'demo is damaged: the file is empty'],
  ];
  for (const [file, why] of cases) {
    await fresh();
    await drop(report, file);
    await settled();
    const said = (await page.locator('.message').allInnerTexts()).join('\n');
    assert.match(said, /^Wanted: the dSYM of demo \(arm64\), UUID [-\dA-F]{36}: /m);
    assert.ok(said.includes(`: ${why}. Copy or download it again, and drop it here.`), `${file}: ${said}`);
    assert.equal(await page.locator('td.missing').textContent(), why);
    assert.equal(await page.locator('td.found').count(), 0);
    assert.doesNotMatch(await page.locator('#report').innerText(), /no file has this UUID\.|Not read/);
  }
  await shot('empty-dsym');
  await assertAccessible();
  await drop(dsym);
  await page.locator('.place', { hasText: 'queue.hpp' }).first().waitFor();
  assert.equal(await page.locator('.message').count(), 0); // what was dropped before is no matter once nothing waits
  assertQuiet();
});

test('a file with reports of two builds: each with its own images, text and names', async () => {
  const text = fs.readFileSync(report, 'utf8');
  const other = text.replaceAll('4c4c44b555553144a1ba79ca685dec58', 'a'.repeat(32)).replace('1.2 (7)', '1.1 (6)');
  const carriers = {
    'two.ndjson': (texts) => texts.map((crash, id) => `${JSON.stringify({ id, crash })}\n`).join(''),
    'two.json': (texts) => JSON.stringify({ rows: texts.map((crash) => ({ crash })) }),
    'two.log': (texts) => texts.join(''),
  };
  for (const [name, carry] of Object.entries(carriers)) {
    for (const texts of [[other, text], [text, other]]) {
      await fresh();
      const file = path.join(work, name);
      fs.writeFileSync(file, carry(texts));
      await drop(file, dsym);
      await settled();
      assert.equal(await page.locator('#chosen').innerText(), `1 report: ${name}\n1 file with symbols: demo`);
      assert.deepEqual((await page.locator('#reports button').allInnerTexts()).sort(), [1, 2].map((n) => `${name}, report ${n} of 2`));
      for (const [i, one] of texts.entries()) {
        await page.getByText(`${name}, report ${i + 1} of 2`, { exact: true }).first().click();
        const said = await page.locator('#report').innerText();
        const [version, left, uuid] = one === text ? ['1.2 (7)', '1.1 (6)', '4C4C44B5'] : ['1.1 (6)', '1.2 (7)', 'AAAAAAAA'];
        assert.ok(said.includes(version) && !said.includes(left), `${name}, ${i}`);
        assert.equal(/queue\.hpp:13/.test(said), one === text);
        assert.equal(/Wanted: the dSYM of demo/.test(said), one !== text);
        assert.match(await page.locator('#report tr', { hasText: 'demo' }).first().textContent(), new RegExp(uuid));
      }
    }
  }
  await shot('two-builds');
  await assertAccessible();
  assertQuiet();
});

test('a chain with calls left out has a mark where they were', async () => {
  await fresh();
  const file = path.join(work, 'deep.crash');
  fs.writeFileSync(file, `Process:             deep [412]
Exception Type:  EXC_BAD_ACCESS (SIGSEGV)

Thread 0 Crashed:
0   deep                          \t0x00000001000003a4 0x100000000 + 932

Binary Images:
0x100000000 - 0x100003fff deep arm64  <4c4c444155553144a1de6f2a8bc228da> /deep
`);
  await drop(file, fixture('bin/deep-arm64-d4.dwarf'));
  await settled();
  const marked = page.locator('li', { has: page.locator('.mark', { hasText: 'callers left out' }) });
  assert.equal(await marked.count(), 1);
  assert.match(await marked.innerText(), /f255/);
  assertQuiet();
});

test('names and reports are never HTML, and nothing can leave', async (t) => {
  let arrived = 0;
  const server = http.createServer((request, response) => {
    arrived++;
    response.end();
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await new Promise((done) => server.once('listening', done));
  const away = `http://127.0.0.1:${server.address().port}/?data`;
  await fresh();
  const evil = `<img src=${away} onerror=alert(1)><form action=${away}><meta http-equiv=refresh content="0;url=${away}">`
    + `<script>location=${JSON.stringify(away)}</script>`;
  const text = fs.readFileSync(report, 'utf8').replaceAll(/^(Process: +).*$/gm, `$1${evil} [1]`)
    .replaceAll(/^(Exception Type: +).*$/gm, `$1${evil}`).replaceAll(/^(Thread 0.*)$/gm, `$1 ${evil}`);
  const file = path.join(work, 'evil<img src=x onerror=alert(2)>.crash');
  fs.writeFileSync(file, text);
  await drop(file, dsym);
  await settled();
  assert.ok((await page.locator('#report').innerText()).includes(`<img src=${away}`));
  assert.equal(await page.locator('#report img, #report form, #report meta, #report script, #reports img').count(), 0);
  assertQuiet();
  // the same texts as HTML, as if the page had taken them for some, and what a script of its own could try
  const tried = await page.evaluate(async ([html, to]) => {
    const blocked = new Set();
    document.addEventListener('securitypolicyviolation', (event) => blocked.add(event.effectiveDirective));
    const place = document.createElement('div');
    place.innerHTML = html;
    document.body.append(place);
    const script = document.createElement('script');
    script.textContent = `location = ${JSON.stringify(to)}`;
    document.body.append(script);
    const frame = document.createElement('iframe');
    frame.src = to;
    document.body.append(frame);
    const fetched = await fetch(to).then(() => 'went', () => 'blocked');
    navigator.sendBeacon(to);
    place.querySelector('form').submit();
    location.href = to;
    open(to, '_self');
    const link = document.createElement('a');
    link.href = to;
    document.body.append(link);
    link.click();
    await new Promise((done) => setTimeout(done, 1000));
    return { fetched, blocked: [...blocked], here: location.protocol };
  }, [evil, away]);
  assert.equal(tried.fetched, 'blocked');
  assert.equal(tried.here, 'file:');
  // a form is stopped by the page before the policy sees it
  for (const directive of ['img-src', 'script-src-elem', 'frame-src', 'connect-src'])
    assert.ok(tried.blocked.includes(directive), `${directive} of ${tried.blocked}`);
  assert.equal(arrived, 0);
  assert.match(await page.locator('meta[http-equiv="Content-Security-Policy"]').getAttribute('content'), /form-action 'none'/);
});

test('a hostile corpus does not crash the tab', async () => {
  await fresh();
  const corpus = path.join(root, 'fuzz/corpus');
  const files = [];
  for (const folder of ['report_text', 'report_json', 'macho', 'map', 'archive'])
    for (const name of fs.readdirSync(path.join(corpus, folder)).slice(0, 12)) files.push(path.join(corpus, folder, name));
  const named = files.map((file, i) => {
    const copy = path.join(work, `hostile-${i}.crash`);
    fs.copyFileSync(file, copy);
    return copy;
  });
  await drop(...named);
  await settled();
  assert.ok(await page.locator('#report').innerText() !== '');
  assertQuiet();
});

test('a sparse fat dSYM of 3 GB: only its slice is read', async () => {
  await fresh();
  const thin = fs.readFileSync(path.join(dsym, 'Contents/Resources/DWARF/demo'));
  const file = path.join(work, 'demo');
  const header = Buffer.alloc(8 + 2 * 20);
  header.writeUInt32BE(0xcafebabe, 0);
  header.writeUInt32BE(2, 4);
  const slices = [[0x01000007, 3, 0x4000, 0xb0000000], [0x0100000c, 0, 0xb0008000, thin.length]];
  for (const [i, slice] of slices.entries())
    for (const [at, value] of [...slice, 14].entries()) header.writeUInt32BE(value >>> 0, 8 + 20 * i + 4 * at);
  const fd = fs.openSync(file, 'w');
  fs.writeSync(fd, header, 0, header.length, 0);
  const other = Buffer.from(thin.subarray(0, 4096));
  other.writeUInt32LE(0x01000007, 4);
  fs.writeSync(fd, other, 0, other.length, 0x4000);
  fs.writeSync(fd, thin, 0, thin.length, 0xb0008000);
  fs.closeSync(fd);
  await drop(report, file);
  await settled();
  assert.match(await page.locator('#report').innerText(), /queue\.hpp:13/);
  assertQuiet();
});

test('work can be cancelled, and begun anew', async () => {
  await fresh();
  const many = Array.from({ length: 200 }, (_, i) => {
    const copy = path.join(work, `many-${i}.crash`);
    fs.copyFileSync(report, copy);
    return copy;
  });
  await drop(...many, dsym);
  await page.locator('#cancel').waitFor({ state: 'visible' });
  await page.locator('#cancel').click();
  assert.match(await page.locator('#errors').innerText(), /Cancelled/);
  await page.locator('#clear').click();
  await drop(report, dsym);
  await page.locator('.place', { hasText: 'queue.hpp' }).first().waitFor();
  assertQuiet();
});

test('what was forgotten does not come back, though it was at work', async () => {
  await fresh();
  const many = Array.from({ length: 200 }, (_, i) => {
    const copy = path.join(work, `forgotten-${i}.crash`);
    fs.copyFileSync(report, copy);
    return copy;
  });
  await drop(...many, dsym);
  await page.locator('#clear').click();
  await page.waitForTimeout(1000);
  assert.equal(await page.locator('#results:visible, #progress:visible, #chosen li').count(), 0);
  assert.equal(await page.locator('#report').textContent(), '');
  assertQuiet();
});

test('dSYMs of one name from two places both answer', async () => {
  await fresh();
  const other = path.join(work, 'demo.app.dSYM');
  fs.cpSync(dsym, other, { recursive: true });
  fs.copyFileSync(fixture('bin/inline-arm64-d5-22'), path.join(other, 'Contents/Resources/DWARF/demo'));
  await drop(report, dsym);
  await page.locator('.place', { hasText: 'queue.hpp' }).first().waitFor();
  await drop(other);
  await page.locator('#chosen li', { hasText: '2 files with symbols: demo, demo' }).waitFor();
  await settled();
  assert.doesNotMatch(await page.locator('#report').innerText(), /Wanted/);
  assertQuiet();
});

test('a hostile line takes no time that grows with its square; a deep link to no report opens the first', async () => {
  await fresh(`${pathToFileURL(path.join(built, 'machsym.html')).href}#report=-1`);
  const file = path.join(work, 'states.crash');
  fs.writeFileSync(file, `${fs.readFileSync(report, 'utf8')}\nThread 0 crashed with${' State'.repeat(200000)}\n`);
  await drop(file, dsym);
  await settled();
  assert.match(await page.locator('#report').innerText(), /queue\.hpp:13/);
  assert.ok(await page.getByText('Registers', { exact: true }).count() > 0);
  assertQuiet();
});

test('the page as files of a server; dark, and as narrow as a phone', async () => {
  const server = http.createServer((request, response) => {
    const name = path.basename(new URL(request.url, 'http://x').pathname) || 'index.html';
    const file = path.join(built, name);
    const types = { '.html': 'text/html', '.js': 'text/javascript' };
    if (!fs.existsSync(file)) response.writeHead(204).end();
    else response.writeHead(200, { 'content-type': types[path.extname(name)] }).end(fs.readFileSync(file));
  }).listen(0, '127.0.0.1');
  try {
    await new Promise((done) => server.once('listening', done));
    await fresh(`http://127.0.0.1:${server.address().port}/`, { colorScheme: 'dark', viewport: { width: 390, height: 844 } });
    await drop(report, dsym);
    await settled();
    assert.match(await page.locator('#report').innerText(), /queue\.hpp:13/);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `${wide} px wider than the screen`);
    await shot('phone-dark');
    await assertAccessible();
    assertQuiet();
  } finally {
    server.close();
  }
});

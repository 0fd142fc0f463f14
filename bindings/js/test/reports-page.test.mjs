// Whole reports in a page of a browser, without the tool: from the files of the package, and from the one file with all inside.
// Environment: PACKAGE, the built package; BROWSER, a Chromium.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const root = path.resolve(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), '../../..');
const built = path.resolve(process.env.PACKAGE);
const dwarf = path.join(root, 'tests/fixtures/bin/demo.app.dSYM/Contents/Resources/DWARF/demo');
const report = path.join(root, 'tests/fixtures/reports/demo.crash');
const types = { '.html': 'text/html', '.js': 'text/javascript', '.wasm': 'application/wasm' };
const FORMS = ['same', 'text', 'apple', 'json', 'brief', 'summary', 'signature'];
const { symbolicate } = await import(pathToFileURL(path.join(built, 'node.js')).href);

let browser;
let fetched = []; // programs, by the page
let server;
before(async () => {
  browser = await chromium.launch({ executablePath: process.env.BROWSER, args: ['--no-sandbox', '--disable-gpu'] });
  server = http.createServer((request, response) => {
    const file = path.join(built, request.url);
    if (file.endsWith('.wasm')) fetched.push(path.basename(file));
    if (request.url === '/') response.writeHead(200, { 'content-type': 'text/html' }).end('<input type="file" id="files" multiple>');
    else if (fs.existsSync(file)) response.writeHead(200, { 'content-type': types[path.extname(file)] }).end(fs.readFileSync(file));
    else response.writeHead(404).end();
  }).listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
});
after(async () => {
  server.close();
  await browser?.close();
});

for (const module of ['index.js', 'inline.js']) {
  test(`${module}: reports in every form, hostile ones, and kept symbols`, { timeout: 120000 }, async (t) => {
    const page = await browser.newPage();
    t.after(() => page.close());
    await page.goto(`http://127.0.0.1:${server.address().port}/`);
    await page.locator('#files').setInputFiles([report, dwarf]);
    const got = await page.evaluate(async ([name, forms]) => {
      const machsym = await import(name);
      const [one, file] = document.getElementById('files').files;
      const letters = (bytes) => Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
      const symbols = await machsym.symbols([file]);
      const answers = [];
      for (const data of [one, await one.text(), one.slice(0, one.size / 2), 'nothing', one]) {
        const { reports, failures, same, text } = await machsym.symbolicate(data, symbols, { forms, name: 'a' });
        answers.push({
          same: letters(same), text, failures: failures.map(({ why }) => why), frames: reports.map((it) => it.frames.length),
          written: reports.map((it) => Object.entries(it.written).map(([form, bytes]) => [form, letters(bytes)])),
          isReport: reports.every((it) => it instanceof machsym.Report && it.json.schema === 'crash/1'),
        });
      }
      await symbols.close();
      const closed = await machsym.symbolicate(one, symbols, { forms }).catch((error) => [error.name, error.message]);
      return { answers, closed };
    }, [`/${module}`, FORMS]);
    const bytes = fs.readFileSync(report);
    const letters = (written) => Buffer.from(written).toString('latin1');
    for (const [i, input] of [bytes, bytes, bytes.subarray(0, bytes.length / 2), Buffer.from('nothing'), bytes].entries()) {
      const want = await symbolicate(input, [{ path: 'demo', data: fs.readFileSync(dwarf) }], { forms: FORMS, name: 'a' });
      assert.deepEqual(got.answers[i], {
        same: letters(want.same), text: want.text, failures: want.failures.map(({ why }) => why), frames: want.reports.map((it) => it.frames.length),
        written: want.reports.map((it) => Object.entries(it.written).map(([form, data]) => [form, letters(data)])), isReport: true,
      });
    }
    assert.match(got.answers[0].same, /queue\.hpp:13/);
    assert.deepEqual(got.closed, ['MachsymError', 'the symbols are closed']);
  });
}

test('a page fetches a program when it is first needed', async (t) => {
  const page = await browser.newPage();
  t.after(() => page.close());
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
  await page.locator('#files').setInputFiles([report, dwarf]);
  const step = async (code) => {
    fetched = [];
    await page.evaluate(code);
    return fetched.join();
  };
  assert.equal(await step(async () => {
    globalThis.machsym = await import('/index.js');
    globalThis.image = await machsym.open(document.getElementById('files').files[1]);
    await image.frames(0x100000aef);
  }), 'machsym.wasm');
  const answer = async () => {
    const { reports: [{ text }] } = await machsym.symbolicate(document.getElementById('files').files[0], image, { forms: 'text' });
    if (!text.includes('queue.hpp:6')) throw new Error(text);
  };
  assert.equal(await step(answer), 'machsym-reports.wasm');
  assert.equal(await step(answer), '');
  assert.equal(await step(async () => { await machsym.run(['--version']); }), 'machsym-tool.wasm');
});

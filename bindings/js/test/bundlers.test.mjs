// The examples for bundlers, as they were built: in a browser each names an address of a dSYM that is chosen.
// Environment: BUILT, a folder with the built pages in NAME/dist; BROWSER, a Chromium.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { chromium } from 'playwright-core';

const root = path.resolve(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), '../../..');
const dsym = path.join(root, 'tests/fixtures/bin/demo.app.dSYM/Contents/Resources/DWARF/demo');
const types = { '.html': 'text/html', '.js': 'text/javascript', '.wasm': 'application/wasm' };
const wanted = [ // what the source of demo.app says of 0x1000009b6
  'repeat(int, void (int) block_pointer) /fixtures/demo/main.mm:6',
  'main /fixtures/demo/main.mm:12',
].join('\n');

let browser;
before(async () => {
  browser = await chromium.launch({ executablePath: process.env.BROWSER, args: ['--no-sandbox', '--disable-gpu'] });
});
after(() => browser?.close());

for (const name of fs.readdirSync(process.env.BUILT)) {
  test(`${name}: a dSYM is chosen, and the address is named`, { timeout: 120000 }, async (t) => {
    const folder = path.join(process.env.BUILT, name, 'dist');
    const server = http.createServer((request, response) => {
      const file = path.join(folder, request.url === '/' ? 'index.html' : request.url);
      if (fs.existsSync(file)) response.writeHead(200, { 'content-type': types[path.extname(file)] }).end(fs.readFileSync(file));
      else response.writeHead(404).end();
    }).listen(0, '127.0.0.1');
    t.after(() => server.close());
    await new Promise((done) => server.once('listening', done));
    const page = await browser.newPage();
    t.after(() => page.close());
    const problems = [];
    page.on('pageerror', (error) => problems.push(String(error)));
    page.on('response', (got) => got.status() !== 200 && !got.url().endsWith('favicon.ico') && problems.push(got.url()));
    await page.goto(`http://127.0.0.1:${server.address().port}/`, { waitUntil: 'networkidle' });
    await page.locator('#file').setInputFiles(dsym);
    await page.waitForFunction(() => document.getElementById('frames').textContent !== '', null, { timeout: 30000 })
      .catch(() => {}); // what went wrong is told below
    assert.deepEqual(problems, []);
    assert.equal(await page.locator('#frames').innerText(), wanted);
  });
}

// The page in WebKit, Safari's engine, in short: WebKitGTK's MiniBrowser by WebDriver, on a screen of Xvfb.
// Environment: PAGE, the folder of the built page; WEBKIT, WebKitWebDriver; MINIBROWSER.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';

const LIMIT = 120000; // ms: on a busy machine a browser takes long to begin
const root = path.resolve(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), '../../..');
const fixture = (name) => path.join(root, 'tests/fixtures', name);
const built = path.resolve(process.env.PAGE);
const programs = [];
let base;
let session;

function start(command, args, options) {
  const program = spawn(command, args, options);
  programs.push(program);
  return program;
}

async function freePort() {
  const server = net.createServer().listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

async function call(method, place, body) {
  const response = await fetch(`${base}${place}`, { method, body: body && JSON.stringify(body) });
  const { value } = await response.json();
  assert.ok(response.ok, JSON.stringify(value));
  return value;
}

const run = (script, ...args) => call('POST', `${session}/execute/async`, { script, args });

before(async () => {
  const screen = start('Xvfb', ['-displayfd', '1', '-screen', '0', '1200x1000x24'], { stdio: ['ignore', 'pipe', 'ignore'] });
  const number = await new Promise((found, failed) => {
    screen.stdout.once('data', (text) => found(String(text).trim()));
    screen.once('exit', () => failed(new Error('Xvfb ended')));
  });
  const port = await freePort();
  start(process.env.WEBKIT, [`--port=${port}`], { stdio: 'ignore', env: { ...process.env, DISPLAY: `:${number}`, GDK_BACKEND: 'x11',
    LIBGL_ALWAYS_SOFTWARE: '1', WEBKIT_DISABLE_DMABUF_RENDERER: '1' } });
  base = `http://127.0.0.1:${port}`;
  for (const end = Date.now() + LIMIT; Date.now() < end && !await fetch(`${base}/status`).catch(() => undefined);)
    await new Promise((done) => setTimeout(done, 100));
  const { sessionId } = await call('POST', '/session', { capabilities: { alwaysMatch: {
    'webkitgtk:browserOptions': { binary: process.env.MINIBROWSER, args: ['--automation'] },
    timeouts: { script: LIMIT, pageLoad: LIMIT },
  } } });
  session = `/session/${sessionId}`;
}, { timeout: LIMIT });

after(async () => {
  if (session) await call('DELETE', session).catch(() => {}); // the driver takes the browser with it
  for (const program of programs.reverse()) program.kill();
});

async function stackOf(url) {
  await call('POST', `${session}/url`, { url });
  const element = await call('POST', `${session}/element`, { using: 'css selector', value: '#files' });
  const files = [fixture('reports/demo.crash'), fixture('bin/demo.app.dSYM/Contents/Resources/DWARF/demo')];
  await call('POST', `${session}/element/${Object.values(element)[0]}/value`, { text: files.join('\n') });
  return run(`const done = arguments[0];
    const look = () => {
      const text = document.getElementById('report').textContent + document.getElementById('errors').textContent;
      text === '' ? setTimeout(look, 50) : done(text);
    };
    look();`);
}

test('opened from disk: a report and its dSYM are chosen, and the stack is read', { timeout: LIMIT }, async () => {
  const text = await stackOf(pathToFileURL(path.join(built, 'machsym.html')).href);
  assert.match(text, /Queue<int>::at\(int\)/);
  assert.match(text, /queue\.hpp:13/);
});

test('from a server, and nothing leaves the page', { timeout: LIMIT }, async () => {
  let arrived = 0;
  const server = http.createServer((request, response) => {
    const name = path.basename(request.url);
    const file = path.join(built, name);
    if (!fs.existsSync(file)) arrived++;
    const types = { '.html': 'text/html', '.js': 'text/javascript' };
    response.writeHead(200, { 'content-type': types[path.extname(name)] ?? 'text/plain' }).end(fs.existsSync(file) ? fs.readFileSync(file) : '');
  }).listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  const { port } = server.address();
  try {
    assert.match(await stackOf(`http://127.0.0.1:${port}/index.html`), /queue\.hpp:13/);
    const tried = await run(`const [away, done] = arguments;
      const blocked = new Set();
      document.addEventListener('securitypolicyviolation', (event) => blocked.add(event.effectiveDirective));
      document.body.append(Object.assign(new Image(), { src: away }));
      const form = Object.assign(document.createElement('form'), { action: away });
      document.body.append(form);
      form.submit();
      fetch(away).then(() => 'went', () => 'blocked').then((fetched) =>
        setTimeout(() => done([fetched, ...[...blocked].sort()].join(' ')), 500));`, `http://127.0.0.1:${port}/away?data`);
    assert.equal(tried, 'blocked connect-src form-action img-src');
    assert.equal(arrived, 0);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

// The page in Firefox, in short: files are chosen, the stack is read, and nothing is asked of the network. Firefox speaks
// WebDriver BiDi itself, so there is no driver; node 20 has WebSocket with --experimental-websocket.
// Environment: PAGE, the folder of the built page; FIREFOX.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';

const LIMIT = 120000; // ms: on a busy machine Firefox takes long to begin
const root = path.resolve(path.dirname(new URL(import.meta.url).pathname), '../../..');
const fixture = (name) => path.join(root, 'tests/fixtures', name);
const page = pathToFileURL(path.join(path.resolve(process.env.PAGE), 'machsym.html')).href;
const home = fs.mkdtempSync(path.join(os.tmpdir(), 'machsym-firefox-'));

let firefox;
let socket;
let context;
const waiting = new Map();
const requests = [];
const problems = [];

/** Where Firefox listens, which it tells on its standard error. */
function address(program) {
  return new Promise((found, failed) => {
    let said = '';
    program.stderr.on('data', (data) => {
      said += data;
      const match = /WebDriver BiDi listening on (ws:\S+)/.exec(said);
      if (match) found(match[1]);
    });
    program.once('exit', () => failed(new Error(`Firefox ended: ${said}`)));
    setTimeout(() => failed(new Error(`Firefox does not say where it listens: ${said}`)), LIMIT).unref();
  });
}

function hear({ id, method, params, result, error, message }) {
  if (method === 'network.beforeRequestSent') requests.push(params.request.url);
  else if (method === 'log.entryAdded' && params.level === 'error') problems.push(params.text);
  else if (error) waiting.get(id)?.reject(new Error(`${error}: ${message}`));
  else waiting.get(id)?.resolve(result);
}

function send(method, params) {
  const id = waiting.size + 1;
  socket.send(JSON.stringify({ id, method, params }));
  return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
}

async function evaluate(expression) {
  const { result, exceptionDetails } = await send('script.evaluate', { expression, target: { context }, awaitPromise: true });
  assert.equal(exceptionDetails, undefined, exceptionDetails?.text);
  return result.value;
}

before(async () => {
  firefox = spawn(process.env.FIREFOX, ['--headless', '--no-remote', '--profile', home, '--remote-debugging-port', '0'],
    { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, HOME: home } });
  socket = new WebSocket(`${await address(firefox)}/session`);
  await new Promise((opened, failed) => Object.assign(socket, { onopen: opened, onerror: failed }));
  socket.onmessage = ({ data }) => hear(JSON.parse(data));
  await send('session.new', { capabilities: {} });
  ({ contexts: [{ context }] } = await send('browsingContext.getTree', {}));
  await send('session.subscribe', { events: ['network.beforeRequestSent', 'log.entryAdded'], contexts: [context] });
});

after(async () => {
  if (firefox.exitCode === null && firefox.signalCode === null) {
    const ended = new Promise((done) => firefox.once('exit', done));
    if (context) send('browser.close', {}).catch(() => {}); // if it does not, it is killed
    const killer = setTimeout(() => firefox.kill('SIGKILL'), context ? LIMIT : 0);
    await ended;
    clearTimeout(killer);
  }
  fs.rmSync(home, { recursive: true, force: true, maxRetries: 5 });
});

test('a report and its dSYM are chosen, and the stack is read', { timeout: LIMIT }, async () => {
  await send('browsingContext.navigate', { context, url: page, wait: 'complete' });
  const { nodes: [element] } = await send('browsingContext.locateNodes', { context, locator: { type: 'css', value: '#files' } });
  await send('input.setFiles', {
    context, element: { sharedId: element.sharedId },
    files: [fixture('reports/demo.crash'), fixture('bin/demo.app.dSYM/Contents/Resources/DWARF/demo')],
  });
  const text = await evaluate(`new Promise((done) => {
    const look = () => {
      const text = document.getElementById('report').textContent + document.getElementById('errors').textContent;
      text === '' ? setTimeout(look, 50) : done(text);
    };
    look();
  })`);
  assert.match(text, /Queue<int>::at\(int\)/);
  assert.match(text, /queue\.hpp:13/);
  assert.ok(await evaluate("document.querySelectorAll('details.crashed[open] .mark').length") > 0);
});

test('nothing leaves the page: neither what it did nor what it is made to try', { timeout: LIMIT }, async () => {
  assert.deepEqual(requests.filter((url) => !/^(file|blob|about|data):/.test(url)), []);
  assert.deepEqual(problems, []);
  let arrived = 0;
  const server = http.createServer((request, response) => {
    arrived++;
    response.end();
  }).listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  const tried = await evaluate(`(async () => {
    const blocked = new Set();
    document.addEventListener('securitypolicyviolation', (event) => blocked.add(event.effectiveDirective));
    const away = 'http://127.0.0.1:${server.address().port}/?data';
    document.body.append(Object.assign(new Image(), { src: away }));
    document.body.append(Object.assign(document.createElement('iframe'), { src: away }));
    const form = Object.assign(document.createElement('form'), { action: away });
    document.body.append(form);
    try {
      form.submit();
    } catch {
      // Firefox throws where Chromium only tells of it
    }
    const fetched = await fetch(away).then(() => 'went', () => 'blocked');
    location.href = away;
    await new Promise((done) => setTimeout(done, 500));
    return [fetched, location.protocol, ...[...blocked].sort()].join(' ');
  })()`);
  server.close();
  assert.match(tried, /^blocked file: connect-src form-action (frame-src )?img-src$/); // of a frame it may tell later
  assert.equal(arrived, 0);
});

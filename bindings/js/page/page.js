// The page: files come in, a worker names frames, and what is shown is text only: nothing of a file is ever HTML.
import { loadInside } from '../inside.js';
import library from 'machsym-library';
import tool from 'machsym-tool';
import example from 'machsym-example';
import exampleSymbols from 'machsym-example-symbols';
import { element } from './element.js';
import { add as showMore, begin, setGroups } from './show.js';
import { sort, fromDrop } from './files.js';
import { options } from './settings.js';

const get = (id) => document.getElementById(id);
const chosen = { reports: [], symbols: [], other: [] };
let machsym;
let work = 0; // the number of the latest work: what an earlier one says is not shown
let forgotten = 0; // how often all files were: what was chosen before is not kept

function engine() {
  machsym ??= loadInside({ library, tool }); // its reports have options that only the tool has
  return machsym;
}

/** What is being done; done and all: of how many reports. */
function say(text, done = 0, all = 0) {
  get('progress').hidden = text === '';
  get('doing').textContent = text;
  get('share').hidden = all < 2;
  get('share').max = all;
  get('share').value = done;
}

function fail(text) {
  get('errors').append(element('p', {}, text));
}

/** Shows what was chosen, and names the frames of all reports anew: a dSYM may come after its report. */
async function add(files) {
  const mine = ++work;
  const before = forgotten;
  get('errors').replaceChildren();
  say('Looking at the files');
  const sorted = await sort(files);
  if (forgotten !== before) return;
  for (const kind of Object.keys(chosen)) chosen[kind] = joined(chosen[kind], sorted[kind]);
  list(summary(chosen.reports, 'file to read', 'files to read'));
  get('clear').hidden = false;
  if (mine === work) await symbolicate(mine);
}

/** Both lists. Folders of one name may come from several places: those that come later get a folder of their own. */
function joined(files, more) {
  const top = (path) => path.split('/')[0];
  const taken = new Set(files.map(({ path }) => top(path)));
  let place = '';
  for (let n = 2; more.some(({ path }) => taken.has(top(place + path))); n++) place = `${n}/`;
  return files.concat(more.map((one) => ({ ...one, path: place + one.path })));
}

/** Lists what was chosen. Whether a file is a report is known once it was read. */
function list(reports) {
  const symbols = chosen.symbols.filter(({ path }) => !/\.plist$/i.test(path)); // it tells of a dSYM beside it
  get('chosen').replaceChildren(...[
    ...reports,
    ...summary(symbols, 'file with symbols', 'files with symbols'),
    ...summary(chosen.other, 'file of no use here', 'files of no use here'),
  ].map((text) => element('li', {}, text)));
}

function summary(files, one, many) {
  if (files.length === 0) return [];
  const names = files.slice(0, 3).map(({ path }) => path.split('/').pop()).join(', ');
  return [`${files.length} ${files.length === 1 ? one : many}: ${names}${files.length > 3 ? ' …' : ''}`];
}

async function symbolicate(mine) {
  if (chosen.reports.length === 0) {
    say('');
    fail(chosen.symbols.length > 0
      ? 'There are symbols, and no report yet: drop a .crash, .ips or other report, or paste its text.'
      : 'None of these files is a report or has symbols.');
    return;
  }
  begin(explain, empty());
  const count = chosen.reports.length;
  const read = [];
  const unread = [];
  let done = 0;
  for (const [i, report] of chosen.reports.entries()) {
    say(`Report ${i + 1} of ${count}: ${report.path}`, i, count);
    const results = await answer(report);
    if (mine !== work) return;
    (results.some(({ json }) => json !== undefined) ? read : unread).push(report);
    showMore(results);
    done += results.length;
  }
  if (done > 1) {
    say('Grouping the reports', count, count);
    const groups = await group();
    if (mine !== work) return;
    setGroups(groups);
  }
  say('');
  list([...summary(read, 'report', 'reports'), ...summary(unread, 'file not read as a report', 'files not read as reports')]);
}

/** What is shown of a file: its reports, or why there is none. */
async function answer(report) {
  try {
    const answered = await (await engine()).symbolicate(report.data, chosen.symbols, { args: ['--to=text', ...options()] });
    const own = await isJson(report) ? () => inOwnFormat(report) : undefined;
    return parts(report.path, answered).map((part) => ({ ...part, own }));
  } catch (error) {
    return [{ name: report.path, key: report.path, text: '', json: undefined, messages: words(error), isComplete: false }];
  }
}

/** The reports that a file holds, each with its own text and images; key: what --group calls it. */
function parts(name, answer) {
  const { documents, messages, text } = answer;
  if (documents.length < 2) return [{ name, key: name, ...answer }];
  const texts = text.split(/^(?=Incident Identifier: )/m);
  return documents.map((json, i) => ({
    ...answer, json, key: `${name}#${i + 1}`, name: `${name}, report ${i + 1} of ${documents.length}`,
    text: texts.length === documents.length ? texts[i] : '',
    whole: text,
    messages: messages.split('\n').filter((line) => (/^machsym: \/report#(\d+): /.exec(line)?.[1] ?? `${i + 1}`) === `${i + 1}`).join('\n'),
  }));
}

/** Files without a byte: what copied them failed. */
function empty() {
  return chosen.other.filter(({ data }) => data.size === 0).map(({ path }) => ({ path, why: 'the file is empty' }));
}

async function isJson(report) {
  return (await report.data.slice(0, 1).text()) === '{';
}

/** A report with names, for other programs. */
async function inOwnFormat(report) {
  return (await (await engine()).symbolicate(report.data, chosen.symbols, { args: options() })).text;
}

/** What went wrong, for people. */
function words(error) {
  if (/memory|grow|allocation/i.test(error.message))
    return `The files are too large for this page: a tab has 4 GB for them. Use the command-line tool. (${error.message})`;
  return `machsym stopped: ${error.message}`;
}

async function group() {
  const reports = chosen.reports.map(({ path, data }) => ({ path: `reports/${path}`, data }));
  const symbols = chosen.symbols.map(({ path, data }) => ({ path: `symbols/${path}`, data }));
  const dirs = symbols.length > 0 ? ['-d', '/symbols'] : [];
  try {
    const { stdout } = await (await engine()).run(
      ['crash', '-q', '--group', '--json', ...dirs, ...reports.map(({ path }) => `/${path}`)],
      { files: [...reports, ...symbols] });
    const named = (one) => ({ ...one, reports: one.reports.map((path) => path.replace(/^\/reports\//, '')) });
    return new TextDecoder().decode(stdout).split('\n').filter(Boolean).map((line) => named(JSON.parse(line)));
  } catch {
    return []; // the reports are shown without groups
  }
}

/** What the tool's --explain says of an address of a process, in the file that answered for an image. */
async function explain(image, address) {
  const files = chosen.symbols.map(({ path, data }) => ({ path: `symbols/${path}`, data }));
  try {
    const { stdout, stderr } = await (await engine()).run(
      ['atos', '--explain', '-i', '--lines=people', '-o', image.symbols, '--arch', image.arch, '-l', image.base, address], { files });
    return new TextDecoder().decode(stdout) + stderr;
  } catch (error) {
    return words(error);
  }
}

async function cancel() {
  work++;
  const running = machsym;
  machsym = undefined;
  (await running)?.terminate();
  say('');
  fail('Cancelled.');
}

function forget() {
  work++;
  forgotten++;
  say('');
  for (const kind of Object.keys(chosen)) chosen[kind] = [];
  for (const id of ['chosen', 'errors', 'reports', 'report']) get(id).replaceChildren();
  get('results').hidden = true;
  get('clear').hidden = true;
  document.body.classList.remove('reading');
}

// ---- No way out ----

/** A policy in a page cannot keep the page's own script from going elsewhere, with data in the address. This does. */
globalThis.navigation?.addEventListener('navigate', (event) => {
  const here = (url) => url.split('#')[0];
  if (here(event.destination.url) !== here(location.href) && event.downloadRequest === null) event.preventDefault();
});

// ---- Ways in ----

for (const input of [get('files'), get('folder')]) {
  input.addEventListener('change', async () => {
    if (input.files.length > 0) await add([...input.files].map((file) => ({ path: file.webkitRelativePath || file.name, data: file })));
    input.value = '';
  });
}
document.addEventListener('dragover', (event) => {
  event.preventDefault();
  get('drop').classList.add('over');
});
document.addEventListener('dragleave', () => get('drop').classList.remove('over'));
document.addEventListener('drop', async (event) => {
  event.preventDefault();
  get('drop').classList.remove('over');
  const { files, closed } = await fromDrop(event.dataTransfer);
  if (files.length > 0) await add(files);
  for (const name of closed)
    fail(`The browser does not open the folder ${name} when it is dropped on a page from disk: use "Choose a folder".`);
});
get('take').addEventListener('click', async () => {
  const text = get('pasted').value;
  if (text.trim() !== '') await add([{ path: 'pasted text', data: new Blob([text]), isReport: true }]);
});
get('example').addEventListener('click', () => add([
  { path: 'example.crash', data: new Blob([example]), isReport: true },
  { path: 'demo.app.dSYM/Contents/Resources/DWARF/demo', data: new Blob([exampleSymbols]) },
]));
get('apply').addEventListener('click', () => {
  if (chosen.reports.length > 0) add([]);
});
get('cancel').addEventListener('click', cancel);
get('clear').addEventListener('click', forget);

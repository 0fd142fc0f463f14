// One report on the page: what happened, where, the stack, then all the rest.
import { copyButton, download, element, folded, table } from './element.js';
import { nearest, place, stackText, telling, threads } from './frames.js';
import { imageTable, setFaults, wanted } from './images.js';

const FACTS = [
  ['process', 'Process'], ['identifier', 'Identifier'], ['version', 'Version'], ['os', 'System'], ['hardware', 'Device'],
  ['date', 'Date'], ['exception', 'Exception'], ['signal', 'Signal'], ['subtype', 'Subtype'], ['codes', 'Codes'],
  ['termination', 'Termination'], ['reason', 'Reason'], ['app_info', 'Application said'], ['description', 'Description'],
];

const get = (id) => document.getElementById(id);

/** The reports that are done, in their order, and which one is open. */
const shown = { results: [], groups: [], explain: undefined, empty: [], open: undefined };

/** Begins anew. explain: tells of a frame and its image, as --explain of the tool does. empty: {path, why} of files without a byte. */
export function begin(explain, empty) {
  Object.assign(shown, { results: [], groups: [], explain, empty, open: undefined });
  get('reports').replaceChildren();
  get('report').replaceChildren();
}

/** Shows results as they are done: the one that the address wants, or the first, is opened. */
export function add(results) {
  shown.results.push(...results);
  get('results').hidden = false;
  document.body.classList.add('reading');
  const asked = new URLSearchParams(location.hash.slice(1));
  const at = Number(asked.get('report') ?? 0);
  if (shown.open === undefined || (shown.open !== at && shown.results[at] && shown.results.length - results.length <= at))
    open(shown.results[at] ? at : 0, asked.get('thread') ?? undefined);
  list();
}

/** groups: what the tool's --group says, with the names of reports. */
export function setGroups(groups) {
  shown.groups = groups;
  list();
}

function open(index, thread) {
  shown.open = index;
  showReport(shown.results[index], index, thread);
}

/** The table of all reports: a row a group once groups are known. */
function list() {
  const { results, groups } = shown;
  if (results.length < 2) {
    get('reports').replaceChildren();
    return;
  }
  const button = ({ name }, i) => element('button', {
    type: 'button', 'aria-current': String(i === shown.open),
    onclick: () => {
      open(i);
      list();
      get('reports').querySelector('[aria-current=true]')?.focus();
      get('report').scrollIntoView({ block: 'nearest' });
    },
  }, name);
  const all = results.map((result, i) => ({ result, i }));
  const of = (names) => all.filter(({ result }) => names.includes(result.key)).map(({ result, i }) => button(result, i));
  const grouped = groups.map((one) => ({ count: String(one.count), what: one.signature, buttons: of(one.reports), names: one.reports }));
  const rest = all.filter(({ result }) => !grouped.some(({ names }) => names.includes(result.key)));
  if (rest.length > 0)
    grouped.push({ count: String(rest.length), what: groups.length > 0 ? 'in no group' : 'not grouped yet', buttons: rest.map(({ result, i }) => button(result, i)) });
  const count = `${groups.length} ${groups.length === 1 ? 'group' : 'groups'} of crashes`;
  get('reports').replaceChildren(element('h2', {}, groups.length > 0 ? count : `${results.length} reports`),
    table(['Reports', 'Signature', 'Open'], grouped.map((row) => element('tr', {}, element('td', {}, row.count),
      element('td', { class: 'signature' }, row.what), element('td', {}, element('div', { class: 'open' }, ...row.buttons))))));
}

function showReport(result, index, thread) {
  const { json } = result;
  setFaults(result.messages, shown.empty);
  const parts = json ? head(json, result) : [element('h2', {}, result.name)];
  if (!result.isComplete || !json)
    parts.push(...messages(result.messages, json !== undefined).map((line) => element('p', { class: 'message' }, line)));
  if (json) parts.push(...body(json, result, index, thread));
  const all = result.text || result.whole || '';
  if (all !== '') parts.push(folded('Text', element('pre', { tabindex: '0', 'aria-label': 'The report as text' }, all)));
  get('report').replaceChildren(...parts);
  if (thread !== undefined) get(`thread-${thread}`)?.scrollIntoView();
}

/** What the tool said, without its advice for the command line; a report that was read tells itself what is wanted, and how
 * many frames are named: that is no fault. */
function messages(said, isRead) {
  const own = isRead ? /^machsym: (\/report(#\d+)?: )?/ : /^machsym: (\/report(#\d+)?: )?(no report: )?/;
  return said.split('\n').filter((line) => (isRead ? own.test(line) && !/^machsym: (missing |.*: \d+ of \d+ frames? named, )/.test(line) : line !== ''))
    .map((line) => line.replace(own, isRead ? '' : 'Not read as a report: ').replaceAll('/symbols/', ''));
}

/** What happened, as a sentence. */
function sentence(json) {
  const told = json.facts?.sentence ?? json.app_info ?? json.exception ?? json.termination ?? `a report of the kind ${json.format}`;
  return told.charAt(0).toUpperCase() + told.slice(1);
}

/** The program, its device, and the exception. */
function kicker(json, result) {
  const program = [json.process, json.version].filter(Boolean).join(' ');
  const what = [json.exception, json.signal && `(${json.signal})`].filter(Boolean).join(' ');
  return [program || result.name, json.os, what].filter(Boolean).join(' · ');
}

/** The first screen: what happened, and where. */
function head(json, result) {
  const own = nearest(json);
  const where = own
    ? element('p', { class: 'own-frame' }, element('span', { class: 'label' }, 'First own frame '), element('strong', {}, own.name),
      ...(own.place ? [' ', place({ ...own.call, inline: true })] : []), ` in ${own.image}`)
    : element('p', { class: 'own-frame' }, telling(json)?.frames.length > 0 ? 'All frames are of the system.' : 'The report has no stack.');
  return [element('p', { class: 'kicker' }, kicker(json, result)), element('h2', { class: 'sentence' }, sentence(json)), where];
}

function body(json, result, index, thread) {
  return [
    ...wanted(json),
    tools(json, result),
    ...threads(json, index, thread, shown.explain),
    folded('About this report', facts(json, result), element('p', {}, counts(json))),
    ...registers(result.text),
    folded('Binary images', imageTable(json)),
  ];
}

function facts(json, result) {
  const words = (json.facts?.words ?? []).map((word) => ['What happened', word]);
  const rows = [...words, ['File', result.name], ['Kind', json.format], ...FACTS.filter(([key]) => json[key]).map(([key, label]) => [label, json[key]])];
  return element('dl', { class: 'facts' }, ...rows.flatMap(([label, value]) => [element('dt', {}, label), element('dd', {}, value)]));
}

function counts(json) {
  const { frames, with_line: lines, name_only: names, missing, given } = json.counts;
  const parts = [[names, 'only a name'], [given, 'the name that the report gives'], [missing, 'none']];
  const rest = parts.filter(([count]) => count > 0).map(([count, what]) => `, ${count} ${count === 1 ? 'has' : 'have'} ${what}`);
  return `${lines} of ${frames} frames have file and line${rest.join('')}.`;
}

/** What is pasted into a tracker: the sentence, the stack in a fence that nothing of it can end, what is missing. */
function markdown(json, result) {
  const stack = stackText(json, telling(json));
  const fence = '`'.repeat(Math.max(3, ...[...stack.matchAll(/`+/g)].map(([run]) => run.length + 1)));
  const plain = (text) => text.replace(/[\\`*_{}[\]<>#|!~]/g, '\\$&').replace(/\s+/g, ' ');
  return `**${plain(sentence(json))}**\n\n${plain(kicker(json, result))}\n\n${fence}\n${stack}${fence}\n`;
}

function tools(json, result) {
  const name = result.name.split('/').pop().replace(/[^\w.-]/g, '_');
  const saveOwn = async () => download(await result.own(), name.replace(/(\.\w+)?$/, '.symbolicated$1'));
  const filter = element('input', {
    type: 'search', id: 'filter', placeholder: 'Search frames', 'aria-label': 'Search frames', oninput: () => apply(filter.value),
  });
  const button = (label, act) => element('button', { type: 'button', onclick: act }, label);
  const copies = telling(json)
    ? [copyButton('Copy stack', () => stackText(json, telling(json))), copyButton('Copy as Markdown', () => markdown(json, result))] : [];
  return element('div', { class: 'tools' }, ...copies,
    filter, element('span', { id: 'hits', role: 'status' }),
    element('details', { class: 'menu' }, element('summary', {}, 'More'),
      button('Unfold all threads', () => unfold(true)),
      button('Fold all', () => unfold(false)),
      button('Download text', () => download(result.text || result.whole, `${name}.symbolicated.txt`)),
      ...(result.own ? [button('Download in its own format', saveOwn)] : []),
      button('Download JSON', () => download(JSON.stringify(json, null, 1), `${name}.json`))));
}

function unfold(is) {
  for (const one of document.querySelectorAll('details.thread')) one.open = is;
}

/** Shows only frames that have a text, and unfolds their threads. */
function apply(words) {
  const sought = words.trim().toLowerCase();
  let hits = 0;
  for (const thread of document.querySelectorAll('details.thread')) {
    let any = false;
    for (const frame of thread.querySelectorAll('li')) {
      frame.hidden = sought !== '' && !frame.textContent.toLowerCase().includes(sought);
      any ||= !frame.hidden;
      hits += frame.hidden ? 0 : 1;
    }
    thread.hidden = !any;
    if (sought !== '' && any) thread.open = true;
  }
  get('hits').textContent = sought === '' ? '' : hits === 0 ? 'No frame has this.' : `${hits} ${hits === 1 ? 'line' : 'lines'}`;
}

function registers(content) {
  const state = stateOfText(content);
  return state === '' ? [] : [folded('Registers', element('pre', { tabindex: '0', 'aria-label': 'Registers' }, state))];
}

/** The first state of a thread, up to the next part of the report. */
function stateOfText(content) {
  const lines = content.split('\n');
  const from = lines.findIndex((line) => line.startsWith('Thread ') && line.includes(' State') && line.endsWith(':'));
  let end = from + 1;
  while (lines[end]?.startsWith(' ') || (lines[end] === '' && lines[end + 1]?.startsWith(' '))) end++;
  return from < 0 || end === from + 1 ? '' : lines.slice(from, end).join('\n');
}

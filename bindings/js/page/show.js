// Shows reports. All text of a file goes into the page by textContent.

const SYSTEM = /^(\/System\/|\/usr\/lib\/|\/Library\/Apple\/|\/private\/preboot\/)|\/RuntimeRoot\//;
const INFERRED = { dwarf: '', given: '' };
const FACTS = [
  ['process', 'Process'], ['identifier', 'Identifier'], ['version', 'Version'], ['os', 'System'], ['hardware', 'Device'],
  ['date', 'Date'], ['exception', 'Exception'], ['signal', 'Signal'], ['subtype', 'Subtype'], ['codes', 'Codes'],
  ['termination', 'Termination'], ['reason', 'Reason'], ['app_info', 'Application said'], ['description', 'Description'],
];
const MAX_SHOWN = 20000; // frames; the text has all

const get = (id) => document.getElementById(id);

/** An element with attributes, listeners (on...), and children: elements and texts. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith('on')) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, '');
    else if (value !== false && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

let explain;
let faults = []; // of files that were dropped: {path, why}
let empty = [];

/** explains: tells of a frame and its image, as --explain of the tool does. emptyFiles: {path, why} of files without a byte. */
export function show(results, groups, explains, emptyFiles = []) {
  explain = explains;
  empty = emptyFiles;
  get('results').hidden = false;
  showGroups(groups);
  const links = results.map((result, i) =>
    element('button', { type: 'button', onclick: () => open(i) }, result.name));
  get('reports').replaceChildren(...(results.length > 1 ? links : []));
  const open = (i, thread) => {
    for (const [at, link] of links.entries()) link.setAttribute('aria-current', String(at === i));
    showReport(results[i], i, thread);
  };
  const wanted = new URLSearchParams(location.hash.slice(1));
  const first = Number(wanted.get('report') ?? 0);
  open(results[first] ? first : 0, wanted.get('thread') ?? undefined);
}

function showGroups(groups) {
  if (groups.length === 0) {
    get('groups').replaceChildren();
    return;
  }
  const rows = groups.map((one) => element('tr', {},
    element('td', {}, String(one.count)), element('td', {}, one.signature),
    element('td', {}, one.reports.map((path) => path.replace(/^\/reports\//, '')).join(', '))));
  get('groups').replaceChildren(element('h2', {}, `${groups.length} ${groups.length === 1 ? 'group' : 'groups'} of crashes`),
    table(['Reports', 'Signature', 'Files'], rows));
}

function table(heads, rows) {
  const head = element('tr', {}, ...heads.map((text) => element('th', { scope: 'col' }, text)));
  return element('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': heads.join(', ') },
    element('table', {}, element('thead', {}, head), element('tbody', {}, ...rows)));
}

function showReport(result, index, thread) {
  const { json } = result;
  faults = [...faultsOf(result.messages), ...empty];
  const parts = [element('h2', {}, result.name)];
  if (!result.isComplete || !json)
    parts.push(...messages(result.messages, json !== undefined).map((line) => element('p', { class: 'message' }, line)));
  if (json) parts.push(...report(json, result, index, thread));
  const all = result.text || result.whole || '';
  if (all !== '') parts.push(element('h2', {}, 'Text'), text(all));
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

function text(content) {
  return element('pre', { tabindex: '0', 'aria-label': 'The report as text' }, content);
}

function report(json, result, index, thread) {
  const crashed = json.threads.find((one) => one.crashed) ?? json.threads[0];
  return [
    facts(json, crashed),
    ...counts(json),
    tools(result),
    ...threads(json, crashed, index, thread),
    ...registers(result.text),
    element('h2', {}, 'Binary images'),
    images(json),
  ];
}

function imageOf(frame, json) {
  return json.images[frame.image ?? -1];
}

function isSystem(image) {
  return image === undefined || SYSTEM.test(image.path ?? '');
}

/** Whose code it was: the function nearest to the crash that is not the system's. */
function nearest(json, thread) {
  const frames = thread?.callers_first ? [...thread.frames].reverse() : thread?.frames ?? [];
  const frame = frames.find((one) => !isSystem(imageOf(one, json)));
  if (!frame) return frames.length > 0 ? 'none: all frames are of the system' : '';
  const call = frame.calls[0];
  const line = call?.file ? `, ${call.file.split('/').pop()}${call.line ? `:${call.line}` : ''}` : '';
  return `${call?.name ?? frame.given ?? frame.address}${line}, in ${imageOf(frame, json).name}`;
}

function facts(json, crashed) {
  const list = element('dl', { class: 'facts' });
  list.append(element('dt', {}, 'Kind'), element('dd', {}, json.format));
  for (const [key, label] of FACTS)
    if (json[key]) list.append(element('dt', {}, label), element('dd', {}, json[key]));
  const own = nearest(json, crashed);
  if (own !== '') list.append(element('dt', {}, 'First own frame'), element('dd', {}, element('strong', {}, own)));
  return list;
}

function counts(json) {
  const { frames, with_line: lines, name_only: names, missing, given } = json.counts;
  const parts = [[names, 'only a name'], [given, 'the name that the report gives'], [missing, 'none']];
  const rest = parts.filter(([count]) => count > 0).map(([count, what]) => `, ${count} ${count === 1 ? 'has' : 'have'} ${what}`);
  const need = json.images.filter(isWanted);
  const what = need.map((image) => element('p', { class: 'message' },
    `Wanted: the dSYM of ${image.name}${image.arch ? ` (${image.arch})` : ''}${image.uuid ? `, UUID ${image.uuid}` : ''}: ${imageState(image)}.${
      /is damaged: /.test(imageState(image)) ? ' Copy or download it again, and drop it here.' : ''}`));
  return [element('p', {}, `${lines} of ${frames} frames have file and line${rest.join('')}.`), ...what];
}

/** What the tool said of files that could not be used. */
function faultsOf(said) {
  return said.split('\n').map((line) => /^machsym: \/symbols\/(.+?): (.+)$/.exec(line)).filter(Boolean)
    .map(([, path, why]) => ({ path, why: why.replace(/ \([^()]*offset \d+\)/, '') }));
}

function bundleOf(path) {
  return path.replace(/\/Contents\/Resources\/DWARF\/.*/, '').split('/').pop();
}

/** The damaged file that has the name of an image, or, as any may be the one, the first; undefined: there is none. */
function faultOf(image) {
  const named = faults.find(({ path }) => [path.split('/').pop(), bundleOf(path).split('.')[0]].includes(image.name));
  if (named) return `${bundleOf(named.path)} is damaged: ${named.why}`;
  return faults.length > 0 ? `${image.status}, but ${bundleOf(faults[0].path)} is damaged: ${faults[0].why}` : undefined;
}

/** What ails the file that answers for an image; undefined: nothing. */
function flaw(image) {
  const file = image.symbols?.replace(/\/Contents\/Resources\/DWARF\/.*/, '').split('/').pop();
  if (image.damage) return `${file} is damaged: ${image.damage}`;
  return image.has_debug_info === false && image.frames > 0 && !isSystem(image) ? `${file} has no debug info` : undefined;
}

function imageState(image) {
  if (image.status === 'found') return flaw(image) ?? 'found';
  if (isSystem(image)) return image.missing > 0 ? `of the system: ${image.status}` : image.status;
  return (image.missing > 0 ? faultOf(image) : undefined) ?? image.status;
}

/** Whether somebody who has the program's dSYMs can mend what an image lacks. */
function isWanted(image) {
  return !isSystem(image) && (image.status === 'found' ? flaw(image) !== undefined : image.missing > 0);
}

function tools(result) {
  const name = result.name.split('/').pop().replace(/[^\w.-]/g, '_');
  const saveOwn = async () => download(await result.own(), name.replace(/(\.\w+)?$/, '.symbolicated$1'));
  const filter = element('input', { type: 'search', id: 'filter', oninput: () => apply(filter.value) });
  const save = (label, content, file) => element('button', { type: 'button', onclick: () => download(content, file) }, label);
  return element('div', { class: 'tools' },
    element('label', { for: 'filter' }, 'Search frames'), filter, element('span', { id: 'hits', role: 'status' }),
    element('button', { type: 'button', onclick: () => unfold(true) }, 'Unfold all threads'),
    element('button', { type: 'button', onclick: () => unfold(false) }, 'Fold all'),
    save('Download text', result.text || result.whole, `${name}.symbolicated.txt`),
    ...(result.own ? [element('button', { type: 'button', onclick: saveOwn }, 'Download in its own format')] : []),
    save('Download JSON', JSON.stringify(result.json, null, 1), `${name}.json`));
}

function unfold(is) {
  for (const one of document.querySelectorAll('details.thread')) one.open = is;
}

/** Shows only frames that have a text, and unfolds their threads. */
function apply(words) {
  const wanted = words.trim().toLowerCase();
  let hits = 0;
  for (const thread of document.querySelectorAll('details.thread')) {
    let any = false;
    for (const frame of thread.querySelectorAll('li')) {
      frame.hidden = wanted !== '' && !frame.textContent.toLowerCase().includes(wanted);
      any ||= !frame.hidden;
      hits += frame.hidden ? 0 : 1;
    }
    thread.hidden = !any;
    if (wanted !== '' && any) thread.open = true;
  }
  get('hits').textContent = wanted === '' ? '' : hits === 0 ? 'No frame has this.' : `${hits} ${hits === 1 ? 'line' : 'lines'}`;
}

function download(content, name) {
  const url = URL.createObjectURL(new Blob([content], { type: 'text/plain' }));
  element('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

function threads(json, crashed, index, wanted) {
  let shown = 0;
  return [element('h2', {}, 'Threads'), ...json.threads.map((thread, i) => {
    const id = String(i);
    const title = [
      thread.kind === 'thread' ? `Thread ${thread.number}` : thread.kind, thread.name, thread.queue && `queue ${thread.queue}`,
      thread.crashed && 'crashed',
    ].filter(Boolean).join(', ');
    const frames = thread.frames.slice(0, Math.max(0, MAX_SHOWN - shown));
    shown += frames.length;
    const list = element('ol', { class: 'frames' }, ...frames.flatMap((frame) => rows(frame, json)));
    const left = thread.frames.length - frames.length;
    return element('details', {
      class: `thread${thread.crashed ? ' crashed' : ''}`, id: `thread-${id}`, open: thread === crashed || id === wanted,
    },
    element('summary', { onclick: () => history.replaceState(null, '', `#report=${index}&thread=${id}`) },
      `${title} (${thread.frames.length} ${thread.frames.length === 1 ? 'frame' : 'frames'})`),
    list, ...(left > 0 ? [element('p', {}, `${left} more frames are in the text.`)] : []));
  })];
}

/** The lines of a frame: one a call. */
function rows(frame, json) {
  const image = imageOf(frame, json);
  const kind = isSystem(image) ? 'system' : 'own';
  const head = (i) => [
    element('span', { class: 'number' }, i === 0 ? String(frame.index) : ''),
    element('span', { class: 'image' }, image?.name ?? '???'),
  ];
  if (frame.calls.length === 0)
    return [element('li', { class: kind }, ...head(0),
      element('span', { class: 'name' }, frame.given ?? frame.address, ...(frame.given_place ? [` ${frame.given_place}`] : [])),
      element('span', { class: 'address' }, frame.address))];
  return frame.calls.map((call, i) => element('li', { class: kind }, ...head(i),
    element('span', { class: 'name' }, call.name, ...marks(call)), place(call), ...(i === 0 && image?.symbols ? [why(frame, image)] : [])));
}

function marks(call) {
  const mark = (words, title) => element('span', { class: 'mark', title }, words);
  return [
    ...(call.inline ? [mark('inlined', 'The compiler put this call into its caller')] : []),
    ...(call.callers_left_out ? [mark('callers left out', 'More calls are inlined here than an answer has')] : []),
    ...(call.name_source && !(call.name_source in INFERRED)
      ? [mark(call.name_source, 'Debug information does not say so: the name comes from here')] : []),
  ];
}

function place(call) {
  if (!call.file) return element('span', { class: 'address' }, `+ ${call.offset}`);
  const whole = call.line ? `${call.file}:${call.line}` : call.file;
  const short = whole.split('/').pop();
  const button = element('button', {
    type: 'button', class: 'place', title: `Copy ${whole}`,
    onclick: async () => {
      await navigator.clipboard?.writeText(whole).catch(() => {});
      button.textContent = 'copied';
      setTimeout(() => { button.textContent = short; }, 900);
    },
  }, short);
  return button;
}

/** Why a frame has these names: looked up when it is asked for. */
function why(frame, image) {
  const said = element('pre', { tabindex: '0', 'aria-label': 'Explanation' }, 'Looking it up …');
  const ask = async () => {
    const address = BigInt(frame.address) - (frame.return_address ? 1n : 0n);
    const before = frame.return_address ? `${frame.address} is a return address: looked up one byte before\n` : '';
    said.textContent = before + await explain(image, `0x${address.toString(16)}`);
  };
  const whole = element('details', { class: 'why' }, element('summary', {}, 'why'), said);
  whole.addEventListener('toggle', ask, { once: true });
  return whole;
}

function registers(content) {
  const state = stateOfText(content);
  if (state === '') return [];
  return [element('h2', {}, 'Registers'), element('pre', { tabindex: '0', 'aria-label': 'Registers' }, state)];
}

/** The first state of a thread, up to the next part of the report. */
function stateOfText(content) {
  const lines = content.split('\n');
  const from = lines.findIndex((line) => line.startsWith('Thread ') && line.includes(' State') && line.endsWith(':'));
  let end = from + 1;
  while (lines[end]?.startsWith(' ') || (lines[end] === '' && lines[end + 1]?.startsWith(' '))) end++;
  return from < 0 || end === from + 1 ? '' : lines.slice(from, end).join('\n');
}

function images(json) {
  const rank = (image) => (isWanted(image) ? 0 : image.frames === 0 ? 3 : isSystem(image) ? 2 : 1);
  const list = [...json.images].sort((a, b) => rank(a) - rank(b) || b.frames - a.frames);
  return table(['Image', 'State', 'Frames', 'UUID', 'Loaded at'], list.map((image) => {
    const words = imageState(image);
    return element('tr', {},
      element('td', {}, image.name),
      element('td', { class: words === 'found' ? 'found' : isWanted(image) ? 'missing' : '' }, words),
      element('td', {}, String(image.frames)), element('td', { class: 'exact' }, image.uuid ?? ''),
      element('td', { class: 'exact' }, image.base));
  }));
}

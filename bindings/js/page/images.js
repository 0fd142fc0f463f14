// What the images of a report have in symbols, and which dSYMs are wanted.
import { copyButton, element, table } from './element.js';

const SYSTEM = /^(\/System\/|\/usr\/lib\/|\/Library\/Apple\/|\/private\/preboot\/)|\/RuntimeRoot\//;

let faults = []; // of files that were dropped: {path, why}

/** said: what the tool said of a report. empty: {path, why} of files without a byte. */
export function setFaults(said, empty) {
  faults = [...faultsOf(said), ...empty];
}

export function imageOf(frame, json) {
  return json.images[frame.image ?? -1];
}

export function isSystem(image) {
  return image === undefined || SYSTEM.test(image.path ?? '');
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

/** A bar for each dSYM that is wanted, with its UUID to copy. */
export function wanted(json) {
  const need = json.images.filter(isWanted);
  const bars = need.map((image) => {
    const state = imageState(image);
    const words = `Wanted: the dSYM of ${image.name}${image.arch ? ` (${image.arch})` : ''}${image.uuid ? `, UUID ${image.uuid}` : ''}: ${
      state}.${/is damaged: /.test(state) ? ' Copy or download it again, and drop it here.' : ''}`;
    return element('p', { class: 'message' }, words, ...(image.uuid ? [' ', copyButton('Copy UUID', () => image.uuid)] : []));
  });
  const uuids = need.map(({ uuid }) => uuid).filter(Boolean);
  if (uuids.length > 1) bars.push(element('p', { class: 'message' }, copyButton(`Copy all ${uuids.length} UUIDs`, () => uuids.join('\n'))));
  return bars;
}

export function imageTable(json) {
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

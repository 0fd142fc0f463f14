// Threads and their frames: on the page, and as text to send to somebody.
import { copyButton, element } from './element.js';
import { imageOf, isSystem } from './images.js';

const INFERRED = { dwarf: '', given: '' };
const MAX_SHOWN = 20000; // frames; the text has all

/** The thread that tells what happened. */
export function telling(json) {
  return json.threads.find((one) => one.crashed) ?? json.threads[0];
}

function placeOf({ file, line }) {
  if (!file) return '';
  return `${file.split('/').pop()}${line ? `:${line}` : ''}`;
}

/** The innermost call of the frame nearest to the crash that is not the system's: {name, place, call, image}; undefined: none. */
export function nearest(json) {
  const thread = telling(json);
  const frames = thread?.callers_first ? [...thread.frames].reverse() : thread?.frames ?? [];
  const frame = frames.find((one) => !isSystem(imageOf(one, json)));
  if (!frame) return undefined;
  const call = frame.calls[0];
  return { name: call?.name ?? frame.given ?? frame.address, place: call ? placeOf(call) : '', call, image: imageOf(frame, json).name };
}

function title(thread) {
  return [
    thread.kind === 'thread' ? `Thread ${thread.number}` : thread.kind, thread.name, thread.queue && `queue ${thread.queue}`,
    thread.crashed && 'crashed',
  ].filter(Boolean).join(', ');
}

/** A thread as lines: number, image, address, function, place. */
export function stackText(json, thread) {
  const lines = thread.frames.flatMap((frame) => {
    const head = `${String(frame.index).padEnd(4)}${(imageOf(frame, json)?.name ?? '???').padEnd(30)} ${frame.address}`;
    if (frame.calls.length === 0) return [`${head} ${frame.given ?? ''}${frame.given_place ? ` ${frame.given_place}` : ''}`.trimEnd()];
    return frame.calls.map((call) =>
      `${head} ${call.name}${call.inline ? '' : ` + ${call.offset}`}${call.file ? ` (${placeOf(call)})` : ''}${call.inline ? ' [inlined]' : ''}`);
  });
  return `${title(thread)}:\n${lines.join('\n')}\n`;
}

export function threads(json, index, wanted, explain) {
  let shown = 0;
  return json.threads.map((thread, i) => {
    const id = String(i);
    const frames = thread.frames.slice(0, Math.max(0, MAX_SHOWN - shown));
    shown += frames.length;
    const left = thread.frames.length - frames.length;
    return element('details', {
      class: `thread${thread.crashed ? ' crashed' : ''}`, id: `thread-${id}`, open: thread === telling(json) || id === wanted,
    },
    element('summary', { onclick: () => history.replaceState(null, '', `#report=${index}&thread=${id}`) },
      `${title(thread)} (${thread.frames.length} ${thread.frames.length === 1 ? 'frame' : 'frames'})`),
    element('ol', { class: 'frames' }, ...frames.flatMap((frame) => rows(frame, json, explain))),
    ...(left > 0 ? [element('p', {}, `${left} more frames are in the text.`)] : []));
  });
}

/** The lines of a frame: one a call. */
function rows(frame, json, explain) {
  const image = imageOf(frame, json);
  const kind = isSystem(image) ? 'system' : 'own';
  const head = (i) => [
    element('span', { class: 'number' }, i === 0 ? String(frame.index) : ''),
    element('span', { class: 'image' }, image?.name ?? '???'),
  ];
  const address = () => element('span', { class: 'address' }, frame.address);
  if (frame.calls.length === 0)
    return [element('li', { class: kind }, ...head(0),
      element('span', { class: 'call' }, element('span', { class: 'name' }, frame.given ?? '???'),
        ...(frame.given_place ? [` ${frame.given_place}`] : []), element('span', { class: 'offset' }, fromImage(frame, image)),
        ...doubts(frame)),
      address())];
  return frame.calls.map((call, i) => element('li', { class: kind }, ...head(i),
    element('span', { class: 'call' }, element('span', { class: 'name' }, call.name), place(call), ...marks(call),
      ...(i === frame.calls.length - 1 ? doubts(frame) : [])),
    address(), ...(i === 0 && explain && image?.symbols ? [why(frame, image, explain)] : [])));
}

/** Where an address lies in its image. */
function fromImage(frame, image) {
  return image ? `${image.base} + ${BigInt(frame.address) - BigInt(image.base)}` : '';
}

const mark = (words, text) => element('span', { class: 'mark', title: text }, words);

/** What --check-stack found. */
function doubts(frame) {
  return [
    ...(frame.inferred ? [mark('inferred', 'The report lacks this frame: the return address was in lr')] : []),
    ...(frame.doubt ? [mark('in doubt', frame.doubt)] : []),
  ];
}

function marks(call) {
  return [
    ...(call.inline ? [mark('inlined', 'The compiler put this call into its caller')] : []),
    ...(call.callers_left_out ? [mark('callers left out', 'More calls are inlined here than an answer has')] : []),
    ...(call.name_source && !(call.name_source in INFERRED)
      ? [mark(call.name_source, 'Debug information does not say so: the name comes from here')] : []),
  ];
}

/** File and line of a call: a link where there is one, else to copy; without a file its offset. */
export function place(call) {
  const offset = call.inline ? [] : [element('span', { class: 'offset' }, ` + ${call.offset}`)];
  if (!call.file) return element('span', { class: 'where' }, ...offset);
  const whole = call.line ? `${call.file}:${call.line}` : call.file;
  if (/^https?:\/\//.test(call.link ?? ''))
    return element('span', { class: 'where' }, element('a', {
      class: 'place', href: call.link, target: '_blank', rel: 'noopener noreferrer', title: call.link,
    }, placeOf(call)), ...offset);
  return element('span', { class: 'where' },
    copyButton(placeOf(call), () => whole, { class: 'place', title: `Copy ${whole}` }), ...offset);
}

/** Why a frame has these names: looked up when it is asked for. */
function why(frame, image, explain) {
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

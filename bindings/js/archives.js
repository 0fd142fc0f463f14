// What lies in zip, tar and gzip files, archives in them too. A member is decompressed when it is read. Mails, zstd and
// static libraries are left to the tool.
import { MachsymError, fromBytes } from './sources.js';

const MAX_DEPTH = 3; // archives in archives
const MAX_MEMBERS = 1 << 20;
const MAX_DIRECTORY = 1 << 28; // bytes of a zip's central directory
const MAX_RATIO = 256; // bytes that a byte of an archive may become
const RATIO_AHEAD = 1 << 24; // ... and this many more
const HEAD = 1 << 16; // bytes of a member that are decompressed to see what it is
const END = 22;
const CENTRAL = 46;
const LOCAL = 30;
const BLOCK = 512;
const [STORED, DEFLATED] = [0, 8];
const NAME = /\.(zip|tar|tgz|gz)$/i;

const decoder = new TextDecoder();
const u16 = (v, at) => v[at] | (v[at + 1] << 8);
const u32 = (v, at) => (u16(v, at) | (u16(v, at + 2) << 16)) >>> 0;
const u64 = (v, at) => u32(v, at) + u32(v, at + 4) * 2 ** 32; // above 2 ** 53 it is past every file

function damaged(why, at) {
  throw new MachsymError(why, 'ERR_DAMAGED', at);
}

/** Bytes of a source; fewer where it ends. */
function bytesAt(source, at, len) {
  const bytes = new Uint8Array(Math.max(0, Math.min(len, source.size - at)));
  return bytes.length > 0 ? bytes.subarray(0, source.read(bytes, at)) : bytes;
}

function wholeAt(source, at, len, why) {
  const bytes = bytesAt(source, at, len);
  if (bytes.length < len) damaged(why, at);
  return bytes;
}

const CRC = Uint32Array.from({ length: 256 }, (_, i) => {
  let c = i;
  for (let k = 0; k < 8; k++) c = c & 1 ? (c >>> 1) ^ 0xedb88320 : c >>> 1;
  return c;
});

function crcOf(bytes) {
  let c = 0xffffffff;
  for (const byte of bytes) c = CRC[(c ^ byte) & 0xff] ^ (c >>> 8);
  return (c ^ 0xffffffff) >>> 0;
}

const most = (size) => size * MAX_RATIO + RATIO_AHEAD;
const bomb = () => damaged('the archive would become more than 256 times its size', 0);

// ---- Zip (APPNOTE.TXT 4.3) ----

/** Where the central directory lies: {count, size, offset, end}. */
function zipEnd(source) {
  const tail = bytesAt(source, Math.max(0, source.size - END - 0xffff), END + 0xffff);
  let at = tail.length - END;
  while (at >= 0 && !(u32(tail, at) === 0x06054b50 && u16(tail, at + 20) === tail.length - at - END)) at--;
  if (at < 0) damaged('the zip has no end record: it is cut short; copy it again', source.size);
  const end = source.size - tail.length + at;
  const locator = bytesAt(source, end - 20, end < 20 ? 0 : 20);
  if (locator.length < 20 || u32(locator, 0) !== 0x07064b50)
    return { count: u16(tail, at + 10), size: u32(tail, at + 12), offset: u32(tail, at + 16), end };
  for (const from of [u64(locator, 8), end - 76]) {
    const record = from >= 0 ? bytesAt(source, from, 56) : [];
    if (record.length === 56 && u32(record, 0) === 0x06064b50)
      return { count: u64(record, 32), size: u64(record, 40), offset: u64(record, 48), end: from };
  }
  return damaged('the zip64 end record is not where its locator says', end);
}

/** The numbers of a member. Those that are full are in `extra`, with 64 bits. */
function zipNumbers(size, packed, at, extra) {
  const full = [size, packed, at].map((number) => number === 0xffffffff);
  const numbers = [size, packed, at];
  for (let from = 0; from + 4 <= extra.length; from += 4 + u16(extra, from + 2)) {
    if (u16(extra, from) !== 1) continue;
    let place = from + 4;
    for (const i of [0, 1, 2].filter((one) => full[one])) {
      if (place + 8 > Math.min(extra.length, from + 4 + u16(extra, from + 2))) damaged('a member lacks its 64-bit sizes', at);
      numbers[i] = u64(extra, place);
      place += 8;
    }
    break;
  }
  return numbers;
}

/** The first bytes of a member, or all of it, which is held against its checksum. */
function zipRead(source, member, max, inflate) {
  const { at, packed, size, method, flags, crc } = member;
  const local = wholeAt(source, at, LOCAL, 'there is no member where the zip\'s central directory says');
  if (u32(local, 0) !== 0x04034b50 || u16(local, 8) !== method)
    damaged('the member is another one than the zip\'s central directory says', at);
  if ((flags & 1) !== 0) throw new MachsymError('the member is encrypted', 'ERR_UNSUPPORTED', at);
  if (method !== STORED && method !== DEFLATED)
    throw new MachsymError(`the member is compressed by method ${method}, which only the tool may read: { args: [] }`, 'ERR_UNSUPPORTED', at);
  const wanted = Math.min(size, max);
  const from = at + LOCAL + u16(local, 26) + u16(local, 28);
  const some = method === STORED ? wanted : wanted < size ? Math.min(packed, wanted + HEAD) : packed;
  const bytes = wholeAt(source, from, some, 'the member runs past the end of the zip');
  const out = method === STORED ? bytes : inflate(bytes, wanted).bytes;
  if (out.length < wanted) damaged('the compressed bytes are damaged or cut short; copy the archive again', at);
  if (wanted === size && crcOf(out) !== crc) damaged('the member is not what its checksum says; copy the archive again', at);
  return out;
}

/** The bytes of a member. What is after its head is read when it is asked for, once. */
function zipSource(source, member, inflate) {
  let head;
  let whole;
  return {
    size: member.size,
    read(into, at) {
      head ??= zipRead(source, member, HEAD, inflate);
      if (head.length < member.size && at + into.length > head.length) whole ??= zipRead(source, member, member.size, inflate);
      return fromBytes(whole ?? head).read(into, at);
    },
  };
}

function zipMembers(source, inflate) {
  const { count, size, offset, end } = zipEnd(source);
  if (size > end || size > MAX_DIRECTORY || count > MAX_MEMBERS)
    damaged('the zip\'s central directory is larger than the zip, or than 256 MB', end);
  const shift = end - size - offset; // of bytes before the zip
  if (shift < 0) damaged('the zip\'s central directory is not where its end record says', end);
  const v = wholeAt(source, end - size, size, 'the zip\'s central directory cannot be read');
  const members = [];
  let sum = 0;
  for (let i = 0, at = 0; i < count; i++) {
    if (size - at < CENTRAL || u32(v, at) !== 0x02014b50)
      damaged('the zip\'s central directory has fewer members than its end record says', at);
    const [nameLen, extraLen] = [u16(v, at + 28), u16(v, at + 30)];
    const next = at + CENTRAL + nameLen + extraLen + u16(v, at + 32);
    if (next > size) damaged('a name runs past the zip\'s central directory', at);
    const extra = v.subarray(at + CENTRAL + nameLen, at + CENTRAL + nameLen + extraLen);
    const [unpacked, packed, place] = zipNumbers(u32(v, at + 24), u32(v, at + 20), u32(v, at + 42), extra);
    const member = { at: place + shift, packed, size: unpacked, crc: u32(v, at + 16), method: u16(v, at + 10), flags: u16(v, at + 8) };
    const name = decoder.decode(v.subarray(at + CENTRAL, at + CENTRAL + nameLen));
    sum += unpacked;
    if (!name.endsWith('/')) members.push({ name, source: zipSource(source, member, inflate) });
    at = next;
  }
  if (sum > most(source.size)) bomb();
  return members;
}

// ---- Gzip (RFC 1952) ----

/** The bytes of all streams of a gzip file, one after the other. */
function gunzip(source, inflate) {
  const v = bytesAt(source, 0, source.size);
  const parts = [];
  let sum = 0;
  for (let at = 0; at + 18 <= v.length && u16(v, at) === 0x8b1f;) {
    const flags = v[at + 3];
    let from = at + 10 + ((flags & 4) !== 0 ? 2 + u16(v, at + 10) : 0);
    for (const bit of [8, 16]) if ((flags & bit) !== 0) from = v.indexOf(0, from) + 1 || v.length; // name, comment
    from += (flags & 2) !== 0 ? 2 : 0;
    const packed = v.subarray(from);
    const last = most(v.length) + 1;
    let cap = Math.min(Math.max(u32(v, v.length - 4), 1), last); // its length modulo 2 ** 32, if it is the last
    let out = inflate(packed, cap);
    while (out.isFull && cap < last) out = inflate(packed, cap = Math.min(cap * 2, last));
    if (out.isFull) bomb();
    const next = from + out.used;
    if (!out.isWhole || next + 8 > v.length || u32(v, next) !== crcOf(out.bytes))
      damaged('the compressed bytes are damaged or cut short; copy the archive again', from);
    sum += out.bytes.length;
    if (sum > most(v.length)) bomb();
    parts.push(out.bytes);
    at = next + 8;
  }
  const all = new Uint8Array(sum);
  parts.reduce((at, part) => (all.set(part, at), at + part.length), 0);
  return fromBytes(all);
}

// ---- Tar (POSIX.1-2001, and GNU's long names) ----

const tarText = (v, at, len) => decoder.decode(v.subarray(at, at + len)).split('\0')[0];
const tarNumber = (v, at, len) => (v[at] & 0x80 ? Number(v.subarray(at + 1, at + len).reduce((n, byte) => n * 256 + byte, 0))
  : parseInt(tarText(v, at, len).trim() || '0', 8));

function isTar(v) {
  if (v.length < BLOCK) return false;
  const sum = v.subarray(0, BLOCK).reduce((total, byte, i) => total + (i >= 148 && i < 156 ? 32 : byte), 0);
  return sum === tarNumber(v, 148, 8) && sum > 256;
}

/** The members of a pax header that count: {path, size}. */
function paxOf(bytes) {
  const found = {};
  for (let at = 0; at < bytes.length;) {
    const blank = bytes.indexOf(32, at);
    const len = blank < 0 ? 0 : Number(decoder.decode(bytes.subarray(at, blank)));
    if (!(len > blank - at) || at + len > bytes.length) damaged('a record of a tar header is damaged', at);
    const [, key, value] = /^([^=]*)=([^]*)\n$/.exec(decoder.decode(bytes.subarray(blank + 1, at + len))) ?? [];
    if (key === 'path') found.path = value;
    if (key === 'size') found.size = Number(value);
    at += len;
  }
  return found;
}

function tarMembers(source) {
  const members = [];
  let more = {};
  for (let at = 0; at < source.size;) {
    const v = bytesAt(source, at, BLOCK);
    if (v.every((byte) => byte === 0)) break; // the end
    if (!isTar(v)) damaged('there is no header where the tar\'s next member begins', at);
    const size = more.size ?? tarNumber(v, 124, 12);
    const [from, type] = [at + BLOCK, String.fromCharCode(v[156])];
    if (!(size >= 0) || size > source.size - from) damaged('the member runs past the end of the tar', at);
    at = from + Math.ceil(size / BLOCK) * BLOCK;
    if (type === 'x' || type === 'L') {
      const bytes = bytesAt(source, from, Math.min(size, HEAD));
      more = { ...more, ...(type === 'x' ? paxOf(bytes) : { path: tarText(bytes, 0, bytes.length) }) };
      continue;
    }
    const prefix = tarText(v, 257, 5) === 'ustar' && v[262] === 0 ? tarText(v, 345, 155) : '';
    const name = more.path ?? (prefix ? `${prefix}/` : '') + tarText(v, 0, 100);
    more = type === 'g' ? more : {};
    if (type === '0' || type === '\0' || type === '7')
      members.push({ name, source: { size, read: (into, of) => source.read(into.subarray(0, Math.max(0, Math.min(into.length, size - of))), from + of) } });
    if (members.length > MAX_MEMBERS) damaged('the archive has more members than are read', at);
  }
  return members;
}

// ---- All ----

/** The files in an archive, in archives in it too, as {path, source}; undefined: it is no archive. inflate(bytes, cap):
 *  {bytes, used, isWhole, isFull}. */
export function membersOf(path, source, inflate, depth = 0) {
  const head = bytesAt(source, 0, BLOCK);
  let members;
  if (head.length >= 4 && [0x04034b50, 0x06054b50].includes(u32(head, 0))) members = zipMembers(source, inflate);
  else if (head.length >= 18 && u16(head, 0) === 0x8b1f) {
    const inner = { path: path.replace(/\.tgz$/i, '.tar').replace(/\.gz$/i, ''), source: gunzip(source, inflate) };
    return (depth < MAX_DEPTH && membersOf(inner.path, inner.source, inflate, depth + 1)) || [{ ...inner, isAlone: true }];
  } else if (isTar(head)) members = tarMembers(source);
  else return undefined;
  return members.flatMap(({ name, source: inner }) => {
    const one = { path: `${path}/${name}`, source: inner };
    return (NAME.test(name) && depth < MAX_DEPTH && membersOf(one.path, inner, inflate, depth + 1)) || [one];
  });
}

const REPORT = /\.(crash|ips|txt|json|log|spindump|hang|diag|spin|beta|panic|synced|ndjson|eml|dmp|core)$/i;

/** Whether a file of an archive or folder is a report. In .xccrashpoint bundles reports lie in folders Logs; what else is
 *  there, and the copies that Xcode symbolicated, would count twice. */
export function isReportName(path) {
  const [, inner] = /\.xccrashpoint(\/.*)/.exec(path) ?? [];
  if (path.slice(path.lastIndexOf('/') + 1).startsWith('.')) return false;
  return REPORT.test(path) && (inner === undefined || (inner.includes('/Logs/') && !inner.includes('/LocallySymbolicated/')));
}

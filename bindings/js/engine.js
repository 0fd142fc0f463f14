// What the package does, synchronously, where files can be read so: under node, and in a worker of a browser.
import { Host } from './host.js';
import { Tree } from './tree.js';
import { isReportName, membersOf } from './archives.js';
import { MachsymError, fromBytes } from './sources.js';

// machsym_lines, machsym_demangle_flags
const LINES = { atos: 0, dwarf: 1, stmt: 2, people: 3 };
const NAMES = { full: 0, simplified: 1 };
const FAILED = 1;
const JSON_FILE = '/json';
// machsym_report_form, in its order; machsym_report_flags; what flat.h writes of a report
const FORMS = ['text', 'apple', 'json', 'brief', 'summary', 'signature'];
const REPORT = { all: 1, fullPaths: 2, fullNames: 4, noInline: 8, noFolded: 16, rawAddresses: 32, same: 64, checkStack: 128 };
const [IMAGES, WALK] = [1, 3];
const KEPT = 512 << 20; // an instance with more memory is not used for another input
const FRAME = 48; // bytes of a frame in what flat_lookup writes
const TABLE = 2048; // numbers of functions: the library's, and from 1024 on those of the program for reports

export { MachsymError };

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Reads what flat.h writes. */
class Answer {
  constructor(buffer, at, len) {
    this.view = new DataView(buffer, at, len);
    this.bytes = new Uint8Array(buffer, at, len);
    this.at = 0;
  }

  u32() {
    this.at += 4;
    return this.view.getUint32(this.at - 4, true);
  }

  u64() {
    this.at += 8;
    return this.view.getBigUint64(this.at - 8, true);
  }

  raw(len = this.u32()) {
    this.at += len;
    return this.bytes.subarray(this.at - len, this.at);
  }

  text(len) {
    return decoder.decode(this.raw(len));
  }

  uuid() {
    const hex = [...this.raw()].map((byte) => byte.toString(16).padStart(2, '0')).join('').toUpperCase();
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  }
}

function bytesOfUuid(text) {
  const hex = text.replaceAll('-', '');
  if (!/^[0-9a-f]{32}$/i.test(hex)) throw new MachsymError(`not a UUID: ${text}`, 'ERR_ARGUMENT', 0);
  return Uint8Array.from(hex.match(/../g), (pair) => parseInt(pair, 16));
}

/** An instance of the library, which has one file open, or several that it knows by their numbers. */
class Library {
  constructor(module, ...sources) {
    [this.source] = sources;
    this.sources = sources; // read by their numbers; more may be added
    this.read = { count: 0, bytes: 0 };
    const read = (file, offset, out, len) => {
      try {
        const got = sources[file].read(new Uint8Array(this.exports.memory.buffer, out >>> 0, len >>> 0), offset);
        this.read.count++;
        this.read.bytes += got;
        return got;
      } catch {
        return 0; // machsym says what could not be read
      }
    };
    this.exports = new WebAssembly.Instance(module, { host: { read } }).exports;
    this.sessions = new Map();
  }

  /** Calls use(pointers) with texts and bytes in memory; undefined is NULL. */
  with(values, use) {
    const pointers = values.map((value) => {
      if (value === undefined) return 0;
      const bytes = typeof value === 'string' ? encoder.encode(`${value}\0`) : value;
      const at = this.take(bytes.length);
      new Uint8Array(this.exports.memory.buffer, at, bytes.length).set(bytes);
      return at;
    });
    try {
      return use(...pointers);
    } finally {
      for (const pointer of pointers) this.exports.give(pointer);
    }
  }

  take(len) {
    const at = this.exports.take(len) >>> 0;
    if (at === 0) throw new MachsymError(`no memory for ${len} bytes; WebAssembly has 4 GB`, 'ERR_MEMORY', 0);
    return at;
  }

  text(at) {
    const bytes = new Uint8Array(this.exports.memory.buffer, at >>> 0);
    return decoder.decode(bytes.subarray(0, bytes.indexOf(0)));
  }

  fail() {
    const e = this.exports;
    throw new MachsymError(this.text(e.error_text()), this.text(e.result_name()), e.error_offset());
  }

  /** What a call(out, cap) writes, which returns how many bytes that takes. */
  answer(call) {
    let cap = 4096;
    for (;;) {
      const out = this.take(cap);
      const len = call(out, cap);
      if (len <= cap) {
        const answer = new Answer(this.exports.memory.buffer.slice(out, out + len), 0, len);
        this.exports.give(out);
        return answer;
      }
      this.exports.give(out);
      cap = len;
    }
  }

  open(name, { arch, uuid, entry } = {}) {
    const of = uuid !== undefined ? bytesOfUuid(uuid) : undefined;
    this.with([name, arch, of, entry], (...texts) => {
      if (!this.exports.open(this.source.size, ...texts)) this.fail();
    });
    return this.info();
  }

  info() {
    const a = this.answer((out, cap) => this.exports.info(out, cap));
    const [isMap, lines, filetype, hasUuid, platform, minOs, sdk, hasDebugInfo, damagedParts, isCutShort] =
      Array.from({ length: 10 }, () => a.u32());
    const [textAddress, textSize] = [a.u64(), a.u64()];
    const [uuid, arch, name] = [a.uuid(), a.text(), a.text()];
    a.text(), a.text(); // paths
    return {
      isMap: isMap !== 0, lines: isMap ? Object.keys(LINES)[lines] : undefined, filetype,
      uuid: hasUuid ? uuid : undefined, arch, name, platform, minOs, sdk, hasDebugInfo: hasDebugInfo !== 0, damagedParts,
      isCutShort: isCutShort !== 0, textAddress, textSize, reads: Number(a.u64()), bytesRead: Number(a.u64()),
    };
  }

  session(lines) {
    if (!this.sessions.has(lines)) {
      const session = this.exports.session(lines, 0);
      if (session === 0) this.fail();
      this.sessions.set(lines, session);
    }
    return this.sessions.get(lines);
  }

  /** The frames of each address, the innermost first. */
  lookup(addresses, { load, lines, names = 'simplified' } = {}) {
    const session = this.session(lines === undefined ? -1 : LINES[lines]);
    const list = BigUint64Array.from(addresses, BigInt);
    if (list.length === 0) return [];
    return this.with([new Uint8Array(list.buffer), new Uint8Array(4)], (at, len) => {
      const out = this.exports.lookup(session, load !== undefined ? 1 : 0, BigInt(load ?? 0), NAMES[names], at,
        list.length, len);
      const { buffer } = this.exports.memory;
      if (out === 0) throw new MachsymError('no memory left', 'ERR_MEMORY', 0);
      return this.frames(buffer, out >>> 0, list.length);
    });
  }

  /** What flat_lookup wrote; see flat.h. */
  frames(buffer, out, count) {
    const view = new DataView(buffer, out);
    const bytes = new Uint8Array(buffer, out);
    const u32 = (at) => view.getUint32(at, true);
    const [textCount, frameCount] = [u32(0), u32(4)];
    const countsAt = 8 + 4 * textCount;
    let at = countsAt + 4 * count;
    let textAt = at + FRAME * frameCount;
    const texts = Array.from({ length: textCount }, (_, i) => {
      const begin = textAt;
      textAt += u32(8 + 4 * i);
      return decoder.decode(bytes.subarray(begin, textAt));
    });
    const frame = () => {
      const f = at;
      at += FRAME;
      return {
        name: texts[u32(f + 36)], linkageName: texts[u32(f + 40)] || undefined, file: texts[u32(f + 44)] || undefined,
        line: u32(f + 16) || undefined, column: u32(f + 20) || undefined, isInline: (u32(f + 24) & 1) !== 0,
        lacksCallers: (u32(f + 24) & 2) !== 0,
        functionStart: view.getBigUint64(f, true), functionSize: view.getBigUint64(f + 8, true),
        nameSource: this.sourceName(u32(f + 28)), lineSource: this.sourceName(u32(f + 32)),
      };
    };
    return Array.from({ length: count }, (_, i) => Array.from({ length: u32(countsAt + 4 * i) }, frame));
  }

  sourceName(number) {
    this.sourceNames ??= [];
    return this.sourceNames[number] ??= this.text(this.exports.source_name(number));
  }

  slices(name, source = this.source, file = 0) {
    const a = this.with([name], (text) =>
      this.answer((out, cap) => this.exports.slices(file, source.size, text, out, cap)));
    if (a.bytes.length === 0) this.fail();
    return Array.from({ length: a.u32() }, () => {
      const [filetype, hasUuid, offset, size] = [a.u32(), a.u32(), Number(a.u64()), Number(a.u64())];
      const uuid = a.uuid();
      return { filetype, uuid: hasUuid ? uuid : undefined, offset, size, arch: a.text() };
    });
  }

  /** The bytes of the image's map. */
  build(lines) {
    return this.with([new Uint8Array(4)], (len) => {
      const at = this.exports.build(LINES[lines], 0, len) >>> 0;
      if (at === 0) this.fail();
      const { buffer } = this.exports.memory;
      const bytes = new Uint8Array(buffer.slice(at, at + new DataView(buffer).getUint32(len, true)));
      this.exports.drop_map();
      return bytes;
    });
  }

  /** The bytes of a raw deflate stream, at most cap: {bytes, used, isWhole, isFull}. */
  inflate(packed, cap) {
    return this.with([packed, new Uint8Array(8)], (at, ends) => {
      const out = this.take(cap);
      try {
        const len = this.exports.inflate(at, packed.length, out, cap, ends) >>> 0;
        const { buffer } = this.exports.memory;
        const [used, state] = new Uint32Array(buffer, ends, 2);
        return { bytes: new Uint8Array(buffer.slice(out, out + len)), used, isWhole: state === 0, isFull: state === 1 };
      } finally {
        this.exports.give(out);
      }
    });
  }

  demangle(name, style) {
    const bytes = encoder.encode(name);
    const a = this.with([bytes], (at) => this.answer((out, cap) =>
      this.exports.demangle(at, bytes.length, NAMES[style], out, cap) + 1)); // with its NUL
    return decoder.decode(a.bytes.subarray(0, -1));
  }
}

/** A library with the program for reports in its memory. Each calls functions of the other by numbers of one table. */
class ReportLibrary extends Library {
  constructor({ library, reports }, ...sources) {
    super(library, ...sources);
    const { exports } = this;
    const table = exports.__indirect_function_table;
    table.grow(TABLE - table.length);
    this.reports = new WebAssembly.Instance(reports, { env: exports }).exports;
    const { __global_base: begin, __heap_base: end } = this.reports;
    if (!exports.reserve(begin.value, end.value, this.reports.version()))
      throw new MachsymError('machsym.wasm and machsym-reports.wasm are of different versions', 'ERR_ARGUMENT', 0);
  }
}

/** Decompresses. An instance that took much memory is not used again. */
function inflater(module) {
  let library;
  return (packed, cap) => {
    if (!library || library.exports.memory.buffer.byteLength > KEPT) library = new Library(module, fromBytes(new Uint8Array(0)));
    return library.inflate(packed, cap);
  };
}

// Mach-O, fat files of both sizes, maps
const MAGICS = new Set([0xfeedface, 0xfeedfacf, 0xcefaedfe, 0xcffaedfe, 0xcafebabe, 0xcafebabf, 0x4d414348]);
const MH_DSYM = 10;
const MH_CORE = 4;

function headOf(source, len) {
  const bytes = new Uint8Array(len);
  return new DataView(bytes.buffer, 0, source.read(bytes, 0));
}

/** Whether an input is a minidump or a core file, whose stacks are unwound by the tables of programs. */
function isDump(input) {
  const view = new DataView(input.buffer, input.byteOffset, input.byteLength);
  if (input.length < 16) return false;
  return view.getUint32(0) === 0x4d444d50 || (view.getUint32(0) === 0xcffaedfe && view.getUint32(12, true) === MH_CORE);
}

/** Files that answer reports. A file is opened when a report has an image with its UUID or its name. */
class Symbols {
  /** files: {path, source} and, of what is known, slice. */
  constructor(modules, files) {
    this.modules = modules;
    this.files = [...files];
    this.messages = [];
  }

  /** What is in an archive and begins as symbols do. An archive that is damaged is a message. */
  members({ path, source }) {
    try {
      return (membersOf(path, source, inflater(this.modules.library)) ?? []).filter((member) => {
        const head = headOf(member.source, 4);
        return head.byteLength === 4 && MAGICS.has(head.getUint32(0));
      });
    } catch (error) {
      if (error.code === 'ERR_MEMORY' || !(error instanceof MachsymError)) throw error;
      this.messages.push(`${path}: ${error.message}`);
      return [];
    }
  }

  /** The slices of a file; undefined: it is no Mach-O file and no map. */
  slicesOf(library, { path, source, slice: known }, file) {
    if (known) return [{ ...known, path, source, file }];
    try {
      return library.slices(path, source, file).map((slice) => ({ ...slice, path, source, file }));
    } catch (error) {
      if (error.code === 'ERR_MEMORY' || !(error instanceof MachsymError)) throw error;
      if (error.code === 'ERR_FORMAT') return undefined;
      this.messages.push(error.message);
      return [];
    }
  }

  /** The slices of all files. The files of an archive are files from now on. Other files are passed over. */
  list(library) {
    return [...this.files].flatMap((one, file) => this.slicesOf(library, one, file) ?? this.members(one).flatMap((member) => {
      library.sources.push(member.source);
      return this.slicesOf(library, member, this.files.push(member) - 1) ?? [];
    }));
  }

  /** Makes an instance, if there is none that may be used again. */
  begin() {
    if (this.kept && this.kept.exports.memory.buffer.byteLength <= KEPT) return;
    this.kept = new ReportLibrary(this.modules, ...this.files.map(({ source }) => source));
    this.opened = new Map(); // of slices: images in the instance, 0 for what cannot be opened
    this.whole = new Set(); // slices that lie in its memory as a whole
    this.handles = new Map(); // of line policies
  }

  /** The flat_symbols of a line policy, for the images that are open. */
  handle(lines) {
    if (!this.handles.has(lines)) {
      const images = [...this.opened.values()].filter((image) => image !== 0);
      const handle = this.kept.with([new Uint8Array(Uint32Array.from([...images, 0]).buffer)], (at) =>
        this.kept.reports.symbols(at, images.length, lines));
      if (handle === 0) this.kept.fail();
      this.handles.set(lines, handle);
    }
    return this.handles.get(lines);
  }

  /** A file that cannot be opened is a message. */
  failed() {
    const { exports } = this.kept;
    if (this.kept.text(exports.result_name()) === 'ERR_MEMORY') this.kept.fail();
    this.messages.push(this.kept.text(exports.error_text()));
  }

  /** Whether a slice has to be opened. asWhole: programs are, because their code or their tables are read. */
  isClosed(slice, asWhole) {
    if (!this.opened.has(slice)) return true;
    return asWhole && !this.whole.has(slice) && this.opened.get(slice) !== 0 && !isMapOrDsym(slice);
  }

  /** Puts the bytes of a slice into the instance. */
  load({ source, offset = 0, size = source.size }) {
    const at = this.kept.take(size);
    return { at, len: source.read(new Uint8Array(this.kept.exports.memory.buffer, at, size), offset) };
  }

  /** Opens what is wanted and not open. */
  open(wanted, asWhole) {
    for (const slice of this.slices) {
      if (!this.isClosed(slice, asWhole) || !wanted(slice)) continue;
      const { file, source, path, arch, uuid, entry } = slice;
      const bytes = asWhole && !isMapOrDsym(slice) ? this.load(slice) : undefined;
      const image = this.kept.with([path, uuid ? undefined : arch, uuid && bytesOfUuid(uuid), entry], (...texts) =>
        (bytes ? this.kept.exports.image_of_bytes(bytes.at, bytes.len, ...texts) : this.kept.exports.image(file, source.size, ...texts)));
      if (bytes) this.whole.add(slice);
      if (image === 0) this.failed();
      this.opened.set(slice, image);
      for (const handle of this.handles.values()) this.kept.reports.symbols_close(handle);
      this.handles.clear();
    }
  }

  /** Calls use(ask), where ask(lines, flags, forms, parts) reads the input. What stops the instance is an error, and another
   *  instance has the next input. */
  with(input, { name, redact }, use) {
    this.begin();
    const { kept, kept: { exports, reports } } = this;
    try {
      this.slices ??= this.list(kept);
      if (this.slices.length === 0 && this.files.length > 0) this.messages.push('no Mach-O file and no map among the symbols');
      return kept.with([input, name, redact, new Uint8Array(4)], (at, nameAt, redactAt, len) => use((lines, flags, forms,
        parts, of = redactAt) => {
        const numbers = forms.reduce((sum, form) => sum + (1 << FORMS.indexOf(form)), 0);
        const out = reports.symbolicate(this.handle(lines), at, input.length, nameAt, of, flags, numbers, parts, len) >>> 0;
        if (out === 0) kept.fail();
        const { buffer } = exports.memory;
        return readAnswer(new Answer(buffer, out, new DataView(buffer).getUint32(len, true)), forms);
      }));
    } catch (error) {
      this.kept = undefined;
      if (!(error instanceof WebAssembly.RuntimeError || error instanceof RangeError)) throw error;
      throw new MachsymError(reports.lacked_memory() ? 'no memory left; WebAssembly has 4 GB'
        : `WebAssembly stopped: ${error.message}`, 'ERR_MEMORY', 0);
    }
  }

  symbolicate(input, { forms, name, redact, namedToo, fullPaths, fullNames, inline = true, walk = true, checkStack = false }) {
    const usual = FORMS.filter((form) => forms.includes(form) && form !== 'apple');
    const flags = (namedToo ? REPORT.all : 0) | (fullPaths ? REPORT.fullPaths : 0) | (fullNames ? REPORT.fullNames : 0) |
      (inline ? 0 : REPORT.noInline);
    const checks = checkStack ? REPORT.checkStack : 0;
    const parts = walk ? WALK : 0;
    const asWhole = checkStack || isDump(input);
    return this.with(input, { name, redact }, (ask) => {
      if (this.slices.some((slice) => this.isClosed(slice, asWhole)))
        this.open(wantedBy(ask(LINES.people, 0, [], IMAGES, 0)), asWhole);
      let answer;
      if (usual.length > 0 || forms.includes('same') || !forms.includes('apple'))
        answer = ask(LINES.people, flags | checks | (forms.includes('same') ? REPORT.same : 0), usual, parts);
      if (!forms.includes('apple')) return answer;
      // Apple's tools look other lines and addresses up
      const apple = ask(LINES.atos, flags | REPORT.rawAddresses | REPORT.noFolded, ['apple'], answer ? 0 : parts);
      answer?.reports.forEach((one, i) => Object.assign(one.written, apple.reports[i]?.written));
      return answer ?? apple;
    });
  }
}

const isMapOrDsym = ({ filetype }) => filetype === 0 || filetype === MH_DSYM;
const baseName = (path) => path.slice(path.lastIndexOf('/') + 1);

/** Which slices the images of reports want: those of their UUIDs and, so that messages can tell of them, of their names. */
function wantedBy({ reports }) {
  const images = reports.flatMap((report) => report.images);
  const uuids = new Set(images.map(({ uuid }) => uuid));
  const names = new Set(images.flatMap(({ name, path }) => [name, baseName(path)]));
  return ({ uuid, path }) => uuid === undefined || uuids.has(uuid) || names.has(baseName(path));
}

/** What flat_symbolicate wrote; see flat.h. */
function readAnswer(a, forms) {
  const answer = { reports: [], failures: [], same: new Uint8Array(0) };
  const list = (read) => Array.from({ length: a.u32() }, read);
  for (;;) {
    const what = a.u32();
    if (what === 1) {
      const [number, frameCount, named, missing, cutAt, kind] = [a.u32(), a.u32(), a.u32(), a.u32(), Number(a.u64()), a.text()];
      const images = list(() => {
        const [base, end, marks, inIt, lacking, uuid] = [a.u64(), a.u64(), a.u32(), a.u32(), a.u32(), a.uuid()];
        const [name, path, arch, version] = [a.text(), a.text(), a.text(), a.text()];
        return { name, path, arch, version, uuid: (marks & 1) !== 0 ? uuid : undefined, isSystem: (marks & 2) !== 0, base, end, frames: inIt, missing: lacking };
      });
      const frames = list(() => {
        const [address, thread, offset, line, marks] = [a.u64(), a.u64(), a.u64(), a.u32(), a.u32()];
        const [image, name, path, doubt] = [a.text(), a.text(), a.text(), a.text()];
        return { address, thread, isCrashed: (marks & 1) !== 0, isInline: (marks & 2) !== 0, image, name, path, line, offset, isInferred: (marks & 4) !== 0, doubt };
      });
      const written = Object.fromEntries(forms.map((form) => [form, a.raw().slice()]));
      answer.reports.push({ number, kind, frameCount, named, missing, cutAt, images, frames, written });
    } else if (what === 2) {
      const [number, at, why] = [a.u32(), Number(a.u64()), a.text()];
      answer.failures.push({ number, why, at });
    } else {
      const same = a.raw().slice();
      return answer.reports.length > 0 ? { ...answer, same } : answer;
    }
  }
}

function compareBytes(a, b) {
  for (let i = 0; i < Math.min(a.length, b.length); i++) if (a[i] !== b[i]) return a[i] - b[i];
  return a.length - b.length;
}

function all(source) {
  const bytes = new Uint8Array(source.size);
  return bytes.subarray(0, source.read(bytes, 0));
}

export class Engine {
  /** modules: library, reports and tool, WebAssembly.Modules. All but the library may be given later, by give. */
  constructor(modules) {
    this.modules = modules;
    this.images = new Map(); // Libraries and Symbols
    this.last = 0;
  }

  /** A program that is needed from now on. */
  give(name, module) {
    this.modules[name] = module;
  }

  add(library) {
    this.images.set(++this.last, library);
    return this.last;
  }

  image(id, words = 'the image is closed') {
    const library = this.images.get(id);
    if (!library) throw new MachsymError(words, 'ERR_ARGUMENT', 0);
    return library;
  }

  open(source, name, options) {
    const library = new Library(this.modules.library, source);
    const info = library.open(name, options);
    const { arch, uuid, isMap, filetype } = info;
    library.file = { path: name, source, slice: { arch, uuid, entry: options?.entry, filetype: isMap ? 0 : filetype } };
    return { id: this.add(library), info };
  }

  slices(source, name) {
    return new Library(this.modules.library, source).slices(name);
  }

  lookup(id, addresses, options) {
    return this.image(id).lookup(addresses, options);
  }

  reads(id) {
    return this.image(id).read;
  }

  build(id, lines = 'atos') {
    if (!(lines in LINES)) throw new MachsymError(`no such line policy: ${lines}`, 'ERR_ARGUMENT', 0);
    const bytes = this.image(id).build(lines);
    return { ...this.open(fromBytes(bytes), 'map'), bytes };
  }

  close(id) {
    this.images.get(id)?.source?.close?.();
    this.images.delete(id);
  }

  demangle(names, style) {
    this.plain ??= new Library(this.modules.library, fromBytes(new Uint8Array(0)));
    return names.map((name) => this.plain.demangle(name, style));
  }

  /**
   * Runs the tool. files: [{path, source}]. Returns its status, what it printed, and the files named in outputs.
   */
  run(args, { files = [], stdin, outputs = [], onError } = {}) {
    const tree = new Tree();
    for (const { path, source } of files) tree.add(path, source);
    const printed = { stdout: [], stderr: [] };
    const input = stdin ?? fromBytes(new Uint8Array(0));
    let at = 0;
    const host = new Host({
      args: ['machsym', ...args],
      files: tree,
      stdin: {
        isFile: true,
        read: (into) => {
          const got = input.read(into, at);
          at += got;
          return got;
        },
      },
      stdout: { write: (bytes) => printed.stdout.push(bytes.slice()) },
      stderr: {
        write: (bytes) => {
          printed.stderr.push(bytes.slice());
          onError?.(decoder.decode(bytes));
        },
      },
    });
    const status = host.run(this.modules.tool);
    const written = Object.fromEntries(outputs.map((path) => [path, tree.written(path)]));
    return { status, stdout: join(printed.stdout), stderr: decoder.decode(join(printed.stderr)), outputs: written };
  }

  /** Symbols of files, and of images by their numbers. */
  symbolsOf(files) {
    return new Symbols(this.modules, files.map(({ image, ...file }) => (image === undefined ? file : this.image(image).file)));
  }

  /** Files for many inputs: what stays open is opened once. */
  symbols(files) {
    return { id: this.add(this.symbolsOf(files)) };
  }

  /** The symbols of a number: an image has its own, which stay open as long as it is. */
  known(id) {
    const one = this.image(id, 'the symbols are closed');
    if (one instanceof Symbols) return one;
    return (one.symbols ??= this.symbolsOf([{ image: id }]));
  }

  /** The inputs of a report: of an archive, or of files of a folder, those that are reports by their names; else itself. */
  inputs(report, name) {
    const inflate = inflater(this.modules.library);
    const files = Array.isArray(report) ? report : [{ path: name ?? '', source: report, isAlone: true }];
    const members = files.flatMap((file) => membersOf(file.path, file.source, inflate) ?? [file]);
    const isMany = Array.isArray(report) || members[0]?.source !== report;
    const bytesOf = new TextEncoder();
    return members.filter(({ path, isAlone }) => (isAlone && members.length === 1) || isReportName(path))
      .map((one) => ({ ...one, key: bytesOf.encode(one.path) })).sort((a, b) => compareBytes(a.key, b.key))
      .map(({ path, source }) => ({ input: all(source), name: isMany && name !== undefined ? path : name }));
  }

  /** All reports of an input, without the tool. symbols: files, or the number of symbols or of an image. */
  reports(report, symbols, options) {
    const wrong = options.forms.find((form) => form !== 'same' && !FORMS.includes(form));
    if (wrong !== undefined) throw new MachsymError(`no such form: ${wrong}`, 'ERR_ARGUMENT', 0);
    for (const text of [options.name, options.redact])
      if (text?.includes('\0')) throw new MachsymError('a name or a key with a zero byte', 'ERR_ARGUMENT', 0); // C would end it there
    const of = typeof symbols === 'number' ? this.known(symbols) : this.symbolsOf(symbols);
    let answers;
    try {
      answers = this.inputs(report, options.name).map(({ input, name }) => of.symbolicate(input, { ...options, name }));
    } catch (error) {
      if (error.code !== 'ERR_DAMAGED' && error.code !== 'ERR_UNSUPPORTED') throw error;
      answers = [{ reports: [], failures: [{ number: 0, why: error.message, at: error.offset }], same: new Uint8Array(0) }];
    }
    if (answers.length === 0)
      answers = [{ reports: [], failures: [{ number: 0, why: 'the archive or folder holds no report', at: 0 }], same: new Uint8Array(0) }];
    const failures = answers.flatMap((one) => one.failures);
    return { reports: answers.flatMap((one) => one.reports), failures, same: join(answers.map((one) => one.same)), messages: of.messages.splice(0) };
  }

  /** A report with names by the tool, as text and as its JSON. */
  symbolicate(report, files, { args = [], onError } = {}) {
    const symbols = files.map(({ path, source }) => ({ path: `/symbols/${path}`, source }));
    const inputs = Array.isArray(report) ? report.map(({ path, source }) => ({ path: `/report/${path}`, source })) : [{ path: '/report', source: report }];
    const all = [...inputs, ...symbols];
    const crash = ['crash', '--json-out', JSON_FILE, ...args, ...(files.length > 0 ? ['-d', '/symbols'] : [])];
    const { status, stdout, stderr, outputs } = this.run([...crash, '/report'], { files: all, outputs: [JSON_FILE], onError });
    const documents = decoder.decode(outputs[JSON_FILE]).split('\n').map(parse).filter(Boolean);
    return {
      text: decoder.decode(stdout), json: documents.length === 1 ? documents[0] : undefined, documents, messages: stderr,
      isComplete: status !== FAILED,
    };
  }
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the messages say why there is none
  }
}

function join(parts) {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

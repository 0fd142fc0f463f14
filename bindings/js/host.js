// What a WebAssembly program of WASI (preview 1) asks its host for: arguments, a clock, and files. Files lie in an
// object with the methods of Tree (tree.js) or Disk (disk.js); all calls are synchronous.

const ERRNO = {
  E2BIG: 1, EACCES: 2, EAGAIN: 6, EBADF: 8, EBUSY: 10, EEXIST: 20, EFBIG: 22, EINTR: 27, EINVAL: 28, EIO: 29,
  EISDIR: 31, ELOOP: 32, EMFILE: 33, EMLINK: 34, ENAMETOOLONG: 37, ENFILE: 41, ENODEV: 43, ENOENT: 44, ENOMEM: 48,
  ENOSPC: 51, ENOSYS: 52, ENOTDIR: 54, ENOTEMPTY: 55, ENOTSUP: 58, ENOTTY: 59, ENXIO: 60, EPERM: 63, EPIPE: 64,
  EROFS: 69, ESPIPE: 70, ETXTBSY: 74, EXDEV: 75,
};

export const FILE_TYPES = { unknown: 0, block: 1, character: 2, directory: 3, file: 4, link: 7, pipe: 6 };

const RIGHT_READ = 1n << 1n;
const RIGHT_SEEK = (1n << 2n) | (1n << 5n);
const RIGHT_WRITE = 1n << 6n;
const ALL_RIGHTS = (1n << 30n) - 1n;
const FIRST_FOLDER = 3; // the descriptor of the root

/** An error of a file, with the name of an errno as its code. */
export function failure(code, message = code) {
  return Object.assign(new Error(message), { code });
}

/** The end of a program, by exit(). */
export class Exit {
  constructor(status) {
    this.status = status;
  }
}

/**
 * Runs programs. A program is a WebAssembly.Module of WASI.
 * @param {object} o args (texts, the program's name first), env (an object), files, and streams: stdin
 *   ({read(into) -> count, isTerminal, isFile}), stdout and stderr ({write(bytes), isTerminal}).
 */
export class Host {
  constructor({ args, env = {}, files, stdin, stdout, stderr }) {
    this.args = args;
    this.env = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    this.files = files;
    this.open = [{ stream: stdin }, { stream: stdout }, { stream: stderr }, { root: true, path: '/' }];
    this.memory = null;
    this.encoder = new TextEncoder();
    this.decoder = new TextDecoder();
  }

  /** Runs a program to its end. Returns its exit status. Throws what broke it: a trap, or out of memory. */
  run(module) {
    const instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: this.imports(module) });
    this.memory = instance.exports.memory;
    try {
      instance.exports._start();
      return 0;
    } catch (end) {
      if (end instanceof Exit) return end.status;
      throw end;
    } finally {
      for (const one of this.open) one?.handle?.close();
      this.open = [];
    }
  }

  /** The calls that a program imports. One that is not here answers that there is no such call. */
  imports(module) {
    const calls = {};
    for (const { name } of WebAssembly.Module.imports(module)) {
      const call = this[`wasi_${name}`];
      calls[name] = call ? (...values) => this.answer(() => call.apply(this, values)) : () => ERRNO.ENOSYS;
    }
    return calls;
  }

  /** What a call returns to the program: 0, or an errno. */
  answer(call) {
    try {
      return call() ?? 0;
    } catch (error) {
      if (error instanceof Exit || error instanceof WebAssembly.RuntimeError) throw error;
      if (typeof error?.code === 'string' && error.code in ERRNO) return ERRNO[error.code];
      return ERRNO.EIO;
    }
  }

  /** Memory is another buffer whenever it has grown. */
  get view() {
    if (this.seen?.buffer !== this.memory.buffer) this.seen = new DataView(this.memory.buffer);
    return this.seen;
  }

  bytes(at, len) {
    return new Uint8Array(this.memory.buffer, at >>> 0, len >>> 0);
  }

  /** The text of a path; names of a disk may be no UTF-8. */
  text(at, len) {
    const bytes = this.bytes(at, len);
    return this.files.textOf?.(bytes) ?? this.decoder.decode(bytes);
  }

  fd(number) {
    const one = this.open[number];
    if (!one) throw failure('EBADF');
    return one;
  }

  handle(number) {
    const { handle, root } = this.fd(number);
    if (!handle) throw failure(root ? 'EISDIR' : 'ESPIPE');
    return handle;
  }

  path(folder, at, len) {
    const base = this.fd(folder);
    if (base.path === undefined) throw failure('ENOTDIR');
    const name = this.text(at, len);
    return base.path.endsWith('/') ? base.path + name : `${base.path}/${name}`;
  }

  add(one) {
    let number = FIRST_FOLDER + 1;
    while (this.open[number]) number++;
    this.open[number] = one;
    return number;
  }

  // ---- Arguments, environment, time ----

  putTexts(texts, pointers, at) {
    for (const [i, text] of texts.entries()) {
      const bytes = this.encoder.encode(`${text}\0`);
      this.view.setUint32(pointers + 4 * i, at, true);
      this.bytes(at, bytes.length).set(bytes);
      at += bytes.length;
    }
  }

  putSizes(texts, count, size) {
    this.view.setUint32(count, texts.length, true);
    this.view.setUint32(size, texts.reduce((sum, text) => sum + this.encoder.encode(text).length + 1, 0), true);
  }

  wasi_args_sizes_get(count, size) {
    this.putSizes(this.args, count, size);
  }

  wasi_args_get(pointers, at) {
    this.putTexts(this.args, pointers, at);
  }

  wasi_environ_sizes_get(count, size) {
    this.putSizes(this.env, count, size);
  }

  wasi_environ_get(pointers, at) {
    this.putTexts(this.env, pointers, at);
  }

  wasi_clock_time_get(clock, precision, out) {
    const now = Math.round((clock === 0 ? Date.now() : performance.now()) * 1e6);
    this.view.setUint32(out, now % 2 ** 32, true); // no BigInt: programs ask often
    this.view.setUint32(out + 4, now / 2 ** 32, true);
  }

  // A file can be read at once. Of a pipe nothing can be told: a program that asks with a time limit hears that it ran
  // out.
  wasi_poll_oneoff(input, output, count, counted) {
    const CLOCK = 0;
    const events = [];
    for (let i = 0; i < count; i++) {
      const at = input + 48 * i;
      events.push({ user: this.view.getBigUint64(at, true), type: this.view.getUint8(at + 8), fd: this.view.getUint32(at + 16, true) });
    }
    const clocks = events.filter((event) => event.type === CLOCK);
    const files = events.filter((event) => event.type !== CLOCK && this.open[event.fd]?.stream?.isFile);
    const ready = [files, clocks, events].find((some) => some.length > 0) ?? [];
    for (const [i, event] of ready.entries()) {
      this.bytes(output + 32 * i, 32).fill(0);
      this.view.setBigUint64(output + 32 * i, event.user, true);
      this.view.setUint8(output + 32 * i + 10, event.type);
    }
    this.view.setUint32(counted, ready.length, true);
  }

  wasi_proc_exit(status) {
    throw new Exit(status);
  }

  // ---- Open files ----

  /** The parts of memory that a list of (pointer, length) pairs names. */
  parts(list, count) {
    const parts = [];
    for (let i = 0; i < count; i++) {
      const at = (list >>> 0) + 8 * i;
      parts.push(this.bytes(this.view.getUint32(at, true), this.view.getUint32(at + 4, true)));
    }
    return parts;
  }

  /** Reads into all parts by read(part, done). Returns how many bytes that were. */
  readParts(list, count, read) {
    let done = 0;
    for (const part of this.parts(list, count)) {
      const got = part.length > 0 ? read(part, done) : 0;
      done += got;
      if (got < part.length) break;
    }
    return done;
  }

  wasi_fd_read(number, list, count, out) {
    const one = this.fd(number);
    const done = this.readParts(list, count, (part) => {
      if (one.stream) return one.stream.read(part);
      const got = this.handle(number).read(part, one.at);
      one.at += got;
      return got;
    });
    this.view.setUint32(out, done, true);
  }

  wasi_fd_pread(number, list, count, offset, out) {
    const handle = this.handle(number);
    this.view.setUint32(
      out, this.readParts(list, count, (part, done) => handle.read(part, Number(offset) + done)), true);
  }

  wasi_fd_write(number, list, count, out) {
    const one = this.fd(number);
    let done = 0;
    for (const part of this.parts(list, count)) {
      if (part.length === 0) continue;
      if (one.stream) one.stream.write(part);
      else one.at = this.handle(number).write(part, one.at);
      done += part.length;
    }
    this.view.setUint32(out, done, true);
  }

  wasi_fd_seek(number, offset, whence, out) {
    const one = this.fd(number);
    const from = [0, one.at, whence === 2 ? this.handle(number).stat().size : 0][whence];
    const at = from + Number(offset);
    this.handle(number);
    if (!(at >= 0)) throw failure('EINVAL');
    one.at = at;
    this.view.setBigUint64(out, BigInt(at), true);
  }

  wasi_fd_close(number) {
    const one = this.fd(number);
    this.open[number] = undefined;
    one.handle?.close();
  }

  wasi_fd_sync(number) {
    this.fd(number).handle?.sync?.();
  }

  wasi_fd_fdstat_get(number, out) {
    const one = this.fd(number);
    const terminal = one.stream?.isTerminal;
    const type = one.stream
      ? terminal ? FILE_TYPES.character : FILE_TYPES.pipe
      : one.root ? FILE_TYPES.directory : FILE_TYPES[one.handle.type];
    this.bytes(out, 24).fill(0);
    this.view.setUint8(out, type);
    this.view.setUint16(out + 2, one.flags ?? 0, true);
    this.view.setBigUint64(out + 8, terminal ? ALL_RIGHTS & ~RIGHT_SEEK : ALL_RIGHTS, true);
    this.view.setBigUint64(out + 16, ALL_RIGHTS, true);
  }

  wasi_fd_fdstat_set_flags(number, flags) {
    this.fd(number).flags = flags;
  }

  putStat(stat, out) {
    const view = this.view;
    this.bytes(out, 64).fill(0);
    view.setBigUint64(out, BigInt(stat.device ?? 0), true);
    view.setBigUint64(out + 8, BigInt(stat.inode ?? 0), true);
    view.setUint8(out + 16, FILE_TYPES[stat.type]);
    view.setBigUint64(out + 24, BigInt(stat.links ?? 1), true);
    view.setBigUint64(out + 32, BigInt(stat.size), true);
    for (const at of [40, 48, 56]) view.setBigInt64(out + at, BigInt(Math.round((stat.time ?? 0) * 1e6)), true);
  }

  wasi_fd_filestat_get(number, out) {
    const one = this.fd(number);
    if (one.stream) this.putStat({ type: one.stream.isTerminal ? 'character' : 'pipe', size: 0 }, out);
    else this.putStat(one.root ? this.files.stat('/') : one.handle.stat(), out);
  }

  wasi_fd_prestat_get(number, out) {
    if (number !== FIRST_FOLDER) throw failure('EBADF');
    this.view.setUint32(out, 0, true); // a folder
    this.view.setUint32(out + 4, 1, true); // the length of its name
  }

  wasi_fd_prestat_dir_name(number, out) {
    this.bytes(out, 1)[0] = '/'.charCodeAt(0);
  }

  wasi_fd_readdir(number, out, len, cookie, used) {
    const one = this.fd(number);
    one.names ??= one.root ? this.files.list('/') : this.handle(number).list();
    let at = 0;
    for (let i = Number(cookie); i < one.names.length && at < len; i++) {
      const name = this.files.bytesOf?.(one.names[i].name) ?? this.encoder.encode(one.names[i].name);
      const entry = new Uint8Array(24 + name.length);
      const view = new DataView(entry.buffer);
      view.setBigUint64(0, BigInt(i + 1), true);
      view.setUint32(16, name.length, true);
      view.setUint8(20, FILE_TYPES[one.names[i].type]);
      entry.set(name, 24);
      const part = entry.subarray(0, Math.min(entry.length, len - at));
      this.bytes(out + at, part.length).set(part);
      at += part.length;
    }
    this.view.setUint32(used, at, true);
  }

  // ---- Paths ----

  wasi_path_open(folder, lookup, at, len, how, rights, inherited, flags, out) {
    const [CREATE, DIRECTORY, EXCLUSIVE, TRUNCATE, APPEND] = [1, 2, 4, 8, 1];
    const path = this.path(folder, at, len);
    const handle = this.files.open(path, {
      read: (rights & RIGHT_READ) !== 0n,
      write: (rights & RIGHT_WRITE) !== 0n,
      create: (how & CREATE) !== 0,
      directory: (how & DIRECTORY) !== 0,
      exclusive: (how & EXCLUSIVE) !== 0,
      truncate: (how & TRUNCATE) !== 0,
      append: (flags & APPEND) !== 0,
      follow: (lookup & 1) !== 0,
    });
    this.view.setUint32(out, this.add({ handle, path, at: 0, flags }), true);
  }

  wasi_path_filestat_get(folder, lookup, at, len, out) {
    this.putStat(this.files.stat(this.path(folder, at, len), (lookup & 1) !== 0), out);
  }

  wasi_path_create_directory(folder, at, len) {
    this.files.mkdir(this.path(folder, at, len));
  }

  wasi_path_unlink_file(folder, at, len) {
    this.files.unlink(this.path(folder, at, len));
  }

  wasi_path_remove_directory(folder, at, len) {
    this.files.rmdir(this.path(folder, at, len));
  }

  wasi_path_link(folder, lookup, at, len, toFolder, toAt, toLen) {
    this.files.link(this.path(folder, at, len), this.path(toFolder, toAt, toLen));
  }

  wasi_path_rename(folder, at, len, toFolder, toAt, toLen) {
    this.files.rename(this.path(folder, at, len), this.path(toFolder, toAt, toLen));
  }
}

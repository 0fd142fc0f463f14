// The files of a computer, for programs of host.js under node.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const { constants } = fs;
const TYPES = [
  ['isFile', 'file'], ['isDirectory', 'directory'], ['isSymbolicLink', 'link'], ['isFIFO', 'pipe'],
  ['isSocket', 'pipe'], ['isCharacterDevice', 'character'], ['isBlockDevice', 'block'],
];

function typeOf(stat) {
  return TYPES.find(([is]) => stat[is]())?.[1] ?? 'unknown';
}

function statOf(stat) {
  return {
    type: typeOf(stat), size: stat.size, time: stat.mtimeMs, device: stat.dev, inode: stat.ino, links: stat.nlink,
  };
}

/** Repeats a call on a file that others made not to wait. */
function waiting(call) {
  for (;;) {
    try {
      return call();
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}

const ESCAPED = 0xdc00; // + a byte: where a name is no UTF-8; no other text has such halves of a pair

/** The text of a path's bytes: UTF-8, and each byte that is not UTF-8 is a code of its own. */
export function textOfPath(bytes) {
  const plainText = new TextDecoder('utf-8', { ignoreBOM: true });
  const text = plainText.decode(bytes);
  if (!text.includes('\ufffd')) return text;
  let all = '';
  for (let at = 0; at < bytes.length;) {
    const len = [1, 2, 3, 4].find((n) => isOneCharacter(bytes.subarray(at, at + n)));
    all += len ? plainText.decode(bytes.subarray(at, at + len)) : String.fromCharCode(ESCAPED + bytes[at]);
    at += len ?? 1;
  }
  return all;
}

function isOneCharacter(bytes) {
  try {
    return [...new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)].length === 1;
  } catch {
    return false;
  }
}

/** The bytes that textOfPath made a text of. */
export function bytesOfPath(text) {
  const parts = text.match(/[\udc80-\udcff]|[^]/gu) ?? [];
  return Buffer.concat(parts.map((part) => {
    const code = part.charCodeAt(0);
    return part.length === 1 && code >= ESCAPED && code <= ESCAPED + 0xff ? Buffer.from([code - ESCAPED]) : Buffer.from(part);
  }));
}

/** A path of a program, which begins at the root, as Windows has it: "/C:/a" is C:/a, and what the user wrote after
 *  the folder of the call may name a drive or server itself. */
export function windowsPath(path) {
  const whole = /^.*\/([a-z]:(?:[\\/].*)?|[\\/]{2}[^\\/].*)$/i.exec(path)?.[1] ?? path;
  return /^[a-z]:$/i.test(whole) ? `${whole}/` : whole;
}

/** The folder of a call as a path of a program. */
export function folderForProgram(folder, platform = process.platform) {
  return platform === 'win32' ? `/${folder.replaceAll('\\', '/')}` : folder;
}

/** A path as node takes it. */
function real(path) {
  return /[\udc80-\udcff]/u.test(path) ? bytesOfPath(path) : path;
}

class Handle {
  constructor(fd, path, append) {
    this.fd = fd;
    this.path = path;
    this.append = append;
    this.type = typeOf(fs.fstatSync(fd));
    this.seeks = this.type === 'file';
  }

  read(into, at) {
    return waiting(() => fs.readSync(this.fd, into, 0, into.length, this.seeks ? at : null));
  }

  /** Returns where the next bytes go. */
  write(bytes, at) {
    for (let done = 0; done < bytes.length;)
      done += waiting(() => fs.writeSync(this.fd, bytes, done, bytes.length - done,
        this.seeks && !this.append ? at + done : null));
    return at + bytes.length;
  }

  stat() {
    return statOf(fs.fstatSync(this.fd));
  }

  list() {
    return new Disk().list(this.path);
  }

  sync() {
    fs.fsyncSync(this.fd);
  }

  close() {
    fs.closeSync(this.fd);
  }
}

/** A path of a program as node takes it. */
function ofProgram(path) {
  return process.platform === 'win32' ? windowsPath(path) : real(path);
}

export class Disk {
  textOf(bytes) {
    return textOfPath(bytes);
  }

  bytesOf(name) {
    return bytesOfPath(name);
  }

  open(path, o) {
    const flags = (o.write ? (o.read ? constants.O_RDWR : constants.O_WRONLY) : constants.O_RDONLY)
      | (o.create ? constants.O_CREAT : 0) | (o.exclusive ? constants.O_EXCL : 0)
      | (o.truncate ? constants.O_TRUNC : 0) | (o.append ? constants.O_APPEND : 0)
      | (o.follow ? 0 : constants.O_NOFOLLOW ?? 0) | (o.directory ? constants.O_DIRECTORY ?? 0 : 0)
      | (constants.O_NONBLOCK ?? 0);
    return new Handle(fs.openSync(ofProgram(path), flags, 0o666), path, o.append);
  }

  stat(path, follow = true) {
    return statOf(follow ? fs.statSync(ofProgram(path)) : fs.lstatSync(ofProgram(path)));
  }

  list(path) {
    const real = fs.readdirSync(ofProgram(path), { withFileTypes: true, encoding: 'buffer' })
      .map((one) => ({ name: textOfPath(one.name), type: typeOf(one) }));
    return [{ name: '.', type: 'directory' }, { name: '..', type: 'directory' }, ...real];
  }

  mkdir(path) {
    fs.mkdirSync(ofProgram(path));
  }

  rmdir(path) {
    fs.rmdirSync(ofProgram(path));
  }

  unlink(path) {
    fs.unlinkSync(ofProgram(path));
  }

  link(from, to) {
    fs.linkSync(ofProgram(from), ofProgram(to));
  }

  rename(from, to) {
    fs.renameSync(ofProgram(from), ofProgram(to));
  }
}

function isFile(fd) {
  try {
    return fs.fstatSync(fd).isFile();
  } catch {
    return false; // it was closed before this program began
  }
}

/** A standard stream of this process. */
export function stream(fd, isTerminal) {
  return {
    isTerminal,
    isFile: isFile(fd),
    read: (into) => {
      try {
        return waiting(() => fs.readSync(fd, into, 0, into.length, null));
      } catch (error) {
        if (error.code === 'EOF') return 0; // Windows
        throw error;
      }
    },
    write: (bytes) => {
      for (let done = 0; done < bytes.length;)
        done += waiting(() => fs.writeSync(fd, bytes, done, bytes.length - done));
    },
  };
}

const plain = (file) => (file instanceof URL ? fileURLToPath(file) : file);

/** A file as a source (sources.js). It stays open until it is closed; of a bundle it is the one file in it. */
export function fromPath(file) {
  let name = plain(file);
  const dwarf = path.join(name, 'Contents/Resources/DWARF');
  if (fs.existsSync(dwarf)) name = path.join(dwarf, fs.readdirSync(dwarf).find((one) => !one.startsWith('.')) ?? '');
  const fd = fs.openSync(name, 'r');
  const stat = fs.fstatSync(fd);
  if (!stat.isFile()) {
    fs.closeSync(fd);
    throw Object.assign(new Error(`${name}: not a file`), { code: 'EISDIR' });
  }
  return {
    size: stat.size,
    time: stat.mtimeMs,
    read: (into, at) => fs.readSync(fd, into, 0, into.length, at),
    close: () => fs.closeSync(fd),
  };
}

/** A file, or all below a folder, as {path, data} whose data is opened only while it is read. */
export function below(file) {
  const root = plain(file);
  const all = [];
  const visit = (name, inside) => {
    const stat = fs.lstatSync(real(name));
    if (stat.isDirectory())
      for (const child of fs.readdirSync(real(name), { encoding: 'buffer' }).map(textOfPath))
        visit(path.join(name, child), `${inside}/${child.replaceAll(/[\udc80-\udcff]/gu, '_')}`);
    else if (stat.isFile()) all.push({ path: inside, data: lazily(name, stat) });
  };
  visit(root, path.basename(path.resolve(root)));
  return all;
}

function lazily(name, { size, mtimeMs }) {
  return {
    size,
    time: mtimeMs,
    read(into, at) {
      const fd = fs.openSync(real(name), 'r');
      try {
        return fs.readSync(fd, into, 0, into.length, at);
      } finally {
        fs.closeSync(fd);
      }
    },
  };
}

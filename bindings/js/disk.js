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

class Handle {
  constructor(fd, path, append) {
    this.fd = fd;
    this.path = path;
    this.append = append;
    this.seeks = fs.fstatSync(fd).isFile();
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

export class Disk {
  open(path, o) {
    const flags = (o.write ? (o.read ? constants.O_RDWR : constants.O_WRONLY) : constants.O_RDONLY)
      | (o.create ? constants.O_CREAT : 0) | (o.exclusive ? constants.O_EXCL : 0)
      | (o.truncate ? constants.O_TRUNC : 0) | (o.append ? constants.O_APPEND : 0)
      | (o.follow ? 0 : constants.O_NOFOLLOW ?? 0) | (o.directory ? constants.O_DIRECTORY ?? 0 : 0)
      | (constants.O_NONBLOCK ?? 0);
    return new Handle(fs.openSync(path, flags, 0o666), path, o.append);
  }

  stat(path, follow = true) {
    return statOf(follow ? fs.statSync(path) : fs.lstatSync(path));
  }

  list(path) {
    const real = fs.readdirSync(path, { withFileTypes: true }).map((one) => ({ name: one.name, type: typeOf(one) }));
    return [{ name: '.', type: 'directory' }, { name: '..', type: 'directory' }, ...real];
  }

  mkdir(path) {
    fs.mkdirSync(path);
  }

  rmdir(path) {
    fs.rmdirSync(path);
  }

  unlink(path) {
    fs.unlinkSync(path);
  }

  link(from, to) {
    fs.linkSync(from, to);
  }

  rename(from, to) {
    fs.renameSync(from, to);
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
    const stat = fs.lstatSync(name);
    if (stat.isDirectory())
      for (const child of fs.readdirSync(name)) visit(path.join(name, child), `${inside}/${child}`);
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
      const fd = fs.openSync(name, 'r');
      try {
        return fs.readSync(fd, into, 0, into.length, at);
      } finally {
        fs.closeSync(fd);
      }
    },
  };
}

// A file system in memory, for programs of host.js: folders, files that lie elsewhere (a Blob, say) and are read where a
// program reads them, and files that a program writes.
import { failure } from './host.js';

const MAX_LINKS_IN_PATH = 4096; // names in a path

function folder(parent) {
  const node = { type: 'directory', children: new Map(), time: Date.now() };
  node.parent = parent ?? node;
  return node;
}

/** Bytes that grow as a program writes them. */
class Written {
  constructor(bytes = new Uint8Array(0)) {
    this.bytes = bytes;
    this.size = bytes.length;
  }

  read(into, at) {
    const part = this.bytes.subarray(Math.min(at, this.size), Math.min(at + into.length, this.size));
    into.set(part);
    return part.length;
  }

  write(bytes, at) {
    const end = at + bytes.length;
    if (end > this.bytes.length) {
      const more = new Uint8Array(Math.max(end, 2 * this.bytes.length));
      more.set(this.bytes);
      this.bytes = more;
    }
    this.bytes.set(bytes, at);
    this.size = Math.max(this.size, end);
  }

  get content() {
    return this.bytes.subarray(0, this.size);
  }
}

const RANDOM = {
  size: 0,
  read(into) {
    for (let at = 0; at < into.length; at += 65536) // the most that is given at once
      crypto.getRandomValues(into.subarray(at, at + 65536));
    return into.length;
  },
};

let inodes = 1;

class Handle {
  constructor(node, append) {
    this.node = node;
    this.type = node.type;
    this.append = append;
  }

  read(into, at) {
    if (this.node.type === 'directory') throw failure('EISDIR');
    return this.node.source.read(into, at);
  }

  write(bytes, at) {
    const { source } = this.node;
    const from = this.append ? source.size : at;
    source.write(bytes, from);
    return from + bytes.length;
  }

  stat() {
    return statOf(this.node);
  }

  list() {
    return listOf(this.node);
  }

  close() {}
}

function statOf(node) {
  node.inode ??= inodes++;
  return { type: node.type, size: node.source?.size ?? 0, time: node.time, inode: node.inode, device: 1 };
}

function listOf(node) {
  if (node.type !== 'directory') throw failure('ENOTDIR');
  const dots = [{ name: '.', type: 'directory' }, { name: '..', type: 'directory' }];
  return [...dots, ...[...node.children].map(([name, child]) => ({ name, type: child.type }))];
}

export class Tree {
  constructor() {
    this.root = folder();
    this.add('/dev/urandom', RANDOM, 'character');
  }

  /** Puts a file at a path, and makes the folders before it. source: size, and read(into, at) -> count. */
  add(path, source, type = 'file') {
    const names = path.split('/').filter((name) => name !== '' && name !== '.');
    if (names.length === 0 || names.includes('..')) throw failure('EINVAL', `not a path of a file: ${path}`);
    let node = this.root;
    for (const name of names.slice(0, -1)) {
      if (!node.children.has(name)) node.children.set(name, folder(node));
      node = node.children.get(name);
      if (node.type !== 'directory') throw failure('ENOTDIR', `a file where a folder is needed: ${path}`);
    }
    node.children.set(names.at(-1), { type, source, time: source.time ?? Date.now() });
  }

  /** The bytes that a program wrote to a path; undefined: it did not. */
  written(path) {
    const node = this.walk(path, false);
    return node?.source instanceof Written ? node.source.content : undefined;
  }

  /** The node at a path; undefined, or ENOENT, where there is none. */
  walk(path, must = true) {
    const names = path.split('/');
    if (names.length > MAX_LINKS_IN_PATH) throw failure('ENAMETOOLONG');
    let node = this.root;
    for (const name of names) {
      if (name === '') continue;
      if (node.type !== 'directory') throw failure('ENOTDIR');
      if (name === '.') continue;
      node = name === '..' ? node.parent : node.children.get(name);
      if (!node && must) throw failure('ENOENT');
      if (!node) return undefined;
    }
    return node;
  }

  /** The folder that a path's last name lies in, and that name. */
  split(path) {
    const match = /^(.*?)\/*([^/]+)\/*$/.exec(path);
    if (!match) throw failure('EEXIST');
    const parent = this.walk(match[1]);
    if (parent.type !== 'directory') throw failure('ENOTDIR');
    return [parent, match[2]];
  }

  open(path, o) {
    let node = this.walk(path, false);
    if (node && o.create && o.exclusive) throw failure('EEXIST');
    if (!node && !o.create) throw failure('ENOENT');
    if (!node) {
      const [parent, name] = this.split(path);
      node = { type: 'file', source: new Written(), time: Date.now() };
      parent.children.set(name, node);
    }
    if (o.directory && node.type !== 'directory') throw failure('ENOTDIR');
    if (o.write && node.type === 'directory') throw failure('EISDIR');
    if (o.write && !(node.source instanceof Written)) throw failure('EROFS');
    if (o.write && o.truncate) node.source = new Written();
    return new Handle(node, o.append);
  }

  stat(path) {
    return statOf(this.walk(path));
  }

  list(path) {
    return listOf(this.walk(path));
  }

  mkdir(path) {
    const [parent, name] = this.split(path);
    if (parent.children.has(name)) throw failure('EEXIST');
    parent.children.set(name, folder(parent));
  }

  rmdir(path) {
    const [parent, name] = this.split(path);
    const node = this.walk(path);
    if (node.type !== 'directory') throw failure('ENOTDIR');
    if (node.children.size > 0) throw failure('ENOTEMPTY');
    parent.children.delete(name);
  }

  unlink(path) {
    const [parent, name] = this.split(path);
    const node = this.walk(path);
    if (node.type === 'directory') throw failure('EISDIR');
    parent.children.delete(name);
  }

  link(from, to) {
    const [parent, name] = this.split(to);
    if (parent.children.has(name)) throw failure('EEXIST');
    parent.children.set(name, this.walk(from));
  }

  rename(from, to) {
    const node = this.walk(from);
    const [parent, name] = this.split(from);
    const [target, newName] = this.split(to);
    parent.children.delete(name);
    target.children.set(newName, node);
    if (node.type === 'directory') node.parent = target;
  }
}

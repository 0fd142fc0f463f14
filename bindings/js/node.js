// Function, file and line for addresses of iPhone and Mac programs, under node. See README.md.
import { readFile, stat } from 'node:fs/promises';
import { Machsym, common, nameOf } from './api.js';
import { below, fromPath } from './disk.js';
import { Engine } from './engine.js';
import { METHODS } from './worker.js';

export { Image, Machsym, Map, Report, Symbols } from './api.js';
export { MachsymError } from './engine.js';

const isPath = (value) => typeof value === 'string' || value instanceof URL;

async function file(value) {
  if (isPath(value)) return fromPath(value);
  return value instanceof Blob ? new Uint8Array(await value.arrayBuffer()) : value;
}

async function files(values) {
  const all = await Promise.all(values.map(async (value) => {
    if (isPath(value)) return below(value);
    const path = value.data !== undefined ? value.path : nameOf(value);
    return [{ path: path.replaceAll('..', '_'), data: await file(value.data ?? value) }];
  }));
  return all.flat();
}

/** A text is the report itself; a path is an URL, or {path}. Of a folder all files are taken. */
async function report(value) {
  if (typeof value === 'string') return value;
  const path = value?.path ?? value;
  if (isPath(path) && (await stat(path)).isDirectory()) return below(path);
  return file(value?.path ?? value);
}

async function compile(module) {
  if (module instanceof WebAssembly.Module) return module;
  return WebAssembly.compile(isPath(module) ? await readFile(module) : module);
}

/** A Machsym of its own. library, reports, tool: paths, bytes or WebAssembly.Modules, if not those beside this file. */
export async function load({
  library = new URL('machsym.wasm', import.meta.url), reports = new URL('machsym-reports.wasm', import.meta.url),
  tool = new URL('machsym-tool.wasm', import.meta.url),
} = {}) {
  const engine = new Engine({ library: await compile(library) });
  const call = async (method, args, onError) => METHODS[method](engine, onError, ...args);
  return new Machsym({ call, terminate() {} }, { file, report, files, compile }, { reports, tool });
}

export const { open, slices, demangle, symbols, symbolicate, run } = common(load);

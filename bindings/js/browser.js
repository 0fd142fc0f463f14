// machsym in a browser. A page has its engine in a worker, since only there files can be read at once.
import { Machsym, nameOf } from './api.js';
import { Engine, MachsymError } from './engine.js';
import { METHODS } from './worker.js';

const platform = {
  compile,
  file: (value) => value,
  report: (value) => value,
  files: (values) => values.map((value) => ({
    path: (value.data !== undefined ? value.path : nameOf(value)).replaceAll('..', '_'),
    data: value.data ?? value,
  })),
};

/** An engine in a worker, for pages. */
function engineApart(modules, worker) {
  const waiting = new Map();
  let last = 0;
  const stop = (error) => {
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  worker.onmessage = ({ data }) => {
    const one = waiting.get(data.call);
    if (data.progress !== undefined) {
      one?.onError?.(data.progress);
      return;
    }
    waiting.delete(data.call);
    if (data.error) one?.reject(revive(data.error));
    else one?.resolve(data.result);
  };
  worker.onerror = (event) => stop(new MachsymError(`the worker failed: ${event.message}`, 'ERR_MEMORY', 0));
  worker.postMessage({ modules });
  const send = (method, args, onError) => new Promise((resolve, reject) => {
    waiting.set(++last, { resolve, reject, onError });
    worker.postMessage({ call: last, method, args });
  });
  const readsBlobs = send('canRead', [new Blob(['?'])]).catch(() => false);
  return {
    call: async (method, args, onError) => send(method, await readsBlobs ? args : await withBytes(args), onError),
    terminate() {
      worker.terminate();
      stop(new MachsymError('cancelled', 'ERR_ARGUMENT', 0));
    },
  };
}

/** Values with bytes in place of Blobs. WebKit lets a worker of a page that was opened from disk read no Blob, and the page
 *  itself may; then a file must fit into memory. seen: WebKitGTK 2.50.6 */
async function withBytes(value) {
  if (value instanceof Blob) return value.arrayBuffer();
  if (Array.isArray(value)) return Promise.all(value.map(withBytes));
  if (value === null || typeof value !== 'object' || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(await Promise.all(Object.entries(value).map(async ([name, one]) => [name, await withBytes(one)])));
}

function revive({ name, message, code, offset }) {
  return name === 'MachsymError' ? new MachsymError(message, code, offset) : Object.assign(new Error(message), { name });
}

function engineHere(modules) {
  const engine = new Engine(modules);
  return { call: async (method, args, onError) => METHODS[method](engine, onError, ...args), terminate() {} };
}

async function compile(module) {
  if (module instanceof WebAssembly.Module) return module;
  if (typeof module === 'function') return WebAssembly.compile(await module());
  if (module instanceof ArrayBuffer || ArrayBuffer.isView(module)) return WebAssembly.compile(module);
  const response = await fetch(module);
  if (!response.ok) throw new Error(`${module}: ${response.status} ${response.statusText}`);
  return WebAssembly.compile(await response.arrayBuffer());
}

/** Compiles the library; library, reports and tool are URLs, bytes or WebAssembly.Modules. makeWorker: of worker.js. */
export async function start({ library, reports, tool, makeWorker }) {
  const modules = { library: await compile(library) };
  const isPage = typeof document !== 'undefined';
  return new Machsym(isPage ? engineApart(modules, makeWorker()) : engineHere(modules), platform, { reports, tool });
}

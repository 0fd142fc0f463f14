// An Engine in a worker of a browser: each message calls one of its methods.
import { Engine } from './engine.js';
import { toSource } from './sources.js';

/** Answers messages: {modules} first, then {call, method, args}. */
export function serve(scope) {
  let engine;
  scope.onmessage = ({ data }) => {
    if (data.modules) {
      engine = new Engine(data.modules);
      return;
    }
    const { call, method, args } = data;
    try {
      const onError = (text) => scope.postMessage({ call, progress: text });
      scope.postMessage({ call, result: METHODS[method](engine, onError, ...args) });
    } catch (error) {
      const { name, message, code, offset } = error;
      scope.postMessage({ call, error: { name, message, code, offset } });
    }
  };
}

/** The methods of an engine with values in place of sources: what a page can send. */
export const METHODS = {
  give: (engine, onError, name, module) => engine.give(name, module),
  canRead: (engine, onError, value) => toSource(value).read(new Uint8Array(1), 0) === 1,
  open: (engine, onError, value, name, options) => engine.open(toSource(value), name, options),
  slices: (engine, onError, value, name) => engine.slices(toSource(value), name),
  lookup: (engine, onError, ...args) => engine.lookup(...args),
  reads: (engine, onError, id) => ({ ...engine.reads(id) }),
  build: (engine, onError, ...args) => engine.build(...args),
  demangle: (engine, onError, ...args) => engine.demangle(...args),
  close: (engine, onError, id) => engine.close(id),
  run: (engine, onError, args, { files = [], stdin, outputs } = {}) => engine.run(args, {
    files: sourcesOf(files), stdin: stdin === undefined ? undefined : toSource(stdin), outputs, onError,
  }),
  symbols: (engine, onError, files) => engine.symbols(sourcesOf(files)),
  reports: (engine, onError, report, symbols, options) =>
    engine.reports(inputOf(report), Array.isArray(symbols) ? sourcesOf(symbols) : symbols, options),
  symbolicate: (engine, onError, report, files, options) =>
    engine.symbolicate(inputOf(report), sourcesOf(files), { ...options, onError }),
};

/** A report: of a folder, all its files. */
function inputOf(report) {
  return Array.isArray(report) ? sourcesOf(report) : toSource(report);
}

function sourcesOf(files) {
  return files.map(({ path, data, image }) => (image !== undefined ? { image } : { path, source: toSource(data) }));
}

if (typeof WorkerGlobalScope !== 'undefined' && globalThis instanceof WorkerGlobalScope && globalThis.name === 'machsym')
  serve(globalThis);

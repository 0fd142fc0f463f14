// Function, file and line for addresses of iPhone and Mac programs, in a browser. See README.md; under node it is node.js.
import { common } from './api.js';
import { start } from './browser.js';

export { Image, Machsym, Map, Report, Symbols } from './api.js';
export { MachsymError } from './engine.js';

/** A Machsym of its own. library, reports, tool: where the programs are, if not beside this file. */
export function load({
  library = new URL('machsym.wasm', import.meta.url), reports = new URL('machsym-reports.wasm', import.meta.url),
  tool = new URL('machsym-tool.wasm', import.meta.url),
  makeWorker = () => new Worker(new URL('worker.js', import.meta.url), { type: 'module', name: 'machsym' }),
} = {}) {
  return start({ library, reports, tool, makeWorker });
}

export const { open, slices, demangle, symbols, symbolicate, run } = common(load);

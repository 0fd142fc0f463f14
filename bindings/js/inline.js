// As index.js, with the programs and the worker inside: page/build.mjs makes one file of it, which needs no other.
import library from 'machsym-library';
import tool from 'machsym-tool';
import workerText from 'worker-text';
import { common } from './api.js';
import { start } from './browser.js';

export { Image, Machsym, Map, Report, Symbols } from './api.js';
export { MachsymError } from './engine.js';

/** A Machsym of its own. */
export async function load() {
  let url;
  const makeWorker = () => {
    url = URL.createObjectURL(new Blob([workerText], { type: 'text/javascript' }));
    return new Worker(url, { name: 'machsym' });
  };
  const loaded = await start({ library, tool, makeWorker });
  if (url) URL.revokeObjectURL(url);
  return loaded;
}

export const { open, slices, demangle, symbols, symbolicate, run } = common(load);

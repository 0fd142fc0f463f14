// As index.js, with the programs and the worker inside: page/build.mjs makes one file of it, which needs no other.
import library from 'machsym-library';
import reports from 'machsym-reports';
import tool from 'machsym-tool';
import { common } from './api.js';
import { loadInside } from './inside.js';

export { Image, Machsym, Map, Report, Symbols } from './api.js';
export { MachsymError } from './engine.js';

/** A Machsym of its own. */
export const load = () => loadInside({ library, reports, tool });

export const { open, slices, demangle, symbols, symbolicate, run } = common(load);

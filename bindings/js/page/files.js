// Which of the files that were dropped are reports, and which have symbols.

const MAX_FILES = 100000;
const HEAD = 16;
const BUNDLE = /\.(dSYM|xcarchive|app|framework|xcframework|appex|bundle|symbols)\//i;
const IN_DSYM = /\.dSYM\/Contents\/Resources\/DWARF\//i; // symbols, whatever is in it: what is damaged must be said
const REPORT = /\.(crash|ips|txt|text|log|json|synced|beta|hang|spin|panic|diag|plcrash|xccrashpoint|md|html|ndjson|xml)$/i;
const SYMBOLS_BESIDE = /\.(bcsymbolmap|plist)$/i;

const MAGICS = {
  feedface: 'symbols', feedfacf: 'symbols', cefaedfe: 'symbols', cffaedfe: 'symbols', cafebabe: 'symbols',
  cafebabf: 'symbols', '4d414348': 'symbols' /* MACH: a map */, '504b0304': 'zip', '1f8b': 'zip', '213c6172': 'symbols',
};

async function headOf(data) {
  const bytes = new Uint8Array(await data.slice(0, HEAD).arrayBuffer());
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Returns {reports, symbols, other}: files as {path, data}. A zip may hold both, and so counts as symbols and, where
 *  nothing else is a report, as a report. */
export async function sort(files) {
  const sorted = { reports: [], symbols: [], other: [] };
  const zips = [];
  for (const file of files) {
    const path = file.path.replace(/^\/+/, '').replaceAll('..', '_');
    const one = { path, data: file.data };
    const head = file.isReport ? '' : await headOf(file.data);
    const magic = Object.keys(MAGICS).find((start) => head.startsWith(start));
    const kind = MAGICS[magic];
    if (kind === 'symbols' || IN_DSYM.test(path) || SYMBOLS_BESIDE.test(path)) sorted.symbols.push(one);
    else if (kind === 'zip') zips.push(one);
    else if (file.isReport || REPORT.test(path) || (!BUNDLE.test(path) && file.data.size > 0)) sorted.reports.push(one);
    else sorted.other.push(one);
  }
  sorted.symbols.push(...zips);
  const isReport = ({ path }) => /report|crash|\.ips/i.test(path) && !/dsym/i.test(path);
  sorted.reports.push(...zips.filter((zip) => isReport(zip) || sorted.reports.length === 0 && sorted.symbols.length === zips.length
    && zips.length === 1 && !/dsym/i.test(zip.path)));
  return sorted;
}

/** All files below what was dropped: folders are walked. A folder that the browser does not open is told by its name. */
export async function fromDrop(transfer) {
  // what a drop holds is gone once it has been handled: all is taken here, before anything is waited for
  const items = [...transfer.items].filter((item) => item.kind === 'file').map((item) => ({
    entry: item.webkitGetAsEntry?.(), file: item.getAsFile(), handle: item.getAsFileSystemHandle?.().catch(() => undefined),
  }));
  const text = items.length === 0 ? transfer.getData('text/plain') : '';
  if (text !== '') return { files: [{ path: 'dropped text', data: new Blob([text]), isReport: true }], closed: [] };
  const files = [];
  const closed = [];
  for (const { entry, file, handle } of items) {
    if (!entry?.isDirectory) {
      if (file) files.push({ path: file.name, data: file });
      continue;
    }
    const opened = await handle;
    try {
      if (opened) await walkHandle(opened, opened.name, files);
      else await walkEntry(entry, files);
    } catch {
      closed.push(entry.name);
    }
  }
  return { files, closed };
}

async function walkHandle(folder, path, files) {
  for await (const [name, child] of folder.entries()) {
    if (files.length >= MAX_FILES) return;
    if (child.kind === 'directory') await walkHandle(child, `${path}/${name}`, files);
    else files.push({ path: `${path}/${name}`, data: await child.getFile() });
  }
}

/** As walkHandle, for browsers without file handles. */
async function walkEntry(entry, files) {
  if (files.length >= MAX_FILES) return;
  if (entry.isFile) {
    files.push({ path: entry.fullPath, data: await new Promise((done, failed) => entry.file(done, failed)) });
    return;
  }
  const reader = entry.createReader();
  for (;;) {
    const some = await new Promise((done, failed) => reader.readEntries(done, failed));
    if (some.length === 0) return;
    for (const child of some) await walkEntry(child, files);
  }
}

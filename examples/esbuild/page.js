// A page that names an address of a dSYM, bundled by esbuild, which leaves new URL(..., import.meta.url) as it stands. So the
// programs are imported as files (--loader:.wasm=file), the worker is a bundle of its own, and load() is told where they are.
import { load } from 'machsym';
import library from 'machsym/machsym.wasm';
import reports from 'machsym/machsym-reports.wasm';
import tool from 'machsym/machsym-tool.wasm';

const here = (file) => new URL(file, import.meta.url);
const machsym = await load({
  library: here(library),
  reports: here(reports), // for symbolicate(), which loads it when it is first called
  tool: here(tool), // for run(), likewise
  makeWorker: () => new Worker(here('worker.js'), { type: 'module', name: 'machsym' }),
});

const file = document.getElementById('file');
file.addEventListener('change', async () => {
  const image = await machsym.open(file.files[0]);
  const frames = await image.frames(Number(document.getElementById('address').value));
  document.getElementById('frames').textContent = frames.map((f) => `${f.name} ${f.file}:${f.line}`).join('\n');
});

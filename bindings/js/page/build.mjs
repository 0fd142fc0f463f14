// Builds the page: node build.mjs PACKAGE, a folder that has the programs. Writes page/index.html there, with page.js
// beside it, and page/machsym.html, which has all of it in one file. Scripts and styles are allowed by their hash. Writes
// inline.js too, the module that has the programs inside.
import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const here = import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname);
const programs = path.resolve(process.argv[2]);
const out = path.join(programs, 'page');
fs.mkdirSync(out, { recursive: true });

function bundle(file, ...options) {
  return execFileSync('esbuild', ['--bundle', '--target=es2022', '--minify', '--charset=utf8',
    '--legal-comments=none', ...options, path.join(here, file)], { encoding: 'utf8', maxBuffer: 1 << 28 });
}

const worker = path.join(out, 'worker.txt');
fs.writeFileSync(worker, bundle('../worker.js', '--format=iife'));
const example = path.join(here, '../../../tests/fixtures'); // a report with its dSYM, to try
const symbols = path.join(out, 'example.dwarf');
const report = path.join(out, 'example.txt');
fs.copyFileSync(path.join(example, 'bin/demo.app.dSYM/Contents/Resources/DWARF/demo'), symbols);
fs.copyFileSync(path.join(example, 'reports/demo.crash'), report);
const programsInside = ['--loader:.wasm=binary', '--loader:.txt=text', `--alias:worker-text=${worker}`,
  `--alias:machsym-library=${path.join(programs, 'machsym.wasm')}`, `--alias:machsym-tool=${path.join(programs, 'machsym-tool.wasm')}`];
const script = bundle('page.js', '--format=iife', ...programsInside, '--loader:.dwarf=binary',
  `--alias:machsym-example=${report}`, `--alias:machsym-example-symbols=${symbols}`);
fs.writeFileSync(path.join(programs, 'inline.js'), bundle('../inline.js', '--format=esm', ...programsInside));
for (const made of [worker, symbols, report]) fs.unlinkSync(made);
const style = fs.readFileSync(path.join(here, 'page.css'), 'utf8');
const hash = (text) => `sha256-${createHash('sha256').update(text).digest('base64')}`;
const csp = [
  "default-src 'none'", `script-src '${hash(script)}' 'wasm-unsafe-eval'`, `style-src '${hash(style)}'`,
  'worker-src blob:', 'img-src blob:', "form-action 'none'", "base-uri 'none'",
].join('; ');
const template = fs.readFileSync(path.join(here, 'index.html'), 'utf8');
const { version } = JSON.parse(fs.readFileSync(path.join(programs, 'package.json'), 'utf8'));
const fill = (parts) => template.replace(/\{(csp|style|script|version)\}/g, (all, name) => ({ ...parts, version })[name]);
fs.writeFileSync(path.join(out, 'machsym.html'), fill({ csp, style: `<style>${style}</style>`, script: `<script>${script}</script>` }));
fs.writeFileSync(path.join(out, 'page.js'), script);
fs.writeFileSync(path.join(out, 'index.html'), fill({
  csp,
  style: `<style>${style}</style>`, // a hash allows no file of styles
  script: `<script src="page.js" integrity="${hash(script)}"></script>`,
}));

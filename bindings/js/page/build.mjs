// Builds the page: node build.mjs PACKAGE, a folder that has the programs. Writes page/index.html there, with page.js
// beside it, and page/machsym.html, which has all of it in one file. Scripts and styles are allowed by their hash. Writes
// inline.js too, the module that has the programs inside. There the programs are compressed: inside.js has them unpacked.
// node build.mjs --viewer FILE.c: the page that `machsym crash --html` puts reports into, as C.
import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';

const here = import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname);
function bundle(file, ...options) {
  return execFileSync('esbuild', ['--bundle', '--target=es2022', '--minify', '--charset=utf8',
    '--legal-comments=none', ...options, path.join(here, file)], { encoding: 'utf8', maxBuffer: 1 << 28 });
}

const style = fs.readFileSync(path.join(here, 'page.css'), 'utf8');
const hash = (text) => `sha256-${createHash('sha256').update(text).digest('base64')}`;

/** The Content Security Policy of a page with this script. */
function policy(script, scripts, others) {
  return [
    "default-src 'none'", `script-src '${hash(script)}'${scripts.join('')}`, `style-src '${hash(style)}'`,
    ...others, "form-action 'none'", "base-uri 'none'",
  ].join('; ');
}

/** A text as strings of C, one a line: no compiler has to take one of more than 4,095 bytes. */
function strings(name, text) {
  const pieces = text.match(/[^]{1,80}/gu).map((piece) => JSON.stringify(piece).replaceAll('?', '\\?'));
  return `const char *const ${name}[] = {\n${pieces.map((piece) => `    ${piece},\n`).join('')}    NULL,\n};\n`;
}

function viewer(file) {
  const script = bundle('viewer.js', '--format=iife');
  const parts = { csp: policy(script, [], []), style: `<style>${style}</style>`, script: `<script>${script}</script>` };
  const [before, after] = fs.readFileSync(path.join(here, 'viewer.html'), 'utf8').split('{reports}\n')
    .map((text) => text.replace(/\{(csp|style|script)\}/g, (all, name) => parts[name]));
  fs.writeFileSync(file, `/* Made by bindings/js/page/build.mjs of the page: what stands before and after its reports. */
#include "html.h"

#include <stddef.h>

/* clang-format off */
${strings('html_before', before)}
${strings('html_after', after)}`);
}

function page(programs) {
  const out = path.join(programs, 'page');
  fs.mkdirSync(out, { recursive: true });
  const worker = path.join(out, 'worker.txt');
  fs.writeFileSync(worker, bundle('../worker.js', '--format=iife'));
  const example = path.join(here, '../../../tests/fixtures'); // a report with its dSYM, to try
  const symbols = path.join(out, 'example.dwarf');
  const report = path.join(out, 'example.txt');
  fs.copyFileSync(path.join(example, 'bin/demo.app.dSYM/Contents/Resources/DWARF/demo'), symbols);
  fs.copyFileSync(path.join(example, 'reports/demo.crash'), report);
  const packed = { library: 'machsym.wasm', reports: 'machsym-reports.wasm', tool: 'machsym-tool.wasm' };
  const programsInside = ['--loader:.z=binary', '--loader:.txt=text', `--alias:worker-text=${worker}`];
  for (const [name, file] of Object.entries(packed)) {
    packed[name] = path.join(out, `${file}.z`);
    fs.writeFileSync(packed[name], zlib.deflateSync(fs.readFileSync(path.join(programs, file)), { level: 9 }));
    programsInside.push(`--alias:machsym-${name}=${packed[name]}`);
  }
  const script = bundle('page.js', '--format=iife', ...programsInside, '--loader:.dwarf=binary',
    `--alias:machsym-example=${report}`, `--alias:machsym-example-symbols=${symbols}`);
  fs.writeFileSync(path.join(programs, 'inline.js'), bundle('../inline.js', '--format=esm', ...programsInside));
  for (const made of [worker, symbols, report, ...Object.values(packed)]) fs.unlinkSync(made);
  const csp = policy(script, [" 'wasm-unsafe-eval'"], ['worker-src blob:', 'img-src blob:']);
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
}

if (process.argv[2] === '--viewer') viewer(process.argv[3]);
else page(path.resolve(process.argv[2]));

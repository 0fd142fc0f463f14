#!/usr/bin/env node
// The tool machsym in WebAssembly, for computers without a compiler: the same commands, options and output.
import fs from 'node:fs';
import tty from 'node:tty';
import { Disk, folderForProgram, stream } from './disk.js';
import { Host } from './host.js';

const module = new WebAssembly.Module(fs.readFileSync(new URL('machsym-tool.wasm', import.meta.url)));
const host = new Host({
  args: ['machsym', ...process.argv.slice(2)],
  env: { ...process.env, PWD: folderForProgram(process.cwd()) },
  files: new Disk(),
  stdin: stream(0, tty.isatty(0)),
  stdout: stream(1, tty.isatty(1)),
  stderr: stream(2, tty.isatty(2)),
});
try {
  process.exitCode = host.run(module);
} catch (error) {
  if (!(error instanceof WebAssembly.RuntimeError)) throw error;
  process.stderr.write(`machsym: WebAssembly stopped: ${error.message}\n`);
  process.exitCode = 1;
}

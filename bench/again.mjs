// What node takes once WebAssembly is compiled: runs the tool several times in one process, and prints the processor time of
// a run, its helping threads in it.
//
//   node bench/again.mjs PACKAGE ROUNDS STDIN FILES COMMAND...
//
// PACKAGE is the folder of node.js. STDIN is a file, or -. FILES are paths separated by commas, which the tool finds at "/" and
// their names. Of ROUNDS runs in turn the first half compiles; the median of the others is printed.
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [folder, rounds, stdin, paths, ...args] = process.argv.slice(2);
const { load } = await import(pathToFileURL(path.join(path.resolve(folder), 'node.js')));
const machsym = await load();
const input = stdin === '-' ? new Uint8Array(0) : new Uint8Array(fs.readFileSync(stdin));
const files = paths.split(',').filter(Boolean).map((file) => ({ path: path.basename(file), data: fs.realpathSync(file) }));
const taken = [];
for (let round = 0; round < Number(rounds); round++) {
  const begin = process.cpuUsage();
  const { status, stderr } = await machsym.run(args, { files, stdin: input });
  if (status !== 0) throw new Error(`exit ${status}: ${stderr}`);
  const { user, system } = process.cpuUsage(begin);
  taken.push((user + system) / 1e6);
}
const later = taken.slice(taken.length / 2).sort((a, b) => a - b);
console.log(later[Math.floor(later.length / 2)].toFixed(6));

// A Machsym whose programs and worker are inside the module that has it.
import workerText from 'worker-text';
import { start } from './browser.js';

/** The bytes of a program that was compressed. */
function unpack(packed) {
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'))).arrayBuffer();
}

/** packed: the library and what else is called, reports and tool, as zlib compresses them. */
export async function loadInside(packed) {
  const programs = Object.fromEntries(Object.entries(packed).map(([name, bytes]) => [name, () => unpack(bytes)]));
  let url;
  const makeWorker = () => {
    url = URL.createObjectURL(new Blob([workerText], { type: 'text/javascript' }));
    return new Worker(url, { name: 'machsym' });
  };
  const loaded = await start({ ...programs, makeWorker });
  if (url) URL.revokeObjectURL(url);
  return loaded;
}

// A page that names an address of a dSYM, bundled by Vite, which finds the package's programs and its worker by itself.
import { open } from 'machsym';

const file = document.getElementById('file');
file.addEventListener('change', async () => {
  const image = await open(file.files[0]);
  const frames = await image.frames(Number(document.getElementById('address').value));
  document.getElementById('frames').textContent = frames.map((f) => `${f.name} ${f.file}:${f.line}`).join('\n');
});

export default {
  base: './', // the page may lie in any folder of a server
  build: { target: 'es2022' },
  worker: { format: 'es' },
  optimizeDeps: { exclude: ['machsym'] }, // `vite` alone would copy index.js away from the programs beside it
};

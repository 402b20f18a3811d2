import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const root = fileURLToPath(new URL('../..', import.meta.url));
const PART = '\0part';

/**
 * A file with all that it needs, minified as an app would: all of it, or what `name`, one of its exports, needs.
 * `classic`: a script that `importScripts` or a worker of the old kind can take, without exports.
 */
export async function bundle(file, { name, classic = false } = {}) {
  const onlyThis = {
    name: 'part',
    resolveId: (id) => (id === PART ? PART : undefined),
    load: (id) => (id === PART ? `export { ${name} } from ${JSON.stringify(file)};` : undefined),
  };
  const { output } = await build({
    root,
    configFile: false,
    publicDir: false,
    logLevel: 'error',
    mode: 'production',
    define: { 'process.env.NODE_ENV': JSON.stringify('production') },
    build: {
      write: false,
      target: 'es2022',
      minify: true,
      modulePreload: false,
      // Not a library build: that leaves white space for the app's bundler to remove.
      rolldownOptions: {
        input: name ? PART : file,
        ...(classic ? { output: { format: 'iife' } } : { preserveEntrySignatures: 'strict' }),
      },
    },
    plugins: name ? [onlyThis] : [],
  });
  return output.map((chunk) => chunk.code ?? '').join('\n');
}

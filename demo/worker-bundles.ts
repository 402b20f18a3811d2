import { stat } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { stripVTControlCharacters } from 'node:util';
import { type AliasOptions, build, type Plugin } from 'vite';

/**
 * Served path (`/sw.js`) to source file, both absolute; or a function from one to the other, which answers
 * undefined for paths that are no worker's. A function serves in dev only: a build cannot ask it for its paths.
 */
export type WorkerEntries = Readonly<Record<string, string>> | ((path: string) => string | undefined);

/**
 * Serves each entry as one self-contained classic script, because Firefox has no module service workers and a
 * worker's scope follows its path. `vite build` emits the same script at the same path. Aliases of the Vite
 * config apply; its other plugins do not.
 */
export function workerBundles(entries: WorkerEntries): Plugin {
  const entryFor = typeof entries === 'function' ? entries : (path: string) => ownValue(entries, path);
  const held = new Map<string, Promise<Bundle>>();
  let alias: AliasOptions = [];

  return {
    name: 'worker-bundles',
    configResolved(config) {
      alias = config.resolve.alias;
    },
    configureServer({ middlewares, config }) {
      middlewares.use((req, res, next) => {
        const path = withoutBase(req.url ?? '', config.base);
        const entry = isRead(req.method) ? entryFor(path) : undefined;
        if (entry === undefined) return next();
        current(entry).then(
          ({ code }) => reply(res, 200, 'text/javascript', code),
          (error: unknown) => {
            const message = stripVTControlCharacters(error instanceof Error ? error.message : String(error));
            // A browser reports a failed registration without the body that says why.
            config.logger.error(`${path}: ${message}`);
            reply(res, 500, 'text/plain', message);
          },
        );
      });
    },
    async generateBundle() {
      if (typeof entries === 'function') return;
      for (const [path, entry] of Object.entries(entries)) {
        const { code } = await bundle(entry, alias);
        this.emitFile({ type: 'asset', fileName: path.replace(/^\//, ''), source: code });
      }
    },
  };

  /** Looks at the files themselves: a watcher tells of a change only after a while, and the old worker would be served till then. */
  async function current(entry: string): Promise<Bundle> {
    const before = held.get(entry);
    if (before !== undefined && (await before.then(isFresh, () => false))) return before;
    // Another request may have begun the new bundle meanwhile.
    if (held.get(entry) !== before) return current(entry);
    const bundling = bundle(entry, alias);
    held.set(entry, bundling);
    return bundling;
  }
}

interface Bundle {
  readonly code: string;
  /** Every file read for it, as it was just before. */
  readonly stamps: ReadonlyMap<string, string>;
}

async function bundle(entry: string, alias: AliasOptions): Promise<Bundle> {
  const stamps = new Map<string, string>();
  const result = await build({
    configFile: false,
    envFile: false,
    publicDir: false,
    logLevel: 'silent',
    // Workbox reads it bare, and a worker has no `process`.
    define: { 'process.env.NODE_ENV': '"production"' },
    resolve: { alias },
    plugins: [noteReads(stamps)],
    build: {
      write: false,
      minify: false,
      sourcemap: 'inline',
      lib: { entry, formats: ['iife'], name: 'sw', fileName: 'sw' },
    },
  });
  const chunk = [result]
    .flat()
    .flatMap((one) => ('output' in one ? one.output : []))
    .find((output) => output.type === 'chunk');
  if (chunk === undefined) throw new Error(`${entry} came to no script`);
  return { code: chunk.code, stamps };
}

function noteReads(stamps: Map<string, string>): Plugin {
  return {
    name: 'note-reads',
    enforce: 'pre',
    async load(id) {
      const [file = ''] = id.split('?');
      if (!id.startsWith('\0')) stamps.set(file, await stampOf(file));
      return null;
    },
  };
}

async function isFresh({ stamps }: Bundle): Promise<boolean> {
  const now = await Promise.all([...stamps].map(async ([file, stamp]) => (await stampOf(file)) === stamp));
  return now.every(Boolean);
}

async function stampOf(file: string): Promise<string> {
  try {
    // ctime too: a file moved into place keeps its old mtime.
    const { mtimeNs, ctimeNs, size } = await stat(file, { bigint: true });
    return `${mtimeNs} ${ctimeNs} ${size}`;
  } catch {
    return 'none';
  }
}

function isRead(method: string | undefined): boolean {
  return method === 'GET' || method === 'HEAD';
}

function withoutBase(url: string, base: string): string {
  const [path = ''] = url.split('?');
  return base.length > 1 && path.startsWith(base) ? path.slice(base.length - 1) : path;
}

function ownValue(entries: Readonly<Record<string, string>>, path: string): string | undefined {
  return Object.hasOwn(entries, path) ? entries[path] : undefined;
}

function reply(res: ServerResponse, status: number, type: string, body: string): void {
  res.writeHead(status, {
    'content-type': type,
    'cache-control': 'no-cache',
    'content-length': Buffer.byteLength(body),
    'service-worker-allowed': '/',
  });
  res.end(body);
}

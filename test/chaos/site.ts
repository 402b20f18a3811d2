import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'vite';
import { createMisbehavingServer, type MisbehavingServer } from '../../demo/misbehaving-server.ts';

/** Two origins with one misbehaving server, and the pages and the worker of a run on the first. */
export interface ChaosSite {
  readonly wire: MisbehavingServer;
  readonly first: string;
  readonly second: string;
  openSockets(): number;
  close(): Promise<void>;
}

export interface Scripts {
  readonly worker: string;
  readonly page: string;
}

const file = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** `change` may put a fault into what the worker is built of. */
export async function buildScripts(change?: Plugin): Promise<Scripts> {
  const [worker, page] = await Promise.all([bundle('chaos.sw.ts', change), bundle('page.ts')]);
  return { worker, page };
}

async function bundle(entry: string, change?: Plugin): Promise<string> {
  const result = await build({
    configFile: false,
    envFile: false,
    publicDir: false,
    logLevel: 'silent',
    define: { 'process.env.NODE_ENV': '"production"' },
    plugins: change ? [change] : [],
    build: {
      write: false,
      minify: false,
      lib: { entry: file(entry), formats: ['iife'], name: 'built', fileName: () => 'built.js' },
    },
  });
  const chunk = [result]
    .flat()
    .flatMap((one) => ('output' in one ? one.output : []))
    .find((output) => output.type === 'chunk');
  if (chunk === undefined) throw new Error(`${entry} came to no script`);
  return chunk.code;
}

export async function openSite({ worker, page }: Scripts): Promise<ChaosSite> {
  const wire = createMisbehavingServer();
  const sockets = new Set<Socket>();
  const files: Readonly<Record<string, readonly [type: string, text: string]>> = {
    '/': ['text/html', '<!doctype html><meta charset="utf-8"><title>chaos</title><script src="/page.js"></script>'],
    '/page.js': ['text/javascript', page],
    '/sw.js': ['text/javascript', worker],
  };
  const answer = (origin: 'first' | 'second') => (req: IncomingMessage, res: ServerResponse) => {
    if (wire.handle(req, res, origin)) return;
    const [type, text] = files[req.url?.replace(/[?].*/, '') ?? ''] ?? ['text/plain', ''];
    // A browser sends again by itself what breaks on a connection that it has kept: there is to be none.
    res.writeHead(text === '' ? 404 : 200, { 'content-type': type, connection: 'close', 'cache-control': 'no-store' });
    res.end(text);
  };
  const listen = async (origin: 'first' | 'second', host: string): Promise<Server> => {
    const server = createServer(answer(origin));
    server.on('connection', (socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    });
    await new Promise<void>((resolve) => server.listen(0, host, resolve));
    return server;
  };
  const servers = [await listen('first', 'localhost'), await listen('second', '127.0.0.1')] as const;
  const port = (server: Server) => (server.address() as AddressInfo).port;
  return {
    wire,
    first: `http://localhost:${port(servers[0])}`,
    second: `http://127.0.0.1:${port(servers[1])}`,
    openSockets: () => sockets.size,
    async close() {
      await Promise.all(
        servers.map(
          (server) =>
            new Promise((resolve) => {
              server.close(resolve);
              server.closeAllConnections();
            }),
        ),
      );
    },
  };
}

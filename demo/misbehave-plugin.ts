import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Connect, Plugin } from 'vite';
import { createMisbehavingServer, type MisbehavingServer } from './misbehaving-server.ts';
import { reply } from './wire/control.ts';

export interface MisbehaveOptions {
  /** Opens a second port with the same plans, which is another origin and another site. @defaultValue false */
  readonly secondOrigin?: boolean;
}

export interface MisbehaveApi {
  readonly server: MisbehavingServer;
  /** Such as `http://127.0.0.1:41234`, from the moment Vite has set its server up until it is closed. */
  readonly secondOrigin: string | undefined;
}

/** A Vite plugin whose `api` tests can use directly. */
export type MisbehavePlugin = Plugin<MisbehaveApi> & { readonly api: MisbehaveApi };

/** Puts a misbehaving server in front of Vite's dev or preview server. Paths are absolute: `base` does not move them. */
export function misbehave(
  server: MisbehavingServer = createMisbehavingServer(),
  { secondOrigin = false }: MisbehaveOptions = {},
): MisbehavePlugin {
  // A restarting Vite sets the new server up before it closes the old one.
  const seconds: SecondServer[] = [];
  const latest = () => seconds.at(-1)?.origin;
  const closeOldest = async () => seconds.shift()?.close();

  async function mount(middlewares: Connect.Server): Promise<void> {
    if (secondOrigin) seconds.push(await openSecondServer(server));
    middlewares.use((req, res, next) => {
      if (req.url === '/wire-control/second-origin') tellSecondOrigin(res, latest());
      else if (!server.handle(req, res)) {
        // Else the browser keeps this socket for a request under /wire/, and it sends again on a reused one.
        res.shouldKeepAlive = false;
        next();
      }
    });
  }

  return {
    name: 'misbehave',
    enforce: 'pre',
    api: {
      server,
      get secondOrigin() {
        return latest();
      },
    },
    // Vite's own CORS layer answers every OPTIONS request and adds headers to every other answer.
    config: () => ({ server: { cors: false }, preview: { cors: false } }),
    configureServer: ({ middlewares }) => mount(middlewares),
    configurePreviewServer: ({ middlewares }) => mount(middlewares),
    closeServer: closeOldest,
    closePreviewServer: closeOldest,
  };
}

interface SecondServer {
  readonly origin: string;
  close(): Promise<void>;
}

async function openSecondServer(server: MisbehavingServer): Promise<SecondServer> {
  const http = createServer((req: IncomingMessage, res: ServerResponse) => {
    if (!server.handle(req, res, 'second')) reply(res, 404, 'Only /wire/ is served here.');
  });
  await listening(http);
  const address = http.address();
  if (address === null || typeof address === 'string') throw new Error('the second origin has no port');
  return {
    origin: `http://127.0.0.1:${address.port}`,
    close: () =>
      new Promise((resolve) => {
        http.close(() => resolve());
        http.closeAllConnections();
      }),
  };
}

function listening(http: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    http.once('error', reject);
    http.listen(0, '127.0.0.1', () => {
      http.off('error', reject);
      // A Vite that fails to start never says so to its plugins; it must be able to exit all the same.
      http.unref();
      resolve();
    });
  });
}

function tellSecondOrigin(res: ServerResponse, origin: string | undefined): void {
  if (origin === undefined)
    reply(res, 404, 'There is no second origin: use misbehave(server, { secondOrigin: true }).');
  else reply(res, 200, JSON.stringify({ origin }), 'application/json');
}

import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface Hit {
  readonly path: string;
  readonly url: string;
  readonly method: string;
  readonly at: number;
  readonly body: string;
  header(name: string): string | undefined;
}

export interface FactServer {
  readonly origin: string;
  readonly far: string;
  hits(path: string): readonly Hit[];
  /** Resolves as soon as that many have come, or with what there is after a while. */
  until(path: string, count: number, withinMs?: number): Promise<readonly Hit[]>;
  close(): Promise<void>;
}

const SCRIPTS = ['/facts.sw.js', '/routes.sw.js'];
const scriptAt = (path: string) => readFileSync(new URL(`.${path}`, import.meta.url));

const PAGE = `<!doctype html><link rel="icon" href="data:,"><title>facts</title><script>
  globalThis.ask = (kind) => new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }) => resolve(data);
    navigator.serviceWorker.controller.postMessage(kind, [port2]);
  });
  globalThis.frame = (src) => new Promise((resolve) => {
    const frame = Object.assign(document.createElement('iframe'), { src });
    frame.onload = () => resolve(frame);
    document.body.append(frame);
  });
</script><body>`;

/** What it does with a request is in the request's URL. */
export async function openFactServer(): Promise<FactServer> {
  const hits: Hit[] = [];
  const waiting = new Set<() => void>();
  const used = new WeakSet<Socket>();

  function handle(req: IncomingMessage, res: ServerResponse): void {
    const url = new URL(req.url ?? '', `http://${req.headers.host}`);
    const asked = url.searchParams;
    const chunks: Buffer[] = [];
    const at = performance.now();
    req.on('data', (chunk) => chunks.push(chunk));
    req.on('end', () => {
      hits.push({
        path: url.pathname,
        url: req.url ?? '',
        method: req.method ?? '',
        at,
        body: Buffer.concat(chunks).toString('latin1'),
        header: (name) => req.headers[name]?.toString(),
      });
      for (const look of waiting) look();
      void answer(req, res, url, asked);
    });
  }

  async function answer(req: IncomingMessage, res: ServerResponse, url: URL, asked: URLSearchParams): Promise<void> {
    const reused = used.has(req.socket);
    used.add(req.socket);
    if (asked.has('resets') && reused) {
      req.socket.destroy();
      return;
    }
    if (!asked.has('keep')) res.setHeader('Connection', 'close');
    if (SCRIPTS.includes(url.pathname)) {
      const csp = asked.get('csp');
      if (csp !== null) res.setHeader('Content-Security-Policy', csp);
      res.setHeader('Service-Worker-Allowed', '/');
      res.setHeader('Content-Type', 'text/javascript');
      res.end(scriptAt(url.pathname));
      return;
    }
    if (asked.has('ms-to-headers'))
      await new Promise((resolve) => setTimeout(resolve, Number(asked.get('ms-to-headers'))));
    res.setHeader('Cache-Control', asked.get('cache') ?? 'no-store');
    if (asked.has('cors')) {
      res.setHeader('Access-Control-Allow-Origin', '*');
      res.setHeader('Retry-After', '7');
      if (asked.get('cors') === 'exposed') res.setHeader('Access-Control-Expose-Headers', 'Retry-After');
    }
    const to = asked.get('to');
    if (to !== null) res.setHeader('Location', to);
    res.statusCode = Number(asked.get('status') ?? (to === null ? 200 : 302));
    if (url.pathname.endsWith('.sse')) res.setHeader('Content-Type', 'text/event-stream');
    else if (url.pathname.endsWith('.js')) res.setHeader('Content-Type', 'text/javascript');
    else res.setHeader('Content-Type', /\/$|\.html$/.test(url.pathname) ? 'text/html' : 'text/plain');
    if (asked.has('cut')) {
      res.setHeader('Content-Length', 1_000);
      res.write('x'.repeat(500), () => req.socket.end());
      return;
    }
    if (url.pathname.endsWith('.sse')) res.end('retry: 60000\ndata: x\n\n');
    else if (url.pathname.endsWith('.js')) res.end('postMessage("ran");');
    else res.end(/\/$|\.html$/.test(url.pathname) ? PAGE : 'fine');
  }

  const servers = [createServer(handle), createServer(handle)];
  for (const server of servers) await new Promise<void>((resolve) => server.listen(0, resolve));
  const [own, other] = servers.map((server) => (server.address() as AddressInfo).port);
  const hitsAt = (path: string) => hits.filter((hit) => hit.path === path);
  return {
    origin: `http://localhost:${own}`,
    far: `http://127.0.0.1:${other}`,
    hits: hitsAt,
    until: (path, count, withinMs = 10_000) =>
      new Promise((resolve) => {
        const end = () => {
          clearTimeout(timer);
          waiting.delete(look);
          resolve(hitsAt(path));
        };
        const look = () => {
          if (hitsAt(path).length >= count) end();
        };
        const timer = setTimeout(end, withinMs);
        waiting.add(look);
        look();
      }),
    async close() {
      for (const server of servers) {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
    },
  };
}

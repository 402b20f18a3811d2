import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import type { Hit } from './compare.ts';
import { contentOf } from './contents.ts';
import { installKit } from './kit.ts';

/** What becomes of the first request to each URL: it is answered, turned away with a 503 (also one that may be stored), or reset. */
export type Trouble = 'none' | 'busy' | 'storable' | 'reset';

/** Where a type of request finds what it asks for, each with a slash at its end: here, at another port, at another site. */
export interface Places {
  readonly own: string;
  readonly near: string;
  readonly far: string;
}

export interface TransparencyServer {
  /** An empty page with the kit in it. */
  readonly page: string;
  placesOf(type: string): Places;
  hitsOf(type: string): readonly Hit[];
  /** Resolves when that many requests have come, or after a while when they have not. */
  until(type: string, count: number): Promise<void>;
  /** What is of this run only, such as its ports, is as in every other run afterwards. */
  plain(text: string): string;
  close(): Promise<void>;
}

const COME_WITHIN_MS = 10_000;

/**
 * A server whose answers are all in the URL: `/<run>/<type>/<name>?status=404&cors&…`. `run` keeps apart what browsers keep
 * by host, which is the cookies.
 */
export async function openServer(
  run: string,
  scripts: Readonly<Record<string, string>>,
  trouble: Trouble,
): Promise<TransparencyServer> {
  const hits: (Hit & { readonly type: string })[] = [];
  const waiting = new Set<() => void>();
  const troubled = new Set<string>();
  // Without a host both families are listened to, whichever of them a browser thinks `localhost` is.
  const [first, second] = [createServer(handle), createServer(handle)];
  const [ownPort, otherPort] = [await portOf(first), await portOf(second)];
  const hosts = { own: `localhost:${ownPort}`, near: `localhost:${otherPort}`, far: `127.0.0.1:${otherPort}` };

  function plain(text: string): string {
    let result = text;
    for (const [place, host] of Object.entries(hosts)) result = result.replaceAll(host, place.toUpperCase());
    return result
      .replaceAll(`/${run}/`, '/RUN/')
      .replace(/-{4,}(WebKit|gecko)\w*Boundary\w+|-{20,}\d{15,}/gi, 'BOUNDARY');
  }

  function handle(req: IncomingMessage, res: ServerResponse): void {
    const url = new URL(req.url ?? '', `http://${req.headers.host}`);
    const [, runName, type = '', ...rest] = url.pathname.split('/');
    res.sendDate = false;
    // A browser sends again by itself what it has sent on a connection that was used before.
    res.setHeader('Connection', 'close');
    const script = scripts[url.pathname];
    if (script !== undefined) {
      res.setHeader('Service-Worker-Allowed', '/');
      res.setHeader('Content-Type', 'text/javascript');
      res.end(script);
      return;
    }
    const name = rest.join('/');
    if (runName !== run || name === '') {
      res.statusCode = 404;
      res.end();
      return;
    }
    const chunks: Buffer[] = [];
    req.on('data', (chunk) => chunks.push(chunk));
    req.on('end', () => {
      const place = Object.entries(hosts).find(([, host]) => host === url.host)?.[0] ?? url.host;
      const body = Buffer.concat(chunks);
      const text = plain(body.toString('latin1'));
      // A boundary is of any length.
      const settled = (key: string, value: string) =>
        /^content-length$/i.test(key) && Number(value) === body.length ? String(text.length) : plain(value);
      const headers = pairs(req.rawHeaders).map(([key, value]): [string, string] => [key, settled(key, value)]);
      const target = plain(name + url.search);
      hits.push({ type, method: req.method ?? '', place, target, headers, body: shown(text) });
      for (const look of waiting) look();
      const isPreflight = req.method === 'OPTIONS' && 'access-control-request-method' in req.headers;
      const key = `${req.method} ${url.href}`;
      // The page itself is not what is looked at.
      if (trouble === 'none' || type === 'page' || isPreflight || troubled.has(key)) answer(req, res, url, name);
      else {
        troubled.add(key);
        if (trouble === 'reset') req.socket.resetAndDestroy();
        else turnAway(req, res, url);
      }
    });
  }

  /** As it would answer, but for what it says. */
  function turnAway(req: IncomingMessage, res: ServerResponse, url: URL): void {
    allow(req, res, url);
    res.writeHead(503, {
      'Cache-Control': trouble === 'storable' ? 'max-age=60' : 'no-store',
      'Content-Type': 'text/plain',
    });
    res.end('busy');
  }

  function answer(req: IncomingMessage, res: ServerResponse, url: URL, name: string): void {
    const asked = url.searchParams;
    allow(req, res, url);
    res.setHeader('Cache-Control', asked.get('cache') ?? 'no-store');
    res.setHeader('X-Said-By', 'server');
    if (asked.has('cookie'))
      res.setHeader('Set-Cookie', `${asked.get('cookie')}=1; Path=${url.pathname.replace(/[^/]*$/, '')}`);
    if (type(url) === 'page') res.setHeader('Set-Cookie', `base=1; Path=/${run}/`);
    const csp = asked.get('csp');
    if (csp !== null) res.setHeader('Content-Security-Policy', csp);
    const to = asked.get('to');
    if (to !== null) {
      const elsewhere = `http://${hosts.far}${url.pathname.replace(/[^/]*$/, '')}`;
      res.writeHead(Number(asked.get('status') ?? 302), { Location: to.replace('far:', elsewhere) });
      res.end();
      return;
    }
    if (asked.has('etag')) {
      res.setHeader('ETag', '"1"');
      if (req.headers['if-none-match'] === '"1"') {
        res.writeHead(304);
        res.end();
        return;
      }
    }
    const { mime, bytes } = contentOf(name, kitScript);
    res.setHeader('Content-Type', mime);
    const status = Number(asked.get('status') ?? 200);
    const range = /^bytes=(\d+)-(\d*)$/.exec(req.headers.range ?? '');
    if (range && asked.has('ranges')) {
      const from = Number(range[1]);
      const end = range[2] ? Math.min(Number(range[2]), bytes.length - 1) : bytes.length - 1;
      res.writeHead(206, {
        'Accept-Ranges': 'bytes',
        'Content-Range': `bytes ${from}-${end}/${bytes.length}`,
        'Content-Length': end - from + 1,
      });
      res.end(bytes.subarray(from, end + 1));
      return;
    }
    if (asked.has('ranges')) res.setHeader('Accept-Ranges', 'bytes');
    const encoding = asked.get('enc');
    const encoded = encoding === null ? bytes : ENCODERS[encoding]?.(bytes);
    if (encoded === undefined) throw new Error(`there is no encoding ${encoding}`);
    if (encoding !== null) res.setHeader('Content-Encoding', encoding);
    res.statusMessage = asked.get('says') ?? '';
    res.statusCode = status;
    if (status === 204 || status === 205 || status === 304 || req.method === 'HEAD') {
      if (req.method === 'HEAD') res.setHeader('Content-Length', encoded.length);
      res.end();
    } else if (asked.has('pieces')) void inPieces(res, encoded);
    else if (asked.has('cut')) {
      res.setHeader('Content-Length', encoded.length);
      res.write(encoded.subarray(0, encoded.length / 2), () => req.socket.end());
    } else {
      res.setHeader('Content-Length', encoded.length);
      res.end(encoded);
    }
  }

  const type = (url: URL) => url.pathname.split('/')[2];
  const kitScript = `(${installKit})();`;

  return {
    page: `http://${hosts.own}/${run}/page/page.html`,
    placesOf(type) {
      const at = (host: string) => `http://${host}/${run}/${type}/`;
      return { own: at(hosts.own), near: at(hosts.near), far: at(hosts.far) };
    },
    hitsOf: (type) => hits.filter((hit) => hit.type === type).map(({ type: _, ...hit }) => hit),
    until(type, count) {
      return new Promise((resolve) => {
        const end = () => {
          waiting.delete(look);
          clearTimeout(timer);
          resolve();
        };
        const timer = setTimeout(end, COME_WITHIN_MS);
        const look = () => {
          if (hits.filter((hit) => hit.type === type).length >= count) end();
        };
        waiting.add(look);
        look();
      });
    },
    plain,
    async close() {
      for (const server of [first, second]) {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
    },
  };
}

const ENCODERS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: (bytes) => gzipSync(bytes),
  br: (bytes) => brotliCompressSync(bytes),
  deflate: (bytes) => deflateSync(bytes),
};

async function inPieces(res: ServerResponse, bytes: Buffer): Promise<void> {
  const size = Math.ceil(bytes.length / 4);
  for (let from = 0; from < bytes.length; from += size) {
    await new Promise((resolve) => res.write(bytes.subarray(from, from + size), resolve));
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  res.end();
}

/** `cors`: anybody may read it; `cors=credentials`: with credentials as well, and anything may be asked. */
function allow(req: IncomingMessage, res: ServerResponse, { searchParams: asked }: URL): void {
  if (!asked.has('cors')) return;
  const withCredentials = asked.get('cors') === 'credentials';
  res.setHeader('Access-Control-Allow-Origin', withCredentials ? (req.headers.origin ?? '*') : '*');
  if (withCredentials) res.setHeader('Access-Control-Allow-Credentials', 'true');
  if (asked.has('expose')) res.setHeader('Access-Control-Expose-Headers', 'X-Said-By');
  if (req.method !== 'OPTIONS') return;
  res.setHeader('Access-Control-Allow-Methods', 'GET, PUT, PATCH, DELETE, QUERY');
  res.setHeader('Access-Control-Allow-Headers', 'x-a, content-type');
  // Each preflight is to be seen.
  res.setHeader('Access-Control-Max-Age', '0');
}

const pairs = (flat: readonly string[]): [string, string][] =>
  flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1] ?? '']] : []));

const shown = (text: string): string =>
  text.length <= 400 ? text : `${text.length} bytes, ${createHash('sha1').update(text).digest('hex')}`;

const portOf = (server: ReturnType<typeof createServer>): Promise<number> =>
  new Promise((resolve) => server.listen(0, () => resolve((server.address() as AddressInfo).port)));

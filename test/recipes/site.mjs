import { createReadStream, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.txt': 'text/plain; charset=utf-8',
};

/** Serves a recipe as it was built, with the misbehaving server as its API: `/api/orders` is the wire `orders`. */
export async function createSite(folder, wire, headers = {}) {
  const server = createServer((req, res) => {
    // A browser sends again by itself on a connection that was used before, and hits are counted here.
    res.shouldKeepAlive = false;
    const { pathname } = new URL(req.url, 'http://site');
    if (pathname.startsWith('/api/')) {
      req.url = req.url.replace('/api/', '/wire/');
      wire.handle(req, res);
      return;
    }
    let file = join(folder, normalize(decodeURIComponent(pathname)));
    if (pathname.endsWith('/')) file = join(file, 'index.html');
    if (!statSync(file, { throwIfNoEntry: false })?.isFile()) {
      res.writeHead(404).end();
      return;
    }
    res.writeHead(200, {
      'content-type': TYPES[extname(file)] ?? 'application/octet-stream',
      'cache-control': 'no-cache',
      ...headers[pathname],
    });
    createReadStream(file).pipe(res);
  });
  await new Promise((resolve) => server.listen(0, 'localhost', resolve));
  return {
    url: `http://localhost:${server.address().port}`,
    /** What `/api/orders` answers, hit by hit. */
    plan: (...steps) => wire.plan('orders', steps),
    hits: () => wire.hits('orders').length,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

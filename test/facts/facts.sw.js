// The worker that facts are measured in: what it does with a request is in the request's URL (`?do=…`).
const run = Math.random();
const seen = [];
/** What came of a request whose page cannot hear it any more, by its path. */
const notes = {};
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const json = (value) => new Response(JSON.stringify(value), { headers: { 'Content-Type': 'application/json' } });

self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(activate()));
async function activate() {
  if (new URL(location.href).searchParams.has('preload')) await self.registration.navigationPreload.enable();
  await self.clients.claim();
}

self.addEventListener('message', ({ data, ports: [port] }) => {
  port?.postMessage({ seen, notes, run, features: features() }[data]);
});

const features = () => ({
  online: 'ononline' in self,
  sync: 'sync' in self.registration,
  routes: 'InstallEvent' in self && 'addRoutes' in InstallEvent.prototype,
});

const violations = [];
self.addEventListener('securitypolicyviolation', ({ blockedURI, effectiveDirective }) =>
  violations.push({ blockedURI, effectiveDirective, at: performance.now() }),
);

self.addEventListener('fetch', (event) => {
  const { request } = event;
  const url = new URL(request.url);
  seen.push({ path: url.pathname, hash: url.hash, destination: request.destination });
  const act = ACTS[url.searchParams.get('do')];
  if (act) event.respondWith(act(event, url));
});

const ACTS = {
  plain: ({ request }) => fetch(request),
  signal: ({ request }) => fetch(request, { signal: new AbortController().signal }),

  async watch({ request }, { pathname }) {
    request.signal.addEventListener('abort', () => {
      notes[pathname] = 'fires';
    });
    notes[pathname] = 'waits';
    await sleep(2_500);
    notes[pathname] = request.signal.aborted || notes[pathname] === 'fires' ? 'fires' : 'never fires';
    return json('late');
  },

  /** A second attempt beside the first, in the cache mode that the URL names. */
  async beside({ request }, { searchParams }) {
    const first = fetch(request.clone()).then((response) => response.text());
    await sleep(300);
    const cache = searchParams.get('second');
    const { referrer, referrerPolicy } = request;
    const init = cache === 'default' ? [] : [{ cache, referrer, referrerPolicy }];
    const second = await fetch(request.clone(), ...init);
    await first;
    return second;
  },

  async again({ request }) {
    await (await fetch(request.clone())).text();
    return fetch(request.clone());
  },

  async client({ resultingClientId, request }, { pathname }) {
    const settles = self.clients.get(resultingClientId).then(() => 'settles');
    notes[pathname] = await Promise.race([settles, sleep(2_500).then(() => 'never settles')]);
    return fetch(request);
  },

  async about({ request }) {
    const text = request.clone();
    const body = request.body === undefined ? 'undefined' : request.body === null ? 'null' : 'a stream';
    await text.text();
    let clone = 'possible';
    try {
      text.clone();
    } catch ({ name }) {
      clone = name;
    }
    let navigate = 'possible';
    try {
      new Request(request, { mode: 'navigate' });
    } catch ({ name }) {
      navigate = name;
    }
    return json({ body, clone, navigate, client: String(await self.clients.get('')) });
  },

  /** A body of its own, as long as somebody reads it. */
  stream(_, { pathname }) {
    const encoder = new TextEncoder();
    notes[pathname] = 'goes on';
    return new Response(
      new ReadableStream({
        async pull(controller) {
          await sleep(100);
          controller.enqueue(encoder.encode('x'.repeat(1_000)));
        },
        cancel() {
          notes[pathname] = 'cancelled';
        },
      }),
    );
  },

  async store() {
    const from = performance.now();
    const open = indexedDB.open('facts', 1);
    open.onupgradeneeded = () => open.result.createObjectStore('all');
    await new Promise((resolve, reject) => {
      open.onsuccess = resolve;
      open.onerror = reject;
    });
    const read = open.result.transaction('all').objectStore('all').getAll();
    await new Promise((resolve) => {
      read.onsuccess = resolve;
    });
    open.result.close();
    return json({ ms: performance.now() - from });
  },

  async policy(_, { searchParams }) {
    let rejectedAt;
    try {
      await fetch(searchParams.get('url'), { mode: 'no-cors' });
    } catch {
      rejectedAt = performance.now();
    }
    const known = violations.length;
    await sleep(500);
    const [first] = violations;
    return json({ rejected: rejectedAt !== undefined, known, after: first ? first.at - rejectedAt : undefined, first });
  },

  async preload({ preloadResponse }, { pathname }) {
    const shape = preloadResponse instanceof Promise ? 'a promise' : typeof preloadResponse;
    const value = await preloadResponse;
    notes[pathname] = `${shape} of ${value instanceof Response ? 'a response' : String(value)}`;
    return value ?? new Response('none');
  },

  async wait(_, { searchParams }) {
    await sleep(Number(searchParams.get('ms')));
    return json('waited');
  },
};

import type { FactServer } from './server.ts';

export type Engine = 'chromium' | 'firefox' | 'webkit';

/** A page of one engine, under the worker that facts are measured in. */
export interface FactPage {
  run<Args extends readonly unknown[], Result>(
    work: (...args: Args) => Result,
    ...args: Args
  ): Promise<Awaited<Result>>;
  goto(url: string): Promise<unknown>;
  /** Where the engine's driver can. */
  readonly stopWorkers?: () => Promise<void>;
}

export interface World {
  readonly page: FactPage;
  readonly server: FactServer;
  /** Another page, with workers and storage of its own where the driver keeps them apart. */
  openPage(path: string): Promise<FactPage>;
}

/** What cannot be measured, and why. */
export class NotMeasured extends Error {}

/** A behaviour of browsers that the code or the design leans on. */
export interface Fact {
  readonly id: string;
  readonly says: string;
  /** What leans on it, from the root of the repository. */
  readonly leans: string;
  /** What is measured, in the same words; an engine that is not here has not been measured before. */
  readonly expected: Readonly<Partial<Record<Engine, string>>>;
  /** It takes minutes. */
  readonly long?: true;
  readonly measure: (world: World) => Promise<string>;
}

declare const ask: (kind: 'seen' | 'notes' | 'run' | 'features') => Promise<Record<string, unknown>>;
declare const frame: (src: string) => Promise<HTMLIFrameElement>;

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const same = (value: string): Fact['expected'] => ({ chromium: value, firefox: value, webkit: value });

/** Is a request of this page known to the worker? */
async function isSeen({ page }: World, path: string): Promise<string> {
  const paths = await page.run(async (wanted) => {
    const all = (await ask('seen')) as unknown as { path: string }[];
    return all.filter((one) => one.path === wanted).length;
  }, path);
  return paths > 0 ? 'seen' : 'not seen';
}

const note = (page: FactPage, path: string) => page.run(async (wanted) => (await ask('notes'))[wanted], path);

async function noteOnce(page: FactPage, path: string, isReady: (value: unknown) => boolean): Promise<string> {
  for (let left = 100; left > 0; left -= 1) {
    const value = await note(page, path);
    if (isReady(value)) return String(value);
    await sleep(100);
  }
  return 'no word of it';
}

const feature =
  (name: string) =>
  async ({ page }: World) =>
    (await page.run(async (wanted) => (await ask('features'))[wanted], name)) ? 'there' : 'not there';

const seen = (
  id: string,
  says: string,
  path: string,
  expected: Fact['expected'],
  make: (path: string) => unknown,
): Fact => ({
  id: `seen-${id}`,
  says: `${says} reaches the worker`,
  leans: 'docs/browsers.md',
  expected,
  async measure(world) {
    await world.page.run(make, path);
    // Without a request there is nothing that could be seen.
    const hits = await world.server.until(path, 1, 5_000);
    return hits.length === 0 ? 'not sent' : isSeen(world, path);
  },
});

const beside = (mode: string, expected: Fact['expected']): Fact => ({
  id: `cache-queue-${mode}`,
  says: `a second request to one URL, in the cache mode \`${mode}\`, while the first has no headers yet`,
  leans: 'src/policy/replay.ts',
  expected,
  async measure({ page, server }) {
    const path = `/beside-${mode}`;
    await page.run((url) => fetch(url).then((r) => r.text()), `${path}?do=beside&second=${mode}&ms-to-headers=4000`);
    const [first, second] = server.hits(path);
    if (first === undefined) return 'nothing came';
    if (second === undefined) return 'never sent';
    return second.at - first.at > 3_500 ? 'waits for it' : 'sent at once';
  },
});

export const FACTS: readonly Fact[] = [
  {
    id: 'signal-abort',
    says: '`request.signal` in the worker, when the page aborts',
    leans: 'src/worker/intercept.ts',
    expected: same('never fires'),
    async measure({ page }) {
      await page.run(async () => {
        const controller = new AbortController();
        setTimeout(() => controller.abort(), 400);
        await fetch('/watch-abort?do=watch', { signal: controller.signal }).catch(() => {});
      });
      return noteOnce(page, '/watch-abort', (value) => value === 'fires' || value === 'never fires');
    },
  },
  {
    id: 'signal-frame',
    says: '`request.signal` in the worker, when the frame that asks is removed',
    leans: 'src/worker/intercept.ts',
    expected: same('never fires'),
    async measure({ page }) {
      await page.run(async () => {
        const asking = await frame('/inner.html');
        void (asking.contentWindow as Window).fetch('/watch-frame?do=watch').catch(() => {});
        await new Promise((resolve) => setTimeout(resolve, 500));
        asking.remove();
      });
      return noteOnce(page, '/watch-frame', (value) => value === 'fires' || value === 'never fires');
    },
  },
  {
    id: 'signal-navigation',
    says: '`request.signal` in the worker, when the page goes elsewhere',
    leans: 'src/worker/intercept.ts',
    expected: same('never fires'),
    async measure({ page }) {
      await page.run(async () => {
        const asking = await frame('/inner.html');
        void (asking.contentWindow as Window).fetch('/watch-navigation?do=watch').catch(() => {});
        await new Promise((resolve) => setTimeout(resolve, 500));
        asking.src = '/elsewhere.html';
      });
      return noteOnce(page, '/watch-navigation', (value) => value === 'fires' || value === 'never fires');
    },
  },
  {
    id: 'stream-cancel',
    says: 'the `cancel()` of a body that the worker makes, when the page aborts',
    leans: 'src/engine/resume.ts',
    expected: same('cancelled'),
    async measure({ page }) {
      await page.run(async () => {
        const controller = new AbortController();
        const response = await fetch('/stream-cancel?do=stream', { signal: controller.signal });
        await response.body?.getReader().read();
        controller.abort();
      });
      return noteOnce(page, '/stream-cancel', (value) => value === 'cancelled');
    },
  },
  {
    id: 'init-referrer',
    says: 'the `Referer` of `fetch(request, { signal })`',
    leans: 'src/engine/send.ts',
    expected: same('the worker’s script'),
    async measure({ page, server }) {
      await page.run(() => fetch('/init-referrer?do=signal').then((r) => r.text()));
      const referrer = server.hits('/init-referrer')[0]?.header('referer') ?? 'none';
      return referrer.includes('/facts.sw.js') ? 'the worker’s script' : referrer.replace(server.origin, '');
    },
  },
  {
    id: 'init-hints',
    says: '`Sec-CH-UA` of `fetch(request, { signal })`, which `fetch(request)` has',
    leans: 'docs/transparency.md',
    expected: { chromium: 'lost', firefox: 'never had', webkit: 'never had' },
    async measure({ page, server }) {
      await page.run(() => fetch('/hints-plain?do=plain').then(() => fetch('/hints-init?do=signal')));
      const [plain, init] = ['/hints-plain', '/hints-init'].map((path) => server.hits(path)[0]?.header('sec-ch-ua'));
      return plain === undefined ? 'never had' : init === undefined ? 'lost' : 'kept';
    },
  },
  {
    id: 'init-navigation',
    says: '`Sec-Fetch-Mode` of a navigation, fetched with `{ signal }`',
    leans: 'src/policy/replay.ts',
    expected: same('same-origin'),
    async measure({ page, server }) {
      await page.run(async () => void (await frame('/init-navigation.html?do=signal')));
      return server.hits('/init-navigation.html')[0]?.header('sec-fetch-mode') ?? 'none';
    },
  },
  {
    id: 'plain-navigation',
    says: '`Sec-Fetch-Mode` and `Sec-Fetch-Dest` of a navigation, fetched as it is',
    leans: 'docs/transparency.md',
    expected: { chromium: 'navigate, empty', firefox: 'same-origin, empty', webkit: 'navigate, empty' },
    async measure({ page, server }) {
      await page.run(async () => void (await frame('/plain-navigation.html?do=plain')));
      const [hit] = server.hits('/plain-navigation.html');
      return `${hit?.header('sec-fetch-mode')}, ${hit?.header('sec-fetch-dest')}`;
    },
  },
  {
    id: 'destination',
    says: '`Sec-Fetch-Dest` of an image that the worker fetches as it is',
    leans: 'docs/transparency.md',
    expected: same('empty'),
    async measure({ page, server }) {
      await page.run(() => {
        new Image().src = '/destination?do=plain';
      });
      const [hit] = await server.until('/destination', 1);
      return hit?.header('sec-fetch-dest') ?? 'none';
    },
  },
  {
    id: 'fragment',
    says: 'a URL’s fragment: in the worker, in `Response.url`, at the server (fetch, Request with POST, XHR)',
    leans: 'src/protocol/overrides.ts',
    expected: same('worker 3, response 0, server 0'),
    async measure({ page, server }) {
      const urls = await page.run(async () => {
        const first = await fetch('/fragment?do=plain#part');
        const second = await fetch(new Request('/fragment?do=plain#part', { method: 'POST', body: 'x' }));
        const third = await new Promise<string>((resolve) => {
          const xhr = new XMLHttpRequest();
          xhr.open('GET', '/fragment?do=plain#part');
          xhr.onloadend = () => resolve(xhr.responseURL);
          xhr.send();
        });
        return [first.url, second.url, third];
      });
      const inWorker = await page.run(async () => {
        const all = (await ask('seen')) as unknown as { path: string; hash: string }[];
        return all.filter(({ path, hash }) => path === '/fragment' && hash === '#part').length;
      });
      const atServer = server.hits('/fragment').filter(({ url }) => url.includes('part'));
      return `worker ${inWorker}, response ${urls.filter((url) => url.includes('#')).length}, server ${atServer.length}`;
    },
  },
  {
    id: 'fragment-redirect',
    says: 'the fragment of a document’s URL, over a redirect that the worker has passed on',
    leans: 'src/protocol/overrides.ts',
    expected: same('#part'),
    async measure({ page }) {
      return page.run(async () => {
        const shown = await frame('/redirected.html?do=plain&to=/redirect-end.html#part');
        return (shown.contentWindow as Window).location.hash || 'lost';
      });
    },
  },
  beside('default', { chromium: 'waits for it', firefox: 'waits for it', webkit: 'sent at once' }),
  beside('reload', same('sent at once')),
  beside('no-store', same('sent at once')),
  {
    id: 'cached-error',
    says: 'a 503 with `max-age=60`, asked for again by a clone',
    leans: 'src/policy/replay.ts',
    expected: { chromium: 'answered by the cache', firefox: 'sent', webkit: 'sent' },
    async measure({ page, server }) {
      await page.run(() => fetch('/cached-error?do=again&status=503&cache=max-age%3D60').then((r) => r.text()));
      return server.hits('/cached-error').length === 1 ? 'answered by the cache' : 'sent';
    },
  },
  {
    id: 'client-resulting',
    says: '`clients.get(resultingClientId)` within the `respondWith` of that navigation',
    leans: 'src/worker/intercept.ts',
    expected: { chromium: 'never settles', firefox: 'settles', webkit: 'settles' },
    async measure({ page }) {
      await page.run(async () => void (await frame('/client.html?do=client')));
      return String(await note(page, '/client.html'));
    },
  },
  ...(
    [
      ['client-empty', '`clients.get("")`', 'client', same('undefined'), 'src/worker/intercept.ts'],
      [
        'request-body',
        '`Request.body` of a POST',
        'body',
        { chromium: 'a stream', firefox: 'undefined', webkit: 'a stream' },
        'src/engine/facts.ts',
      ],
      ['clone-used', '`clone()` of a request whose body was read', 'clone', same('TypeError'), 'src/engine/body.ts'],
      [
        'navigate-init',
        '`new Request(request, { mode: "navigate" })`',
        'navigate',
        same('TypeError'),
        'src/policy/replay.ts',
      ],
    ] as const
  ).map(
    ([id, says, field, expected, leans]): Fact => ({
      id,
      says,
      leans,
      expected,
      measure: ({ page }) =>
        page.run(
          async (path, name) =>
            String(
              ((await (await fetch(path, { method: 'POST', body: 'x' })).json()) as Record<string, unknown>)[name],
            ),
          `/about-${id}?do=about`,
          field,
        ),
    }),
  ),
  seen('xhr', 'XMLHttpRequest', '/seen-xhr', same('seen'), (path) => {
    const xhr = new XMLHttpRequest();
    xhr.open('GET', path);
    xhr.send();
  }),
  seen(
    'xhr-sync',
    'XMLHttpRequest that blocks',
    '/seen-sync',
    { chromium: 'not seen', firefox: 'seen', webkit: 'not seen' },
    (path) => {
      const xhr = new XMLHttpRequest();
      xhr.open('GET', path, false);
      xhr.send();
    },
  ),
  seen('beacon', '`sendBeacon`', '/seen-beacon', same('seen'), (path) => navigator.sendBeacon(path, 'x')),
  seen(
    'keepalive',
    '`fetch` with `keepalive`',
    '/seen-keepalive',
    { chromium: 'seen', firefox: 'not seen', webkit: 'seen' },
    (path) => fetch(path, { keepalive: true }).then((response) => response.text()),
  ),
  seen('event-source', 'EventSource', '/seen.sse', same('seen'), (path) => {
    const source = new EventSource(path);
    source.onmessage = () => source.close();
  }),
  seen('ping', '`<a ping>`', '/seen-ping', { chromium: 'seen', firefox: 'not sent', webkit: 'seen' }, async (path) => {
    const shown = await frame('/inner.html');
    shown.name = 'ping';
    const link = Object.assign(document.createElement('a'), { href: '/pinged.html', ping: path, target: 'ping' });
    document.body.append(link);
    link.click();
  }),
  seen('worker', 'the script of a worker', '/seen-worker.js', same('seen'), (path) => {
    new Worker(path);
  }),
  seen('object', '`<object>`', '/seen-object.html', same('not seen'), (path) => {
    document.body.append(Object.assign(document.createElement('object'), { data: path, type: 'text/html' }));
  }),
  {
    id: 'online',
    says: 'the `online` event in workers (`ononline`)',
    leans: 'src/engine/device.ts',
    expected: { chromium: 'not there', firefox: 'there', webkit: 'there' },
    measure: feature('online'),
  },
  {
    id: 'sync',
    says: 'Background Sync',
    leans: 'src/worker/deliveries.ts',
    expected: { chromium: 'there', firefox: 'not there', webkit: 'not there' },
    measure: feature('sync'),
  },
  {
    id: 'routes',
    says: 'static routes (`addRoutes`)',
    leans: 'src/worker/browser-routing.ts',
    expected: { chromium: 'there', firefox: 'not there', webkit: 'not there' },
    measure: feature('routes'),
  },
  ...(['joined', 'cloned'] as const).map(
    (how): Fact => ({
      id: `race-${how}`,
      says: `a raced request, in the worker fetched ${how === 'joined' ? 'as it is' : 'as a clone'}: requests at the server`,
      leans: 'src/policy/replay.ts',
      expected: { chromium: how === 'joined' ? '1' : '2' },
      async measure(world) {
        if ((await feature('routes')(world)) === 'not there') throw new NotMeasured('it has no static routes');
        const page = await world.openPage('/routes/page.html');
        await underWorker(page, '/routes.sw.js', '/routes/');
        const path = `/routes/raced-${how}`;
        await page.run((url) => fetch(url).then((r) => r.text()), `${path}?${how}`);
        await sleep(500);
        return String(world.server.hits(path).length);
      },
    }),
  ),
  {
    id: 'preload-none',
    says: '`preloadResponse` of a navigation where nothing is preloaded',
    leans: 'src/worker/intercept.ts',
    expected: same('a promise of undefined'),
    async measure({ page }) {
      await page.run(async () => void (await frame('/preload-none.html?do=preload')));
      return String(await note(page, '/preload-none.html'));
    },
  },
  {
    id: 'preload',
    says: '`preloadResponse` of a navigation that is preloaded, and the header that says so',
    leans: 'src/worker/intercept.ts',
    expected: same('a promise of a response, true'),
    async measure({ openPage, server }) {
      const page = await openPage('/preloading/page.html');
      await underWorker(page, '/facts.sw.js?preload', '/preloading/');
      await page.run(async () => void (await frame('/preloading/preload.html?do=preload')));
      const header = server.hits('/preloading/preload.html')[0]?.header('service-worker-navigation-preload') ?? 'none';
      return `${await note(page, '/preloading/preload.html')}, ${header}`;
    },
  },
  {
    id: 'csp-order',
    says: 'a fetch that the worker’s own policy forbids: what comes first',
    leans: 'src/worker/csp.ts',
    expected: { chromium: 'the rejection', firefox: 'the rejection', webkit: 'no event' },
    async measure({ openPage, server }) {
      const page = await openPage('/forbidding/page.html');
      const csp = encodeURIComponent("connect-src 'self'");
      await underWorker(page, `/facts.sw.js?csp=${csp}`, '/forbidding/');
      const told = await page.run(
        async (url) =>
          (await fetch(`/forbidding/policy?do=policy&url=${encodeURIComponent(url)}`)).json() as Promise<{
            rejected: boolean;
            known: number;
            after?: number;
          }>,
        `${server.far}/forbidden`,
      );
      if (!told.rejected) return 'it is not forbidden';
      if (told.after === undefined) return 'no event';
      return told.known > 0 ? 'the event' : 'the rejection';
    },
  },
  {
    id: 'retry-after',
    says: '`Retry-After` of another origin: by itself, and exposed',
    leans: 'docs/requests.md',
    expected: same('null, 7'),
    measure: ({ page, server }) =>
      page.run(async (far) => {
        const [hidden, exposed] = [await fetch(`${far}/hidden?cors`), await fetch(`${far}/exposed?cors=exposed`)];
        return `${hidden.headers.get('Retry-After')}, ${exposed.headers.get('Retry-After')}`;
      }, server.far),
  },
  {
    id: 'form-data',
    says: 'a form that is sent twice by clones: boundary and bytes',
    leans: 'src/engine/body.ts',
    expected: same('the same'),
    async measure({ page, server }) {
      await page.run(async () => {
        const body = new FormData();
        body.append('file', new File(['words'], 'a.txt'));
        await (await fetch('/form-data?do=again', { method: 'POST', body })).text();
      });
      const [first, second] = server.hits('/form-data');
      if (!first || !second) return 'not sent twice';
      const isSame = first.body === second.body && first.header('content-type') === second.header('content-type');
      return isSame ? 'the same' : 'different';
    },
  },
  {
    id: 'starving',
    says: 'a seventh request to an origin over HTTP/1.1 where six have no answer',
    leans: 'src/engine/flights.ts',
    expected: same('waits'),
    async measure({ page, server }) {
      await page.run(() => {
        for (let n = 0; n < 6; n += 1) void fetch(`/stalled?n=${n}&ms-to-headers=6000`).catch(() => {});
      });
      await server.until('/stalled', 6);
      await page.run(() => void fetch('/seventh').catch(() => {}));
      const hits = await server.until('/seventh', 1, 2_500);
      await server.until('/seventh', 1);
      return hits.length === 0 ? 'waits' : 'is sent';
    },
  },
  {
    id: 'mid-body',
    says: 'an answer that breaks off behind a worker: the fetch, and the reading',
    leans: 'src/engine/resume.ts',
    expected: { chromium: '200, TypeError', firefox: '200, TypeError', webkit: '200, 500 bytes' },
    measure: ({ page }) =>
      page.run(async () => {
        const response = await fetch('/mid-body?do=plain&cut');
        const read = await response.text().then(
          (text) => `${text.length} bytes`,
          (error) => error.name,
        );
        return `${response.status}, ${read}`;
      }),
  },
  {
    id: 'resend',
    says: 'a POST on a kept connection that breaks before an answer: requests at the server',
    leans: 'docs/troubleshooting.md',
    expected: { chromium: '2', firefox: '2', webkit: '1' },
    async measure({ page, server }) {
      await page.run(async () => {
        // The first opens the connection that the second is sent on.
        await (await fetch('/kept?do=plain&keep')).text();
        await fetch('/resend?do=plain&keep&resets', { method: 'POST', body: 'x' }).catch(() => {});
      });
      return String(server.hits('/resend').length);
    },
  },
  {
    id: 'store-opens',
    says: 'IndexedDB, opened and read, in the best of ten times',
    leans: 'src/worker/hub.ts',
    expected: same('within 20 ms'),
    async measure({ page }) {
      const times = await page.run(async () => {
        const all: number[] = [];
        for (let left = 10; left > 0; left -= 1) {
          const { ms } = (await (await fetch('/store?do=store')).json()) as { ms: number };
          all.push(ms);
        }
        return all;
      });
      const best = Math.min(...times);
      return best < 20 ? 'within 20 ms' : `${Math.round(best)} ms`;
    },
  },
  {
    id: 'stopped-stream',
    says: 'a worker that is stopped while it makes a body: what the page reads',
    leans: 'src/worker/streams-last.ts',
    expected: { chromium: 'an error', firefox: 'an end as of a whole one' },
    async measure({ page }) {
      if (page.stopWorkers === undefined) throw new NotMeasured('its driver cannot stop workers');
      await page.run(async () => {
        const response = await fetch('/stopped-stream?do=stream');
        const reader = (response.body as ReadableStream<Uint8Array>).getReader();
        await reader.read();
        const ended = (async () => {
          try {
            while (!(await reader.read()).done);
            return 'an end as of a whole one';
          } catch {
            return 'an error';
          }
        })();
        Object.assign(globalThis, { ended });
      });
      await page.stopWorkers();
      return page.run(() =>
        Promise.race([
          (globalThis as unknown as { ended: Promise<string> }).ended,
          new Promise<string>((resolve) => setTimeout(resolve, 10_000, 'neither in 10 s')),
        ]),
      );
    },
  },
  {
    id: 'last-page',
    says: 'a worker 13 s after its last page has gone',
    leans: 'docs/browsers.md',
    expected: { chromium: 'the same', firefox: 'the same', webkit: 'another' },
    async measure({ page, server }) {
      const before = await page.run(() => ask('run'));
      await page.goto('about:blank');
      await sleep(13_000);
      await page.goto(`${server.origin}/page.html`);
      return (await page.run(() => ask('run'))) === before ? 'the same' : 'another';
    },
  },
  ...(
    [
      ['wait-45', 45_000, same('answered')],
      ['wait-100', 100_000, { chromium: 'answered', firefox: 'cut off after 60 s', webkit: 'answered' }],
      ['wait-330', 330_000, { chromium: 'cut off after 300 s', firefox: 'cut off after 60 s', webkit: 'answered' }],
    ] as const
  ).map(
    ([id, ms, expected]): Fact => ({
      id,
      says: `a fetch that waits in the worker for ${ms / 1_000} s`,
      leans: 'docs/browsers.md',
      expected,
      long: true,
      async measure({ page }) {
        await page.run((url) => {
          const from = performance.now();
          const isOver = () => Math.round((performance.now() - from) / 1_000);
          const outcome = fetch(url).then(
            () => 'answered',
            () => `cut off after ${Math.round(isOver() / 30) * 30} s`,
          );
          void outcome.then((value) => Object.assign(globalThis, { waited: value }));
        }, `/${id}?do=wait&ms=${ms}`);
        // Drivers do not wait that long for one answer.
        for (const until = performance.now() + ms + 30_000; performance.now() < until; ) {
          await sleep(2_000);
          const waited = await page.run(() => (globalThis as unknown as { waited?: string }).waited ?? '');
          if (waited !== '') return waited;
        }
        return 'no word of it';
      },
    }),
  ),
];

/** Settles when the page is controlled by it. */
export async function underWorker(page: FactPage, script: string, scope: string): Promise<void> {
  await page.run(
    async (url, scope) => {
      await navigator.serviceWorker.register(url, { scope });
      const isIt = (worker: ServiceWorker | null) =>
        worker?.state === 'activated' && worker.scriptURL === new URL(url, location.href).href;
      // One of a wider scope may have been there before.
      while (!isIt(navigator.serviceWorker.controller)) {
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    script,
    scope,
  );
}

import type { Kit } from './kit.ts';
import type { Places } from './server.ts';

/** In the page. */
declare const kit: Kit;

/** A type of request that a page can make. */
export interface RequestType {
  readonly id: string;
  readonly what: string;
  /** Runs in the page, from its source: it may use the kit and nothing else from outside. */
  readonly page: (at: Places) => unknown;
  /** So many requests come in the end, of which the page may hear nothing. */
  readonly sends?: number;
  /** It leaves its document: it has a tab of its own, and is over when that is at `end.html`. */
  readonly leaves?: 'by-itself' | 'by-address';
}

const type = (
  id: string,
  what: string,
  page: RequestType['page'],
  more: Pick<RequestType, 'sends' | 'leaves'> = {},
): RequestType => ({ id, what, page, ...more });

const METHODS_WITH_BODY: readonly RequestType[] = [
  type('put', 'PUT', (at) => kit.fetch(`${at.own}a.txt`, { method: 'PUT', body: 'grüße' })),
  type('delete', 'DELETE', (at) => kit.fetch(`${at.own}a.txt`, { method: 'DELETE' })),
  type('patch', 'PATCH', (at) => kit.fetch(`${at.own}a.txt`, { method: 'PATCH', body: 'x' })),
  type('query', 'QUERY with a body', (at) => kit.fetch(`${at.own}a.txt`, { method: 'QUERY', body: 'x' })),
  type('custom-method', 'a method of its own', (at) => kit.fetch(`${at.own}a.txt`, { method: 'PURGE' })),
  type('post-text', 'POST of a text', (at) => kit.fetch(`${at.own}a.txt`, { method: 'POST', body: 'grüße' })),
  type('post-empty', 'POST without a body', (at) => kit.fetch(`${at.own}a.txt`, { method: 'POST' })),
  type('post-json', 'POST of JSON with a key', (at) =>
    kit.fetch(`${at.own}a.txt`, {
      method: 'POST',
      body: JSON.stringify({ a: 1 }),
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': 'k' },
    }),
  ),
  type('post-params', 'POST of URLSearchParams', (at) =>
    kit.fetch(`${at.own}a.txt`, { method: 'POST', body: new URLSearchParams({ a: '1', b: 'ü' }) }),
  ),
  type('post-form-data', 'POST of FormData with a file', (at) => {
    const body = new FormData();
    body.append('field', 'ü');
    body.append('file', new File(['words'], 'ä.txt', { type: 'text/plain' }));
    return kit.fetch(`${at.own}a.txt`, { method: 'POST', body });
  }),
  type('put-form-data', 'PUT of FormData with a file', (at) => {
    const body = new FormData();
    body.append('file', new File([new Uint8Array(3_000)], 'a.bin'));
    return kit.fetch(`${at.own}a.txt`, { method: 'PUT', body });
  }),
  type('post-blob', 'POST of a Blob', (at) =>
    kit.fetch(`${at.own}a.txt`, { method: 'POST', body: new Blob(['words'], { type: 'text/markdown' }) }),
  ),
  type('put-buffer', 'PUT of an ArrayBuffer', (at) =>
    kit.fetch(`${at.own}a.txt`, { method: 'PUT', body: new Uint8Array(2_000).fill(7).buffer }),
  ),
  type('put-large', 'PUT of 2 MB, more than is kept for a retry', (at) =>
    kit.fetch(`${at.own}a.txt`, { method: 'PUT', body: new Uint8Array(2_000_000).fill(7) }),
  ),
  type('put-stream', 'PUT of a stream, which browsers send over HTTP/2 only', (at) => {
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('streamed'));
        controller.close();
      },
    });
    return kit.fetch(`${at.own}a.txt`, { method: 'PUT', body, duplex: 'half' } as RequestInit);
  }),
];

const FETCHES: readonly RequestType[] = [
  type('get', '`fetch(url)`', (at) => kit.fetch(`${at.own}a.txt`)),
  type('get-query', 'a query, a fragment and escapes in the URL', (at) =>
    kit.fetch(`${at.own}a%20b%C3%BC.txt?q=a+b&q=%C3%BC#part`),
  ),
  type('headers', 'headers of its own', (at) =>
    kit.fetch(`${at.own}a.txt`, {
      headers: { Accept: 'a/b', Authorization: 'Bearer x', 'X-Mixed-Case': '1', 'x-lower': '2', 'X-Empty': '' },
    }),
  ),
  type('head', 'HEAD', (at) => kit.fetch(`${at.own}a.txt`, { method: 'HEAD' })),
  type('options', 'OPTIONS', (at) => kit.fetch(`${at.own}a.txt`, { method: 'OPTIONS' })),
  type('range', 'a `Range` of its own', (at) =>
    kit.fetch(`${at.own}a.bin?ranges`, { headers: { Range: 'bytes=100-199' } }),
  ),
  type('mode-same-origin', '`mode: same-origin`', (at) => kit.fetch(`${at.own}a.txt`, { mode: 'same-origin' })),
  type('mode-same-origin-abroad', '`mode: same-origin` to another origin', (at) =>
    kit.fetch(`${at.near}a.txt?cors`, { mode: 'same-origin' }),
  ),
  type('mode-no-cors-own', '`mode: no-cors` to its own origin', (at) =>
    kit.fetch(`${at.own}a.txt`, { mode: 'no-cors' }),
  ),
  type('no-cors', '`mode: no-cors` to another site', (at) => kit.fetch(`${at.far}a.txt`, { mode: 'no-cors' })),
  type('no-cors-post', '`mode: no-cors`, POST', (at) =>
    kit.fetch(`${at.far}a.txt`, { mode: 'no-cors', method: 'POST', body: 'x' }),
  ),
  type('cors', 'another site, with CORS', (at) => kit.fetch(`${at.far}a.txt?cors`)),
  type('cors-exposed', 'another site, with exposed headers', (at) => kit.fetch(`${at.far}a.txt?cors&expose`)),
  type('cors-refused', 'another site, without CORS', (at) => kit.fetch(`${at.far}a.txt`)),
  type('cors-preflight', 'another site, with a preflight', (at) =>
    kit.fetch(`${at.far}a.txt?cors`, { method: 'PUT', headers: { 'X-A': '1' }, body: 'x' }),
  ),
  type('cors-preflight-refused', 'another site, with a preflight that is refused', (at) =>
    kit.fetch(`${at.far}a.txt`, { headers: { 'X-A': '1' } }),
  ),
  type('cors-near', 'another port of the same site, with credentials', (at) =>
    kit.fetch(`${at.near}a.txt?cors=credentials`, { credentials: 'include' }),
  ),
  type('credentials-omit', '`credentials: omit`', (at) => kit.fetch(`${at.own}a.txt`, { credentials: 'omit' })),
  type('credentials-same-origin', '`credentials: same-origin` to another port', (at) =>
    kit.fetch(`${at.near}a.txt?cors`, { credentials: 'same-origin' }),
  ),
  type('credentials-include', '`credentials: include`', (at) =>
    kit.fetch(`${at.own}a.txt`, { credentials: 'include' }),
  ),
  type('cookie', 'an answer that sets a cookie, and the next request', async (at) => {
    const first = await kit.fetch(`${at.own}a.txt?cookie=crumb`);
    return [first, await kit.fetch(`${at.own}b.txt`)];
  }),
  type('cookie-omitted', 'an answer that sets a cookie where none are wanted', async (at) => {
    const first = await kit.fetch(`${at.own}a.txt?cookie=crumb`, { credentials: 'omit' });
    return [first, await kit.fetch(`${at.own}b.txt`)];
  }),
  type('cache-default', '`cache: default`, twice', async (at) => {
    const url = `${at.own}a.txt?cache=max-age%3D600`;
    return [await kit.fetch(url), await kit.fetch(url)];
  }),
  type('cache-no-store', '`cache: no-store`', async (at) => {
    const url = `${at.own}a.txt?cache=max-age%3D600`;
    return [await kit.fetch(url), await kit.fetch(url, { cache: 'no-store' })];
  }),
  type('cache-reload', '`cache: reload`', async (at) => {
    const url = `${at.own}a.txt?cache=max-age%3D600`;
    return [await kit.fetch(url), await kit.fetch(url, { cache: 'reload' })];
  }),
  type('cache-no-cache', '`cache: no-cache`, answered with 304', async (at) => {
    const url = `${at.own}a.txt?cache=max-age%3D600&etag`;
    return [await kit.fetch(url), await kit.fetch(url, { cache: 'no-cache' })];
  }),
  type('cache-stale', '`cache: default`, stale, answered with 304', async (at) => {
    const url = `${at.own}a.txt?cache=no-cache&etag`;
    return [await kit.fetch(url), await kit.fetch(url)];
  }),
  type('cache-force', '`cache: force-cache`', async (at) => {
    const url = `${at.own}a.txt?cache=max-age%3D0`;
    return [await kit.fetch(url), await kit.fetch(url, { cache: 'force-cache' })];
  }),
  type('cache-only', '`cache: only-if-cached`, which is there', async (at) => {
    const url = `${at.own}a.txt?cache=max-age%3D600`;
    return [await kit.fetch(url), await kit.fetch(url, { cache: 'only-if-cached', mode: 'same-origin' })];
  }),
  type('cache-only-missed', '`cache: only-if-cached`, which is not there', (at) =>
    kit.fetch(`${at.own}a.txt`, { cache: 'only-if-cached', mode: 'same-origin' }),
  ),
  type('conditional', '`If-None-Match` of its own, answered with 304', (at) =>
    kit.fetch(`${at.own}a.txt?etag`, { headers: { 'If-None-Match': '"1"' } }),
  ),
  type('cache-storage', '`cache.add(url)`', async (at) => {
    const cache = await caches.open('transparency');
    return kit.outcome(async () => {
      await cache.add(`${at.own}a.txt`);
      return kit.got(async () => (await cache.match(`${at.own}a.txt`)) ?? Response.error());
    });
  }),
  type('redirect-follow', '`redirect: follow`', (at) => kit.fetch(`${at.own}a.txt?to=b.txt`)),
  type('redirect-manual', '`redirect: manual`', (at) => kit.fetch(`${at.own}a.txt?to=b.txt`, { redirect: 'manual' })),
  type('redirect-error', '`redirect: error`', (at) => kit.fetch(`${at.own}a.txt?to=b.txt`, { redirect: 'error' })),
  type('redirect-abroad', 'a redirect to another site', (at) => kit.fetch(`${at.own}a.txt?to=far:b.txt?cors`)),
  type('redirect-abroad-refused', 'a redirect to another site, without CORS', (at) =>
    kit.fetch(`${at.own}a.txt?to=far:b.txt`),
  ),
  type('redirect-303', 'PUT, redirected with 303', (at) =>
    kit.fetch(`${at.own}a.txt?status=303&to=b.txt`, { method: 'PUT', body: 'x' }),
  ),
  type('redirect-307', 'PUT, redirected with 307', (at) =>
    kit.fetch(`${at.own}a.txt?status=307&to=b.txt`, { method: 'PUT', body: 'x' }),
  ),
  type('integrity', '`integrity` that fits', async (at) =>
    kit.fetch(`${at.own}a.txt`, { integrity: await kit.digest('content of a.txt') }),
  ),
  type('integrity-wrong', '`integrity` that does not fit', async (at) =>
    kit.fetch(`${at.own}a.txt`, { integrity: await kit.digest('other') }),
  ),
  type('keepalive', '`keepalive`', (at) => kit.fetch(`${at.own}a.txt`, { keepalive: true })),
  type('keepalive-post', '`keepalive`, POST', (at) =>
    kit.fetch(`${at.own}a.txt`, { keepalive: true, method: 'POST', body: 'x' }),
  ),
  type('priority-high', '`priority: high`', (at) => kit.fetch(`${at.own}a.txt`, { priority: 'high' })),
  type('priority-low', '`priority: low`', (at) => kit.fetch(`${at.own}a.txt`, { priority: 'low' })),
  type('referrer-none', '`referrer: ""`', (at) => kit.fetch(`${at.own}a.txt`, { referrer: '' })),
  type('referrer-other', 'a `referrer` of its own', (at) =>
    kit.fetch(`${at.own}a.txt`, { referrer: `${at.own}from.html` }),
  ),
  type('referrer-policies', 'each `referrerPolicy`, to its own origin and to another site', async (at) => {
    const policies: ReferrerPolicy[] = [
      'no-referrer',
      'no-referrer-when-downgrade',
      'origin',
      'origin-when-cross-origin',
      'same-origin',
      'strict-origin',
      'strict-origin-when-cross-origin',
      'unsafe-url',
    ];
    const seen = [];
    for (const referrerPolicy of policies) {
      seen.push(await kit.fetch(`${at.own}${referrerPolicy}.txt`, { referrerPolicy }));
      seen.push(await kit.fetch(`${at.far}${referrerPolicy}.txt?cors`, { referrerPolicy }));
    }
    return seen;
  }),
  type('aborted', 'one that is aborted before it is sent', (at) =>
    kit.fetch(`${at.own}a.txt`, { signal: AbortSignal.abort() }),
  ),
  type('with-signal', 'one with a signal', (at) =>
    kit.fetch(`${at.own}a.txt`, { signal: new AbortController().signal }),
  ),
  type('no-network', '`data:` and `blob:` URLs', async () => [
    await kit.fetch('data:text/plain,words'),
    await kit.got(async () => {
      const { ok, type, status } = await fetch(URL.createObjectURL(new Blob(['words'])));
      return ok && type === 'basic' && status === 200 ? new Response('basic') : Response.error();
    }),
  ]),
];

const ANSWERS: readonly RequestType[] = [
  type('status-204', '204', (at) => kit.fetch(`${at.own}a.txt?status=204`)),
  type('status-205', '205', (at) => kit.fetch(`${at.own}a.txt?status=205`)),
  type('status-404', '404', (at) => kit.fetch(`${at.own}a.txt?status=404`)),
  type('status-410', '410 in its own words', (at) => kit.fetch(`${at.own}a.txt?status=410&says=Long%20Gone`)),
  type('status-422', '422', (at) => kit.fetch(`${at.own}a.txt?status=422`)),
  type('status-501', '501', (at) => kit.fetch(`${at.own}a.txt?status=501`)),
  type('status-505', '505', (at) => kit.fetch(`${at.own}a.txt?status=505`)),
  type('status-299', 'a status that nobody has named', (at) => kit.fetch(`${at.own}a.txt?status=299&says=Fine`)),
  type('gzip', 'an answer in gzip', (at) => kit.fetch(`${at.own}a.bin?enc=gzip`)),
  type('br', 'an answer in Brotli', (at) => kit.fetch(`${at.own}a.bin?enc=br`)),
  type('deflate', 'an answer in deflate', (at) => kit.fetch(`${at.own}a.bin?enc=deflate`)),
  type('latin', 'an answer in another charset', (at) => kit.xhr(`${at.own}a.latin`)),
  type('empty', 'an empty answer', (at) => kit.fetch(`${at.own}a.empty`)),
  type('pieces', 'an answer that comes in pieces, read as it comes', async (at) => {
    const response = await fetch(`${at.own}a.bin?pieces`);
    const reader = response.body?.getReader();
    let bytes = 0;
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
      if (done) return { status: response.status, bytes };
      bytes += value?.length ?? 0;
    }
  }),
  type('cut', 'an answer that breaks off', (at) => kit.fetch(`${at.own}a.bin?cut`)),
  type('wasm', 'WebAssembly that is compiled as it comes', async (at) =>
    kit.outcome(async () => {
      await WebAssembly.compileStreaming(fetch(`${at.own}a.wasm`));
      return 'compiled';
    }),
  ),
];

const OLDER: readonly RequestType[] = [
  type('xhr', 'XMLHttpRequest', (at) => kit.xhr(`${at.own}a.txt`, { headers: { 'X-A': '1' } })),
  type('xhr-buffer', 'XMLHttpRequest for bytes', (at) => kit.xhr(`${at.own}a.bin`, { responseType: 'arraybuffer' })),
  type('xhr-blob', 'XMLHttpRequest for a Blob', (at) => kit.xhr(`${at.own}a.bin`, { responseType: 'blob' })),
  type('xhr-json', 'XMLHttpRequest for JSON', (at) => kit.xhr(`${at.own}a.json`, { responseType: 'json' })),
  type('xhr-document', 'XMLHttpRequest for a document', (at) =>
    kit.xhr(`${at.own}a.xml`, { responseType: 'document' }),
  ),
  type('xhr-put', 'XMLHttpRequest that uploads', (at) =>
    kit.xhr(`${at.own}a.txt`, { method: 'PUT', body: 'x'.repeat(5_000) }),
  ),
  type('xhr-post', 'XMLHttpRequest, POST', (at) => kit.xhr(`${at.own}a.txt`, { method: 'POST', body: 'x' })),
  type('xhr-credentials', 'XMLHttpRequest `withCredentials`', (at) =>
    kit.xhr(`${at.near}a.txt?cors=credentials`, { withCredentials: true }),
  ),
  type('xhr-refused', 'XMLHttpRequest without CORS', (at) => kit.xhr(`${at.far}a.txt`)),
  type('xhr-sync', 'XMLHttpRequest that blocks', (at) => kit.xhr(`${at.own}a.txt`, { sync: true })),
  type('beacon-text', '`sendBeacon` of a text', (at) => navigator.sendBeacon(`${at.own}a.txt`, 'grüße'), { sends: 1 }),
  type(
    'beacon-blob',
    '`sendBeacon` of a Blob',
    (at) => navigator.sendBeacon(`${at.own}a.txt`, new Blob(['{}'], { type: 'application/json' })),
    { sends: 1 },
  ),
  type(
    'beacon-form-data',
    '`sendBeacon` of FormData',
    (at) => {
      const body = new FormData();
      body.append('a', '1');
      return navigator.sendBeacon(`${at.own}a.txt`, body);
    },
    { sends: 1 },
  ),
  type('event-source', 'EventSource', (at) => {
    const source = new EventSource(`${at.own}a.sse`);
    return new Promise((resolve) => {
      source.onmessage = ({ data, origin }) => {
        source.close();
        resolve({ data, origin: origin === location.origin });
      };
      source.onerror = () => {
        source.close();
        resolve({ state: source.readyState });
      };
    });
  }),
  type('event-source-credentials', 'EventSource with credentials', (at) => {
    const source = new EventSource(`${at.near}a.sse?cors=credentials`, { withCredentials: true });
    return new Promise((resolve) => {
      source.onmessage = ({ data }) => {
        source.close();
        resolve({ data });
      };
      source.onerror = () => {
        source.close();
        resolve({ state: source.readyState });
      };
    });
  }),
  type(
    'ping',
    '`<a ping>`',
    (at) => {
      const { name, loaded } = kit.frame();
      const link = document.createElement('a');
      link.href = `${at.own}a.html`;
      link.ping = `${at.own}ping.txt`;
      link.target = name;
      document.body.append(link);
      link.click();
      return loaded;
    },
    { sends: 2 },
  ),
];

const FORMS: readonly RequestType[] = [
  type('form-get', 'a form, GET', (at) => kit.submit(`${at.own}a.html`, {}, [['a', 'ü']])),
  type('form-post', 'a form, POST, urlencoded', (at) =>
    kit.submit(`${at.own}a.html`, { method: 'post' }, [['a', 'ü']]),
  ),
  type('form-multipart', 'a form, POST, multipart with a file', (at) =>
    kit.submit(`${at.own}a.html`, { method: 'post', enctype: 'multipart/form-data' }, [
      ['a', 'ü'],
      ['file', new File(['words'], 'ä.txt', { type: 'text/plain' })],
    ]),
  ),
  type('form-text', 'a form, POST, text/plain', (at) =>
    kit.submit(`${at.own}a.html`, { method: 'post', enctype: 'text/plain' }, [['a', 'b']]),
  ),
  type('form-redirected', 'a form, POST, redirected with 303', (at) =>
    kit.submit(`${at.own}a.html?status=303&to=b.html`, { method: 'post' }, [['a', 'b']]),
  ),
];

const ELEMENTS: readonly RequestType[] = [
  type('iframe', '`<iframe>`', async (at) => {
    const { name, loaded } = kit.frame();
    (document.getElementsByName(name)[0] as HTMLIFrameElement).src = `${at.own}a.html`;
    return loaded;
  }),
  type('iframe-abroad', '`<iframe>` of another site', (at) => kit.load('iframe', { src: `${at.far}a.html` })),
  type('iframe-sandboxed', '`<iframe sandbox>`', (at) =>
    kit.load('iframe', { src: `${at.own}a.html`, sandbox: 'allow-scripts' }),
  ),
  type('iframe-redirected', '`<iframe>` that is redirected', (at) => {
    const { name, loaded } = kit.frame();
    (document.getElementsByName(name)[0] as HTMLIFrameElement).src = `${at.own}a.html?to=b.html`;
    return loaded;
  }),
  type('iframe-srcdoc', 'a fetch in an `<iframe srcdoc>`', async (at) => {
    const frame = document.createElement('iframe');
    frame.srcdoc = '<p>';
    const loaded = new Promise((resolve) => frame.addEventListener('load', resolve));
    document.body.append(frame);
    await loaded;
    return kit.got(() => (frame.contentWindow as Window & typeof globalThis).fetch(`${at.own}a.txt`));
  }),
  type('img', '`<img>`', (at) => kit.load('img', { src: `${at.own}a.svg` })),
  type('img-abroad', '`<img>` of another site', (at) => kit.load('img', { src: `${at.far}a.svg` })),
  type('img-near', '`<img>` of another port', (at) => kit.load('img', { src: `${at.near}a.svg` })),
  type('img-crossorigin', '`<img crossorigin>`', (at) =>
    kit.load('img', { src: `${at.far}a.svg?cors`, crossorigin: 'anonymous' }),
  ),
  type('img-crossorigin-refused', '`<img crossorigin>` without CORS', (at) =>
    kit.load('img', { src: `${at.far}a.svg`, crossorigin: 'anonymous' }),
  ),
  type('img-credentials', '`<img crossorigin=use-credentials>`', (at) =>
    kit.load('img', { src: `${at.near}a.svg?cors=credentials`, crossorigin: 'use-credentials' }),
  ),
  type('img-srcset', '`<img srcset>` with a referrer policy', (at) =>
    kit.load('img', { srcset: `${at.own}a.svg 1x`, referrerpolicy: 'no-referrer' }),
  ),
  type('img-404', '`<img>` that is not there', (at) => kit.load('img', { src: `${at.own}a.svg?status=404` })),
  type('img-redirected', '`<img>` that is redirected to another site', (at) =>
    kit.load('img', { src: `${at.own}a.svg?to=far:b.svg` }),
  ),
  type(
    'svg-use',
    '`<use>` of another file',
    (at) => {
      document.body.insertAdjacentHTML('beforeend', `<svg><use href="${at.own}a.svg#s"/></svg>`);
    },
    { sends: 1 },
  ),
  type('input-image', '`<input type=image>`', (at) => kit.load('input', { type: 'image', src: `${at.own}a.svg` })),
  type('script', '`<script>`', async (at) => [
    await kit.load('script', { src: `${at.own}plain.js` }),
    window.ran?.includes('plain.js'),
  ]),
  type('script-abroad', '`<script>` of another site', (at) => kit.load('script', { src: `${at.far}a.js` })),
  type('script-crossorigin', '`<script crossorigin>`', (at) =>
    kit.load('script', { src: `${at.far}a.js?cors`, crossorigin: 'anonymous' }),
  ),
  type('script-integrity', '`<script integrity>`', async (at) =>
    kit.load('script', {
      src: `${at.own}a.js`,
      integrity: await kit.digest('globalThis.ran = [...(globalThis.ran ?? []), "a.js"];'),
    }),
  ),
  type('script-integrity-wrong', '`<script integrity>` that does not fit', async (at) =>
    kit.load('script', { src: `${at.own}a.js`, integrity: await kit.digest('other') }),
  ),
  type('module', '`<script type=module>` with an import', async (at) => [
    await kit.load('script', { src: `${at.own}imports.js`, type: 'module' }),
    window.ran?.includes('imported'),
  ]),
  type('module-abroad', '`<script type=module>` of another site', (at) =>
    kit.load('script', { src: `${at.far}a.js?cors`, type: 'module' }),
  ),
  type('import', '`import()`', (at) => {
    // As text: what compiles this file has another idea of a dynamic import.
    const script = document.createElement('script');
    const imported = new Promise((resolve) =>
      script.addEventListener('imported', (event) => resolve((event as CustomEvent).detail)),
    );
    script.textContent = `{
      const tell = (detail) => script.dispatchEvent(new CustomEvent('imported', { detail }));
      const script = document.currentScript;
      import('${at.own}imported.js').then(({ name }) => tell(name), (error) => tell(error.name));
    }`;
    document.body.append(script);
    return imported;
  }),
  type(
    'style',
    '`<link rel=stylesheet>` with `@import` and `url()`',
    async (at) => {
      document.body.insertAdjacentHTML('beforeend', '<p class="styled with-image">');
      const loaded = await kit.load('link', { rel: 'stylesheet', href: `${at.own}imports.css` });
      return [loaded, getComputedStyle(document.querySelector('.styled') as Element).color];
    },
    { sends: 3 },
  ),
  type('style-abroad', '`<link rel=stylesheet>` of another site', (at) =>
    kit.load('link', { rel: 'stylesheet', href: `${at.far}a.css` }),
  ),
  type('style-crossorigin', '`<link rel=stylesheet crossorigin>`', (at) =>
    kit.load('link', { rel: 'stylesheet', href: `${at.far}a.css?cors`, crossorigin: 'anonymous' }),
  ),
  type(
    'style-redirected',
    '`<link rel=stylesheet>` that is redirected',
    async (at) => {
      document.body.insertAdjacentHTML('beforeend', '<p class="with-image">');
      return kit.load('link', { rel: 'stylesheet', href: `${at.own}a.css?to=deeper/imports.css` });
    },
    { sends: 4 },
  ),
  type('font', 'a font', (at) =>
    kit.outcome(async () => (await new FontFace('own', `url(${at.own}a.woff2)`).load()).status),
  ),
  type('font-abroad', 'a font of another site', (at) =>
    kit.outcome(async () => (await new FontFace('far', `url(${at.far}a.woff2?cors)`).load()).status),
  ),
  type('audio', '`<audio>`', (at) =>
    kit.load('audio', { src: `${at.own}a.wav?ranges`, preload: 'auto' }, 'canplaythrough'),
  ),
  type(
    'video',
    '`<video>` with a poster',
    (at) =>
      kit.load('video', { src: `${at.own}a.wav?ranges`, preload: 'auto', poster: `${at.own}a.svg` }, 'canplaythrough'),
    { sends: 2 },
  ),
  type('video-abroad', '`<video>` of another site', (at) =>
    kit.load('video', { src: `${at.far}a.wav?ranges`, preload: 'auto' }, 'canplaythrough'),
  ),
  type('video-crossorigin', '`<video crossorigin>`', (at) =>
    kit.load(
      'video',
      { src: `${at.far}a.wav?ranges&cors=credentials`, preload: 'auto', crossorigin: 'anonymous' },
      'canplaythrough',
    ),
  ),
  type('track', '`<track>`', async (at) => {
    const video = document.createElement('video');
    const track = document.createElement('track');
    const heard = new Promise((resolve) => {
      for (const name of ['load', 'error']) track.addEventListener(name, () => resolve({ event: name }));
    });
    Object.assign(track, { src: `${at.own}a.vtt`, kind: 'captions', default: true });
    video.append(track);
    document.body.append(video);
    track.track.mode = 'showing';
    return heard;
  }),
  type('object', '`<object>`', (at) => kit.load('object', { data: `${at.own}a.svg`, type: 'image/svg+xml' })),
  type('object-document', '`<object>` with a document', (at) =>
    kit.load('object', { data: `${at.own}a.html`, type: 'text/html' }),
  ),
  type('embed', '`<embed>`', (at) => kit.load('embed', { src: `${at.own}a.svg`, type: 'image/svg+xml' })),
  type('preload-fetch', '`<link rel=preload as=fetch>` and its use', async (at) => {
    const loaded = await kit.load('link', {
      rel: 'preload',
      as: 'fetch',
      href: `${at.own}a.txt`,
      crossorigin: 'anonymous',
    });
    return [loaded, await kit.fetch(`${at.own}a.txt`)];
  }),
  type('preload-script', '`<link rel=preload as=script>`', (at) =>
    kit.load('link', { rel: 'preload', as: 'script', href: `${at.own}a.js` }),
  ),
  type('preload-image', '`<link rel=preload as=image>`', (at) =>
    kit.load('link', { rel: 'preload', as: 'image', href: `${at.own}a.svg` }),
  ),
  type('preload-style', '`<link rel=preload as=style>`', (at) =>
    kit.load('link', { rel: 'preload', as: 'style', href: `${at.own}a.css` }),
  ),
  type('preload-font', '`<link rel=preload as=font>`', (at) =>
    kit.load('link', { rel: 'preload', as: 'font', href: `${at.own}a.woff2`, crossorigin: 'anonymous' }),
  ),
  type('module-preload', '`<link rel=modulepreload>`', (at) =>
    kit.load('link', { rel: 'modulepreload', href: `${at.own}a.js` }),
  ),
  type(
    'prefetch',
    '`<link rel=prefetch>`',
    (at) => {
      document.head.append(Object.assign(document.createElement('link'), { rel: 'prefetch', href: `${at.own}a.html` }));
    },
    { sends: 1 },
  ),
  type(
    'csp-report',
    'a report on a policy that was violated',
    (at) =>
      kit.load('iframe', { src: `${at.own}a.csp?csp=${encodeURIComponent('img-src data:; report-uri report.json')}` }),
    { sends: 2 },
  ),
];

const WORKERS: readonly RequestType[] = [
  type('worker', 'a worker with `importScripts`, and its fetch', (at) => {
    const worker = new Worker(`${at.own}worker.js`);
    return new Promise((resolve) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = () => resolve('error');
      worker.postMessage(`${at.own}from-worker.txt`);
    });
  }),
  type('worker-module', 'a module worker, and its fetch', (at) => {
    const worker = new Worker(`${at.own}module-worker.js`, { type: 'module' });
    return new Promise((resolve) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = () => resolve('error');
    });
  }),
  type('worker-blob', 'the fetch of a worker from a `blob:` URL', (at) => {
    const source = `fetch('${at.own}a.txt').then(async (r) => postMessage([r.status, r.url, await r.text()]), (e) => postMessage(e.name))`;
    const worker = new Worker(URL.createObjectURL(new Blob([source], { type: 'text/javascript' })));
    return new Promise((resolve) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = () => resolve('error');
    });
  }),
  type('shared-worker', 'a shared worker, and its fetch', (at) => {
    const worker = new SharedWorker(`${at.own}shared.js`);
    return new Promise((resolve) => {
      worker.port.onmessage = ({ data }) => resolve(data);
      worker.onerror = () => resolve('error');
    });
  }),
];

const NAVIGATIONS: readonly RequestType[] = [
  type('go-address', 'an address that the user gives', () => undefined, { leaves: 'by-address' }),
  type(
    'go-link',
    'a link',
    (at) => {
      const link = Object.assign(document.createElement('a'), { href: `${at.own}end.html` });
      document.body.append(link);
      link.click();
    },
    { leaves: 'by-itself' },
  ),
  type(
    'go-link-no-referrer',
    'a link with `noreferrer`',
    (at) => {
      const link = Object.assign(document.createElement('a'), { href: `${at.own}end.html`, rel: 'noreferrer' });
      document.body.append(link);
      link.click();
    },
    { leaves: 'by-itself' },
  ),
  type('go-assign', '`location.assign`', (at) => location.assign(`${at.own}end.html#part`), { leaves: 'by-itself' }),
  type('go-replace', '`location.replace`', (at) => location.replace(`${at.own}end.html`), { leaves: 'by-itself' }),
  type('go-redirected', 'a document that is redirected', (at) => location.assign(`${at.own}a.html?to=end.html#part`), {
    leaves: 'by-itself',
  }),
  type('go-cookie', 'a document that sets a cookie', (at) => location.assign(`${at.own}end.html?cookie=crumb`), {
    leaves: 'by-itself',
  }),
  type('go-404', 'a document that is not there', (at) => location.assign(`${at.own}end.html?status=404`), {
    leaves: 'by-itself',
  }),
  type('go-gzip', 'a document in gzip', (at) => location.assign(`${at.own}end.html?enc=gzip`), { leaves: 'by-itself' }),
  type(
    'go-form',
    'a form, POST',
    (at) => {
      const form = Object.assign(document.createElement('form'), { method: 'post', action: `${at.own}end.html` });
      form.append(Object.assign(document.createElement('input'), { name: 'a', value: 'ü' }));
      document.body.append(form);
      form.submit();
    },
    { leaves: 'by-itself' },
  ),
  type('go-refresh', '`<meta http-equiv=refresh>`', (at) => location.assign(`${at.own}a.refresh`), {
    leaves: 'by-itself',
  }),
  type(
    'go-reload',
    '`location.reload()`',
    (at) => {
      history.replaceState(null, '', `${at.own}end.html`);
      location.reload();
    },
    { leaves: 'by-itself' },
  ),
];

/** Every type, each with an id of its own. */
export const CATALOGUE: readonly RequestType[] = [
  ...FETCHES,
  ...METHODS_WITH_BODY,
  ...ANSWERS,
  ...OLDER,
  ...FORMS,
  ...ELEMENTS,
  ...WORKERS,
  ...NAVIGATIONS,
];

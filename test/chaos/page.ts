import { connect, type OutboxItem, type Retries } from '../../src/page/index.ts';
import { requestBody } from './body.ts';
import type { Came, Report } from './evidence.ts';
import type { Issue } from './plan.ts';

/** What a run can have a page do. */
export interface ChaosPage {
  connect(workerUrl: string): Promise<string>;
  /** Asks, and tells what has come of it by `report`. */
  issue(asked: Asked): void;
  /** Called by the scripts that are loaded. */
  ran(id: string): void;
  outbox(): Promise<readonly OutboxItem[]>;
  /** Ends all waits that no server has asked for; what has failed is left as it is. */
  hurry(): Promise<unknown>;
  reset(): Promise<unknown>;
  parked(): Promise<number>;
  records(): Promise<number>;
  /** What has no end yet in the worker. */
  left(): Promise<{ answers: number; fetches: number; timers: number }>;
  /** Tells by `complain` what the worker tells. */
  listen(): void;
}

export interface Asked extends Pick<Issue, 'id' | 'kind' | 'method' | 'keepalive' | 'key' | 'bodyBytes'> {
  readonly url: string;
}

declare global {
  interface Window {
    readonly chaos: ChaosPage;
    readonly report: (report: Report) => Promise<void>;
    readonly complain: (what: string) => Promise<void>;
  }
}

let retries: Retries | undefined;
const ran = new Set<string>();

const chaos: ChaosPage = {
  async connect(workerUrl) {
    const { serviceWorker } = navigator;
    retries = await connect(workerUrl, { scope: '/' });
    // A machine with other things to do may take longer over it than a page waits.
    if (!serviceWorker.controller && retries.state !== 'failed') {
      await new Promise((resolve) => serviceWorker.addEventListener('controllerchange', resolve, { once: true }));
    }
    return serviceWorker.controller ? 'controlled' : retries.state;
  },
  issue(asked) {
    const startedAt = Date.now();
    void ask(asked)
      .catch((error): Came => ({ kind: 'error', error: String(error) }))
      .then((came) => window.report({ id: asked.id, startedAt, endedAt: Date.now(), came }));
  },
  ran: (id) => void ran.add(id),
  outbox: async () => (await retries?.outbox.list()) ?? [],
  hurry: async () => retries?.retryNow(),
  reset: async () => retries?.reset(),
  parked: async () => (await retries?.status())?.origins.reduce((sum, { parked }) => sum + parked, 0) ?? 0,
  records: () =>
    new Promise((resolve, reject) => {
      const opening = indexedDB.open('steadfetch');
      opening.onerror = () => reject(opening.error);
      opening.onsuccess = () => {
        const db = opening.result;
        const count = db.transaction('origins').objectStore('origins').count();
        count.onsuccess = () => {
          resolve(count.result);
          db.close();
        };
      };
    }),
  left: () =>
    new Promise((resolve) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = ({ data }) => resolve(data);
      navigator.serviceWorker.controller?.postMessage('left', [port2]);
    }),
  listen() {
    new BroadcastChannel('chaos').onmessage = ({ data }) => void window.complain(data);
  },
};

function ask(asked: Asked): Promise<Came> {
  const { id, url, kind, method, key, bodyBytes, keepalive } = asked;
  const body = bodyBytes === undefined ? undefined : requestBody(id, bodyBytes);
  const headers: Record<string, string> = key === undefined ? {} : { 'Idempotency-Key': key };
  const init: RequestInit = {
    method,
    headers,
    ...(body === undefined ? {} : { body }),
    ...(keepalive ? { keepalive } : {}),
  };
  switch (kind) {
    case 'fetch':
    case 'stream':
    case 'cancel':
      return read(fetch(url, init));
    case 'bridge':
      return read(retries ? retries.fetch(url, { ...init, retry: { attempts: 1 } }) : fetch(url, init));
    case 'abort':
      return aborted(url, init);
    case 'xhr':
      return byXhr(asked, headers, body);
    case 'image':
    case 'script':
    case 'style':
    case 'frame':
      return loaded(asked, kind);
  }
}

/** More than any server of the run has, and longer than any takes: a page that is given an answer without end leaves it. */
const MOST_BYTES = 3_000_000;
const MOST_SILENCE_MS = 3_000;

async function read(asked: Promise<Response>): Promise<Came> {
  const response = await asked;
  const { status, url } = response;
  const reader = response.body?.getReader();
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  try {
    for (;;) {
      const chunk = await Promise.race([reader?.read(), silence()]);
      if (chunk === undefined || chunk.done) break;
      chunks.push(chunk.value);
      bytes += chunk.value.byteLength;
      if (bytes > MOST_BYTES) throw ENOUGH;
    }
    return await toAnswer(status, response.headers.get('Content-Type'), url, await new Blob(chunks).arrayBuffer());
  } catch (error) {
    if (error !== ENOUGH) return { kind: 'broken', status, bytes };
    await reader?.cancel();
    return { kind: 'cancelled' };
  }
}

const ENOUGH = new Error('enough');

const silence = (): Promise<never> =>
  new Promise((_resolve, reject) => {
    setTimeout(reject, MOST_SILENCE_MS, ENOUGH);
  });

async function toAnswer(status: number, type: string | null, url: string, bytes: ArrayBuffer): Promise<Came> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  const sha256 = [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  const kept: unknown = status === 202 ? JSON.parse(new TextDecoder().decode(bytes)).id : undefined;
  return {
    kind: 'answer',
    status,
    type: type ?? '',
    url,
    bytes: bytes.byteLength,
    sha256,
    ...(typeof kept === 'string' ? { kept } : {}),
  };
}

/** As a page that has changed its mind: whatever it had is of no interest any more. */
function aborted(url: string, init: RequestInit): Promise<Came> {
  const caller = new AbortController();
  setTimeout(() => caller.abort(), 300);
  return read((retries?.fetch ?? fetch)(url, { ...init, signal: caller.signal }));
}

function byXhr({ url, method }: Asked, headers: Record<string, string>, body?: string): Promise<Came> {
  return new Promise((resolve) => {
    const xhr = new XMLHttpRequest();
    xhr.open(method, url);
    xhr.responseType = 'arraybuffer';
    for (const [name, value] of Object.entries(headers)) xhr.setRequestHeader(name, value);
    xhr.onerror = () => resolve({ kind: 'error', error: 'XMLHttpRequest error' });
    xhr.onabort = () => resolve({ kind: 'cancelled' });
    xhr.onprogress = ({ loaded }) => {
      if (loaded > MOST_BYTES) xhr.abort();
    };
    xhr.onreadystatechange = () => {
      if (xhr.readyState === XMLHttpRequest.HEADERS_RECEIVED) setTimeout(() => xhr.abort(), MOST_SILENCE_MS);
    };
    xhr.onload = () =>
      resolve(toAnswer(xhr.status, xhr.getResponseHeader('Content-Type'), xhr.responseURL, xhr.response));
    xhr.send(body ?? null);
  });
}

function loaded({ id, url }: Asked, kind: 'image' | 'script' | 'style' | 'frame'): Promise<Came> {
  const { element, proof } = elementOf(kind, id, url);
  return new Promise((resolve) => {
    const end = (came: Came) => {
      element.remove();
      resolve(came);
    };
    element.onload = () => end({ kind: 'loaded', proof: proof() });
    element.onerror = () => end({ kind: 'error', error: `${kind} error` });
    // An image loads without a place in the document.
    if (kind !== 'image') document.body.append(element);
  });
}

function elementOf(kind: 'image' | 'script' | 'style' | 'frame', id: string, src: string) {
  switch (kind) {
    case 'image': {
      const element = new Image();
      element.src = src;
      return { element, proof: () => `r${element.naturalWidth}` };
    }
    case 'script': {
      const element = Object.assign(document.createElement('script'), { src });
      return { element, proof: () => (ran.has(id) ? id : 'nothing') };
    }
    case 'style': {
      const element = Object.assign(document.createElement('link'), { rel: 'stylesheet', href: src });
      return {
        element,
        proof: () => `r${getComputedStyle(document.documentElement).getPropertyValue(`--${id}`).trim()}`,
      };
    }
    case 'frame': {
      const element = Object.assign(document.createElement('iframe'), { src });
      // The browser's own page, where nothing has come, is not for anybody to read.
      return { element, proof: () => element.contentDocument?.body?.textContent?.slice(0, 20) ?? '' };
    }
  }
}

Object.assign(window, { chaos });

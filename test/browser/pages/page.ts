import {
  type ConnectOptions,
  connect,
  type LayerEvent,
  type RequestEvent,
  type Retries,
  withRetry,
} from '../../../src/page/index.ts';

/** What a test can do inside the page. */
export interface TestPage {
  /** Connects and collects every event. */
  connect(workerUrl: string | URL, options?: ConnectOptions): Promise<{ state: string; workerVersion?: string }>;
  readonly events: LayerEvent[];
  /** Those of them that are about requests. */
  readonly told: RequestEvent[];
  retries?: Retries;
  /** Fetches and tells what came, as plain data. */
  get(url: string, init?: RequestInit): Promise<Seen>;
  /** The same through the bridge. */
  ask(url: string, init?: Parameters<Retries['fetch']>[1]): Promise<Seen>;
  readonly withRetry: typeof withRetry;
}

export type Seen =
  | {
      readonly status: number;
      readonly body: string;
      readonly url: string;
      readonly type: string;
      readonly redirected: boolean;
      readonly headers: Record<string, string>;
    }
  | { readonly error: string };

declare global {
  interface Window {
    readonly sf: TestPage;
  }
}

const EVENTS = [
  'retry-scheduled',
  'waiting',
  'released',
  'hedge-launched',
  'recovered',
  'resumed',
  'gave-up',
  'budget-exhausted',
  'hold-started',
  'hold-ended',
  'circuit-changed',
  'queued',
  'queue-sent',
  'queue-failed',
] as const;

const sf: TestPage = {
  events: [],
  told: [],
  async connect(workerUrl, options) {
    const retries = await connect(workerUrl, options);
    sf.retries = retries;
    for (const type of EVENTS) {
      retries.on(type, (event) => {
        sf.events.push(event);
        if ('elapsedMs' in event) sf.told.push(event);
      });
    }
    const { state, workerVersion } = retries;
    return workerVersion === undefined ? { state } : { state, workerVersion };
  },
  withRetry,
  get: (url, init) => seen(() => fetch(url, init)),
  ask: (url, init) => seen(() => (sf.retries as Retries).fetch(url, init)),
};

async function seen(work: () => Promise<Response>): Promise<Seen> {
  try {
    const response = await work();
    return {
      status: response.status,
      body: await response.text(),
      url: response.url,
      type: response.type,
      redirected: response.redirected,
      headers: Object.fromEntries(response.headers),
    };
  } catch (error) {
    return { error: String(error) };
  }
}

Object.assign(window, { sf });

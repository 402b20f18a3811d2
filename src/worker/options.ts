import type { Classify } from '../engine/index.js';
import type { Prepare } from '../outbox/index.js';
import {
  arrayOf,
  type Check,
  checkBudgetOptions,
  checkCircuitOptions,
  duration,
  flag,
  func,
  isRetryOption,
  method,
  number,
  object,
  oneOf,
  refuse,
  text,
} from '../policy/check.js';
import { isSafe } from '../policy/eligibility.js';
import {
  type BudgetOptions,
  type CircuitPolicy,
  checkRetryOptions,
  RetryLayerError,
  type RetryOptions,
} from '../policy/index.js';
import { OUTBOX_METHODS, type OutboxPolicy } from '../policy/outbox.js';
import type { LayerEvent } from '../protocol/index.js';

/** Everything a layer can be told. All of it is optional: `createRetryLayer()` is a whole layer. */
export interface RetryLayerOptions {
  /** Requests that are to be treated in a way of their own; the first match wins. */
  readonly routes?: readonly Route[];
  /** What routes inherit and what requests without a route get; `false` leaves those alone. @defaultValue those of {@link RetryPolicy} */
  readonly defaults?: RetryOptions | false;
  /** The retry budget of each origin and group. @defaultValue 20 tokens */
  readonly budget?: BudgetOptions;
  /** When the circuit of an origin and group opens, and for how long. @defaultValue after 2 failed requests, for 2 s */
  readonly circuit?: Partial<CircuitPolicy>;
  /**
   * `observe`: nothing is retried, held or refused, and `status()` counts what would have been. @defaultValue 'retry'
   */
  readonly mode?: 'retry' | 'observe';
  /** Share of the pages that have retries, 0 to 1; the others' requests are left alone. @defaultValue 1 */
  readonly sample?: number;
  /**
   * Lets pages say in a URL's fragment what a single call asks for. `false` where somebody else's routes in this worker
   * look at the whole URL: it is told by message then. @defaultValue true, unless another `fetch` listener is added after
   * this layer's
   */
  readonly fragments?: boolean;
  /** Takes over pages that are open already when the worker is first installed. @defaultValue true */
  readonly clientsClaim?: boolean;
  /** Replaces an older version at once instead of when its last page is closed. @defaultValue false */
  readonly skipWaiting?: boolean;
  /**
   * Lets the browser ask for documents while the worker starts, which adds a request header. `false` switches off what
   * an earlier version has switched on. @defaultValue left as it is
   */
  readonly navigationPreload?: boolean;
  /** Decides about the attempts of requests whose route has no `classify` of its own. */
  readonly classify?: Classify;
  /** Gives `classify` a copy of bodies that are at most 64 KiB, as far as their length is declared. @defaultValue false */
  readonly classifyBody?: boolean;
  /**
   * Given a kept request that was answered with 401 or 403; returns one that says who is there (its URL and headers are
   * taken), or nothing. Without it such an entry is set aside.
   */
  readonly prepare?: Prepare;
  /**
   * A page of this origin (a path), kept when the worker is installed and shown with status 503 for documents that
   * cannot be had, at once where the device is offline. It has to hold all that it needs.
   */
  readonly offlinePage?: string;
  /** Told every event in the worker, too. What it throws is reported and harms nothing. */
  readonly onEvent?: (event: LayerEvent) => void;
}

export interface Route {
  /**
   * A text that begins with `/` is a path prefix of this origin and ends at a segment border: `/api` matches `/api` and
   * `/api/x`, not `/apix`. A text with an origin is a prefix of that URL. A RegExp is tested on the URL without its
   * fragment. A function decides for itself, synchronously.
   */
  readonly match: Match;
  /** Only these methods. @defaultValue every method that may be retried */
  readonly methods?: readonly string[];
  /** How to retry; `false`: never touched at all. @defaultValue as `defaults` say */
  readonly retry?: RetryOptions | false;
  /** Decides about an attempt before the rules do: 'retry', 'deliver', or undefined for the rules. */
  readonly classify?: Classify;
  /** Gives `classify` a copy of bodies that are at most 64 KiB, as far as their length is declared. @defaultValue false */
  readonly classifyBody?: boolean;
  /**
   * Lets the browser send GETs of this route while it starts the worker, and take an answer that is ok at once (static
   * routes: Chromium 123, Safari 27). Any other answer is the first attempt's, which is then neither held nor refused.
   * `match` has to be a text, and no earlier route may match the same; else the worker alone sends, as it does where the
   * browser has no static routes. @defaultValue false
   */
  readonly raceNetwork?: boolean;
  /**
   * Keeps requests that cannot be delivered, and delivers them later: those that may be sent again, and those that were
   * never sent. `methods` are POST, PUT, PATCH and DELETE unless the route names others. @defaultValue false
   */
  readonly outbox?: Partial<OutboxPolicy> | boolean;
  /** Names the group that shares a budget. @defaultValue `page`, `asset` or `data`, by what is asked for */
  readonly name?: string;
}

export type Match = string | RegExp | ((candidate: Candidate) => boolean);

/** What a match function sees. `url` has no fragment. */
export interface Candidate {
  readonly url: URL;
  readonly request: Request;
  readonly sameOrigin: boolean;
}

/** How something is retried, or `false`. */
export const checkRetry = (value: unknown, path: string): void => {
  if (value === false) return;
  checkRetryOptions(value, path);
  for (const [index, origin] of (value.mirrors ?? []).entries()) {
    if (!URL.canParse(origin) || new URL(origin).origin !== origin) {
      refuse(origin, `${path}.mirrors[${index}]`, 'must be an origin', 'as browsers write it, without a default port');
    }
  }
};

const defaults = (value: unknown, path: string): void => {
  checkRetry(value, path);
  const { mirrors } = Object(value) as RetryOptions;
  // By default every request of a page is meant, those to other sites as well.
  if (mirrors?.length) refuse(mirrors, `${path}.mirrors`, 'must belong to a route', 'name what the mirrors have');
};

const match = (value: unknown, path: string): void => {
  if (typeof value === 'function' || value instanceof RegExp) return;
  const isPath = typeof value === 'string' && value.startsWith('/') && !value.startsWith('//');
  const isUrl = typeof value === 'string' && /^https?:\/\/[^/]/.test(value) && URL.canParse(value);
  if (!isPath && !isUrl) {
    refuse(
      value,
      path,
      'must be a RegExp, a function or a text',
      "write '/path' for this origin, a whole URL for others",
    );
  }
  if (String(value).includes('*')) {
    refuse(value, path, 'must have no *', "a text is a prefix as it is: '/api/'; for more, use a RegExp");
  }
  if (String(value).includes('#')) refuse(value, path, 'must have no fragment', 'requests are matched without theirs');
};

const pagePath: Check = (value, path) => {
  if (typeof value !== 'string' || !/^\/(?!\/)/.test(value)) {
    refuse(value, path, 'must be a path of this origin', "such as '/queued'");
  }
};

const whole = { whole: true };

const outboxObject = object({
  name: text,
  answer: oneOf('accepted', 'error'),
  orderBy: oneOf('outbox', 'url', 'none'),
  addKey: flag,
  page: pagePath,
  doneAt: pagePath,
  maxAgeMs: duration(1),
  maxEntries: number(1, 100_000, whole),
  maxBytes: number(1, 1_073_741_824, whole),
});

const outbox: Check = (value, path) => {
  if (typeof value !== 'boolean') outboxObject(value, path);
};

const routeObject = object(
  {
    match,
    methods: arrayOf(method, { min: 1 }),
    retry: checkRetry,
    classify: func,
    classifyBody: flag,
    raceNetwork: flag,
    outbox,
    name: text,
  },
  ['match'],
  (key) => (isRetryOption(key) ? 'into `retry`' : undefined),
);

const route = (value: unknown, path: string): void => {
  routeObject(value, path);
  const { match, methods, retry, raceNetwork, outbox } = value as Route;
  if (outbox) checkOutboxRoute(methods ?? OUTBOX_METHODS, retry, path);
  if (!raceNetwork) return;
  const remedy = 'or leave out raceNetwork';
  if (typeof match !== 'string') refuse(match, `${path}.match`, 'must be a text to be raced', remedy);
  if (methods?.includes('GET') === false) refuse(methods, `${path}.methods`, 'must have GET to be raced', remedy);
  if (retry === false) refuse(retry, `${path}.retry`, 'must not be false to be raced', remedy);
};

function checkOutboxRoute(methods: readonly string[], retry: Route['retry'], path: string): void {
  const without = 'or leave out `outbox`';
  if (retry === false)
    refuse(retry, `${path}.retry`, 'must not be false with an outbox', `write { attempts: 1 } ${without}`);
  const read = methods.find((method) => isSafe(method));
  if (read)
    refuse(read, `${path}.methods`, 'must have no method that reads, with an outbox', `name what changes, ${without}`);
}

const checkOptions = object(
  {
    routes: arrayOf(route),
    defaults,
    budget: checkBudgetOptions,
    circuit: checkCircuitOptions,
    mode: oneOf('retry', 'observe'),
    sample: number(0, 1),
    fragments: flag,
    clientsClaim: flag,
    skipWaiting: flag,
    navigationPreload: flag,
    classify: func,
    classifyBody: flag,
    prepare: func,
    offlinePage: pagePath,
    onEvent: func,
  },
  [],
  (key) => (isRetryOption(key) ? 'into `defaults`, or into the `retry` of a route' : undefined),
);

/** Throws a {@link RetryLayerError} that names the option, the value and the remedy. */
export function checkLayerOptions(options: unknown): asserts options is RetryLayerOptions {
  checkOptions(options, '');
}

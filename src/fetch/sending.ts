import { onAbort, type Ports } from '../engine/index.js';
import { aside } from './aside.js';
import type { Surroundings } from './surroundings.js';

/** How the attempts of one request go out: each called off with it as well as by itself, and retried by nobody else. */
export interface Sending {
  readonly fetch: Ports['fetch'];
  /** There is an answer, or none to come: the request's signal is followed as long as somebody may read that. */
  over(response: Response | undefined): void;
}

export function createSending(
  request: Request,
  send: Ports['fetch'],
  isControlled: Surroundings['isControlled'],
): Sending {
  const { signal } = request;
  const sent = new Set<AbortController>();
  const unlink = onAbort(signal, (reason) => {
    for (const attempt of sent) attempt.abort(reason);
  });
  return {
    async fetch(attempt, init) {
      const own = isControlled() ? await aside(attempt) : attempt;
      if (!init?.signal) return init === undefined ? send(own) : send(own, init);
      // A signal takes the place of the request's own, which has to go on counting: also while the body is read.
      const either = new AbortController();
      sent.add(either);
      onAbort(init.signal, (reason) => either.abort(reason));
      if (signal.aborted) either.abort(signal.reason);
      return send(own, { ...init, signal: either.signal });
    },
    over(response) {
      if (response?.body) reading?.register(response.body, { request, unlink });
      else unlink();
    },
  };
}

/**
 * The same network, told with each attempt what no standard knows (Node's `dispatcher`, `next`, `proxy` …) or no request
 * can be asked for (`priority`): a clone may have lost it, and a retry must not go past a proxy.
 */
export function withExtras(send: Ports['fetch'], given: RequestInit): Ports['fetch'] {
  const extras = Object.entries(given).filter(([name]) => !KEPT_BY_REQUEST.includes(name));
  if (extras.length === 0) return send;
  return (request, init) => {
    // An init that says nothing of them would reset them.
    const { referrer, referrerPolicy } = request;
    return send(request, { referrer, referrerPolicy, ...init, ...Object.fromEntries(extras) });
  };
}

const KEPT_BY_REQUEST: readonly string[] = [
  'method',
  'headers',
  'body',
  'duplex',
  'mode',
  'credentials',
  'cache',
  'redirect',
  'referrer',
  'referrerPolicy',
  'integrity',
  'keepalive',
  'signal',
  'window',
  'retry',
  'retryOptions',
];

/**
 * Holds a request until nobody can read its answer any more: Node forgets one that nobody holds, and with it that a signal
 * was to be followed. Then its listener goes, because the signal may be one for the whole life of a page.
 */
const reading =
  typeof FinalizationRegistry === 'undefined'
    ? undefined
    : new FinalizationRegistry<{ readonly request: Request; unlink(): void }>(({ unlink }) => unlink());

/** Of what is not retried here the signal counts as well, as long as somebody waits for the answer or reads it. */
export async function heldWhile(request: Request, sent: Promise<Response>): Promise<Response> {
  const response = await sent;
  if (response.body) reading?.register(response.body, { request, unlink: () => {} });
  return response;
}

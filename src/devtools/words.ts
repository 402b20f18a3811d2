import type { Cause, CircuitState, GiveUpReason, WaitBy } from '../policy/index.js';
import type {
  LayerEvent,
  OriginNotice,
  OutboxNotice,
  QueueFailed,
  RequestEvent,
  WaitCause,
} from '../protocol/index.js';

const NO_BREAK = '\u00a0';

/** `8 ms`, `0.42 s`, `15.0 s`, `3 min 20 s`, `2 h 5 min` */
export function duration(ms: number): string {
  if (ms < 99.5) return `${Math.max(0, Math.round(ms))}${NO_BREAK}ms`;
  if (ms < 99_950) return `${(ms / 1_000).toFixed(ms < 9_950 ? 2 : 1)}${NO_BREAK}s`;
  const seconds = Math.round(ms / 1_000);
  const [large, small, unit] = seconds < 6_000 ? [60, 1, ['min', 's']] : [3_600, 60, ['h', 'min']];
  const rest = Math.floor((seconds % large) / small);
  const whole = `${Math.floor(seconds / large)}${NO_BREAK}${unit[0]}`;
  return rest === 0 ? whole : `${whole}${NO_BREAK}${rest}${NO_BREAK}${unit[1]}`;
}

/** What is left of a time, in whole seconds: `9 s`. */
export const countdown = (ms: number): string => {
  const wholeMs = Math.ceil(ms / 1_000) * 1_000;
  return wholeMs < 100_000 ? `${Math.max(0, wholeMs / 1_000)}${NO_BREAK}s` : duration(wholeMs);
};

/** Why a request was not tried again: `because …`. */
export const GIVE_UP_REASONS: Readonly<Record<GiveUpReason, string>> = {
  attempts: 'all attempts are used',
  budget: 'the retry budget is empty',
  deadline: 'there is no time left for another attempt',
  'retry-after': 'the server asks for a longer wait than a page can take',
  circuit: 'this origin has failed too often',
  hold: 'the server has asked for a pause',
  'not-replayable': 'the request cannot be sent again',
  aborted: 'the page has cancelled it',
  'client-gone': 'the page has gone',
  offline: 'the device is offline',
};

/** Why an entry of the outbox is not sent any more: `because …`. */
export const OUTBOX_REASONS: Readonly<Record<QueueFailed['reason'], string>> = {
  refused: 'the server refuses it',
  unauthorized: 'the server asks who is there',
  unknown: 'nobody knows whether it was taken, and it must not be taken twice',
  expired: 'its time is over',
  damaged: 'its body is not what it was',
  cancelled: 'somebody has cancelled it',
  'not-stored': 'it could not be stored',
};

/** What a wait is for: `waits for …`. */
export const WAITS_FOR: Readonly<Record<WaitBy | WaitCause, string>> = {
  backoff: 'backoff',
  'retry-after': 'Retry-After',
  'rate-limit': 'RateLimit',
  offline: 'the network',
  hold: 'the end of a pause',
  circuit: 'a sign of life',
};

const WHOSE_TIME: Readonly<Record<WaitBy, string>> = {
  backoff: 'backoff',
  'retry-after': 'as its Retry-After asks',
  'rate-limit': 'as its RateLimit hints',
};

const FAILED_BY: Readonly<Record<Exclude<Cause, 'status'>, string>> = {
  'network-error': 'lost its connection',
  timeout: 'has no answer yet',
};

const WAITS: Readonly<Record<WaitCause, { readonly on: string; readonly over: string }>> = {
  offline: { on: 'because the device is offline', over: 'the device is online again' },
  hold: { on: 'because the server has asked for a pause', over: 'the pause is over' },
  circuit: { on: 'until the server shows that it is back', over: 'the server may be back' },
};

const CIRCUITS: Readonly<Record<CircuitState, (where: string) => string>> = {
  open: (where) => `the circuit for ${where} is open: failed requests wait for a sign of life instead of retrying`,
  'half-open': (where) => `the circuit for ${where} is half-open: one request tries`,
  closed: (where) => `the circuit for ${where} is closed: the server is back`,
};

/**
 * An event as one plain sentence that says why. `who` is what it is about, where that is not to be said by method and
 * path. A type of event that is not known here is told by its name and what it carries.
 */
export function inWords(event: LayerEvent, who?: string): string {
  const what = why(event);
  if ('origin' in event) return `${upperFirst(what)}.`;
  return `${who ?? `${event.method} ${pathOf(event.url)}`} ${what}.`;
}

/** The same without its subject, for a list that is about one request: `Got 503 on attempt 1; …`. */
export const reason = (event: LayerEvent): string => `${upperFirst(why(event))}.`;

function why(event: LayerEvent): string {
  if ('elapsedMs' in event) return ofRequest(event);
  return 'outbox' in event ? ofEntry(event) : ofOrigin(event);
}

function ofRequest(event: RequestEvent): string {
  switch (event.type) {
    case 'retry-scheduled': {
      const { attempt, cause, status, by, delayMs, mirror } = event;
      const at = mirror === undefined ? '' : ` at ${hostOf(mirror)}`;
      if (cause === 'timeout') {
        return `${FAILED_BY.timeout} on attempt ${attempt}; the next starts beside it${at} in ${duration(delayMs)}`;
      }
      const what = cause === 'status' ? `got ${status}` : FAILED_BY[cause];
      return `${what} on attempt ${attempt}; again${at} in ${duration(delayMs)} (${WHOSE_TIME[by] ?? by})`;
    }
    case 'waiting':
      return `waits, ${WAITS[event.cause]?.on ?? event.cause}`;
    case 'released':
      return `goes on, as ${WAITS[event.cause]?.over ?? event.cause}`;
    case 'hedge-launched':
      return `takes long, so attempt ${event.attempt} was sent beside it`;
    case 'recovered':
      return `recovered with ${event.status} on attempt ${event.attempts}, after ${duration(event.elapsedMs)}`;
    case 'resumed':
      return `goes on with byte ${event.fromByte}, where its download broke off`;
    case 'gave-up': {
      const tries = event.attempts === 1 ? 'one attempt' : `${event.attempts} attempts`;
      const gets = event.lastStatus === undefined ? 'the network’s error' : `the last answer, ${event.lastStatus}`;
      return `gave up after ${tries}, because ${GIVE_UP_REASONS[event.reason] ?? event.reason}; the page gets ${gets}`;
    }
    default:
      return unknown(event);
  }
}

function ofEntry(event: OutboxNotice): string {
  switch (event.type) {
    case 'queued':
      return 'cannot be delivered now; it is kept, and will be';
    case 'queue-sent':
      return `was kept, and is delivered now (${event.status})`;
    case 'queue-failed':
      return `is not sent any more, because ${OUTBOX_REASONS[event.reason] ?? event.reason}`;
    default:
      return unknown(event);
  }
}

function ofOrigin(event: OriginNotice): string {
  const where = `${event.group} from ${hostOf(event.origin)}`;
  switch (event.type) {
    case 'budget-exhausted':
      return `the retry budget for ${where} is empty: failures go straight to the page until it has refilled`;
    case 'hold-started':
      return `the server asks for ${duration(event.until - event.at)}: requests for ${event.path ?? where} wait in every tab`;
    case 'hold-ended':
      return `requests for ${where} go on`;
    case 'circuit-changed':
      return CIRCUITS[event.to]?.(where) ?? `the circuit for ${where} is ${event.to}`;
    default:
      return unknown(event);
  }
}

const ABOUT = ['type', 'id', 'at', 'method', 'url', 'origin', 'group', 'elapsedMs', 'outbox'];

function unknown(event: { readonly type: string }): string {
  const more = Object.entries(event).filter(([name]) => !ABOUT.includes(name));
  const facts = more.map(([name, value]) => `${name} ${typeof value === 'object' ? JSON.stringify(value) : value}`);
  return event.type.replaceAll('-', ' ') + (facts.length === 0 ? '' : ` (${facts.join(', ')})`);
}

const upperFirst = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

export const pathOf = (url: string): string => parsed(url)?.pathname ?? url;
export const originOf = (url: string): string => parsed(url)?.origin ?? url;
export const hostOf = (origin: string): string => parsed(origin)?.host ?? origin;

/** Whatever a worker says is shown, also what is no URL. */
function parsed(url: string): URL | undefined {
  try {
    return new URL(url);
  } catch {
    return undefined;
  }
}

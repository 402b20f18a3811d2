import type { EventOf, LayerEvent, OriginNotice, OutboxNotice, RequestEvent } from '../src/page/index.ts';
import type { GiveUpReason } from '../src/policy/index.ts';
import { type End, isSuccess, type Trace, type Wait } from './trace.ts';

const NO_BREAK = '\u00a0';

/** `8 ms`, `0.42 s`, `15.0 s` */
export function duration(ms: number): string {
  if (ms < 99.5) return `${Math.max(0, Math.round(ms))}${NO_BREAK}ms`;
  return `${(ms / 1_000).toFixed(ms < 9_950 ? 2 : 1)}${NO_BREAK}s`;
}

/** What the page got, as short as it goes. */
export function result(end: End): string {
  switch (end.kind) {
    case 'answer':
      return String(end.status);
    case 'cut':
      return `${end.status}, cut`;
    case 'network-error':
      return 'network error';
  }
}

export const REASONS: Readonly<Record<GiveUpReason, string>> = {
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

/** An event of the worker as one plain sentence. */
export function sentence(event: LayerEvent, trace: Trace | undefined): string {
  if ('elapsedMs' in event) return requestSentence(event, trace);
  return 'outbox' in event ? outboxSentence(event) : originSentence(event);
}

function outboxSentence(event: OutboxNotice): string {
  const what = `${event.method} ${new URL(event.url).pathname}`;
  switch (event.type) {
    case 'queued':
      return `${what} cannot be delivered now; it is kept, and will be.`;
    case 'queue-sent':
      return `${what} was kept, and is delivered now.`;
    case 'queue-failed':
      return `${what} is not sent any more (${event.reason}).`;
  }
}

function originSentence(event: OriginNotice): string {
  const where = `${event.group} from ${new URL(event.origin).host}`;
  switch (event.type) {
    case 'budget-exhausted':
      return `The retry budget for ${where} is empty: failures go straight to the page until it has refilled.`;
    case 'hold-started':
      return `The server asks for ${duration(event.until - event.at)}: requests for ${event.path ?? where} wait in every tab.`;
    case 'hold-ended':
      return `Requests for ${where} go on.`;
    case 'circuit-changed':
      return CIRCUITS[event.to](where);
  }
}

const CIRCUITS: Readonly<Record<EventOf<'circuit-changed'>['to'], (where: string) => string>> = {
  open: (where) => `The circuit for ${where} is open: failed requests wait for a sign of life instead of retrying.`,
  'half-open': (where) => `The circuit for ${where} is half-open: one request tries.`,
  closed: (where) => `The circuit for ${where} is closed: the server is back.`,
};

const WAITS: Readonly<Record<EventOf<'waiting'>['cause'], { readonly on: string; readonly over: string }>> = {
  offline: { on: 'because the device is offline', over: 'the device is online again' },
  hold: { on: 'because the server has asked for a pause', over: 'the pause is over' },
  circuit: { on: 'until the server shows that it is back', over: 'the server may be back' },
};

function requestSentence(event: RequestEvent, trace: Trace | undefined): string {
  const who = trace ? `Request ${trace.number}` : `${event.method} ${new URL(event.url).pathname}`;
  switch (event.type) {
    case 'retry-scheduled': {
      const again = `again in ${duration(event.delayMs)}`;
      const whose = event.by === 'backoff' ? 'backoff' : 'as the server asked';
      if (event.cause === 'timeout') {
        return `${who}: attempt ${event.attempt} has no answer yet; the next starts beside it in ${duration(event.delayMs)}.`;
      }
      const what = event.cause === 'status' ? `got ${event.status}` : 'lost its connection';
      return `${who}: attempt ${event.attempt} ${what}; ${again} (${whose}).`;
    }
    case 'waiting':
      return `${who} waits, ${WAITS[event.cause].on}.`;
    case 'released':
      return `${who} goes on: ${WAITS[event.cause].over}.`;
    case 'hedge-launched':
      return `${who} takes long: attempt ${event.attempt} was sent beside it.`;
    case 'recovered':
      return `${who} recovered: ${event.status} on attempt ${event.attempts}, after ${duration(event.elapsedMs)}.`;
    case 'resumed':
      return `${who} goes on with byte ${event.fromByte}, where its download broke off.`;
    case 'gave-up': {
      const tries = event.attempts === 1 ? 'one attempt' : `${event.attempts} attempts`;
      const gets = event.lastStatus === undefined ? 'the network’s error' : `the last answer, ${event.lastStatus}`;
      return `${who} gave up after ${tries}, because ${REASONS[event.reason]}; the page gets ${gets}.`;
    }
  }
}

/** A whole timeline in words, for those who do not see it. */
export function story({ number, sentAt, attempts, waits, gaveUp, end }: Trace): string {
  const parts = attempts.flatMap(({ status }, index) => [
    `attempt ${index + 1}: ${status ?? 'no answer'}`,
    ...waits.filter(({ attempt }) => attempt === index + 1).map(pause),
  ]);
  const outcome = end
    ? `${isSuccess(end) ? 'succeeded' : 'failed'} with ${result(end)} after ${duration(end.at - sentAt)}`
    : 'under way';
  const reason = gaveUp ? [`gave up, because ${REASONS[gaveUp.reason]}`] : [];
  return `Request ${number} ${[outcome, ...parts, ...reason].join('; ')}.`;
}

export function pause({ from, until, by }: Wait): string {
  if (until === undefined) return `waits for ${PAUSES[by]}`;
  return `waits ${duration((until ?? from) - from)} (${PAUSES[by]})`;
}

const PAUSES: Readonly<Record<Wait['by'], string>> = {
  offline: 'the network',
  hold: 'the end of a pause',
  circuit: 'a sign of life',
  'retry-after': 'Retry-After',
  'rate-limit': 'RateLimit',
  backoff: 'backoff',
};

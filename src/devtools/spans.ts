import type { WaitBy } from '../policy/index.js';
import type { LayerEvent, OriginNotice, OutboxNotice, RequestEvent, WaitCause } from '../protocol/index.js';
import type { Row } from './model.js';

/** A stretch of time of a row, or a moment of it (`from` is `to`), to be drawn. */
export interface Span {
  readonly tone: Tone;
  readonly from: number;
  /** Absent while it goes on. */
  readonly to?: number;
  /** 1 beside what is drawn in lane 0. */
  readonly lane: 0 | 1;
  /** As short as it goes: a status. */
  readonly label?: string;
  readonly title: string;
}

export type Tone =
  /** Attempts: with an answer that stands, failed, under way, or one of several in flight. */
  | 'good'
  | 'bad'
  | 'flying'
  /** Waits: of our own choice, named by a server, for a sign of life, for the network, in the outbox. */
  | 'backoff'
  | 'asked'
  | 'parked'
  | 'offline'
  | 'kept'
  /** Moments. */
  | 'moment';

/** What a row says about time, from its events alone; the same events are always the same spans. */
export const spansOf = (row: Row): readonly Span[] =>
  // Instants of several clocks, and of a clock that was set back, may be in any order.
  untidy(row).map((span) => (span.to === undefined ? span : { ...span, to: Math.max(span.from, span.to) }));

function untidy({ kind, events }: Row): readonly Span[] {
  if (kind === 'request') return ofRequest(events as readonly RequestEvent[]);
  if (kind === 'outbox') return ofEntry(events as readonly OutboxNotice[]);
  return ofOrigin(events as readonly OriginNotice[]);
}

interface Attempt {
  number: number;
  readonly from: number;
  to?: number;
  readonly lane: 0 | 1;
  tone: Tone;
  what: string;
  label?: string;
  /** Its time had come, but nobody has told of it yet. */
  guessed?: boolean;
}

type Wait = { from: number; to?: number; tone: Tone; name: string };

/** Two instants of one step. */
const AT_ONCE_MS = 5;

function ofRequest(events: readonly RequestEvent[]): readonly Span[] {
  const [first] = events;
  if (!first) return [];
  const startedAt = first.at - first.elapsedMs;
  const attempts: Attempt[] = [];
  const waits: Wait[] = [];
  const moments: Span[] = [];
  /** The one whose time the next attempt waits for. */
  let wait: Wait | undefined;
  /** Attempts that no event counts: those that failed offline, and those before a download went on. */
  let uncounted = 0;
  /** Do events count from the first attempt on? What breaks off after a download went on may be counted anew. */
  let fromFirst = true;
  const flying = () => attempts.filter(({ to }) => to === undefined);
  const last = () => attempts.at(-1)?.number ?? 0;
  const launch = (from: number, number = last() + 1, guessed = false): void => {
    const lane = flying().some((other) => other.lane === 0) ? 1 : 0;
    attempts.push({ number, from, lane, tone: 'flying', what: 'under way', guessed: guessed && fromFirst });
  };
  const land = (at: number, tone: Tone, what: string, label?: string): void => {
    for (const attempt of flying())
      Object.assign(attempt, { to: Math.max(attempt.from, at), tone, what, ...(label && { label }) });
  };
  const endWait = (at: number): void => {
    if (wait) wait.to = Math.min(wait.to ?? at, at);
    wait = undefined;
  };
  /** A retry that was to come by itself has come by now as far as the clock tells. */
  const catchUp = (at: number): void => {
    if (wait?.to === undefined || wait.to > at) return;
    launch(wait.to, undefined, true);
    wait = undefined;
  };
  /** So many there were by now, whatever the clocks say. */
  const count = (at: number, number: number): void => {
    while (last() > number) {
      const wrong = attempts.findIndex(({ guessed }) => guessed);
      if (wrong < 0) break;
      attempts.splice(wrong, 1);
      for (const later of attempts.slice(wrong)) later.number -= 1;
    }
    uncounted += Math.max(0, last() - number);
    for (const attempt of attempts) attempt.guessed = false;
    if (number <= last() || (wait === undefined && flying().length > 0)) return;
    launch(Math.min(wait?.to ?? at, at), number);
    endWait(at);
  };

  for (const event of events) {
    const { at } = event;
    const number = countedBy(event);
    if (number === undefined) catchUp(at);
    else if (attempts.length + waits.length > 0) count(at, number + uncounted);
    if (event.type === 'resumed') {
      // Some attempt has brought it.
      count(at, wait ? last() + 1 : last());
      fromFirst = false;
    }
    // Whoever is held or refused before it was sent has no attempt yet.
    const unsent = event.type === 'waiting' && event.cause === 'hold' && event.elapsedMs < 100;
    if (attempts.length === 0 && waits.length === 0 && !unsent) {
      // What came before was not told, or is forgotten: of it only the number is known.
      if (number !== 0) launch(startedAt, number);
    }
    switch (event.type) {
      case 'retry-scheduled': {
        const { cause, status, delayMs, by } = event;
        if (cause !== 'timeout') land(at, 'bad', status === undefined ? 'no answer' : `got ${status}`, labelOf(status));
        endWait(at);
        wait = { from: at, to: at + delayMs, tone: by === 'backoff' ? 'backoff' : 'asked', name: NAMES[by] ?? by };
        waits.push(wait);
        break;
      }
      case 'waiting': {
        const { cause } = event;
        // An attempt that would have been launched at this very moment was not.
        if (
          attempts.at(-1)?.to === undefined &&
          at - (attempts.at(-1)?.from ?? at) <= AT_ONCE_MS &&
          attempts.length > 1
        ) {
          attempts.pop();
        }
        land(at, 'bad', 'failed');
        endWait(at);
        if (cause === 'offline') uncounted += 1;
        wait = {
          from: at,
          tone: cause === 'circuit' ? 'parked' : cause === 'hold' ? 'asked' : 'offline',
          name: NAMES[cause] ?? cause,
        };
        waits.push(wait);
        break;
      }
      case 'released':
        endWait(at);
        launch(at, undefined, true);
        break;
      case 'hedge-launched':
        launch(at, Math.max(event.attempt + uncounted, last() + 1));
        break;
      case 'recovered': {
        // Of several in flight nobody is told which one it was.
        const alone = flying().length < 2;
        land(at, 'good', alone ? `got ${event.status}` : `one of these got ${event.status}`, labelOf(event.status));
        endWait(at);
        break;
      }
      case 'gave-up':
        land(
          at,
          'bad',
          event.lastStatus === undefined ? 'no answer' : `got ${event.lastStatus}`,
          labelOf(event.lastStatus),
        );
        endWait(at);
        break;
      default:
        moments.push(moment(event));
    }
  }
  if (wait?.to !== undefined) launch(wait.to);
  return [
    ...waits.map(
      ({ from, to, tone, name }): Span => ({ tone, from, ...(to === undefined ? {} : { to }), lane: 0, title: name }),
    ),
    ...attempts.map(
      ({ number, from, to, lane, tone, what, label }): Span => ({
        tone,
        from,
        ...(to === undefined ? {} : { to }),
        lane,
        ...(label === undefined ? {} : { label }),
        title: `attempt ${number}: ${what}`,
      }),
    ),
    ...moments,
  ];
}

/** How many attempts there were when this was told, if it tells. */
function countedBy(event: RequestEvent): number | undefined {
  if (event.type === 'retry-scheduled') return event.attempt;
  if (event.type === 'hedge-launched') return event.attempt - 1;
  return 'attempts' in event ? event.attempts : undefined;
}

const labelOf = (status: number | undefined): string | undefined => (status === undefined ? undefined : String(status));

const NAMES = {
  backoff: 'wait, by backoff',
  'retry-after': 'wait, by Retry-After',
  'rate-limit': 'wait, by RateLimit',
  offline: 'offline',
  hold: 'held',
  circuit: 'parked',
} as const satisfies Readonly<Record<WaitBy | WaitCause, string>>;

function moment({ type, at }: LayerEvent, lane: 0 | 1 = 0): Span {
  return { tone: 'moment', from: at, to: at, lane, title: type.replaceAll('-', ' ') };
}

function ofEntry(events: readonly OutboxNotice[]): readonly Span[] {
  const spans: Span[] = [];
  let since: number | undefined;
  for (const event of events) {
    const { at } = event;
    if (event.type === 'queued') since = at;
    else {
      if (since !== undefined) spans.push({ tone: 'kept', from: since, to: at, lane: 0, title: 'kept in the outbox' });
      since = undefined;
      if (event.type === 'queue-sent')
        spans.push({
          tone: 'good',
          from: at,
          to: at,
          lane: 0,
          label: String(event.status),
          title: `delivered: ${event.status}`,
        });
      else if (event.type === 'queue-failed')
        spans.push({
          tone: 'bad',
          from: at,
          to: at,
          lane: 0,
          title: `set aside: ${event.reason}`,
          ...(event.status === undefined ? {} : { label: String(event.status) }),
        });
      else spans.push(moment(event));
    }
  }
  return since === undefined ? spans : [...spans, { tone: 'kept', from: since, lane: 0, title: 'kept in the outbox' }];
}

function ofOrigin(events: readonly OriginNotice[]): readonly Span[] {
  const spans: Span[] = [];
  for (const [index, event] of events.entries()) {
    const next = events[index + 1];
    const until = next === undefined ? {} : { to: next.at };
    switch (event.type) {
      case 'hold-started':
        spans.push({
          tone: 'asked',
          from: event.at,
          to: Math.min(event.until, next?.at ?? event.until),
          lane: 0,
          title: 'held',
        });
        break;
      case 'circuit-changed':
        if (event.to === 'closed') spans.push({ ...moment(event), title: 'circuit closed' });
        else
          spans.push({
            tone: event.to === 'open' ? 'parked' : 'flying',
            from: event.at,
            ...until,
            lane: 0,
            title: `circuit ${event.to}`,
          });
        break;
      case 'hold-ended':
        break;
      default:
        spans.push(moment(event));
    }
  }
  return spans;
}

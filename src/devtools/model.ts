import type { LayerEvent, OriginNotice, OutboxNotice, RequestEvent } from '../protocol/index.js';
import { originOf, pathOf } from './words.js';

/** What is kept of what was told, grouped into what it was about. */
export interface Model {
  /** In the order in which they were first heard of. */
  readonly rows: readonly Row[];
  /** How many events are kept. */
  readonly size: number;
  /** How many had to go to make room. */
  readonly forgotten: number;
  /** Of each event, in the order in which they came, whose row it is in. */
  readonly order: readonly string[];
  /** Holds and circuits that go on, and their rows. */
  readonly goingOn: ReadonlyMap<string, string>;
}

/** One request, one entry of the outbox, one hold, one time of trouble of a circuit, or one empty budget. */
export interface Row {
  readonly key: string;
  readonly kind: 'request' | 'outbox' | 'hold' | 'circuit' | 'budget';
  readonly events: readonly [LayerEvent, ...LayerEvent[]];
  readonly state: RowState;
  /** `''` where it is no request. */
  readonly method: string;
  readonly origin: string;
  /** `''` where it is about all of an origin and group. */
  readonly path: string;
  readonly group: string;
  readonly startedAt: number;
  /** Absent while it goes on. */
  readonly endedAt?: number;
  /** 0: not known. */
  readonly attempts: number;
  /** Of the answer that ended it. */
  readonly status?: number;
}

export type RowState = 'going-on' | 'recovered' | 'gave-up' | 'delivered' | 'set-aside' | 'over';

/** More than anybody reads, and few enough to keep in memory without a thought. */
export const MOST_EVENTS = 10_000;

export const EMPTY: Model = { rows: [], size: 0, forgotten: 0, order: [], goingOn: new Map() };

/** Takes what came; beyond `most` events the oldest go, and a row goes with its last one. */
export function withEvents(model: Model, events: readonly LayerEvent[], most = MOST_EVENTS): Model {
  if (events.length === 0) return model;
  const rows = new Map(model.rows.map((row) => [row.key, row]));
  const touched = new Map<string, LayerEvent[]>();
  const goingOn = new Map(model.goingOn);
  const order = [...model.order];
  const eventsOf = (key: string): LayerEvent[] => {
    const known = touched.get(key) ?? [...(rows.get(key)?.events ?? [])];
    touched.set(key, known);
    return known;
  };
  const isHoldOver = (key: string, at: number): boolean => {
    const last = eventsOf(key).at(-1);
    return last?.type !== 'hold-started' || last.until <= at;
  };

  for (const event of events) {
    const key = keyOf(event, goingOn, isHoldOver, order.length + model.forgotten);
    eventsOf(key).push(event);
    order.push(key);
  }
  const excess = order.splice(0, Math.max(0, order.length - most));
  for (const key of excess) eventsOf(key).shift();
  for (const [key, [first, ...more]] of touched) {
    if (first) rows.set(key, toRow(key, [first, ...more]));
    else rows.delete(key);
  }
  for (const [what, key] of goingOn) if (!rows.has(key)) goingOn.delete(what);
  return {
    rows: [...rows.values()],
    size: order.length,
    forgotten: model.forgotten + excess.length,
    order,
    goingOn,
  };
}

/** How many events there were, those that had to go included. */
export const heardOf = ({ size, forgotten }: Model): number => size + forgotten;

/** Every event that is kept, in the order in which they came. */
export function eventsOf({ rows, order }: Model): LayerEvent[] {
  const left = new Map(rows.map(({ key, events }) => [key, events.values()]));
  return order.flatMap((key) => left.get(key)?.next().value ?? []);
}

function keyOf(
  event: LayerEvent,
  goingOn: Map<string, string>,
  isHoldOver: (key: string, at: number) => boolean,
  serial: number,
): string {
  if (isOfEntry(event)) return `outbox ${event.id || serial}`;
  if (!isOfOrigin(event)) return `request ${event.id}`;
  const { type, origin, group } = event;
  if (type === 'budget-exhausted') return `budget ${serial}`;
  const kind = type === 'circuit-changed' ? 'circuit' : 'hold';
  const what = `${kind} ${origin} ${group}${type === 'hold-started' ? ` ${event.path ?? ''}` : ''}`;
  if (type === 'hold-ended') {
    // It does not say whether it was about a path.
    const held = [...goingOn].filter(([other]) => other.startsWith(`${what} `)).at(-1);
    if (held) goingOn.delete(held[0]);
    return held?.[1] ?? `${what} ${serial}`;
  }
  const known = goingOn.get(what);
  const again = type === 'hold-started' && known !== undefined && isHoldOver(known, event.at);
  const key = known === undefined || again ? `${what} ${serial}` : known;
  if (type === 'circuit-changed' && event.to === 'closed') goingOn.delete(what);
  else goingOn.set(what, key);
  return key;
}

/** A type that is not known here is known by what it carries. */
const isOfOrigin = (event: LayerEvent): event is OriginNotice => 'origin' in event && !('elapsedMs' in event);
const isOfEntry = (event: LayerEvent): event is OutboxNotice => 'outbox' in event;

function toRow(key: string, events: Row['events']): Row {
  const [first] = events;
  if (isOfOrigin(first)) return originRow(key, events as readonly [OriginNotice, ...OriginNotice[]]);
  if (isOfEntry(first)) return entryRow(key, events as readonly [OutboxNotice, ...OutboxNotice[]]);
  return requestRow(key, events as readonly [RequestEvent, ...RequestEvent[]]);
}

function requestRow(key: string, events: readonly [RequestEvent, ...RequestEvent[]]): Row {
  const [{ method, url, group, at, elapsedMs }] = events;
  const about = { key, kind: 'request', events, ...whatOf(method, url), group, startedAt: at - elapsedMs } as const;
  const end = events.find((event) => event.type === 'recovered' || event.type === 'gave-up');
  if (end?.type === 'recovered') {
    return { ...about, state: 'recovered', endedAt: end.at, attempts: end.attempts, status: end.status };
  }
  if (end?.type === 'gave-up') {
    const status = end.lastStatus === undefined ? {} : { status: end.lastStatus };
    return { ...about, state: 'gave-up', endedAt: end.at, attempts: end.attempts, ...status };
  }
  const attempts = Math.max(0, ...events.map((event) => ('attempt' in event ? event.attempt : 0)));
  const last = events.at(-1);
  // Nobody tells of the end of a download. Should it break off once more, it goes on again.
  if (last?.type === 'resumed') {
    return { ...about, state: 'recovered', endedAt: last.at, attempts: Math.max(attempts, last.resumptions) + 1 };
  }
  return { ...about, state: 'going-on', attempts };
}

function entryRow(key: string, events: readonly [OutboxNotice, ...OutboxNotice[]]): Row {
  const [{ method, url, outbox, at }] = events;
  const about = { key, kind: 'outbox', events, ...whatOf(method, url), group: outbox, startedAt: at } as const;
  // What was set aside may be sent again.
  const last = events.at(-1);
  if (last?.type === 'queue-sent') {
    return { ...about, state: 'delivered', endedAt: last.at, attempts: last.sends, status: last.status };
  }
  if (last?.type === 'queue-failed') {
    const status = last.status === undefined ? {} : { status: last.status };
    return { ...about, state: 'set-aside', endedAt: last.at, attempts: last.sends, ...status };
  }
  return { ...about, state: 'going-on', attempts: 0 };
}

function originRow(key: string, events: readonly [OriginNotice, ...OriginNotice[]]): Row {
  const [{ type, origin, group, at }] = events;
  const path = events.find((event) => event.type === 'hold-started')?.path ?? '';
  const last = events.at(-1);
  const isOver = last?.type === 'circuit-changed' ? last.to === 'closed' : last?.type !== 'hold-started';
  return {
    key,
    kind: type === 'circuit-changed' ? 'circuit' : type === 'budget-exhausted' ? 'budget' : 'hold',
    events,
    state: isOver ? 'over' : 'going-on',
    method: '',
    origin,
    path,
    group,
    startedAt: at,
    ...(isOver && last ? { endedAt: last.at } : {}),
    attempts: 0,
  };
}

const whatOf = (method: string, url: string) => ({ method, origin: originOf(url), path: pathOf(url) });

/** Which rows are shown. */
export interface Filter {
  /** Each of its words has to be found somewhere. */
  readonly text: string;
  /** `''`: every one. */
  readonly origin: string;
  readonly outcome: Outcome;
}

export type Outcome = 'all' | 'going-on' | 'good' | 'bad' | 'notices';

export const ALL: Filter = { text: '', origin: '', outcome: 'all' };

const OUTCOMES: Readonly<Record<Outcome, (row: Row) => boolean>> = {
  all: () => true,
  'going-on': ({ state }) => state === 'going-on',
  good: ({ state }) => state === 'recovered' || state === 'delivered',
  bad: ({ state }) => state === 'gave-up' || state === 'set-aside',
  notices: ({ kind }) => kind === 'hold' || kind === 'circuit' || kind === 'budget',
};

export function filtered(rows: readonly Row[], { text, origin, outcome }: Filter): readonly Row[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0 && origin === '' && outcome === 'all') return rows;
  return rows.filter(
    (row) =>
      (origin === '' || row.origin === origin) &&
      OUTCOMES[outcome](row) &&
      words.every((word) => searched(row).includes(word)),
  );
}

const searched = ({ kind, method, origin, path, group, state, status, events }: Row): string => {
  const last = events.at(-1);
  const reason = last && 'reason' in last ? last.reason : '';
  return `${kind} ${method} ${origin}${path} ${group} ${state} ${status ?? ''} ${reason}`.toLowerCase();
};

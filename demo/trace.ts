import type { EventOf, RequestEvent } from '../src/page/index.ts';
import type { HitEvent } from './misbehaving-server.ts';

/** What has become of one request so far. All instants are epoch milliseconds. */
export interface Trace {
  readonly id: string;
  /** Shown to people; the same for the two requests of a pair. */
  readonly number: number;
  readonly sentAt: number;
  /** In order of arrival at the server. */
  readonly attempts: readonly Attempt[];
  readonly waits: readonly Wait[];
  readonly gaveUp?: EventOf<'gave-up'>;
  readonly end?: End;
}

/** An attempt as the server saw it. */
export interface Attempt {
  readonly at: number;
  /** What it is answered with; null for a connection that dies or hangs. */
  readonly status: number | null;
}

/** Time that the worker lets pass after an attempt. */
export interface Wait {
  /** The attempt before it, as the server counts, from 1. */
  readonly attempt: number;
  readonly from: number;
  /** Absent while nobody knows. */
  readonly until?: number;
  readonly cause: EventOf<'retry-scheduled'>['cause'] | EventOf<'waiting'>['cause'];
  readonly by: EventOf<'retry-scheduled'>['by'] | EventOf<'waiting'>['cause'];
}

/** What the page got. */
export type End = { readonly at: number } & (
  | { readonly kind: 'answer'; readonly status: number }
  /** Headers came, the body did not come whole. */
  | { readonly kind: 'cut'; readonly status: number }
  | { readonly kind: 'network-error' }
);

export const beginTrace = (id: string, number: number, sentAt: number): Trace => ({
  id,
  number,
  sentAt,
  attempts: [],
  waits: [],
});

export const withHit = (trace: Trace, { at, status }: HitEvent): Trace => ({
  ...trace,
  attempts: [...trace.attempts, { at, status }],
});

export const withEnd = (trace: Trace, end: End): Trace => ({ ...trace, end });

export function withEvent(trace: Trace, event: RequestEvent): Trace {
  switch (event.type) {
    case 'retry-scheduled': {
      const { at: from, delayMs, cause, by, attempt } = event;
      return { ...trace, waits: [...trace.waits, { attempt, from, until: from + delayMs, cause, by }] };
    }
    case 'waiting': {
      const { at: from, cause } = event;
      // What is waited for begins where another wait ends: a retry that was to come is not to come by itself.
      const before = trace.waits.filter((wait) => wait.until === undefined || wait.until <= from);
      return { ...trace, waits: [...before, { attempt: trace.attempts.length, from, cause, by: cause }] };
    }
    case 'released':
      return {
        ...trace,
        waits: trace.waits.map((wait) => (wait.until === undefined ? { ...wait, until: event.at } : wait)),
      };
    case 'gave-up':
      return { ...trace, gaveUp: event };
    case 'hedge-launched':
    case 'recovered':
    case 'resumed':
      return trace;
  }
}

export const isSuccess = (end: End): boolean => end.kind === 'answer' && end.status < 400;

/** The last part of a path under /wire/, which is the request's id. */
export const idIn = (url: string): string => new URL(url).pathname.split('/').at(-1) ?? '';

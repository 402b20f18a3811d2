import type { RequestFacts } from '../policy/index.js';
import { causeOf } from '../policy/outcome.js';
import type { Counters, LayerEvent, OriginNotice, OutboxNotice, RequestEvent } from '../protocol/index.js';
import type { Step } from './call.js';
import type { Would } from './observe.js';

/** Brings events to pages that are elsewhere. */
export interface Post {
  /** For the page that asked. */
  post(clientId: string, event: RequestEvent): void;
  /** For every page. */
  broadcast(event: LayerEvent): void;
  /** Events that were too many to be told. */
  untold(): number;
}

/** Turns the steps of runs into events, and counts them. */
export interface Teller {
  /** A teller for one request. It never throws. */
  about(request: RequestFacts, group: string, clientId: string): (step: Step) => void;
  /** Tells every page something about an origin or the outbox. Never throws. */
  notice(notice: OriginNotice | OutboxNotice): void;
  /** Where nothing is retried: what would have been done. */
  observed(would: Would): void;
  counters(): Counters;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export function createTeller(
  mailbox: Post,
  now: () => number,
  onEvent: ((event: LayerEvent) => void) | undefined,
  onProblem: (problem: unknown) => void,
): Teller {
  const counters = {
    requests: 0,
    attempts: 0,
    retries: 0,
    hedges: 0,
    recovered: 0,
    gaveUp: {} as Mutable<Counters['gaveUp']>,
  };

  let observed: Counters['observed'];
  let resumed = 0;

  const count = (step: Step, first: boolean): void => {
    if (step.type === 'attempt') counters.attempts += 1;
    if (step.type === 'attempt' && !first) counters[step.hedge ? 'hedges' : 'retries'] += 1;
    if (step.type === 'recovered') counters.recovered += 1;
    if (step.type === 'resumed') resumed += 1;
    if (step.type === 'gave-up') {
      counters.gaveUp = { ...counters.gaveUp, [step.reason]: (counters.gaveUp[step.reason] ?? 0) + 1 };
    }
  };

  const guarded = (work: () => void): void => {
    try {
      work();
    } catch (problem) {
      onProblem(problem);
    }
  };

  // The hook gets a copy, and may be async.
  const hook = (event: LayerEvent): void =>
    guarded(() => {
      const done: unknown = onEvent?.({ ...event });
      if (done instanceof Promise) done.catch(onProblem);
    });

  const notice = (event: OriginNotice | OutboxNotice): void =>
    guarded(() => {
      hook(event);
      mailbox.broadcast(event);
    });

  return {
    notice,
    observed(would) {
      observed = { ...observed, [would]: (observed?.[would] ?? 0) + 1 };
    },
    about(request, group, clientId) {
      counters.requests += 1;
      const startedAt = now();
      let id: string | undefined;
      let attempted = false;
      return (step) =>
        guarded(() => {
          count(step, !attempted);
          attempted ||= step.type === 'attempt';
          if (step.type === 'attempt') return;
          const at = now();
          if (step.type === 'budget-exhausted') {
            notice({ type: step.type, at, origin: request.origin, group });
            return;
          }
          id ??= newId();
          const about = { id, at, method: request.method, url: request.url, group, elapsedMs: at - startedAt };
          const event = toEvent(step, about);
          hook(event);
          mailbox.post(clientId, event);
        });
    },
    counters: () => ({
      ...counters,
      amplification: counters.requests === 0 ? 1 : counters.attempts / counters.requests,
      gaveUp: { ...counters.gaveUp },
      untold: mailbox.untold(),
      ...(observed && { observed }),
      ...(resumed > 0 && { resumed }),
    }),
  };
}

/** Pages that are not a secure context have no `randomUUID`. */
const newId = (): string =>
  crypto.randomUUID?.() ?? crypto.getRandomValues(new Uint32Array(4)).reduce((id, part) => id + part.toString(36), '');

type About = Pick<RequestEvent, 'id' | 'at' | 'method' | 'url' | 'group' | 'elapsedMs'>;

function toEvent(step: Exclude<Step, { type: 'attempt' | 'budget-exhausted' }>, about: About): RequestEvent {
  switch (step.type) {
    case 'retry-scheduled': {
      const { attempt, outcome, decision, mirror } = step;
      const status = outcome.kind === 'response' ? { status: outcome.status } : {};
      const { delayMs, by } = decision;
      return {
        type: 'retry-scheduled',
        ...about,
        attempt,
        delayMs,
        cause: causeOf(outcome),
        ...status,
        by,
        ...(mirror && { mirror }),
      };
    }
    case 'hedge-launched':
      return { type: 'hedge-launched', ...about, attempt: step.attempt };
    case 'waiting':
    case 'released':
      return { type: step.type, ...about, cause: step.cause };
    case 'recovered':
      return { type: 'recovered', ...about, attempts: step.attempts, status: step.status };
    case 'resumed':
      return { type: 'resumed', ...about, resumptions: step.resumptions, fromByte: step.fromByte };
    case 'gave-up': {
      const { attempts, status, reason } = step;
      return { type: 'gave-up', ...about, attempts, ...(status === undefined ? {} : { lastStatus: status }), reason };
    }
  }
}

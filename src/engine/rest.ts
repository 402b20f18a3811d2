import type { GiveUpReason } from '../policy/index.js';
import { checkPartial, PROGRESS_BYTES, type ResumePlan } from '../policy/resume.js';
import type { Call, Engine } from './call.js';
import { cancelBody } from './discard.js';
import { onAbort } from './on-abort.js';
import type { OriginBook } from './origin-book.js';
import { headOf } from './rebuilt.js';

/** Sends a request as often as its policy allows. */
export type Serve = (call: Call, engine: Engine) => Promise<Response>;

/** The rest of an answer: what there is of it now, and where that ends. */
export interface Rest {
  readonly body: ReadableStream<Uint8Array>;
  readonly last: number;
  readonly total?: number;
}

/** Asks for the rest of an answer each time that it breaks off. */
export interface Asker {
  /** Resolves to `undefined` if there is no more. Rejects with the network's error, or with ours if the rest does not fit. */
  ask(from: number, plan: ResumePlan, cut: unknown): Promise<Rest | undefined>;
  /** Nothing more is asked for. `whole`: all of it has come. */
  end(whole: boolean): void;
}

/**
 * A connection that was lost is a failed attempt like any other, so what follows it is a run like any other: the same
 * backoff, budget, hold, circuit and wait for the network, with the lost one as its first attempt.
 */
export function createAsker(call: Call, engine: Engine, serve: Serve): Asker {
  const { request, facts, policy } = call;
  const stop = new AbortController();
  const unlink = onAbort(call.signal, (reason) => stop.abort(reason));
  let resumptions = 0;
  /** Attempts that have brought next to nothing since anything came; and those of the last run. */
  let spent = 0;
  let used = 0;
  let resumedFrom = Number.NEGATIVE_INFINITY;
  /** What the last resumption has cost; it comes back once that has brought something. */
  let owed: Parameters<OriginBook['record']> | undefined;

  const book: OriginBook = {
    ...engine.book,
    record(key, event) {
      if (event.kind === 'request-began') return;
      if (event.kind === 'retry-refunded' && event.launched) owed = [key, event];
      else engine.book.record(key, event);
    },
  };

  function repay(): void {
    if (owed) engine.book.record(owed[0], { ...owed[1], at: engine.ports.now() });
  }

  async function ask(from: number, plan: ResumePlan, cut: unknown): Promise<Rest | undefined> {
    stop.signal.throwIfAborted();
    const progress = from - resumedFrom >= PROGRESS_BYTES;
    if (progress) repay();
    spent = progress ? 0 : spent + used;
    used = 0;
    owed = undefined;
    const first = Promise.reject(cut);
    first.catch(() => {});
    let told = false;
    const response = await serve(
      {
        ...call,
        request: ranged(request, from, plan),
        facts: { ...facts, range: true, cache: 'no-store', reloaded: false },
        policy: { ...policy, resume: false, holdBody: false, hedge: false, mirrors: [] },
        first,
        spent,
        signal: stop.signal,
        tell(step) {
          if (step.type === 'gave-up') told = true;
          // The first is the one that was lost; and a 206 that may not fit is no recovery.
          if (step.type === 'attempt' && used++ === 0) return;
          if (step.type !== 'recovered') call.tell(step);
        },
        // Its event is over. The worker lives as long as its stream is read; and an event that waited for the end of that would
        // have it stopped after five minutes (Chromium, measured: at 310 s, where without it a stream of 360 s is whole).
        keepAlive: () => {},
      },
      { ...engine, book },
    );
    used -= 1;
    resumedFrom = from;
    const { body, status } = response;
    const giveUp = (reason: GiveUpReason) =>
      told || call.tell({ type: 'gave-up', attempts: spent + 1 + used, status, reason });
    // Nobody reads on any more.
    if (stop.signal.aborted) {
      cancelBody(response);
      giveUp('aborted');
      throw stop.signal.reason;
    }
    const rest = checkPartial(headOf(response), from, plan);
    const goesOn = rest.kind === 'part' && body !== null;
    if (!goesOn) cancelBody(response);
    if (goesOn || rest.kind === 'complete') {
      resumptions += 1;
      call.tell({ type: 'resumed', resumptions, fromByte: from });
      return goesOn ? { ...rest, body } : undefined;
    }
    giveUp('not-replayable');
    const why = rest.kind === 'unfit' ? rest.why : 'has no body';
    throw new TypeError(`the body broke off at byte ${from} and cannot be resumed: the answer ${why}`);
  }

  return {
    ask,
    end(whole) {
      unlink();
      stop.abort();
      if (whole) repay();
    },
  };
}

/** The same request for the bytes from `from` on, past every cache, and only as long as the whole is still the same. */
function ranged(request: Request, from: number, { validator, cors }: ResumePlan): Request {
  const headers = new Headers(request.headers);
  headers.set('Range', `bytes=${from}-`);
  // To other origins it would need a preflight, which a plain range does not: there the answer is held against the validator.
  if (!cors) headers.set('If-Range', validator.value);
  const { referrer, referrerPolicy } = request;
  return new Request(request, { headers, cache: 'no-store', referrer, referrerPolicy });
}

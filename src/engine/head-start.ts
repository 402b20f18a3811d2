import { isFinal } from '../policy/decide.js';
import { type Landing, land } from './attempt.js';
import type { Call, Engine } from './call.js';
import { type Moment, momentOf } from './clock.js';

/** The first attempt of a request, sent before anything is made that only trouble needs. */
export interface HeadStart {
  readonly startedAt: Moment;
  readonly landing: Promise<Landing>;
  /** Its answer, if that is good and nothing was to be done before; else a run goes on with the attempt. */
  answer(): Promise<Response | undefined>;
}

/**
 * Sends a request at once whose server nothing speaks against, as nearly every one is; `undefined` where more has to be
 * looked at first. A good answer of such a server leaves nothing to record.
 */
export function headStart(call: Call, { ports, book }: Engine): HeadStart | undefined {
  const { request, facts, policy, group } = call;
  const key = { origin: facts.origin, group };
  if (!isPlain(call) || !book.isNew(key)) return undefined;
  const startedAt = momentOf(ports);
  // Before it is sent, like all that can fail: nobody else would know that it was.
  call.tell({ type: 'attempt' });
  // Async, so that a fetch that throws is an outcome like any other.
  const send = async () => ports.fetch(request);
  const landing = land(1, send(), { policy, holds: request.method !== 'HEAD', now: ports.now });
  return {
    startedAt,
    landing,
    async answer() {
      const timer = ports.sleep(Math.min(policy.attemptTimeoutMs, policy.totalMs));
      const landed = await Promise.race([landing, timer.done]);
      timer.cancel();
      const good = landed && 'response' in landed && isFinal(landed.outcome, facts, policy) && book.isNew(key);
      return good ? landed.response : undefined;
    },
  };
}

/** Is the first attempt nothing but the request itself, sent once and waited for? */
const isPlain = ({ facts, policy, first, signal, classify, ceilingMs }: Call): boolean =>
  !(facts.hasBody || first || signal || classify || ceilingMs) && !(policy.hedge || policy.cancelTimedOut);

import { type Call, type Engine, type Step, serve, within } from '../engine/index.js';
import { admit, refusal } from '../policy/admit.js';
import { deadlineAt } from '../policy/deadline.js';
import { IDEMPOTENT_METHODS, skipReason } from '../policy/eligibility.js';
import type { RequestFacts } from '../policy/index.js';
import { type OutboxPolicy, orderOf } from '../policy/outbox.js';
import { type OutboxEntry, queued } from '../policy/outbox-entry.js';
import { toItem } from '../protocol/index.js';
import { accepted, seeOther } from './answers.js';
import { bytesOf, keyOf, toStored } from './stored-request.js';

export interface Intake {
  readonly engine: Engine;
  /** This one. */
  readonly origin: string;
  /** Keeps an entry for good; rejects if that cannot be had. */
  readonly keep: (entry: OutboxEntry, body: ArrayBuffer, policy: OutboxPolicy) => Promise<void>;
  /** Whose requests these are. */
  readonly owner: () => Promise<string | undefined>;
  /** Does something of this order wait, which has to go first? */
  readonly follows: (orderOf: (owner: string | undefined) => string) => Promise<boolean>;
  readonly onNotStored: (call: Call, policy: OutboxPolicy, sends: number, problem: unknown) => void;
  readonly onFault: (fault: unknown) => void;
}

/** A page that has not given all of a body by then gets its error. */
const BODY_MS = 3_000;

type Result = { readonly response: Response } | { readonly error: unknown };

/**
 * Answers a request of a route with an outbox: by its server, or by a promise to deliver it. What is kept is a request
 * that may be sent again, or one that was never sent: a lost answer may be an order that was taken.
 */
export async function takeIn(given: Call, policy: OutboxPolicy, around: Intake): Promise<Response> {
  const { engine, origin, keep, onFault } = around;
  const { ports } = engine;
  // At once, so that nothing hangs on a body that somebody has read by then.
  const copy = bytesOf(given.request.clone(), policy.maxBytes);
  const whose = around.owner();
  whose.catch(() => {});
  const call = policy.addKey ? withKey(given) : given;
  const repeatable = isRepeatable(call);
  const retried = repeatable && skipReason(call.facts, call.policy) === undefined;
  let attempts = 0;
  let gaveUp = false;

  const unsent = await reasonToWait();
  const result: Result =
    unsent === undefined ? await attempt() : { error: new TypeError(`not sent, because ${unsent}`) };
  const lost = 'error' in result || gaveUp;
  const mayKeep = (attempts === 0 || repeatable) && !call.signal?.aborted;
  if (!lost || !mayKeep) return passOn(result);
  let entry: OutboxEntry;
  try {
    const body = await within(copy, BODY_MS, ports);
    if (body === undefined) throw new DOMException(`more than maxBytes (${policy.maxBytes})`, 'QuotaExceededError');
    const asked = toEntry(call, policy, body.byteLength, await whose, attempts, ports.now());
    if (call.signal?.aborted) return passOn(result);
    entry = queued(asked, ports.now(), ports.random);
    await keep(entry, body, policy);
  } catch (problem) {
    around.onNotStored(call, policy, attempts, problem);
    // What nobody will deliver later is sent now, as it would have been without an outbox.
    return passOn(attempts === 0 && ports.isOnline() && !gaveUp ? await attempt() : result);
  }
  if (policy.answer === 'error') return passOn(result);
  if ('response' in result) void result.response.body?.cancel().catch(() => {});
  return policy.page !== undefined && call.facts.navigation ? seeOther(policy.page, origin) : accepted(toItem(entry));

  async function reasonToWait(): Promise<string | undefined> {
    if (isBarred(call, engine)) return 'the server cannot be reached now';
    if (policy.orderBy === 'none') return undefined;
    const { url } = toStored(call.request);
    const isBehind = await around.follows((owner) => orderOf(policy, url, '', owner));
    return isBehind ? 'something that waits has to go first' : undefined;
  }

  async function attempt(): Promise<Result> {
    const once = retried ? call.policy : { ...call.policy, attempts: 1 };
    try {
      // Nobody waits for a device to come back online: the request is kept at once.
      return { response: await serve({ ...call, policy: once, waitsOffline: false, tell: watch }, engine, onFault) };
    } catch (error) {
      return { error };
    }
  }

  function watch(step: Step): void {
    if (step.type === 'attempt') attempts += 1;
    // An answer that is final, whoever says so, is the page's.
    if (step.type === 'gave-up') gaveUp = true;
    call.tell(step);
  }
}

/** Is it certain that nothing sent now would be answered, or be welcome? */
function isBarred({ facts, policy, group }: Call, { ports, book, guards }: Engine): boolean {
  if (!ports.isOnline()) return true;
  const now = ports.now();
  const record = book.look({ origin: facts.origin, group });
  if (policy.circuit === 'reject' && refusal(record, now, guards) === 'refuse') return true;
  const deadline = deadlineAt(now, policy.totalMs);
  return admit(record, facts.path, { now, deadline, policy }).do === 'pass-through';
}

/** A method that is idempotent, a key, or the user's own word (RFC 9110 §9.2.2). */
const isRepeatable = ({ facts: { keyed, method }, policy }: Call): boolean =>
  keyed || policy.retryNonIdempotent || (IDEMPOTENT_METHODS as readonly string[]).includes(method);

const KEY = 'Idempotency-Key';

/** Without CORS a browser sends no such header. */
const mayHaveKey = ({ sameOrigin, mode }: RequestFacts): boolean => sameOrigin && mode !== 'no-cors';

/** The key is on the first attempt already. A document's request is not rebuilt: it gets its key when it is kept. */
function withKey(call: Call): Call {
  const { facts, request } = call;
  if (facts.keyed || !mayHaveKey(facts) || facts.navigation) return call;
  const headers = new Headers(request.headers);
  headers.set(KEY, crypto.randomUUID());
  const { referrer, referrerPolicy } = request;
  const keyed = new Request(request, { headers, referrer, referrerPolicy });
  return { ...call, request: keyed, facts: { ...facts, keyed: true } };
}

function toEntry(
  call: Call,
  policy: OutboxPolicy,
  bytes: number,
  owner: string | undefined,
  sends: number,
  now: number,
): OutboxEntry {
  const id = crypto.randomUUID();
  const stored = toStored(call.request);
  const addsKey = policy.addKey && mayHaveKey(call.facts) && !keyOf(stored.headers);
  const { name, doneAt, maxAgeMs } = policy;
  return {
    id,
    outbox: name,
    order: orderOf(policy, stored.url, id, owner),
    ...(owner === undefined ? {} : { owner }),
    request: addsKey ? { ...stored, headers: [...stored.headers, [KEY, id]] } : stored,
    group: call.group,
    repeatable: addsKey || isRepeatable(call),
    ...(doneAt === undefined ? {} : { doneAt }),
    bytes,
    queuedAt: now,
    expiresAt: now + maxAgeMs,
    state: 'waiting',
    sends,
    notBefore: now,
  };
}

function passOn(result: Result): Response {
  if ('response' in result) return result.response;
  throw result.error;
}

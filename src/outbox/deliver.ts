import { type Call, type Engine, type Ports, type Step, serve, toFacts, uploadMsOf, within } from '../engine/index.js';
import { costOf } from '../policy/budget.js';
import { DEFAULTS, type RetryPolicy } from '../policy/index.js';
import type { OutboxEntry, Sent, StoredRequest } from '../policy/outbox-entry.js';
import { parseRetryAfter } from '../policy/retry-after.js';
import { keyOf, rebuild } from './stored-request.js';

/**
 * Given the request of an entry that was answered with 401 or 403; resolves to one that says who is there, of which URL
 * and headers are taken, or to nothing.
 */
export type Prepare = (request: Request) => Request | undefined | Promise<Request | undefined>;

/** How long a server may take to answer an entry, besides its upload, before its connection is closed. */
const SEND_MS = 60_000;
/** How long `prepare` may take. */
const PREPARE_MS = 30_000;
/** As much of an answer is kept to be shown, */
const ANSWER_BYTES = 16_384;
/** as comes within this time. */
const ANSWER_MS = 2_000;

/** One attempt at a time: when the next one comes is the outbox's business. Holds and circuits were asked before. */
const ONE_ATTEMPT: RetryPolicy = { ...DEFAULTS, attempts: 1, totalMs: SEND_MS };

/** Sends an entry once, and what `prepare` makes of it once more. Never rejects. */
export async function deliver(
  entry: OutboxEntry,
  body: ArrayBuffer,
  { engine, origin, prepare, whoIsThere, onFault }: Delivery,
): Promise<Sent> {
  const first = await send(entry.request);
  if (typeof first === 'string' || (first.status !== 401 && first.status !== 403) || !prepare) return first;
  let prepared: StoredRequest | undefined;
  try {
    prepared = await withKey(entry, body, prepare, engine.ports, origin);
    // It has said who is there by then: of somebody else's session nothing of this owner is sent.
    if ((await whoIsThere()) !== entry.owner) return { ...first, unprepared: true };
  } catch (problem) {
    // Who is there may be asked elsewhere, and there is out of reach, too.
    onFault(problem);
    return { ...first, unprepared: true };
  }
  return prepared ? send(prepared) : first;

  async function send(stored: StoredRequest): Promise<Sent> {
    const caller = new AbortController();
    let launched = false;
    const limit = engine.ports.sleep(SEND_MS + uploadMsOf(body.byteLength));
    void limit.done.then(() => caller.abort());
    const watch = ({ type }: Step): void => {
      if (type === 'attempt') launched = true;
      // Whatever it waits for, the entry can wait for it as well; and once sent, it is for us to say whether it goes again.
      if (type === 'waiting') caller.abort();
    };
    try {
      const request = rebuild(stored, body, caller.signal, origin);
      const facts = toFacts(request, new URL(request.url), origin);
      const { signal } = caller;
      const { group } = entry;
      const call: Call = { request, facts, policy: ONE_ATTEMPT, group, signal, tell: watch, keepAlive: () => {} };
      return await toSent(await serve(call, engine, onFault), engine, origin);
    } catch {
      return launched ? 'lost' : 'unsent';
    } finally {
      limit.cancel();
    }
  }
}

export interface Delivery {
  readonly engine: Engine;
  /** This one. */
  readonly origin: string;
  readonly prepare: Prepare | undefined;
  /** The owner now, as all workers of this origin know them. */
  readonly whoIsThere: () => Promise<string | undefined>;
  readonly onFault: (fault: unknown) => void;
}

/** What it costs to send an entry: nothing at first, as a page's request, then as much as a retry. */
export const costOfSend = ({ sends, status }: OutboxEntry, { guards }: Engine): number =>
  sends === 0 ? 0 : costOf(status === 429 || status === 503, guards.budget);

/** Whatever it changes, its key stays: the server may have seen the request already. */
async function withKey({ request }: OutboxEntry, body: ArrayBuffer, prepare: Prepare, ports: Ports, origin: string) {
  const asked = Promise.resolve(rebuild(request, body, new AbortController().signal, origin)).then(prepare);
  const prepared = await within(asked, PREPARE_MS, ports);
  if (!prepared) return undefined;
  const key = keyOf(request.headers);
  const headers = new Headers(prepared.headers);
  if (key) headers.set(...(key as [string, string]));
  // What is no request has no URL, and its maker is to hear of it.
  return { ...request, url: new URL(prepared.url).href, headers: [...headers] };
}

async function toSent(response: Response, { ports }: Engine, origin: string): Promise<Sent> {
  const { status, type, redirected, headers } = response;
  const url = redirected ? new URL(response.url) : undefined;
  const retryAfterMs = parseRetryAfter(headers.get('Retry-After'), ports.now());
  const body = await beginningOf(response, ports);
  return {
    status,
    ...(type === 'opaque' ? { opaque: true } : {}),
    ...(url ? { redirectedTo: url.origin === origin ? url.pathname : url.href } : {}),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(body ? { body } : {}),
  };
}

/** Reads no more than is kept, and frees the connection. */
async function beginningOf({ body }: Response, ports: Engine['ports']): Promise<string> {
  if (body === null) return '';
  const reader = body.getReader();
  const limit = ports.sleep(ANSWER_MS);
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  try {
    while (bytes < ANSWER_BYTES) {
      const chunk = await Promise.race([reader.read(), limit.done]);
      if (!chunk || chunk.done) break;
      text += decoder.decode(chunk.value.subarray(0, ANSWER_BYTES - bytes), { stream: true });
      bytes += chunk.value.byteLength;
    }
  } catch {
    // Its status has come, and says all that matters.
  } finally {
    limit.cancel();
    reader.cancel().catch(() => {});
  }
  return text;
}

import { type RequestFacts, skipReason } from '../../src/policy/eligibility.ts';
import type { RetryPolicy } from '../../src/policy/policy.ts';
import { createWorld, URL_OF_ITEMS } from '../support/engine-world.ts';
import { createFetchWorld } from '../support/fetch-world.ts';
import { asctime, imf, rfc850 } from '../support/http-dates.ts';
import type { Answer, Network } from '../support/scripted-network.ts';
import { createVirtualTime, START, type VirtualTime } from '../support/virtual-time.ts';
import type { NetworkStep, Row } from './row.ts';

/** What came of a row. */
export interface Played {
  readonly attempts: number;
  /** Absent if it ended in an error. */
  readonly status?: number;
  readonly error?: unknown;
  /** Of the answer. */
  readonly answered?: string;
  /** From the end of each attempt, or from when it was overdue, to the next. */
  readonly delaysMs: readonly number[];
  readonly bodies: readonly (string | undefined)[];
  /** The text that was to be sent. */
  readonly body: string | undefined;
  readonly elapsedMs: number;
  readonly retriesTold: number;
  /** Its last attempt took longer than the row gives it, and was waited for: nothing was to follow it. */
  readonly waitedFor: boolean;
}

/** A request that no page could make is played nowhere. */
export class Unplayable extends Error {}

/** Who retries: a worker, for pages that call `fetch`, or a retrying fetch. */
export type Way = 'worker' | 'fetch';

/** Plays a row with the real engine in virtual time. */
export async function play(row: Row, policy: RetryPolicy, chance: number, way: Way = 'worker'): Promise<Played> {
  const { when, given, then } = row;
  const time = createVirtualTime(given.now === undefined ? START : Date.parse(given.now));
  const endedAt: number[] = [];
  const lasted: number[] = [];
  const script = (_: Request, earlier: number): Answer => {
    const step = when[earlier] ?? beyond(when, least(then.attempts));
    const {
      s,
      h = {},
      ms = 0,
      body,
    }: Exclude<NetworkStep, number | 'net'> = typeof step === 'object' ? step : { s: step };
    endedAt.push(time.elapsed() + Math.min(ms, policy.attemptTimeoutMs));
    lasted.push(ms);
    if (s === 'net') return { reset: true, afterMs: ms };
    const headers = Object.fromEntries(
      Object.entries(h).map(([name, value]) => [name, inPlainWords(value, time.now() + ms)]),
    );
    return { status: s, headers, afterMs: ms, ...(s === 205 ? { body: null } : body === undefined ? {} : { body }) };
  };
  const body = bodyOf(given.body ?? undefined);
  const request = requestOf(row, body);
  const alone = isLeftAlone(request, policy);
  const run = WAYS[way](request, { script, policy, time, random: () => chance, budget: { capacity: 1e9 } });
  const end = await time.until(
    run.answer.then(
      (response) => ({ response }),
      (error: unknown) => ({ error }),
    ),
  );
  const elapsedMs = time.elapsed();
  const answered = 'response' in end ? { status: end.response.status, answered: await end.response.text() } : end;
  if (run.faults.length > 0) throw run.faults[0];
  const { sent } = run.network;
  return {
    ...answered,
    attempts: sent.length,
    delaysMs: sent.slice(1).map(({ at }, index) => at - (endedAt[index] ?? 0)),
    bodies: sent.map(({ body }) => body && new TextDecoder().decode(body)),
    body: body?.text,
    elapsedMs,
    retriesTold: run.told.filter(({ type }) => type === 'retry-scheduled').length,
    waitedFor:
      (lasted.at(-1) ?? 0) > Math.min(policy.attemptTimeoutMs, alone ? policy.totalMs : Number.POSITIVE_INFINITY) &&
      (alone || sent.length >= policy.attempts),
  };
}

interface Run {
  readonly network: Network;
  readonly answer: Promise<Response>;
  readonly told: readonly { readonly type: string }[];
  readonly faults: readonly unknown[];
}

interface Setting {
  readonly script: (request: Request, earlier: number) => Answer;
  readonly policy: RetryPolicy;
  readonly time: VirtualTime;
  readonly random: () => number;
  readonly budget: { readonly capacity: number };
}

const WAYS: Readonly<Record<Way, (request: Request, setting: Setting) => Run>> = {
  worker(request, setting) {
    const { network, steps, faults, ...world } = createWorld(setting);
    // What a worker leaves alone is sent once.
    const alone = isLeftAlone(request, setting.policy);
    const answer = alone ? network.fetch(request) : world.start({ request, facts: factsOf(request) });
    return { network, answer, told: steps, faults };
  },
  fetch(request, setting) {
    const { network, retryFetch, events, warnings } = createFetchWorld(setting);
    return { network, answer: retryFetch(request), told: events, faults: warnings };
  },
};

const factsOf = ({ headers }: Request): Partial<RequestFacts> => ({
  keyed: headers.has('Idempotency-Key') || headers.has('X-Idempotency-Key'),
});

const isLeftAlone = (request: Request, policy: RetryPolicy): boolean =>
  skipReason(createWorld().call({ request, facts: factsOf(request) }).facts, policy) !== undefined;

/**
 * A row says what the network does as far as it has to: an attempt more than are expected gets a good answer, so that
 * it is seen; where more are expected than are written down, the last line goes on.
 */
const beyond = (when: readonly NetworkStep[], expected: number): NetworkStep =>
  expected > when.length ? (when.at(-1) ?? 200) : 200;

const least = (attempts: Row['then']['attempts']): number =>
  typeof attempts === 'number' ? attempts : (attempts?.[0] ?? 0);

/** `imf(now+3s)` and its like as what they mean; anything else as it is. */
function inPlainWords(value: string, now: number): string {
  const [, form = '', offsets = ''] = /^(\w+)\(now((?:[+-]\d+[ydhms])*)\)$/.exec(value) ?? [];
  const write = Object.hasOwn(FORMS, form) ? FORMS[form] : undefined;
  if (write === undefined) return value;
  const date = new Date(now);
  for (const [, sign, amount, unit] of offsets.matchAll(/([+-])(\d+)([ydhms])/g)) {
    const by = Number(`${sign}${amount}`);
    if (unit === 'y') date.setUTCFullYear(date.getUTCFullYear() + by);
    else date.setTime(date.getTime() + by * (UNITS[unit ?? ''] ?? 0));
  }
  return write(date.getTime());
}

const UNITS: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 };

const FORMS: Readonly<Record<string, (ms: number) => string>> = {
  imf,
  rfc850,
  asctime,
  epoch: (ms) => String(Math.floor(ms / 1_000)),
  toUTCString: (ms) => new Date(ms).toUTCString(),
  toISOString: (ms) => new Date(ms).toISOString(),
};

interface Body {
  readonly text: string;
  readonly init: BodyInit;
}

/** A text as it is, or what it is of before it: `stream hello`, `bytes hello`, `500 bytes`. */
function bodyOf(given: string | undefined): Body | undefined {
  if (given === undefined) return undefined;
  const [, size] = /^(\d+) bytes$/.exec(given) ?? [];
  if (size !== undefined) return { text: 'x'.repeat(Number(size)), init: 'x'.repeat(Number(size)) };
  const [, kind, content] = /^(string|bytes|stream|generator|FormData|URLSearchParams) (.*)$/s.exec(given) ?? [];
  if (kind === undefined || content === undefined) return { text: given, init: given };
  if (kind === 'FormData' || kind === 'URLSearchParams') throw new Unplayable(`what ${kind} holds is in words`);
  const text = /^".*"$/s.test(content) ? content.slice(1, -1) : content;
  if (kind === 'string') return { text, init: text };
  const bytes = new TextEncoder().encode(text);
  return { text, init: kind === 'bytes' ? bytes : streamOf(bytes) };
}

const streamOf = (bytes: Uint8Array): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start(controller) {
      controller.enqueue(bytes);
      controller.close();
    },
  });

function requestOf({ given: { method = 'GET', headers = {} } }: Row, body: Body | undefined): Request {
  const init = { method, headers, ...(body ? { body: body.init, duplex: 'half' } : {}) };
  try {
    return new Request(URL_OF_ITEMS, init as RequestInit);
  } catch (error) {
    throw new Unplayable(`no page can make this request: ${(error as Error).message}`);
  }
}

import { once } from 'node:events';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { rangeOf } from './range.ts';
import { toRetryAfter } from './retry-after.ts';
import type { Step } from './step.ts';

export interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** Settles when the request's body has come. */
  readonly received: Promise<void>;
  /** Headers beside those of the step, which win. */
  readonly extraHeaders: OutgoingHttpHeaders;
}

const STALL_MS = 60_000;
// A client may drop what has come but was not read when the connection breaks, Chromium even at an orderly end;
// this lets a local one read it, so that "half of the body" is half for the page too.
const BEFORE_CUT_MS = 50;

/** Settles when the step is over or the client has left; leaves neither timer nor listener behind. */
export async function carryOut(step: Step, { req, res, received, extraHeaders }: Exchange): Promise<void> {
  const leaving = new AbortController();
  const gone = leaving.signal;
  res.once('close', () => leaving.abort());

  const answersEarly = step.stall === 'headers' || step.reset === 'headers';
  if (!answersEarly) await received;
  // Without a delay this is still a turn of the event loop, in which a body sent along with the headers is logged.
  if (!(await waited(step.delayMs ?? 0, gone))) return;

  if (step.reset === 'headers') {
    req.socket.resetAndDestroy();
    return;
  }
  if (step.stall === 'headers') {
    if (await waited(step.stallMs ?? STALL_MS, gone)) req.socket.destroy();
    return;
  }

  const asked = step.status ?? (step.redirect === undefined ? 200 : 302);
  const whole = bodyOf(step, asked);
  const range = step.ranges === true && asked === 200 ? rangeOf(req, whole.length, step) : undefined;
  const { status = asked, headers: rangeHeaders = {}, from = 0 } = range ?? {};
  const body = whole.subarray(from);
  // Whatever stands in front of this handler may have set some; only the plan decides what is on the wire.
  for (const name of res.getHeaderNames()) res.removeHeader(name);
  res.writeHead(status, headersOf(step, status, body, { ...extraHeaders, ...rangeHeaders }));

  if (step.endless === true && hasBody(req, status)) return pour(res, gone);
  const isWhole = step.stall === undefined && step.reset === undefined && step.truncate !== true;
  if (isWhole && (step.contentLength ?? 0) <= body.length) {
    res.end(body);
    return;
  }

  res.flushHeaders();
  await written(res, isWhole ? body : body.subarray(0, step.sentBytes ?? Math.floor(body.length / 2)));
  if (step.stall === 'body') {
    if (await waited(step.stallMs ?? STALL_MS, gone)) req.socket.destroy();
  } else if (await waited(BEFORE_CUT_MS, gone)) {
    if (step.reset === 'body') req.socket.resetAndDestroy();
    else if (step.truncate === true) req.socket.destroySoon();
    else res.end();
  }
}

/** Byte `i` is `i % 251`, a prime, so that a chunk lost or doubled at any power of two shows. */
export function generatedBytes(count: number): Buffer {
  return Buffer.alloc(count, PATTERN);
}

const PATTERN = Buffer.from(Array.from({ length: 251 }, (_, at) => at));

/** The whole body of an answer of that status. */
export function bodyOf({ body, bytes }: Step, status: number): Buffer {
  if (bytes !== undefined) return generatedBytes(bytes);
  return Buffer.from(body ?? (status < 400 ? 'ok' : `status ${status}`));
}

function headersOf(step: Step, status: number, body: Buffer, extraHeaders: OutgoingHttpHeaders): OutgoingHttpHeaders {
  const nowMs = Date.now();
  const named: OutgoingHttpHeaders = Object.fromEntries(
    Object.entries(step.headers ?? {}).map(([name, value]) => [
      name.toLowerCase(),
      typeof value === 'string' ? value : [...value],
    ]),
  );
  const length = step.contentLength ?? (isBodiless(status) ? undefined : body.length);
  const declaresLength = length !== undefined && step.endless !== true && named['transfer-encoding'] === undefined;
  return {
    'cache-control': 'no-store',
    'content-type': 'text/plain',
    ...(declaresLength && { 'content-length': String(length) }),
    ...(step.keepAlive !== true && { connection: 'close' }),
    ...(step.redirect !== undefined && { location: step.redirect }),
    ...(step.retryAfter !== undefined && { 'retry-after': toRetryAfter(step.retryAfter, nowMs) }),
    // Node's own Date header may lag by a tick; the distance between the two dates must be exact.
    ...(typeof step.retryAfter === 'object' && { date: new Date(nowMs).toUTCString() }),
    ...extraHeaders,
    ...named,
  };
}

function isBodiless(status: number): boolean {
  return status === 204 || status === 304;
}

function hasBody(req: IncomingMessage, status: number): boolean {
  return req.method !== 'HEAD' && !isBodiless(status);
}

async function pour(res: ServerResponse, gone: AbortSignal): Promise<void> {
  const chunk = generatedBytes(64 * 1024);
  while (await waited(10, gone)) {
    if (!res.write(chunk) && !(await drained(res, gone))) return;
  }
}

async function drained(res: ServerResponse, signal: AbortSignal): Promise<boolean> {
  try {
    await once(res, 'drain', { signal });
    return true;
  } catch {
    return false;
  }
}

function written(res: ServerResponse, chunk: Buffer): Promise<void> {
  return new Promise((resolve) => {
    res.once('close', resolve);
    if (chunk.length === 0) resolve();
    else res.write(chunk, () => resolve());
  });
}

/** False when the client left during the wait. */
async function waited(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await sleep(ms, undefined, { signal });
    return true;
  } catch {
    return false;
  }
}

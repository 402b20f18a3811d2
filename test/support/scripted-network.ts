import type { Ports } from '../../src/engine/ports.ts';
import type { VirtualTime } from './virtual-time.ts';

/** What the network does with one attempt. A bare status answers at once; `reset` is a lost connection. */
export type Answer = number | 'reset' | 'hang' | Detailed;

interface Detailed {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  /** Made anew for each answer. @defaultValue `answer N`, with the number of the attempt */
  readonly body?: string | Uint8Array<ArrayBuffer> | null | (() => ReadableStream<Uint8Array>);
  /** Rejects with a network error instead. */
  readonly reset?: boolean;
  /** Until the headers, or the error. */
  readonly afterMs?: number;
  /** Answers before the request's body has been read to its end. */
  readonly early?: boolean;
}

/** One request that reached the network. */
export interface Sent {
  /** Milliseconds since the clock was made. */
  readonly at: number;
  readonly request: Request;
  readonly init: RequestInit | undefined;
  /** The bytes of its body, once the network has read them. */
  body: Uint8Array | undefined;
  /** What came of it. */
  response?: Response;
  error?: unknown;
  /** When it was called off. */
  abortedAt?: number;
}

export interface Network {
  readonly fetch: Ports['fetch'];
  readonly sent: readonly Sent[];
  /** When each attempt was sent, in milliseconds since the clock was made. */
  times(): number[];
  /** Everything that the network has given as an answer or an error. */
  given(): unknown[];
}

/** A network that does what a test says, attempt by attempt; the last line of the script is repeated. */
export function createNetwork(
  time: VirtualTime,
  script: readonly Answer[] | ((request: Request, earlier: number) => Answer),
  prepare: (response: Response) => Response = (response) => response,
): Network {
  const sent: Sent[] = [];
  return {
    sent,
    times: () => sent.map(({ at }) => at),
    given: () => sent.flatMap(({ response, error }) => response ?? error ?? []),
    fetch(request, init) {
      const one: Sent = { at: time.elapsed(), request, init, body: undefined };
      const earlier = sent.push(one) - 1;
      const answer =
        typeof script === 'function' ? script(request, earlier) : (script[earlier] ?? script.at(-1) ?? 200);
      return landed(one, answer, earlier + 1).catch((error: unknown) => {
        one.error = error;
        throw error;
      });
    },
  };

  async function landed(one: Sent, answer: Answer, attempt: number): Promise<Response> {
    const { request } = one;
    // The platform's own words for it differ; that it rejects does not.
    if (request.bodyUsed) throw new TypeError('the body was used up before it was sent');
    const signal = AbortSignal.any([request.signal, ...(one.init?.signal ? [one.init.signal] : [])]);
    signal.throwIfAborted();
    signal.addEventListener('abort', () => {
      one.abortedAt = time.elapsed();
    });
    const upload = request.body === null ? undefined : read(request).then((bytes) => (one.body = bytes));
    // An answer may come first, and then nobody asks how the upload ended.
    upload?.catch(() => {});
    const detailed: Detailed =
      typeof answer === 'number' ? { status: answer } : answer === 'reset' ? { reset: true } : (answer as Detailed);
    const work = async (): Promise<Response> => {
      if (answer === 'hang') return new Promise<never>(() => {});
      if (detailed.afterMs !== undefined) await time.after(detailed.afterMs);
      if (!detailed.early) await upload;
      signal.throwIfAborted();
      if (detailed.reset) throw new TypeError(`connection of attempt ${attempt} lost`);
      const { status = 200, headers = {}, body = `answer ${attempt}` } = detailed;
      const content = request.method === 'HEAD' || status === 204 || status === 304 ? null : body;
      one.response = prepare(new Response(typeof content === 'function' ? content() : content, { status, headers }));
      return one.response;
    };
    return Promise.race([work(), aborted(signal)]);
  }
}

const read = async (request: Request): Promise<Uint8Array> => new Uint8Array(await request.arrayBuffer());

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));

/** A body whose end, if it has one, a test can wait for. */
export interface WatchedBody {
  readonly open: () => ReadableStream<Uint8Array>;
  /** How many of the streams that were opened have been cancelled. */
  cancelled(): number;
  opened(): number;
  /** Bytes that were asked for. */
  pulled(): number;
}

/** `chunks` one by one, and then nothing, for ever, unless `ends`. */
export function watchedBody(
  chunks: readonly string[],
  { ends = false, onCancel = () => {} }: { ends?: boolean; onCancel?: () => void } = {},
): WatchedBody {
  let opened = 0;
  let cancelled = 0;
  let pulled = 0;
  return {
    opened: () => opened,
    cancelled: () => cancelled,
    pulled: () => pulled,
    open() {
      opened += 1;
      const left = [...chunks];
      return new ReadableStream<Uint8Array>(
        {
          pull(controller) {
            const chunk = left.shift();
            if (chunk !== undefined) {
              pulled += chunk.length;
              controller.enqueue(new TextEncoder().encode(chunk));
            } else if (ends) controller.close();
          },
          cancel() {
            cancelled += 1;
            onCancel();
          },
        },
        { highWaterMark: 0 },
      );
    },
  };
}

import type { Outcome, Verdict } from '../policy/outcome.js';
import type { Ports } from './ports.js';

/** What the user's own function sees of an attempt. */
export type Classified =
  | {
      readonly kind: 'response';
      /** 0 for answers that a script may not read. */
      readonly status: number;
      readonly headers: Headers;
      /** A copy, if `classifyBody` asks for it and the answer says that it is at most 64 KiB. */
      readonly body?: string;
    }
  | { readonly kind: 'network-error'; readonly error: unknown }
  | { readonly kind: 'timeout'; readonly afterMs: number };

/**
 * Decides about an attempt before the rules do; `undefined` leaves it to them. `attempt` is 1-based. It must not be
 * async. It cannot make a request repeatable that is not.
 */
export type Classify = (outcome: Classified, attempt: number) => Verdict | undefined;

/** Asks the user's function, whatever it does. */
export type Classifier = (
  outcome: Outcome,
  attempt: number,
  landed: { readonly response?: Response; readonly error?: unknown },
) => Promise<Verdict | undefined>;

export const MAX_CLASSIFIED_BYTES = 65_536;
/** A body that is said to be small and does not come is not waited for. */
const BODY_MS = 1_000;

export function createClassifier(
  classify: Classify,
  withBody: boolean,
  ports: Ports,
  onProblem: (problem: unknown) => void,
): Classifier {
  const see = async (outcome: Outcome, { response, error }: Parameters<Classifier>[2]): Promise<Classified> => {
    if (outcome.kind === 'timeout') return { kind: 'timeout', afterMs: outcome.afterMs };
    if (response === undefined) return { kind: 'network-error', error };
    const { status, headers } = response;
    const body = withBody ? await copyOf(response, ports) : undefined;
    return { kind: 'response', status, headers, ...(body === undefined ? {} : { body }) };
  };

  return async (outcome, attempt, landed) => {
    try {
      const verdict: unknown = classify(await see(outcome, landed), attempt);
      // Nobody waits for it, and nobody is to hear of it either.
      if (verdict instanceof Promise) verdict.catch(() => {});
      if (verdict === undefined || verdict === 'retry' || verdict === 'deliver') return verdict;
      onProblem(`it returned neither 'retry' nor 'deliver' nor undefined, but ${String(verdict)}`);
    } catch (problem) {
      // The answer is not lost because of it.
      onProblem(problem);
    }
    return undefined;
  };
}

/** The body as text, if it is said to be small, is, and comes at once. */
async function copyOf(response: Response, ports: Ports): Promise<string | undefined> {
  // Absent is not a number.
  const said = Number(response.headers.get('Content-Length') ?? Number.NaN);
  if (response.body === null || !(said <= MAX_CLASSIFIED_BYTES)) return undefined;
  const copy = response.clone();
  const limit = ports.sleep(BODY_MS);
  try {
    return await Promise.race([textOf(copy).catch(() => undefined), limit.done.then(() => undefined)]);
  } finally {
    limit.cancel();
  }

  async function textOf({ body }: Response): Promise<string | undefined> {
    const reader = (body as ReadableStream<Uint8Array>).getReader();
    void limit.done.then(() => reader.cancel().catch(() => {}));
    const decoder = new TextDecoder();
    let text = '';
    // What is compressed may be larger than it said.
    for (let bytes = 0; bytes <= MAX_CLASSIFIED_BYTES; ) {
      const { done, value } = await reader.read();
      if (done) return text + decoder.decode();
      bytes += value.byteLength;
      text += decoder.decode(value, { stream: true });
    }
    reader.cancel().catch(() => {});
    return undefined;
  }
}

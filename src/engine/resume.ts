import { mayResume, type ResumePlan, resumePlan } from '../policy/resume.js';
import type { Call, Engine } from './call.js';
import { headOf, rebuilt } from './rebuilt.js';
import { type Asker, createAsker, type Serve } from './rest.js';

/**
 * The same answer, with a body that goes on where its connection breaks off, if it may and can; else the answer itself.
 * What cannot be continued byte for byte breaks off in the end, as it would have done without us.
 */
export function resumable(response: Response, call: Call, engine: Engine, serve: Serve): Response {
  const { facts, policy, streams = true, raced = false } = call;
  // What has won the browser's own race is with the page, and nobody would read ours.
  if (!mayResume(facts, policy) || !streams || raced) return response;
  const { body } = response;
  if (body === null || response.bodyUsed) return response;
  // Another server's bytes may be others.
  if (policy.mirrors.length > 0 && new URL(response.url).origin !== facts.origin) return response;
  const plan = resumePlan(headOf(response));
  if (plan === undefined) return response;
  return rebuilt(response, continued(body, plan, createAsker(call, engine, serve)));
}

/** Reads only when it is asked to: whoever does not read on keeps a connection waiting, and fills no memory. */
function continued(body: ReadableStream<Uint8Array>, plan: ResumePlan, asker: Asker): ReadableStream<Uint8Array> {
  let reader = body.getReader();
  let received = 0;
  let { total } = plan;
  /** Where the connection that is read has to end. Of an answer whose encoding may be hidden only the network knows. */
  let end = plan.cors ? undefined : total;

  /** The next bytes, from however many connections; `undefined` after the last. */
  async function next(): Promise<Uint8Array | undefined> {
    for (;;) {
      const read = await reader.read().catch((cut: unknown) => ({ cut }));
      if ('value' in read && read.value) return counted(read.value);
      const ended = !('cut' in read);
      if (received === total || (ended && end === undefined)) return undefined;
      const cut = ended ? new TypeError(`the body ended after ${received} bytes`) : read.cut;
      // More than was declared: it was encoded, and what we have are no bytes that a range counts.
      if (total !== undefined && received > total) throw cut;
      const rest = await asker.ask(received, total === undefined ? plan : { ...plan, total }, cut);
      if (rest === undefined) return undefined;
      reader = rest.body.getReader();
      total = rest.total;
      end = rest.last + 1;
    }
  }

  function counted(chunk: Uint8Array): Uint8Array {
    received += chunk.byteLength;
    if (end === undefined || received <= end) return chunk;
    reader.cancel().catch(() => {});
    throw new TypeError(`the body goes on after byte ${end - 1}, which was to be its last`);
  }

  return new ReadableStream<Uint8Array>(
    {
      async pull(to) {
        try {
          const chunk = await next();
          if (chunk) return to.enqueue(chunk);
          asker.end(true);
          to.close();
        } catch (error) {
          asker.end(false);
          throw error;
        }
      },
      cancel(reason) {
        asker.end(false);
        // One that has broken off has nothing to cancel.
        return reader.cancel(reason).catch(() => {});
      },
    },
    { highWaterMark: 0 },
  );
}

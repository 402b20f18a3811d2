import { type PageMessage, parseWorkerMessage, toMessage, type WorkerMessage } from '../protocol/index.js';

/** How long the worker may take to answer; it may have to be started first. */
const ANSWER_MS = 2_000;

/** Asks a worker; `undefined` if it does not answer in time or is not ours. Never rejects. */
export function ask<Kind extends WorkerMessage['kind']>(
  worker: ServiceWorker,
  question: PageMessage,
  kind: Kind,
  answerMs = ANSWER_MS,
): Promise<Extract<WorkerMessage, { kind: Kind }> | undefined> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    const end = (answer?: Extract<WorkerMessage, { kind: Kind }>) => {
      clearTimeout(timer);
      port1.close();
      resolve(answer);
    };
    const timer = setTimeout(end, answerMs);
    port1.onmessage = ({ data }) => {
      const answer = parseWorkerMessage(data);
      end(typeof answer === 'object' && answer.kind === kind ? (answer as never) : undefined);
    };
    try {
      worker.postMessage(toMessage(question), [port2]);
    } catch {
      end();
    }
  });
}

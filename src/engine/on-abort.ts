/** Calls `then` once with the signal's reason, at once if there is one. Returns a function that ends it. */
export function onAbort(signal: AbortSignal | undefined, then: (reason: unknown) => void): () => void {
  if (signal === undefined) return () => {};
  const tell = () => then(signal.reason);
  if (signal.aborted) tell();
  else signal.addEventListener('abort', tell, { once: true });
  return () => signal.removeEventListener('abort', tell);
}

/** Waits for `work`, or rejects with the signal's reason as soon as there is one. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  let unlink = () => {};
  const aborted = new Promise<never>((_, reject) => {
    unlink = onAbort(signal, reject);
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    unlink();
  }
}

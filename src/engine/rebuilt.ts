import type { Head } from '../policy/resume.js';

/**
 * The same answer with a body of ours. What only the network can give it is put back for whoever gets this very object;
 * it is lost where the answer is copied, and on the way from a worker to its page.
 */
export function rebuilt(response: Response, body: ReadableStream<Uint8Array>): Response {
  const { status, statusText, headers, url, redirected, type } = response;
  const own = (value: unknown): PropertyDescriptor => ({ value, enumerable: true, configurable: true });
  return Object.defineProperties(new Response(body, { status, statusText, headers }), {
    url: own(url),
    redirected: own(redirected),
    type: own(type),
  });
}

export const headOf = ({ status, type, headers }: Response): Head => ({
  status,
  cors: type === 'cors',
  header: (name) => headers.get(name),
});

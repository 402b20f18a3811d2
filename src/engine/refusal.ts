/** What a program can tell a refusal of ours by. */
export const CIRCUIT_OPEN = 'urn:steadfetch:circuit-open';

/** The answer to a request that is not sent because its circuit is open: a problem (RFC 9457) with a `Retry-After`. */
export function refuse(origin: string, waitMs: number): Response {
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000));
  const problem = {
    type: CIRCUIT_OPEN,
    title: 'Circuit open',
    status: 503,
    detail: `${origin} kept failing, so this request was not sent. Ask again in ${seconds} s.`,
  };
  const headers = { 'Content-Type': 'application/problem+json', 'Retry-After': String(seconds) };
  return new Response(JSON.stringify(problem), { status: 503, statusText: 'Service Unavailable', headers });
}

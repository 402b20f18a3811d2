import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';

/** Lets any page read the answer, with or without credentials; `cors=0` in the query lets none, `expose=1` shows two headers more. */
export function corsHeaders(req: IncomingMessage, query: URLSearchParams): OutgoingHttpHeaders {
  if (query.get('cors') === '0') return {};
  const { origin } = req.headers;
  return {
    // With credentials `*` is refused, and the server cannot see whether a cookieless request has that mode.
    ...(origin === undefined
      ? { 'access-control-allow-origin': '*' }
      : {
          'access-control-allow-origin': origin,
          'access-control-allow-credentials': 'true',
          vary: 'Origin',
        }),
    ...(query.get('expose') === '1' && { 'access-control-expose-headers': 'Retry-After, Date' }),
  };
}

export function isPreflight(req: IncomingMessage): boolean {
  return req.method === 'OPTIONS' && req.headers['access-control-request-method'] !== undefined;
}

export function preflightHeaders(req: IncomingMessage, query: URLSearchParams): OutgoingHttpHeaders {
  const cors = corsHeaders(req, query);
  const headers = req.headers['access-control-request-headers'];
  return {
    ...cors,
    ...('access-control-allow-origin' in cors && {
      'access-control-allow-methods': req.headers['access-control-request-method'],
      ...(headers !== undefined && { 'access-control-allow-headers': headers }),
    }),
    // The request itself would otherwise go out on this socket, and browsers send again on a reused one.
    connection: 'close',
  };
}

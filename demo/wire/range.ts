import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { Step } from './step.ts';

/** What a server that has byte ranges makes of a request for the rest of `length` bytes. */
export function rangeOf(
  { headers: { range, 'if-range': ifRange } }: IncomingMessage,
  length: number,
  { headers = {} }: Step,
): { readonly status: number; readonly headers: OutgoingHttpHeaders; readonly from: number } {
  const accepts = { 'accept-ranges': 'bytes' };
  const from = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1]);
  const [, etag] = Object.entries(headers).find(([name]) => name.toLowerCase() === 'etag') ?? [];
  if (Number.isNaN(from) || (ifRange !== undefined && ifRange !== etag))
    return { status: 200, headers: accepts, from: 0 };
  if (from >= length)
    return { status: 416, headers: { ...accepts, 'content-range': `bytes */${length}` }, from: length };
  return { status: 206, headers: { ...accepts, 'content-range': `bytes ${from}-${length - 1}/${length}` }, from };
}

import type { Step } from '../../demo/misbehaving-server.ts';
import type { Random } from '../../src/sim/random.ts';
import type { Issue } from './plan.ts';

/** Everything that a server of the run does wrong. Times are to those of `chaos.sw.ts` as real ones are to the defaults. */
export interface Fault {
  readonly name: string;
  /** Whose requests may meet it; all unless given. */
  readonly fits?: (issue: Pick<Issue, 'kind' | 'route' | 'method'>) => boolean;
  /** Does a body end too early by it? Where that can be mended it is tried more often. */
  readonly cuts?: boolean;
  readonly make: (good: Step, issue: Pick<Issue, 'id' | 'origin'>, random: Random) => Step;
}

/** No server of the run takes longer than this over anything but a body that is not read. */
export const LONGEST_STALL_MS = 1_500;
/** What is held open for so long, or for ever, is for the layer to close. */
const FOR_EVER_MS = 3_600_000;

/** An error is of the type of what it is instead of: a frame's is a page. */
const status =
  (code: number, more: Step = {}): Fault['make'] =>
  ({ headers }) => {
    const type = headers?.['Content-Type'];
    return { status: code, ...more, ...(type && { headers: { 'Content-Type': type, ...more.headers } }) };
  };
const between = (from: number, to: number, random: Random): number => from + Math.floor(random() * (to - from));

// A document that breaks off is shown as far as it has come: that is the browser's own affair.
const isWhole = ({ kind }: Pick<Issue, 'kind'>): boolean => kind !== 'frame' && kind !== 'cancel';
/** What a script may leave when it has had enough; a subresource would load for ever. */
const isScripts = ({ kind }: Pick<Issue, 'kind'>): boolean => !['image', 'script', 'style', 'frame'].includes(kind);
const isRead = ({ kind, method }: Pick<Issue, 'kind' | 'method'>): boolean =>
  method === 'GET' && ['fetch', 'xhr', 'stream', 'bridge'].includes(kind);

export const FAULTS: readonly Fault[] = [
  { name: '503', make: status(503) },
  { name: '503 Retry-After 0', make: status(503, { retryAfter: 0 }) },
  { name: '503 Retry-After 1', make: status(503, { retryAfter: 1 }) },
  { name: '503 Retry-After 2 min', fits: notKept, make: status(503, { retryAfter: 120 }) },
  { name: '503 Retry-After malformed', make: status(503, { retryAfter: 'soon' }) },
  { name: '429', make: status(429) },
  { name: '429 Retry-After date', make: status(429, { retryAfter: { imf: 1_000 } }) },
  { name: '429 Retry-After 1 h', fits: notKept, make: status(429, { retryAfter: 3_600 }) },
  { name: '429 Retry-After twice', make: status(429, { headers: { 'Retry-After': ['1', '2'] } }) },
  { name: '500', make: status(500) },
  { name: '502', make: status(502) },
  { name: '504 slow', make: (_good, _issue, random) => ({ status: 504, delayMs: between(50, 900, random) }) },
  { name: '408', make: status(408) },
  { name: '425', make: status(425) },
  { name: '404', make: status(404) },
  { name: '501', make: status(501) },
  { name: '503 that may be cached', make: status(503, { headers: { 'Cache-Control': 'max-age=60' } }) },
  { name: '503 large', make: status(503, { bytes: 2_000_000 }) },
  { name: '503 without end', fits: isScripts, make: status(503, { endless: true }) },
  { name: '503 stalled', fits: isScripts, make: status(503, { stall: 'body', stallMs: FOR_EVER_MS, bytes: 1_000 }) },
  { name: '503 reset in the body', make: status(503, { reset: 'body', bytes: 1_000 }) },
  { name: '503 with the wrong length', make: status(503, { contentLength: 5_000 }) },
  { name: 'headers too large', make: () => ({ headers: { 'X-Flood': 'x'.repeat(300_000) } }) },
  { name: 'reset before the headers', make: () => ({ reset: 'headers' }) },
  {
    name: 'reset after a while',
    make: (_good, _issue, random) => ({ reset: 'headers', delayMs: between(50, 900, random) }),
  },
  {
    name: 'stalled before the headers',
    make: (_good, _issue, random) => ({ stall: 'headers', stallMs: between(200, LONGEST_STALL_MS, random) }),
  },
  { name: 'slow', make: (good, _issue, random) => ({ ...good, delayMs: between(50, LONGEST_STALL_MS, random) }) },
  { name: 'reset in the body', fits: isWhole, cuts: true, make: (good) => ({ ...good, reset: 'body' }) },
  { name: 'truncated', fits: isWhole, cuts: true, make: (good) => ({ ...good, truncate: true }) },
  {
    name: 'chunks cut short',
    fits: isWhole,
    cuts: true,
    make: (good) => ({ ...good, truncate: true, headers: { ...good.headers, 'Transfer-Encoding': 'chunked' } }),
  },
  {
    name: 'stalled in the body',
    fits: isWhole,
    cuts: true,
    make: (good, _issue, random) => ({ ...good, stall: 'body', stallMs: between(100, LONGEST_STALL_MS, random) }),
  },
  { name: 'length too large', fits: isWhole, cuts: true, make: (good) => ({ ...good, contentLength: 1_000_000 }) },
  { name: 'length too small', fits: isRead, make: (good) => ({ ...good, contentLength: 2, ranges: false }) },
  {
    name: 'encoding that is none',
    fits: isRead,
    make: (good) => ({ ...good, headers: { ...good.headers, 'Content-Encoding': 'gzip' } }),
  },
  {
    name: 'redirected',
    fits: ({ kind, method }) => method === 'GET' && (kind === 'fetch' || kind === 'xhr'),
    make: (_good, { id }) => ({ redirect: `/wire/${id}-on` }),
  },
];

/** Of an outbox nobody sends before its server's time: it would be waited for at the end of the run. */
function notKept({ route }: Pick<Issue, 'route'>): boolean {
  return !route.startsWith('box');
}

/** What the server answers in the end. */
export function goodStep({ id, kind, route }: Pick<Issue, 'id' | 'kind' | 'route'>, random: Random): Step {
  const width = Number(id.slice(1));
  const type = (name: string): Readonly<Record<string, string>> => ({ 'Content-Type': name });
  if (kind === 'cancel') return { endless: true };
  switch (kind) {
    case 'image':
      return {
        headers: type('image/svg+xml'),
        body: `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="1"/>`,
      };
    case 'script':
      return { headers: type('text/javascript'), body: `chaos.ran('${id}');` };
    case 'style':
      return { headers: type('text/css'), body: `:root { --${id}: ${width}; }` };
    case 'frame':
      return { headers: type('text/html'), body: `<!doctype html><p>${id}</p>` };
    case 'stream':
    case 'abort':
      return {
        bytes: between(20_000, 250_000, random),
        ...(route === 'resume' ? { ranges: true, headers: { ETag: `"${id}"` } } : {}),
      };
    default:
      return { body: `${id}:${'y'.repeat(Math.floor(random() ** 3 * 20_000))}` };
  }
}

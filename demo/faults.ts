import type { Step } from './misbehaving-server.ts';

/** Something that goes wrong between a page and its server, in words and as the server's steps. */
export interface Fault {
  readonly id: string;
  readonly name: string;
  /** What to look for in the two lanes. */
  readonly expect: string;
  /** For the request with this index of a burst, from 0. */
  readonly steps: (index: number) => readonly Step[];
}

const always = (...steps: Step[]) => {
  return () => steps;
};

const FINE: Step = { body: 'fine' };

// A browser has six connections for an HTTP/1.1 host, and a hanging request keeps one: more would block the rest.
const MOST_HANGING = 2;

export const FAULTS: readonly [Fault, ...Fault[]] = [
  {
    id: 'twice-503',
    name: '503 twice, then fine',
    expect:
      'The browser hands the page a 503. steadfetch waits a little, asks again, and the page gets its 200. (Of ten, every other fails.)',
    // If all of them failed, that would be an outage, and the circuit would open.
    steps: (index) => (index % 2 === 0 ? [{ status: 503 }, { status: 503 }, FINE] : [FINE]),
  },
  {
    id: 'retry-after',
    name: '503 with Retry-After: 2',
    expect: 'The server says when to come back. steadfetch comes back then, never earlier.',
    steps: always({ status: 503, retryAfter: 2 }, FINE),
  },
  {
    id: 'http-date',
    name: '429 with an HTTP-date',
    expect:
      'Retry-After as a date, three seconds ahead. It is read by the server’s own clock, so a wrong one here is no harm.',
    steps: always({ status: 429, retryAfter: { imf: 3_000 } }, FINE),
  },
  {
    id: 'reset',
    name: 'Connection reset once',
    expect:
      'The connection dies without an answer. That is a network error for the page, and one more try for steadfetch. (Of ten, every other dies.)',
    steps: (index) => (index % 2 === 0 ? [{ reset: 'headers' }, FINE] : [FINE]),
  },
  {
    id: 'stall',
    name: 'The first attempt hangs',
    expect:
      'After 10 s without an answer, steadfetch starts a second attempt beside the first. Of ten requests, two hang.',
    steps: (index) => (index < MOST_HANGING ? [{ stall: 'headers', stallMs: 15_000 }, FINE] : [FINE]),
  },
  {
    id: 'always-503',
    name: 'Always 503',
    expect:
      'Nothing helps: after four attempts the page gets the last answer. Send 10, and the circuit spares the broken server: one request at a time finds out whether it is back, for 25 s at most.',
    steps: always({ status: 503 }),
  },
  {
    id: 'cut',
    name: 'Body cut in the middle',
    expect: 'A started answer is final: the page has begun to read it. So both lanes fail the same way.',
    steps: always({ truncate: true, bytes: 20_000 }),
  },
  {
    id: 'not-found',
    name: '404',
    expect: 'A 404 is an answer, not a failure of the server: it is not retried.',
    steps: always({ status: 404 }),
  },
  {
    id: 'slow',
    name: 'Slow but fine',
    expect: 'The answer takes 1.5 s. It is waited for, and nothing is sent twice.',
    steps: always({ ...FINE, delayMs: 1_500 }),
  },
];

import { describe, expect, test } from 'vitest';
import { duration, GIVE_UP_REASONS, inWords, OUTBOX_REASONS, reason } from '../../src/devtools/words.ts';
import type { LayerEvent } from '../../src/protocol/index.ts';
import { about, entry, notice } from '../support/events.ts';

const plain = (text: string) => text.replaceAll('\u00a0', ' ');

test.each([
  [-3, '0 ms'],
  [8.4, '8 ms'],
  [99.4, '99 ms'],
  [99.6, '0.10 s'],
  [420, '0.42 s'],
  [9_949, '9.95 s'],
  [15_000, '15.0 s'],
  [99_949, '99.9 s'],
  [120_000, '2 min'],
  [200_000, '3 min 20 s'],
  [5_999_000, '99 min 59 s'],
  [6_000_000, '1 h 40 min'],
  [86_400_000, '24 h'],
])('%d ms is %s', (ms, words) => expect(plain(duration(ms))).toBe(words));

test.each<[LayerEvent, string]>([
  [
    { type: 'retry-scheduled', ...about, attempt: 1, delayMs: 420, cause: 'status', status: 503, by: 'backoff' },
    'Got 503 on attempt 1; again in 0.42 s (backoff).',
  ],
  [
    { type: 'retry-scheduled', ...about, attempt: 2, delayMs: 3_000, cause: 'status', status: 429, by: 'retry-after' },
    'Got 429 on attempt 2; again in 3.00 s (as its Retry-After asks).',
  ],
  [
    {
      type: 'retry-scheduled',
      ...about,
      attempt: 1,
      delayMs: 0,
      cause: 'network-error',
      by: 'rate-limit',
      mirror: 'https://b.test',
    },
    'Lost its connection on attempt 1; again at b.test in 0 ms (as its RateLimit hints).',
  ],
  [
    { type: 'retry-scheduled', ...about, attempt: 1, delayMs: 50, cause: 'timeout', by: 'backoff' },
    'Has no answer yet on attempt 1; the next starts beside it in 50 ms.',
  ],
  [{ type: 'waiting', ...about, cause: 'offline' }, 'Waits, because the device is offline.'],
  [{ type: 'waiting', ...about, cause: 'circuit' }, 'Waits, until the server shows that it is back.'],
  [{ type: 'released', ...about, cause: 'hold' }, 'Goes on, as the pause is over.'],
  [{ type: 'hedge-launched', ...about, attempt: 2 }, 'Takes long, so attempt 2 was sent beside it.'],
  [{ type: 'recovered', ...about, attempts: 3, status: 200 }, 'Recovered with 200 on attempt 3, after 1.00 s.'],
  [
    { type: 'gave-up', ...about, attempts: 4, lastStatus: 503, reason: 'attempts' },
    'Gave up after 4 attempts, because all attempts are used; the page gets the last answer, 503.',
  ],
  [
    { type: 'gave-up', ...about, attempts: 1, reason: 'deadline' },
    'Gave up after one attempt, because there is no time left for another attempt; the page gets the network’s error.',
  ],
  [
    { type: 'budget-exhausted', ...notice },
    'The retry budget for data from app.test is empty: failures go straight to the page until it has refilled.',
  ],
  [
    { type: 'hold-started', ...notice, until: notice.at + 3_000 },
    'The server asks for 3.00 s: requests for data from app.test wait in every tab.',
  ],
  [
    { type: 'hold-started', ...notice, until: notice.at + 500, path: '/a' },
    'The server asks for 0.50 s: requests for /a wait in every tab.',
  ],
  [{ type: 'hold-ended', ...notice }, 'Requests for data from app.test go on.'],
  [
    { type: 'circuit-changed', ...notice, from: 'open', to: 'half-open' },
    'The circuit for data from app.test is half-open: one request tries.',
  ],
  [{ type: 'queued', ...entry }, 'Cannot be delivered now; it is kept, and will be.'],
  [{ type: 'queue-sent', ...entry, status: 201, sends: 2 }, 'Was kept, and is delivered now (201).'],
  [{ type: 'queue-failed', ...entry, reason: 'expired', sends: 0 }, 'Is not sent any more, because its time is over.'],
])('%j in words', (event, words) => expect(plain(reason(event))).toBe(words));

describe('a sentence', () => {
  test('is about a method and a path, or whom it is told', () => {
    const event: LayerEvent = { type: 'waiting', ...about, cause: 'hold' };
    expect(inWords(event)).toBe('GET /a waits, because the server has asked for a pause.');
    expect(inWords(event, 'Request 3')).toBe('Request 3 waits, because the server has asked for a pause.');
    expect(inWords({ type: 'hold-ended', ...notice }, 'Request 3')).toBe('Requests for data from app.test go on.');
  });

  test('there is one for types and values that are not known here', () => {
    const moved = { type: 'moved-on', ...about, offset: 1_024, parts: [1] } as unknown as LayerEvent;
    expect(reason(moved)).toBe('Moved on (offset 1024, parts [1]).');
    expect(reason({ type: 'put-aside', ...about } as unknown as LayerEvent)).toBe('Put aside.');
    const odd = { type: 'gave-up', ...about, attempts: 1, reason: 'tired' } as unknown as LayerEvent;
    expect(reason(odd)).toContain('because tired;');
    expect(inWords({ type: 'waiting', ...about, cause: 'moon', url: 'odd' } as unknown as LayerEvent)).toBe(
      'GET odd waits, moon.',
    );
    expect(reason({ type: 'origin-moved', ...notice } as unknown as LayerEvent)).toBe('Origin moved.');
    expect(reason({ type: 'queue-moved', ...entry } as unknown as LayerEvent)).toBe('Queue moved.');
  });

  test('no two reasons are told in the same words', () => {
    const all = [...Object.values(GIVE_UP_REASONS), ...Object.values(OUTBOX_REASONS)];
    expect(new Set(all).size).toBe(all.length);
  });
});

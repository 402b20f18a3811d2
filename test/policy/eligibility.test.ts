import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { groupOf, IDEMPOTENT_METHODS, isSafe, type RequestFacts, skipReason } from '../../src/policy/eligibility.ts';
import { DEFAULTS, NAVIGATION_DEFAULTS, type RetryPolicy } from '../../src/policy/policy.ts';
import { requestFacts } from '../support/request-facts.ts';

const withPolicy = (over: Partial<RetryPolicy>): RetryPolicy => ({ ...DEFAULTS, ...over });

describe('left alone', () => {
  test.each<{ name: string; request: Partial<RequestFacts>; policy?: RetryPolicy | false; reason: string }>([
    { name: 'a file', request: { protocol: 'file:' }, reason: 'protocol' },
    { name: 'data', request: { protocol: 'data:' }, reason: 'protocol' },
    { name: 'a blob', request: { protocol: 'blob:' }, reason: 'protocol' },
    { name: 'an extension', request: { protocol: 'chrome-extension:' }, reason: 'protocol' },
    { name: 'a protocol that starts like one', request: { protocol: 'httpx:' }, reason: 'protocol' },
    { name: 'retry: false', request: {}, policy: false, reason: 'retry-off' },
    { name: 'one attempt', request: {}, policy: withPolicy({ attempts: 1 }), reason: 'retry-off' },
    { name: 'POST without a key', request: { method: 'POST' }, reason: 'method' },
    { name: 'only-if-cached', request: { cache: 'only-if-cached', mode: 'same-origin' }, reason: 'only-if-cached' },
    { name: 'an event stream', request: { eventStream: true }, reason: 'event-stream' },
    { name: 'a range of a video', request: { range: true, destination: 'video' }, reason: 'media-range' },
    { name: 'a range of an audio', request: { range: true, destination: 'audio' }, reason: 'media-range' },
    { name: 'an embed', request: { destination: 'embed' }, reason: 'destination' },
    { name: 'an object', request: { destination: 'object' }, reason: 'destination' },
    { name: 'a report', request: { destination: 'report' }, reason: 'destination' },
    {
      name: 'a navigation into an object',
      request: { destination: 'object', navigation: true },
      reason: 'destination',
    },
  ])('$name: $reason', ({ request, policy = DEFAULTS, reason }) => {
    expect(skipReason(requestFacts(request), policy)).toBe(reason);
  });
});

describe('taken', () => {
  test.each<{ name: string; request: Partial<RequestFacts>; policy?: RetryPolicy }>([
    { name: 'a fetch of a page', request: {} },
    { name: 'over http', request: { protocol: 'http:' } },
    { name: 'of another origin', request: { sameOrigin: false, origin: 'https://api.test' } },
    {
      name: 'a navigation',
      request: { navigation: true, mode: 'navigate', destination: 'document' },
      policy: NAVIGATION_DEFAULTS,
    },
    { name: 'an image without cors', request: { mode: 'no-cors', destination: 'image' } },
    { name: 'two attempts', request: {}, policy: withPolicy({ attempts: 2 }) },
    { name: 'a video as a whole', request: { destination: 'video' } },
    { name: 'a range that a script asks for', request: { range: true } },
    {
      name: 'a range of a video, where a route asks for it',
      request: { range: true, destination: 'video' },
      policy: withPolicy({ mediaRanges: true }),
    },
    { name: 'a script with integrity', request: { choosy: true, destination: 'script' } },
    ...['default', 'no-store', 'reload', 'no-cache', 'force-cache'].map((cache) => ({
      name: `cache mode ${cache}`,
      request: { cache },
    })),
    ...['', 'script', 'style', 'font', 'image', 'manifest', 'worker', 'sharedworker', 'iframe', 'json', 'track'].map(
      (destination) => ({ name: `destination '${destination}'`, request: { destination } }),
    ),
  ])('$name', ({ request, policy = DEFAULTS }) => {
    expect(skipReason(requestFacts(request), policy)).toBeUndefined();
  });
});

describe('methods and keys', () => {
  const idempotent = ['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'QUERY', 'TRACE'];
  const others = ['POST', 'PATCH', 'PURGE', 'patch', 'CONNECT', 'get'];
  test.each([
    ...idempotent.map((method) => ({ method, plain: true, keyed: true, wished: true })),
    ...others.map((method) => ({ method, plain: false, keyed: true, wished: true })),
  ])('row 21 and row 50: $method: without a key $plain, with a key $keyed, with retryNonIdempotent $wished', (row) => {
    const taken = (keyed: boolean, retryNonIdempotent: boolean) =>
      skipReason(requestFacts({ method: row.method, keyed }), withPolicy({ retryNonIdempotent })) === undefined;
    expect(taken(false, false)).toBe(row.plain);
    expect(taken(true, false)).toBe(row.keyed);
    expect(taken(false, true)).toBe(row.wished);
    expect(taken(true, true)).toBe(true);
  });

  test.each([
    { method: 'GET', keyed: false, retryNonIdempotent: false, reason: undefined },
    { method: 'PUT', keyed: false, retryNonIdempotent: false, reason: 'method' },
    // A list without PUT means it, whatever makes other methods safe to repeat.
    { method: 'PUT', keyed: true, retryNonIdempotent: false, reason: 'method' },
    { method: 'PUT', keyed: false, retryNonIdempotent: true, reason: 'method' },
    { method: 'POST', keyed: false, retryNonIdempotent: false, reason: 'method' },
    { method: 'POST', keyed: true, retryNonIdempotent: false, reason: undefined },
    { method: 'POST', keyed: false, retryNonIdempotent: true, reason: undefined },
  ])('methods: GET only; $method, key $keyed, retryNonIdempotent $retryNonIdempotent: $reason', (row) => {
    const policy = withPolicy({ methods: ['GET'], retryNonIdempotent: row.retryNonIdempotent });
    expect(skipReason(requestFacts({ method: row.method, keyed: row.keyed }), policy)).toBe(row.reason);
  });

  test('a custom method of the list needs no key', () => {
    const policy = withPolicy({ methods: [...DEFAULTS.methods, 'PROPFIND'] });
    expect(skipReason(requestFacts({ method: 'PROPFIND' }), policy)).toBeUndefined();
  });

  test('the idempotent methods, and which of them are safe', () => {
    expect([...IDEMPOTENT_METHODS].sort()).toEqual([...idempotent].sort());
    expect([...idempotent, ...others].filter(isSafe)).toEqual(['GET', 'HEAD', 'OPTIONS', 'QUERY', 'TRACE']);
  });
});

test.each<{ request: Partial<RequestFacts>; group: string }>([
  { request: { navigation: true, mode: 'navigate', destination: 'document' }, group: 'page' },
  { request: { navigation: true, mode: 'navigate', destination: 'iframe' }, group: 'page' },
  { request: {}, group: 'data' },
  { request: { method: 'POST' }, group: 'data' },
  { request: { destination: 'image', mode: 'no-cors' }, group: 'asset' },
  { request: { destination: 'script' }, group: 'asset' },
  { request: { destination: 'style' }, group: 'asset' },
  { request: { destination: 'font' }, group: 'asset' },
  { request: { destination: 'worker' }, group: 'asset' },
])('$request belongs to the group $group', ({ request, group }) => {
  expect(groupOf(requestFacts(request))).toBe(group);
});

test('property: a request is taken exactly when nothing speaks against it', () => {
  const request = fc.record({
    method: fc.constantFrom('GET', 'PUT', 'POST', 'PURGE'),
    protocol: fc.constantFrom('https:', 'https:', 'http:', 'blob:'),
    cache: fc.constantFrom('default', 'default', 'reload', 'only-if-cached'),
    destination: fc.constantFrom('', '', 'image', 'video', 'audio', 'embed', 'object', 'report'),
    keyed: fc.boolean(),
    eventStream: fc.constantFrom(false, false, true),
    range: fc.boolean(),
  });
  const policy = fc.record({
    attempts: fc.integer({ min: 1, max: 4 }),
    retryNonIdempotent: fc.boolean(),
    mediaRanges: fc.boolean(),
  });
  fc.assert(
    fc.property(request, policy, (over, { attempts, retryNonIdempotent, mediaRanges }) => {
      const against = {
        protocol: over.protocol === 'blob:',
        'retry-off': attempts === 1,
        method: (over.method === 'POST' || over.method === 'PURGE') && !over.keyed && !retryNonIdempotent,
        'only-if-cached': over.cache === 'only-if-cached',
        'event-stream': over.eventStream,
        'media-range': over.range && (over.destination === 'video' || over.destination === 'audio') && !mediaRanges,
        destination: ['embed', 'object', 'report'].includes(over.destination),
      };
      const reason = skipReason(requestFacts(over), withPolicy({ attempts, retryNonIdempotent, mediaRanges }));
      if (Object.values(against).includes(true)) {
        expect(reason === undefined ? false : against[reason]).toBe(true);
      } else {
        expect(reason).toBeUndefined();
      }
    }),
    { numRuns: 2_000 },
  );
});

test.each<{ name: string; request?: Partial<RequestFacts>; policy: Partial<RetryPolicy>; taken: boolean }>([
  { name: 'that may be refused', policy: { circuit: 'reject' }, taken: true },
  { name: 'that has a mirror', policy: { mirrors: ['https://b.test'] }, taken: true },
  { name: 'that has none', policy: { mirrors: [] }, taken: false },
  {
    name: 'that no mirror may answer',
    request: { method: 'PUT' },
    policy: { mirrors: ['https://b.test'] },
    taken: false,
  },
])('one attempt of a request $name: taken $taken', ({ request, policy, taken }) => {
  const reason = skipReason(requestFacts(request), withPolicy({ attempts: 1, ...policy }));
  expect(reason).toBe(taken ? undefined : 'retry-off');
});

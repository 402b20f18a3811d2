import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RequestFacts } from '../../src/policy/eligibility.ts';
import { cacheBypass, mayCutOff, mayRace, mayRebuild, takesOriginal } from '../../src/policy/replay.ts';
import { requestFacts } from '../support/request-facts.ts';

describe('which object an attempt fetches', () => {
  test.each([
    { name: 'without a body', hasBody: false, attempts: 4, originals: [1] },
    { name: 'with a body', hasBody: true, attempts: 4, originals: [4] },
    { name: 'with a body, two attempts', hasBody: true, attempts: 2, originals: [2] },
    { name: 'without a body, two attempts', hasBody: false, attempts: 2, originals: [1] },
    { name: 'with a body, one attempt', hasBody: true, attempts: 1, originals: [1] },
  ])('$name: the original is attempt $originals of $attempts', ({ hasBody, attempts, originals }) => {
    const request = requestFacts({ method: hasBody ? 'PUT' : 'GET', hasBody });
    const numbers = Array.from({ length: attempts }, (_, index) => index + 1);
    expect(
      numbers.filter((attempt) => takesOriginal(request, { first: attempt === 1, last: attempt === attempts })),
    ).toEqual(originals);
  });

  test('property: exactly one attempt takes the original, and with a body none comes after it', () => {
    fc.assert(
      fc.property(fc.boolean(), fc.integer({ min: 1, max: 50 }), (hasBody, attempts) => {
        const request = requestFacts({ hasBody });
        const numbers = Array.from({ length: attempts }, (_, index) => index + 1);
        const originals = numbers.filter((attempt) =>
          takesOriginal(request, { first: attempt === 1, last: attempt === attempts }),
        );
        expect(originals).toEqual([hasBody ? attempts : 1]);
      }),
    );
  });
});

describe('how an attempt gets past the cache of the browser', () => {
  const navigation = { navigation: true, mode: 'navigate', destination: 'document' };
  /** After nothing; with another attempt in flight; after a discarded answer that carried freshness; both. */
  type Bypasses = [idle: string, inFlight: string, discardedFresh: string, both: string];
  const never: Bypasses = ['not-needed', 'not-needed', 'not-needed', 'not-needed'];
  const reload: Bypasses = ['not-needed', 'reload', 'reload', 'reload'];
  const impossible: Bypasses = ['not-needed', 'not-needed', 'impossible', 'impossible'];
  test.each<{ name: string; request: Partial<RequestFacts>; bypasses: Bypasses }>([
    { name: 'GET', request: {}, bypasses: reload },
    { name: 'HEAD', request: { method: 'HEAD' }, bypasses: reload },
    { name: 'an image without cors', request: { mode: 'no-cors', destination: 'image' }, bypasses: reload },
    { name: 'a range with cors', request: { range: true }, bypasses: reload },
    { name: 'a range without cors', request: { mode: 'no-cors', range: true }, bypasses: impossible },
    { name: 'a navigation', request: navigation, bypasses: impossible },
    { name: 'a navigation that reloads', request: { ...navigation, cache: 'reload' }, bypasses: never },
    { name: 'a navigation back', request: { ...navigation, cache: 'force-cache' }, bypasses: impossible },
    { name: 'an image of a foreign style sheet', request: { sameReferrer: false }, bypasses: impossible },
    { name: 'no-store', request: { cache: 'no-store' }, bypasses: never },
    { name: 'reload', request: { cache: 'reload' }, bypasses: never },
    { name: 'no-cache', request: { cache: 'no-cache' }, bypasses: never },
    { name: 'force-cache', request: { cache: 'force-cache' }, bypasses: impossible },
    { name: 'PUT', request: { method: 'PUT', hasBody: true }, bypasses: never },
    { name: 'DELETE', request: { method: 'DELETE' }, bypasses: never },
    { name: 'POST', request: { method: 'POST', hasBody: true, keyed: true }, bypasses: never },
    { name: 'OPTIONS', request: { method: 'OPTIONS' }, bypasses: never },
    { name: 'QUERY', request: { method: 'QUERY', hasBody: true }, bypasses: never },
  ])('$name: $bypasses', ({ request, bypasses }) => {
    const bypass = (inFlight: boolean, discardedFresh: boolean) =>
      cacheBypass(requestFacts(request), { inFlight, discardedFresh });
    expect([bypass(false, false), bypass(true, false), bypass(false, true), bypass(true, true)]).toEqual(bypasses);
  });
});

test.each<{ name: string; request: Partial<RequestFacts>; races: boolean }>([
  { name: 'GET', request: {}, races: true },
  { name: 'HEAD', request: { method: 'HEAD' }, races: true },
  { name: 'OPTIONS', request: { method: 'OPTIONS' }, races: true },
  { name: 'an image', request: { mode: 'no-cors', destination: 'image' }, races: true },
  { name: 'GET, no-store', request: { cache: 'no-store' }, races: true },
  { name: 'GET, reload', request: { cache: 'reload' }, races: true },
  { name: 'GET, no-cache', request: { cache: 'no-cache' }, races: false },
  { name: 'GET, force-cache', request: { cache: 'force-cache' }, races: false },
  { name: 'OPTIONS, no-cache', request: { method: 'OPTIONS', cache: 'no-cache' }, races: true },
  { name: 'a range without cors', request: { mode: 'no-cors', range: true }, races: false },
  { name: 'an image of a foreign style sheet', request: { sameReferrer: false }, races: false },
  { name: 'a long poll', request: { polling: true }, races: false },
  { name: 'a navigation', request: { navigation: true, mode: 'navigate' }, races: false },
  { name: 'PUT', request: { method: 'PUT' }, races: false },
  { name: 'DELETE', request: { method: 'DELETE' }, races: false },
  { name: 'POST with a key', request: { method: 'POST', keyed: true }, races: false },
  { name: 'PATCH with a key', request: { method: 'PATCH', keyed: true, hasBody: true }, races: false },
  { name: 'QUERY with a body', request: { method: 'QUERY', hasBody: true }, races: false },
])('a second attempt of $name may start while the first is in flight: $races', ({ request, races }) => {
  expect(mayRace(requestFacts(request))).toBe(races);
});

test.each<{ name: string; facts: Partial<RequestFacts>; rebuild: boolean; cutOff: boolean }>([
  { name: 'a script’s GET', facts: {}, rebuild: true, cutOff: true },
  { name: 'a write', facts: { method: 'PUT', hasBody: true }, rebuild: true, cutOff: true },
  { name: 'a poll', facts: { polling: true }, rebuild: true, cutOff: false },
  { name: 'a navigation', facts: { navigation: true, mode: 'navigate' }, rebuild: false, cutOff: false },
  { name: 'a range with CORS', facts: { range: true }, rebuild: true, cutOff: true },
  { name: 'a range without', facts: { range: true, mode: 'no-cors' }, rebuild: false, cutOff: false },
  { name: 'an image without CORS', facts: { mode: 'no-cors' }, rebuild: true, cutOff: true },
  { name: 'another referrer', facts: { sameReferrer: false }, rebuild: false, cutOff: false },
])('$name may be rebuilt: $rebuild, and cut off: $cutOff', ({ facts, rebuild, cutOff }) => {
  expect(mayRebuild(requestFacts(facts))).toBe(rebuild);
  expect(mayCutOff(requestFacts(facts))).toBe(cutOff);
});

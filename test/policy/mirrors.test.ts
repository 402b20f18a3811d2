import { describe, expect, test } from 'vitest';
import { mayMirror } from '../../src/policy/eligibility.ts';
import { attemptsOver, isForMirrors, rotates } from '../../src/policy/mirrors.ts';
import { DEFAULTS } from '../../src/policy/policy.ts';
import { requestFacts } from '../support/request-facts.ts';

test.each([
  { attempts: 4, servers: 1, most: 4 },
  { attempts: 4, servers: 5, most: 5 },
  { attempts: 1, servers: 2, most: 2 },
  { attempts: 4, servers: 30, most: 10 },
  { attempts: 12, servers: 30, most: 12 },
])('row 48: $attempts attempts over $servers servers are $most', ({ attempts, servers, most }) => {
  expect(attemptsOver({ ...DEFAULTS, attempts }, servers)).toBe(most);
});

describe('which requests', () => {
  test.each([
    { facts: {}, may: true },
    { facts: { method: 'HEAD' }, may: true },
    { facts: { destination: 'image', mode: 'no-cors' }, may: true },
    { facts: { method: 'POST' }, may: false },
    { facts: { mode: 'same-origin' }, may: false },
    { facts: { mode: 'navigate' }, may: false },
    ...['worker', 'sharedworker', 'serviceworker', 'document', 'iframe', 'frame'].map((destination) => ({
      facts: { destination },
      may: false,
    })),
  ])('$facts: $may', ({ facts, may }) => {
    expect(mayMirror(requestFacts(facts))).toBe(may);
  });
});

describe('when the next is asked', () => {
  const chosen = { ...DEFAULTS, mirrorStatuses: [502, 418] };
  test.each([
    { outcome: { kind: 'network-error' }, policy: chosen, next: true },
    { outcome: { kind: 'timeout', afterMs: 1 }, policy: chosen, next: true },
    { outcome: { kind: 'response', status: 502 }, policy: chosen, next: true },
    { outcome: { kind: 'response', status: 503 }, policy: chosen, next: false },
    { outcome: { kind: 'response', status: 503 }, policy: DEFAULTS, next: true },
    { outcome: { kind: 'response', status: 418 }, policy: DEFAULTS, next: false },
  ] as const)('$outcome: $next', ({ outcome, policy, next }) => {
    expect(rotates(outcome, policy)).toBe(next);
  });
});

test.each([
  { name: 'authorization', shown: false },
  { name: 'x-auth', shown: false },
  { name: 'cookie', shown: false },
  { name: 'idempotency-key', shown: false },
  { name: 'x-idempotency-key', shown: false },
  { name: 'X-API-Key', shown: false },
  { name: 'x-csrf-token', shown: false },
  { name: 'x-xsrf', shown: false },
  { name: 'x-amz-security-token', shown: false },
  { name: 'accept', shown: true },
  { name: 'range', shown: true },
  { name: 'Accept-Language', shown: true },
  { name: 'content-language', shown: true },
  { name: 'Content-Type', shown: true },
  { name: '', shown: false },
  { name: 'x-version', shown: false },
  { name: 'dpop', shown: false },
])('a mirror sees $name: $shown', ({ name, shown }) => {
  expect(isForMirrors(name)).toBe(shown);
});

test.each([
  { verdict: 'retry', next: true },
  { verdict: 'deliver', next: false },
] as const)('where the user says $verdict of an answer that is not listed: $next', ({ verdict, next }) => {
  expect(rotates({ kind: 'response', status: 200, verdict }, DEFAULTS)).toBe(next);
});

test.each([
  { facts: { mode: 'no-cors', choosy: true }, may: false },
  { facts: { mode: 'no-cors', range: true }, may: false },
  { facts: { mode: 'cors', choosy: true, range: true }, may: true },
])('without CORS neither integrity nor a range: $facts: $may', ({ facts, may }) => {
  expect(mayMirror(requestFacts(facts))).toBe(may);
});

import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Step } from '../../demo/misbehaving-server.ts';
import type { OutboxItem } from '../../src/page/index.ts';
import type { Came, Evidence, Memory, ServerHit } from './evidence.ts';
import { type Invariant, judge, mostMs } from './invariants.ts';
import type { Issue } from './plan.ts';

const AT = 1_000_000;
const SITE = { first: 'http://first', second: 'http://second' };

const issue = (over: Partial<Issue> = {}): Issue => ({
  id: 'r1',
  kind: 'fetch',
  route: 'plain',
  shard: 0,
  method: 'GET',
  origin: 'first',
  keepalive: false,
  tab: 0,
  faults: [],
  steps: [{}],
  ...over,
});

const hit = (step: Step = { body: 'fine' }, over: Partial<ServerHit> = {}): ServerHit => ({
  id: 'r1',
  at: AT + 10,
  method: 'GET',
  step,
  body: 'same',
  ...over,
});

const answer = (text: string, over: Partial<Came & { kind: 'answer' }> = {}): Came => ({
  kind: 'answer',
  status: 200,
  type: 'text/plain',
  url: 'http://first/wire/r1?plain&0',
  bytes: text.length,
  sha256: createHash('sha256').update(text).digest('hex'),
  ...over,
});

const kept = (over: Partial<OutboxItem> = {}): OutboxItem => ({
  id: 'e1',
  outbox: 'free',
  method: 'POST',
  url: 'http://first/wire/r1',
  bytes: 0,
  state: 'sent',
  queuedAt: AT,
  expiresAt: AT,
  sends: 1,
  notBefore: AT,
  ...over,
});

interface Story extends Partial<Omit<Evidence, 'plan' | 'memory'>> {
  readonly of?: Partial<Issue>;
  readonly came?: Came;
  readonly tookMs?: number;
  readonly memory?: Partial<Memory>;
}

/** A run of one request, in which all is well but for what is given. */
function evidence({ of, came = answer('fine'), tookMs = 50, memory, ...over }: Story = {}): Evidence {
  return {
    plan: { seed: 1, guards: 'roomy', actions: [{ do: 'issue', issue: issue(of) }] },
    site: SITE,
    issuedAt: new Map([['r1', AT]]),
    endedAt: AT + 60_000,
    reports: [{ id: 'r1', startedAt: AT, endedAt: AT + tookMs, came }],
    hits: [hit()],
    kills: [],
    flips: [],
    closes: [],
    outbox: [],
    complaints: [],
    stillOpen: [],
    openSockets: 0,
    memory: {
      heapBytes: { before: 1_000, after: 1_000 },
      left: { answers: 0, fetches: 0, timers: 0, parked: 0, records: 0 },
      uploadsReplayed: 7,
      ...memory,
    },
    ...over,
  };
}

const broken = (story: Story): string[] =>
  [...judge(evidence(story))].flatMap(([name, problems]) => (problems.length > 0 ? [name] : []));

const promised: Came = answer('{}', { status: 202, kept: 'e1' });
const box = { route: 'box', method: 'POST', key: 'k' } as const;
const times = (count: number, step: Step = { status: 503 }, over: Partial<ServerHit> = {}) =>
  Array.from({ length: count }, () => hit(step, over));
const error: Came = { kind: 'error', error: 'TypeError: Failed to fetch' };
const cut: Step = { body: 'fine', truncate: true };

const well: readonly (Story & { named: string })[] = [
  { named: 'a good answer' },
  { named: 'an error', came: error, hits: times(4, { reset: 'headers' }) },
  {
    named: 'a body that was cut, and an error for it',
    came: { kind: 'broken', status: 200, bytes: 2 },
    hits: [hit(cut)],
  },
  { named: 'a page that was closed', reports: [], closes: [{ tab: 0, at: AT + 20 }] },
  { named: 'a frame whose worker was stopped', of: { kind: 'frame' }, reports: [], kills: [AT + 5] },
  {
    named: 'a frame whose document broke off',
    of: { kind: 'frame' },
    reports: [],
    hits: [hit({ reset: 'headers' }), hit({ status: 503, reset: 'body' })],
  },
  ...[{ stall: 'body' } as const, { contentLength: 5_000 }].map((step) => ({
    named: `a frame whose document never came whole: ${JSON.stringify(step)}`,
    of: { kind: 'frame' } as const,
    reports: [],
    hits: [hit(step)],
  })),
  { named: 'a request that was begun anew by the next worker', hits: times(8), came: error, kills: [AT + 5] },
  { named: 'an attempt more for a network that went', hits: times(5), came: error, flips: [{ from: AT, to: AT + 9 }] },
  {
    named: 'a promise that was kept',
    of: box,
    came: promised,
    outbox: [kept()],
    hits: [hit({ status: 201 }, { key: 'k' })],
  },
  {
    named: 'a promise that was told as failed',
    of: box,
    came: promised,
    outbox: [kept({ state: 'failed', reason: 'refused' })],
    hits: [],
  },
  {
    named: 'a kept POST whose server had not begun with it',
    of: { route: 'box', method: 'POST' },
    came: promised,
    outbox: [kept()],
    hits: [hit({ status: 503 }), hit({ status: 201 })],
  },
  {
    named: 'POST twice, by the browser itself',
    of: { method: 'POST' },
    hits: [hit({ reset: 'headers' }), hit({ status: 404 })],
    came: error,
  },
  { named: 'the answer to HEAD', of: { method: 'HEAD' }, came: answer(''), hits: [hit()] },
  {
    named: 'a redirect',
    hits: [hit({ redirect: '/wire/r1-on' }), hit({ body: 'there' }, { id: 'r1-on' })],
    came: answer('there', { url: 'http://first/wire/r1-on' }),
  },
  { named: 'a resumed body', of: { route: 'resume' }, hits: [hit(cut), hit()] },
  {
    named: 'a refusal by an open circuit',
    of: { route: 'reject' },
    hits: [],
    came: answer('{}', { status: 503, type: 'application/problem+json' }),
  },
  { named: 'an image', of: { kind: 'image' }, came: { kind: 'loaded', proof: 'r1' } },
  {
    named: "a frame with its server's error",
    of: { kind: 'frame' },
    hits: [hit({ status: 404 })],
    came: { kind: 'loaded', proof: 'status 404' },
  },
];

const ill: readonly (Story & { named: string; breaks: Invariant })[] = [
  { named: 'a request without an end', breaks: 'no lost request', reports: [], endedAt: AT + 10 },
  {
    named: 'a frame without an end after one that broke off',
    breaks: 'no lost request',
    of: { kind: 'frame' },
    reports: [],
    endedAt: AT + 10,
    hits: [hit({ status: 503, reset: 'body' }), hit({ reset: 'headers' })],
  },
  {
    named: 'a request without an end after an answer that broke off',
    breaks: 'no lost request',
    reports: [],
    endedAt: AT + 10,
    hits: [hit({ reset: 'body' })],
  },
  { named: 'a promise that is forgotten', breaks: 'no lost request', of: box, came: promised, hits: [] },
  {
    named: 'a promise that still waits',
    breaks: 'no lost request',
    of: box,
    came: promised,
    outbox: [kept({ state: 'waiting' })],
    hits: [],
  },
  {
    named: 'a delivery that no server has seen',
    breaks: 'no lost request',
    of: box,
    came: promised,
    outbox: [kept()],
    hits: [hit({ status: 404 }, { key: 'k' })],
  },
  { named: 'POST twice', breaks: 'no unexplained duplicate', of: { method: 'POST' }, hits: times(2, {}), came: error },
  {
    named: 'POST twice, of which the worker knew nothing when it was stopped',
    breaks: 'no unexplained duplicate',
    of: { method: 'POST' },
    hits: times(2, {}),
    kills: [AT + 5],
    came: error,
  },
  { named: 'five attempts', breaks: 'no unexplained duplicate', hits: times(5), came: error },
  {
    named: 'retries on a route without any',
    breaks: 'no unexplained duplicate',
    of: { route: 'left' },
    hits: times(2),
    came: error,
  },
  {
    named: 'another key',
    breaks: 'no unexplained duplicate',
    of: { ...box, route: 'plain' },
    hits: times(1, {}, { key: 'l' }),
    came: error,
  },
  {
    named: 'two added keys',
    breaks: 'no unexplained duplicate',
    of: { route: 'box-adds-key', method: 'POST' },
    hits: [hit({}, { key: 'a' }), hit({}, { key: 'b' })],
    came: error,
  },
  { named: 'a long wait', breaks: 'no endless wait', tookMs: mostMs(1) + 1 },
  { named: 'something left to nobody', breaks: 'no unhandled rejection', complaints: ['x'] },
  { named: 'a connection that nobody reads', breaks: 'no leaked connection', stillOpen: ['r1'] },
  { named: 'many sockets', breaks: 'no leaked connection', openSockets: 13 },
  { named: 'a heap that grows', breaks: 'memory back to base', memory: { heapBytes: { before: 1_000, after: 1_501 } } },
  {
    named: 'a request that never ends in the worker',
    breaks: 'memory back to base',
    memory: { left: { answers: 1, fetches: 0, timers: 0, parked: 0, records: 0 } },
  },
  { named: 'bodies that are still kept', breaks: 'memory back to base', memory: { uploadsReplayed: 6 } },
  { named: 'a short body', breaks: 'byte-exact answers', came: answer('fin') },
  { named: 'a body that was cut and seems whole', breaks: 'byte-exact answers', hits: [hit(cut)] },
  { named: 'another status', breaks: 'byte-exact answers', came: answer('fine', { status: 203 }) },
  { named: 'another URL', breaks: 'byte-exact answers', came: answer('fine', { url: 'http://first/wire/r2' }) },
  {
    named: 'other bytes at the server',
    breaks: 'byte-exact answers',
    hits: [hit({ body: 'fine' }, { body: 'other' })],
  },
  {
    named: "another one's script",
    breaks: 'byte-exact answers',
    of: { kind: 'script' },
    came: { kind: 'loaded', proof: 'nothing' },
  },
];

describe('breaks no invariant', () => {
  test.each(well)('$named', (story) => expect(broken(story)).toEqual([]));
});

describe('breaks one', () => {
  test.each(ill)('$named: $breaks', ({ breaks, ...story }) => expect(broken(story)).toEqual([breaks]));
});

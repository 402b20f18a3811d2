import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RequestFacts } from '../../src/policy/eligibility.ts';
import { DEFAULTS } from '../../src/policy/policy.ts';
import { checkPartial, type Head, mayResume, type ResumePlan, resumePlan } from '../../src/policy/resume.ts';
import { imf } from '../support/http-dates.ts';
import { requestFacts } from '../support/request-facts.ts';

type Headers = Readonly<Record<string, string | undefined>>;

const head = (status: number, headers: Headers, cors = false): Head => ({
  status,
  cors,
  header: (name) => headers[name] ?? null,
});

const NOW = Date.UTC(2026, 6, 5, 12);
const RANGES = { 'Accept-Ranges': 'bytes', 'Content-Length': '10', ETag: '"v1"' };
const PLAN: ResumePlan = { validator: { name: 'ETag', value: '"v1"' }, cors: false, total: 10 };

describe('whose rest may be asked for', () => {
  const resuming = { ...DEFAULTS, resume: true };
  test.each<{ over: Partial<RequestFacts>; may: boolean }>([
    { over: {}, may: true },
    { over: { mode: 'same-origin' }, may: true },
    { over: { sameOrigin: false }, may: true },
    { over: { method: 'HEAD' }, may: false },
    { over: { method: 'POST', keyed: true }, may: false },
    { over: { mode: 'no-cors', destination: 'image' }, may: false },
    { over: { mode: 'navigate', navigation: true }, may: false },
    { over: { navigation: true }, may: false },
    { over: { range: true }, may: false },
    { over: { choosy: true }, may: false },
    { over: { sameReferrer: false }, may: false },
  ])('$over: $may', ({ over, may }) => {
    expect(mayResume(requestFacts(over), resuming)).toBe(may);
  });

  test('nobody’s, unless the policy says so', () => {
    expect(mayResume(requestFacts(), DEFAULTS)).toBe(false);
  });
});

describe('what can be gone on with', () => {
  test.each<{ name: string; status?: number; headers: Headers; cors?: boolean; plan: ResumePlan | undefined }>([
    { name: 'a strong entity tag', headers: RANGES, plan: PLAN },
    {
      name: 'an empty one',
      headers: { ...RANGES, ETag: '""' },
      plan: { ...PLAN, validator: { name: 'ETag', value: '""' } },
    },
    { name: 'another origin', headers: RANGES, cors: true, plan: { ...PLAN, cors: true } },
    {
      name: 'no change for a minute before it was sent',
      headers: { ...RANGES, ETag: undefined, 'Last-Modified': imf(NOW - 60_000), Date: imf(NOW) },
      plan: { ...PLAN, validator: { name: 'Last-Modified', value: imf(NOW - 60_000) } },
    },
    {
      name: 'no declared length',
      headers: { ...RANGES, 'Content-Length': undefined },
      plan: { validator: PLAN.validator, cors: false },
    },
    { name: 'said to be as it is', headers: { ...RANGES, 'Content-Encoding': ' Identity ' }, plan: PLAN },
    { name: 'several units', headers: { ...RANGES, 'Accept-Ranges': 'pages, Bytes' }, plan: PLAN },
    { name: 'B134 an encoding', headers: { ...RANGES, 'Content-Encoding': 'gzip' }, plan: undefined },
    { name: 'several encodings', headers: { ...RANGES, 'Content-Encoding': 'identity, br' }, plan: undefined },
    { name: 'a partial answer', status: 206, headers: RANGES, plan: undefined },
    { name: 'an error', status: 404, headers: RANGES, plan: undefined },
    { name: 'no ranges', headers: { ...RANGES, 'Accept-Ranges': 'none' }, plan: undefined },
    { name: 'nothing about ranges', headers: { ...RANGES, 'Accept-Ranges': undefined }, plan: undefined },
    { name: 'undici-120 undici-121 a weak entity tag', headers: { ...RANGES, ETag: 'W/"v1"' }, plan: undefined },
    {
      name: 'a weak one beside a date',
      headers: { ...RANGES, ETag: 'W/"v1"', 'Last-Modified': imf(0), Date: imf(NOW) },
      plan: undefined,
    },
    { name: 'a tag without quotes', headers: { ...RANGES, ETag: 'v1' }, plan: undefined },
    { name: 'two tags', headers: { ...RANGES, ETag: '"v1", "v2"' }, plan: undefined },
    { name: 'a tag in a tag', headers: { ...RANGES, ETag: '"v"1"' }, plan: undefined },
    { name: 'undici-122 undici-123 no validator', headers: { ...RANGES, ETag: undefined }, plan: undefined },
    {
      name: 'a change that was too recent',
      headers: { ...RANGES, ETag: undefined, 'Last-Modified': imf(NOW - 59_000), Date: imf(NOW) },
      plan: undefined,
    },
    {
      name: 'a change, and no date',
      headers: { ...RANGES, ETag: undefined, 'Last-Modified': imf(0) },
      plan: undefined,
    },
    {
      name: 'a date that is none',
      headers: { ...RANGES, ETag: undefined, 'Last-Modified': 'yesterday', Date: imf(NOW) },
      plan: undefined,
    },
    { name: 'a length that is none', headers: { ...RANGES, 'Content-Length': '1e3' }, plan: undefined },
    {
      name: 'no length, and an encoding that may be hidden',
      headers: { ...RANGES, 'Content-Length': undefined },
      cors: true,
      plan: undefined,
    },
  ])('$name', ({ status = 200, headers, cors = false, plan }) => {
    expect(resumePlan(head(status, headers, cors))).toEqual(plan);
  });
});

describe('what fits', () => {
  const rest = (headers: Headers, status = 206) => head(status, { ETag: '"v1"', ...headers });
  const of4 = { 'Content-Range': 'bytes 4-9/10' };

  test.each<{ name: string; answer: Head; plan?: ResumePlan; is: object }>([
    {
      name: 'B138 the rest, whose last position is one of its own',
      answer: rest(of4),
      is: { kind: 'part', last: 9, total: 10 },
    },
    {
      name: 'with its own length',
      answer: rest({ ...of4, 'Content-Length': '6' }),
      is: { kind: 'part', last: 9, total: 10 },
    },
    {
      name: 'without the validator',
      answer: rest({ ...of4, ETag: undefined }),
      is: { kind: 'part', last: 9, total: 10 },
    },
    {
      name: 'some of the rest',
      answer: rest({ 'Content-Range': 'bytes 4-5/10' }),
      is: { kind: 'part', last: 5, total: 10 },
    },
    {
      name: 'B136 undici-118 a whole of unknown length',
      answer: rest({ 'Content-Range': 'bytes 4-9/*' }),
      is: { kind: 'part', last: 9, total: 10 },
    },
    {
      name: 'the length, where none was declared',
      answer: rest(of4),
      plan: { validator: PLAN.validator, cors: false },
      is: { kind: 'part', last: 9, total: 10 },
    },
    {
      name: 'no length at all',
      answer: rest({ 'Content-Range': 'bytes 4-9/*' }),
      plan: { validator: PLAN.validator, cors: false },
      is: { kind: 'part', last: 9 },
    },
    {
      name: 'of another origin, with the validator',
      answer: rest(of4),
      plan: { ...PLAN, cors: true },
      is: { kind: 'part', last: 9, total: 10 },
    },
  ])('$name', ({ answer, plan = PLAN, is }) => {
    expect(checkPartial(answer, 4, plan)).toEqual(is);
  });

  test.each<{ name: string; answer: Head; plan?: ResumePlan; why: RegExp }>([
    { name: 'undici-122 the whole', answer: head(200, RANGES), why: /a whole one/ },
    { name: 'an error', answer: head(404, {}), why: /status 404/ },
    { name: 'a 503', answer: head(503, of4), why: /status 503/ },
    { name: 'an encoding', answer: rest({ ...of4, 'Content-Encoding': 'gzip' }), why: /encoded/ },
    {
      name: 'B139 several parts',
      answer: rest({ 'Content-Type': 'multipart/byteranges; boundary=x' }),
      why: /several parts/,
    },
    {
      name: 'several parts that say they are one',
      answer: rest({ ...of4, 'Content-Type': 'Multipart/ByteRanges' }),
      why: /several parts/,
    },
    { name: 'no range', answer: rest({}), why: /which part/ },
    { name: 'an unsatisfied range', answer: rest({ 'Content-Range': 'bytes */10' }), why: /which part/ },
    {
      name: 'B135 an earlier beginning',
      answer: rest({ 'Content-Range': 'bytes 2-9/10' }),
      why: /begins at byte 2 instead of 4/,
    },
    { name: 'a later beginning', answer: rest({ 'Content-Range': 'bytes 5-9/10' }), why: /begins at byte 5/ },
    {
      name: 'another length of the whole',
      answer: rest({ 'Content-Range': 'bytes 4-9/11' }),
      why: /of 11 bytes instead of 10/,
    },
    { name: 'an end past the end', answer: rest({ 'Content-Range': 'bytes 4-10/*' }), why: /past the end/ },
    { name: 'undici-115 another entity tag', answer: rest({ ...of4, ETag: '"v2"' }), why: /another ETag/ },
    { name: 'the same, but weak', answer: rest({ ...of4, ETag: 'W/"v1"' }), why: /another ETag/ },
    {
      name: 'undici-123 another length than its range',
      answer: rest({ ...of4, 'Content-Length': '5' }),
      why: /another length than its range/,
    },
    {
      name: 'of another origin, nothing to know it by',
      answer: rest({ ...of4, ETag: undefined }),
      plan: { ...PLAN, cors: true },
      why: /another ETag/,
    },
    {
      name: 'of another origin, and unknown length',
      answer: rest({ 'Content-Range': 'bytes 4-9/*' }),
      plan: { ...PLAN, cors: true },
      why: /how long/,
    },
    { name: 'B143 a 416, more to come', answer: rest({ 'Content-Range': 'bytes */10' }, 416), why: /status 416/ },
    { name: 'a 416 that says nothing', answer: rest({}, 416), why: /status 416/ },
    { name: 'a 416 with a range', answer: rest(of4, 416), why: /status 416/ },
    {
      name: 'a 416 of something shorter than was declared',
      answer: rest({ 'Content-Range': 'bytes */4' }, 416),
      why: /status 416/,
    },
    {
      name: 'a 416 of something else',
      answer: rest({ 'Content-Range': 'bytes */4', ETag: '"v2"' }, 416),
      plan: { validator: PLAN.validator, cors: false },
      why: /status 416/,
    },
  ])('not: $name', ({ answer, plan = PLAN, why }) => {
    expect(checkPartial(answer, 4, plan)).toEqual({ kind: 'unfit', why: expect.stringMatching(why) });
  });

  test('a 416 of something longer, where no length was declared', () => {
    const answer = rest({ 'Content-Range': 'bytes */10' }, 416);
    const plan: ResumePlan = { validator: PLAN.validator, cors: false };
    expect(checkPartial(answer, 4, plan)).toEqual({ kind: 'unfit', why: 'has status 416' });
  });

  test('B144 a 416 where everything was there already', () => {
    const answer = rest({ 'Content-Range': 'bytes */10' }, 416);
    expect(checkPartial(answer, 10, { validator: PLAN.validator, cors: false })).toEqual({ kind: 'complete' });
    expect(checkPartial(answer, 10, PLAN)).toEqual({ kind: 'complete' });
  });

  test('the last byte', () => {
    const answer = rest({ 'Content-Range': 'bytes 9-9/10' });
    expect(checkPartial(answer, 9, PLAN)).toEqual({ kind: 'part', last: 9, total: 10 });
  });

  test('whatever an answer says: a part goes on where the last one ended, within the whole', () => {
    const texts = fc.oneof(
      fc.stringMatching(/^bytes \d{1,2}-\d{1,2}\/(?:\d{1,2}|\*)$/),
      fc.constantFrom('bytes */10', 'bytes 4-9/10', ''),
    );
    fc.assert(
      fc.property(fc.constantFrom(200, 206, 416, 503), texts, fc.nat({ max: 10 }), (status, range, from) => {
        const found = checkPartial(head(status, { ETag: '"v1"', 'Content-Range': range }), from, PLAN);
        if (found.kind === 'complete') expect([status, range, from]).toEqual([416, 'bytes */10', 10]);
        if (found.kind !== 'part') return;
        expect([status, new RegExp(`^bytes 0*${from}-`).test(range), found.total]).toEqual([206, true, 10]);
        expect(found.last).toBeGreaterThanOrEqual(from);
        expect(found.last).toBeLessThan(10);
      }),
    );
  });
});

import { describe, expect, test, vi } from 'vitest';
import type { Otherwise } from './otherwise.ts';
import { report } from './report.ts';
import { type Reading, readTable } from './row.ts';
import { judge } from './verdict.ts';

const rowOf = (row: object): object => ({ id: 'x-1', ...row });
const reading = (row: object): Reading | undefined => readTable(JSON.stringify(rowOf(row)))[0];

async function verdictOn(row: object, otherwise: Record<string, Otherwise> = {}) {
  const read = reading(row);
  if (read?.kind !== 'row') throw new Error(`no row: ${JSON.stringify(read)}`);
  return judge(read.row, otherwise);
}

const POLICY = { attempts: 3, statuses: [503], base_ms: 100, factor: 2, jitter: 'none' };
const BASE = { given: { method: 'GET', policy: POLICY }, when: [503, 503, 200] };

describe('a row passes only if all of it is so', () => {
  test.each<{ then: object; seen: string }>([
    { then: { attempts: 2 }, seen: 'attempts 2 expected, 3 seen' },
    { then: { attempts: [1, 2] }, seen: 'attempts [1,2] expected, 3 seen' },
    { then: { attempts: [4, null] }, seen: 'attempts [4,null] expected, 3 seen' },
    { then: { status: 503 }, seen: 'status 503 expected, 200 seen' },
    { then: { error: 'network' }, seen: 'error network expected, 200 seen' },
    { then: { error: 'any words' }, seen: 'error any words expected, 200 seen' },
    { then: { delays_ms: [100] }, seen: 'delays [100] expected, [100,200] seen' },
    { then: { delays_ms: [100, 201] }, seen: 'delays [100,201] expected, [100,200] seen' },
    { then: { delays_ms: [100, [201, null]] }, seen: 'delays [100,[201,null]] expected, [100,200] seen' },
    { then: { elapsed_ms: 299 }, seen: 'elapsed ms 299 expected, 300 seen' },
    { then: { hook_calls: 3 }, seen: 'retries told 3 expected, 2 seen' },
    { then: { body_each: 'text' }, seen: 'bodies text expected, [null,null,null] seen' },
  ])('$then', async ({ then, seen }) => {
    expect(await verdictOn({ ...BASE, then })).toEqual({ kind: 'failed', why: seen });
  });

  test('and then it does', async () => {
    const then = {
      attempts: [3, null],
      status: 200,
      error: null,
      delays_ms: [100, [200, 200]],
      elapsed_ms: 300,
      hook_calls: 2,
      note: 'n',
    };
    expect(await verdictOn({ ...BASE, then })).toEqual({ kind: 'passed' });
  });

  test('an attempt more than the network was told of is seen', async () => {
    const row = { ...BASE, when: [503], then: { attempts: 1, status: 503 } };
    expect(await verdictOn(row)).toMatchObject({ kind: 'failed' });
    expect(await verdictOn({ ...BASE, when: [503], then: { attempts: 3, status: 503 } })).toEqual({ kind: 'passed' });
  });
});

describe('every word of a policy', () => {
  const given = (policy: object, more: object = {}) => ({ method: 'GET', ...more, policy: { ...POLICY, ...policy } });
  const timed = (value: string, s = 503) => [{ s, h: { 'Retry-After': value } }, 200];
  test.each<{ name: string; row: object }>([
    { name: 'cap_ms', row: { given: given({ cap_ms: 150 }), then: { delays_ms: [100, 150] } } },
    { name: 'delays_ms', row: { given: given({ delays_ms: [7, 9] }), then: { delays_ms: [7, 9] } } },
    {
      name: 'full',
      row: {
        given: given({ jitter: 'full' }),
        then: {
          delays_ms: [
            [0, 100],
            [0, 200],
          ],
        },
      },
    },
    {
      name: 'equal',
      row: {
        given: given({ jitter: 'equal' }),
        then: {
          delays_ms: [
            [50, 100],
            [100, 200],
          ],
        },
      },
    },
    { name: 'xN', row: { given: given({ jitter: 'x1.5' }), then: { delays_ms: [150, 300] } } },
    {
      name: 'xA-B',
      row: {
        given: given({ jitter: 'x0.5-1' }),
        then: {
          delays_ms: [
            [50, 100],
            [100, 200],
          ],
        },
      },
    },
    {
      name: 'xA-B after the cap',
      row: {
        given: given({ jitter: 'x0.8-1.2', cap_ms: 100 }),
        then: {
          delays_ms: [
            [80, 120],
            [80, 120],
          ],
        },
      },
    },
    {
      name: 'add 0-B',
      row: {
        given: given({ jitter: 'add 0-50' }),
        then: {
          delays_ms: [
            [100, 150],
            [200, 250],
          ],
        },
      },
    },
    {
      name: 'add A-B',
      row: {
        given: given({ jitter: 'add 10-50' }),
        then: {
          delays_ms: [
            [110, 150],
            [210, 250],
          ],
        },
      },
    },
    {
      name: '+-N%',
      row: {
        given: given({ jitter: '+-10%' }),
        then: {
          delays_ms: [
            [90, 110],
            [180, 220],
          ],
        },
      },
    },
    {
      name: 'statuses in words',
      row: { given: given({ statuses: '5xx but 501, 0' }), when: [599, 501], then: { status: 501 } },
    },
    { name: 'methods', row: { given: given({ methods: ['PUT'] }), when: [503], then: { attempts: 1, status: 503 } } },
    { name: 'methods in small letters', row: { given: given({ methods: ['get'] }), then: { attempts: 3 } } },
    { name: 'POST', row: { given: given({}, { method: 'POST' }), when: [503], then: { attempts: 1 } } },
    {
      name: 'POST in the list',
      row: { given: given({ methods: ['POST'] }, { method: 'POST' }), then: { attempts: 3 } },
    },
    { name: 'any method', row: { given: given({ methods: 'any' }, { method: 'PATCH' }), then: { attempts: 3 } } },
    {
      name: 'a key',
      row: {
        given: given({}, { method: 'POST', headers: { 'X-Idempotency-Key': 'k' }, body: 'stream "b"' }),
        then: { attempts: 3, body_each: 'b' },
      },
    },
    { name: 'bytes', row: { given: given({}, { method: 'PUT', body: '5 bytes' }), then: { body_each: 'xxxxx' } } },
    {
      name: 'the same body',
      row: { given: given({}, { method: 'PUT', body: 'b' }), then: { attempts: 3, body_each: 'same' } },
    },
    {
      name: 'no Retry-After',
      row: { given: given({ retry_after: false }), when: timed('9'), then: { delays_ms: [100] } },
    },
    {
      name: 'ra_statuses',
      row: { given: given({ ra_statuses: [429] }), when: timed('9'), then: { delays_ms: [100] } },
    },
    {
      name: 'clamp',
      row: { given: given({ ra_max_ms: 50, ra_over: 'clamp' }), when: timed('9'), then: { delays_ms: [50] } },
    },
    {
      name: 'giveup',
      row: { given: given({ ra_max_ms: 50, ra_over: 'giveup' }), when: timed('9'), then: { attempts: 1, status: 503 } },
    },
    { name: 'no maximum', row: { given: given({}), when: timed('86400'), then: { delays_ms: [86_400_000] } } },
    { name: 'imf', row: { given: given({}), when: timed('imf(now+3s)'), then: { delays_ms: [3_000] } } },
    {
      name: 'asctime, somewhere else at another time',
      row: {
        given: given({}, { now: '1999-12-31T23:59:57Z', TZ: 'Pacific/Kiritimati' }),
        when: timed('asctime(now+2s)'),
        then: { delays_ms: [2_000] },
      },
    },
    {
      name: 'rfc850',
      row: { given: given({}), when: timed('rfc850(now+1d+1h-5m)'), then: { delays_ms: [89_700_000] } },
    },
    {
      name: 'a date after an answer that took its time',
      row: {
        given: given({}),
        when: [{ s: 503, ms: 2_000, h: { 'Retry-After': 'imf(now+3s)' } }, 200],
        then: { delays_ms: [3_000], elapsed_ms: 5_000 },
      },
    },
    { name: 'total_ms', row: { given: given({ total_ms: 150 }), then: { attempts: 2, status: 503 } } },
    {
      name: 'a timeout that nobody meets',
      row: { given: given({ timeout_ms: 50 }), when: [{ s: 503, ms: 49 }, 200], then: { delays_ms: [100] } },
    },
    {
      name: 'a lost connection',
      row: {
        given: given({}),
        when: [{ s: 'net', ms: 9 }, 'net', 'net'],
        then: { error: 'network', delays_ms: [100, 200] },
      },
    },
    {
      name: 'null for no limit',
      row: { given: given({ cap_ms: null, timeout_ms: null, total_ms: null, ra_max_ms: null }), then: { attempts: 3 } },
    },
  ])('$name', async ({ row }) => {
    expect(await verdictOn({ when: BASE.when, ...row })).toEqual({ kind: 'passed' });
  });

  test.each<{ name: string; policy: object; when: unknown[]; then: object }>([
    {
      name: 'an error at the deadline',
      policy: { total_ms: 50 },
      when: [{ s: 200, ms: 60 }],
      then: { attempts: 1, error: 'TimeoutError', elapsed_ms: 50 },
    },
    {
      name: 'an attempt that is overdue',
      policy: { timeout_ms: 50, delays_ms: [10] },
      when: [{ s: 200, ms: 90 }, 200],
      then: { attempts: 2, elapsed_ms: 60 },
    },
  ])('time limits: $name', async ({ policy, when, then }) => {
    expect(await verdictOn({ given: given(policy), when, then })).toEqual({ kind: 'passed' });
  });

  test.each<{ name: string; given: object; why: RegExp }>([
    { name: 'jitter in words', given: given({ jitter: 'a little' }), why: /jitter "a little"/ },
    { name: 'statuses in words', given: given({ statuses: 'bad ones' }), why: /statuses "bad ones"/ },
    { name: 'what our options refuse', given: given({ factor: 0.5 }), why: /factor must be a number from 1/ },
    { name: 'a method no page has', given: given({ methods: 'any' }, { method: 'TRACE' }), why: /no page can make/ },
    { name: 'a form', given: given({}, { method: 'PUT', body: 'FormData hello' }), why: /in words/ },
  ])('not applicable: $name', async ({ given, why }) => {
    const row = { ...BASE, given, then: { attempts: 3 } };
    expect(await verdictOn(row)).toEqual({ kind: 'not-applicable', why: expect.stringMatching(why) });
  });
});

describe('rows that ask for one number are played, too', () => {
  const policy = { base_ms: 100, factor: 2 };
  test.each<{ name: string; row: object }>([
    { name: 'a header', row: { given: {}, when: { header: '2' }, then: { wait_ms: 2_000 } } },
    { name: 'no header', row: { given: {}, when: { header: null }, then: { wait_ms: null } } },
    { name: 'a malformed one', row: { given: {}, when: { header: '-1' }, then: { wait_ms: null, note: 'n' } } },
    {
      name: 'a date, at its time',
      row: {
        given: { now: '1999-12-31T23:59:57Z' },
        when: { header: 'Fri, 31 Dec 1999 23:59:59 GMT' },
        then: { wait_ms: 2_000 },
      },
    },
    {
      name: 'a cap',
      row: { given: { ra_max_ms: 900, ra_over: 'clamp' }, when: { header: '2' }, then: { wait_ms: [900, 900] } },
    },
    { name: 'a retry', row: { given: { policy }, when: { retry_index: 3 }, then: { delay_ms: 800 } } },
    {
      name: 'several, in any order',
      row: { given: { policy }, when: { retry_index: [2, 0] }, then: { delay_ms: [400, [100, 100]] } },
    },
    {
      name: 'a retry by chance',
      row: {
        given: { policy: { ...policy, jitter: 'full' } },
        when: { retry_index: 0, random: 0.5 },
        then: { delay_ms: 50 },
      },
    },
    {
      name: 'a retry after a time that was named',
      row: { given: { policy }, when: { retry_index: 0, retry_after_ms: 3_000 }, then: { delay_ms: 3_000 } },
    },
    {
      name: 'statuses by method',
      row: {
        given: { method: 'POST', policy: { statuses_by_method: { GET: [500, 503], '*': [503] }, methods: 'any' } },
        when: [503, 500],
        then: { attempts: 2, status: 500 },
      },
    },
    {
      name: 'the answer',
      row: {
        given: { policy: POLICY },
        when: [503, { s: 503, body: 'b' }, { s: 503, body: 'c' }],
        then: { body: 'c', retryable: true },
      },
    },
  ])('$name', async ({ row }) => {
    expect(await verdictOn(row)).toEqual({ kind: 'passed' });
  });

  test.each<{ name: string; row: object; why: string }>([
    {
      name: 'a header',
      row: { given: {}, when: { header: '2' }, then: { wait_ms: 1 } },
      why: 'delays [1] expected, [2000] seen',
    },
    {
      name: 'a retry',
      row: { given: { policy }, when: { retry_index: 1 }, then: { delay_ms: 100 } },
      why: 'delays [[0,null],100] expected, [100,200] seen',
    },
    {
      name: 'the answer',
      row: { given: { policy: POLICY }, when: [{ s: 404, body: 'a' }], then: { body: 'b', retryable: true } },
      why: 'body b expected, a seen; retryable true expected, false seen',
    },
  ])('and fail: $name', async ({ row, why }) => {
    expect(await verdictOn(row)).toEqual({ kind: 'failed', why });
  });
});

const RULE: Otherwise = { why: 'a rule', then: { attempts: 3, status: 200, delays_ms: [100, 200] } };

describe('what is decided otherwise', () => {
  test('is shown with its reason, if it is so', async () => {
    expect(await verdictOn({ ...BASE, then: { attempts: 2 } }, { 'x-1': RULE })).toEqual({
      kind: 'not-applicable',
      why: 'decided otherwise: a rule (attempts 2 expected, 3 seen)',
    });
  });

  test('is a failure, if it is not', async () => {
    expect(await verdictOn({ ...BASE, then: { attempts: 3 } }, { 'x-1': RULE })).toEqual({
      kind: 'failed',
      why: 'passes, though it is listed as decided otherwise',
    });
  });

  test.each<{ name: string; then: object; seen: string }>([
    { name: 'attempts', then: { attempts: 4 }, seen: 'attempts 4 expected, 3 seen' },
    { name: 'status', then: { status: 503 }, seen: 'status 503 expected, 200 seen' },
    { name: 'waits', then: { delays_ms: [100, 201] }, seen: 'delays [100,201] expected, [100,200] seen' },
  ])('is a failure, if it is so in yet another way: $name', async ({ then, seen }) => {
    const rule = { ...RULE, then: { ...RULE.then, ...then } };
    expect(await verdictOn({ ...BASE, then: { attempts: 2 } }, { 'x-1': rule })).toEqual({
      kind: 'failed',
      why: `neither as it expects nor as it is decided here: ${seen}`,
    });
  });

  test('a matter of taste needs no rule', async () => {
    expect(await verdictOn({ ...BASE, optional: true, then: { attempts: 2 } })).toMatchObject({
      kind: 'not-applicable',
    });
    expect(await verdictOn({ ...BASE, optional: true, then: { attempts: 3 } })).toEqual({ kind: 'passed' });
  });
});

test.each<{ name: string; row: object }>([
  { name: 'no policy', row: { ...BASE, given: {}, then: { attempts: 1 } } },
  { name: 'a hook', row: { ...BASE, given: { ...BASE.given, hook: 'x' }, then: { attempts: 1 } } },
  { name: 'another option', row: { ...BASE, given: { policy: { ...POLICY, hedge: {} } }, then: { attempts: 1 } } },
  { name: 'a network in words', row: { ...BASE, when: ['503 for ever'], then: { attempts: 1 } } },
  { name: 'no list', row: { ...BASE, when: { header: '1' }, then: { attempts: 1 } } },
  { name: 'a header and more', row: { given: {}, when: { header: '1', age: 3 }, then: { wait_ms: 1 } } },
  { name: 'samples', row: { ...BASE, when: { retry_index: 1, samples: 9 }, then: { delay_ms: 1 } } },
  { name: 'fewer waits than retries', row: { ...BASE, when: { retry_index: [0, 1] }, then: { delay_ms: [1] } } },
  { name: 'more of an answer', row: { ...BASE, when: [{ s: 200, sends: 'abc' }], then: { attempts: 1 } } },
  { name: 'another expectation', row: { ...BASE, then: { attempts: 1, tokens: 3 } } },
  { name: 'an expectation in words', row: { ...BASE, then: { attempts: 'a few' } } },
  { name: 'nothing expected', row: { ...BASE, then: { note: 'n' } } },
])('for a person: $name', ({ row }) => {
  expect(reading(row)).toMatchObject({ kind: 'for-a-person', id: 'x-1' });
});

test('the report has a line for all that did not pass, and the sums last', async () => {
  const lines: string[] = [];
  const table = [
    JSON.stringify({ id: 'a', ...BASE, then: { attempts: 3 } }),
    JSON.stringify({ id: 'b', name: 'wrong', ...BASE, then: { attempts: 2 } }),
    JSON.stringify({ id: 'c', ...BASE, then: { attempts: 2 } }),
    JSON.stringify({ id: 'd', given: {}, when: 'construct', then: { throws: true } }),
    '',
    '{ "id": ',
    '7',
  ].join('\n');
  expect(await report(table, (line) => lines.push(line), { otherwise: { c: RULE } })).toBe(false);
  expect(lines).toEqual([
    '– c: decided otherwise: a rule (attempts 2 expected, 3 seen)',
    '✗ b (wrong): attempts 2 expected, 3 seen',
    expect.stringMatching(/^✗ line 6 is no JSON/),
    '✗ line 7 is no object',
    '? 1 are in words, for a person: docs/cases.md says of each which test shows it, or why none does',
    '6 rows: 1 passed, 3 failed, 1 not applicable (reasons above), 1 for a person',
  ]);
  expect(await report('', () => {})).toBe(false);
});

test('a table of somebody else: what a person has to run is said, and nothing is decided beforehand', async () => {
  const lines: string[] = [];
  const table = [
    '{"id":"ky-023","given":{},"when":"in words","then":{}}',
    '{"id":"typo","given":{"policy":{"atempts":1}},"when":[200],"then":{"attempts":1}}',
  ].join('\n');
  expect(await report(table, (line) => lines.push(line), { isForeign: true })).toBe(true);
  expect(lines.slice(0, 2)).toEqual([
    expect.stringMatching(/^\? ky-023: cannot be played, so it is for a person: /),
    expect.stringMatching(/^\? typo: cannot be played.*atempts/),
  ]);
  expect(lines.at(-1)).toBe('2 rows: 0 passed, 0 failed, 0 not applicable (reasons above), 2 for a person');
});

test.each([
  { error: 'timeout', ends: 'passed' },
  { error: 'aborted', ends: 'failed' },
  { error: 'network', ends: 'failed' },
])('an error in words is that error: $error', async ({ error, ends }) => {
  const row = { given: { policy: { attempts: 2, total_ms: 50 } }, when: [{ s: 200, ms: 90 }], then: { error } };
  expect((await verdictOn(row)).kind).toBe(ends);
});

describe('a time that a server names is spread upwards', () => {
  const policy = { ...POLICY, attempts: 2 };
  const told = (seconds: string) => [{ s: 503, h: { 'Retry-After': seconds } }, 200];
  const judged = (when: unknown[], then: object, more: object = {}) =>
    verdictOn({ given: { policy: { ...policy, ...more } }, when, then });

  test.each([
    { name: 'by a quarter at most', when: told('2'), then: { delays_ms: [2_000], elapsed_ms: 2_000 } },
    { name: 'and by 5 s', when: told('60'), then: { delays_ms: [60_000], elapsed_ms: [60_000, 60_000] } },
    { name: 'not if it is now', when: told('0'), then: { delays_ms: [0], elapsed_ms: 0 } },
  ])('$name', async ({ when, then }) => {
    expect(await judged(when, then)).toEqual({ kind: 'passed' });
  });

  test('what it makes too late for the row is seen', async () => {
    const total = { total_ms: 2_200 };
    const then = { attempts: 2, status: 200 };
    expect(await judged(told('2'), then)).toEqual({ kind: 'passed' });
    expect(await judged(told('2'), then, total)).toMatchObject({ kind: 'failed' });
  });

  test('a wait that no server has named is what the row says', async () => {
    const when = [{ s: 503, h: { 'Retry-After': '1' } }, 503, 200];
    const full = { attempts: 3, jitter: 'full' };
    expect(await judged(when, { delays_ms: [1_000, [0, 200]] }, full)).toEqual({ kind: 'passed' });
    expect(await judged(when, { delays_ms: [1_000, [0, 150]] }, full)).toMatchObject({ kind: 'failed' });
  });

  test.each([
    { spread: { ratio: 0.25, maxMs: 5_000 }, seconds: '2', ends: 'passed' },
    { spread: { ratio: 0.3, maxMs: 5_000 }, seconds: '2', ends: 'failed' },
    { spread: { ratio: 0.25, maxMs: 5_100 }, seconds: '60', ends: 'failed' },
  ])('more than that fails: $spread', async ({ spread, seconds, ends }) => {
    vi.resetModules();
    vi.doMock('../../src/policy/policy.ts', async (original) => ({
      ...(await original<object>()),
      RETRY_AFTER_JITTER: spread,
    }));
    try {
      const other = await import('./verdict.ts');
      const row = reading({ given: { policy }, when: told(seconds), then: { delays_ms: [Number(seconds) * 1_000] } });
      if (row?.kind !== 'row') throw new Error('no row');
      expect((await other.judge(row.row, {})).kind).toBe(ends);
    } finally {
      vi.doUnmock('../../src/policy/policy.ts');
      vi.resetModules();
    }
  });
});

describe('an attempt that nothing is to follow is waited for, so a row that has it cut off is not applicable', () => {
  const slow = { s: 200, ms: 90 };
  test.each<{ name: string; given: object; when: unknown[]; then: object }>([
    {
      name: 'the last of two',
      given: { policy: { ...POLICY, attempts: 2, timeout_ms: 50, delays_ms: [10] } },
      when: [slow, slow],
      then: { attempts: 2, error: 'TimeoutError', elapsed_ms: 110 },
    },
    {
      name: 'the only one',
      given: { policy: { ...POLICY, attempts: 1, timeout_ms: 50 } },
      when: [slow],
      then: { attempts: 1, error: 'TimeoutError', elapsed_ms: 50 },
    },
    {
      name: 'the only one, at the end of the whole',
      given: { policy: { ...POLICY, attempts: 1, total_ms: 50 } },
      when: [slow],
      then: { error: 'TimeoutError' },
    },
    {
      name: 'of a method that is left alone',
      given: { method: 'POST', policy: { ...POLICY, timeout_ms: 50 } },
      when: [slow],
      then: { attempts: 1, error: 'TimeoutError' },
    },
  ])('$name', async ({ given, when, then }) => {
    const verdict = await verdictOn({ given, when, then });
    expect(verdict).toEqual({ kind: 'not-applicable', why: expect.stringMatching(/^an attempt that none follows/) });
    const read = reading({ given, when, then });
    if (read?.kind === 'row') expect((await judge(read.row, {}, 'fetch')).kind).toBe('not-applicable');
  });

  test.each<{ name: string; given: object; when: unknown[]; then: object }>([
    {
      name: 'an attempt too few',
      given: { policy: { ...POLICY, attempts: 2, timeout_ms: 50, delays_ms: [10] } },
      when: [slow, slow],
      then: { attempts: 3, error: 'TimeoutError' },
    },
    {
      name: 'a wait',
      given: { policy: { ...POLICY, attempts: 2, timeout_ms: 50, delays_ms: [10] } },
      when: [slow, slow],
      then: { delays_ms: [11], error: 'TimeoutError' },
    },
    {
      name: 'the end of a last attempt that was in time',
      given: { policy: { ...POLICY, attempts: 2, timeout_ms: 50, delays_ms: [10] } },
      when: [slow, 200],
      then: { error: 'TimeoutError' },
    },
    {
      name: 'the end of one that another was to follow',
      given: { policy: { ...POLICY, attempts: 3, timeout_ms: 50, delays_ms: [10] } },
      when: [{ s: 404, ms: 40 }],
      then: { error: 'TimeoutError' },
    },
  ])('and what else is different fails: $name', async ({ given, when, then }) => {
    expect(await verdictOn({ given, when, then })).toMatchObject({ kind: 'failed' });
  });
});

test('a timeout that ends a request by itself is not played as something else', async () => {
  const row = {
    given: { policy: { attempts: 2, timeout_ms: 50, on_timeout: 'fail' } },
    when: [200],
    then: { attempts: 1 },
  };
  expect(await verdictOn(row)).toMatchObject({ kind: 'not-applicable', why: expect.stringContaining('timeout') });
});

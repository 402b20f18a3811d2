import { describe, expect, test } from 'vitest';
import { CATALOGUE } from './catalogue.ts';
import { differences, type Hit, inWords, type Seen, secondAttempts } from './compare.ts';
import { RULES } from './expected.ts';
import { judge, type Runs } from './judge.ts';
import { readMeasured } from './measured.ts';

const hit = (headers: Record<string, string> = {}, more: Partial<Hit> = {}): Hit => ({
  method: 'GET',
  place: 'own',
  target: 'a.txt',
  headers: Object.entries(headers),
  body: '',
  ...more,
});
const seen = (hits: readonly Hit[], page: unknown = {}): Seen => ({ hits, page });

describe('differences', () => {
  test.each([
    { name: 'a header that is new', before: hit(), after: hit({ 'X-A': '1' }), says: ['X-A: (none) → 1'] },
    {
      name: 'a header written otherwise',
      before: hit({ 'X-A': '1' }),
      after: hit({ 'x-a': '1' }),
      says: ['X-A: 1 → (none)', 'x-a: (none) → 1'],
    },
    { name: 'another value', before: hit({ Cookie: 'a' }), after: hit({ Cookie: 'b' }), says: ['Cookie: a → b'] },
    { name: 'another body', before: hit({}, { body: 'a' }), after: hit({}, { body: 'b' }), says: ['body: a → b'] },
    { name: 'another order', before: hit({ A: '1', B: '2' }), after: hit({ B: '2', A: '1' }), says: [] },
  ])('$name', ({ before, after, says }) => {
    expect(differences(seen([before]), seen([after])).map(inWords)).toEqual(says);
  });

  test('another method or one request more is another number of requests', () => {
    expect(differences(seen([hit()]), seen([hit({}, { method: 'PUT' })])).map(inWords)).toEqual([
      'hits GET own a.txt: 1 → 0',
      'hits PUT own a.txt: 0 → 1',
    ]);
    expect(differences(seen([hit()]), seen([hit(), hit()])).map(inWords)).toEqual(['hits GET own a.txt: 1 → 2']);
  });

  test('whatever a page gets otherwise, however deep', () => {
    const [before, after] = [
      { told: [{ status: 200 }], timing: [] },
      { told: [{ status: 503 }], timing: [1] },
    ];
    expect(differences(seen([], before), seen([], after)).map(inWords)).toEqual([
      'page.told.0.status: 200 → 503',
      'page.timing: [] → (none)',
      'page.timing.0: (none) → 1',
    ]);
  });
});

test('of what is sent twice the second is held to the first, of each URL for itself', () => {
  expect(secondAttempts([hit(), hit({}, { target: 'b.txt' })])).toBeUndefined();
  expect(secondAttempts([hit(), hit({}, { target: 'b.txt' }), hit()])).toEqual([]);
  expect(secondAttempts([hit(), hit({ Pragma: 'no-cache' }), hit({ A: '1' })])?.map(inWords)).toEqual([
    'Pragma: (none) → no-cache',
  ]);
});

describe('what is made of it', () => {
  const [type] = CATALOGUE;
  if (type === undefined) throw new Error('there are no types');
  const runs = (over: Partial<Record<keyof Runs, Seen>>): Runs => {
    const each = (name: keyof Runs) => new Map([[type.id, over[name] ?? seen([hit({ 'Sec-Fetch-Dest': 'image' })])]]);
    return {
      none: each('none'),
      bare: each('bare'),
      ours: each('ours'),
      busy: each('busy'),
      lost: each('lost'),
      warm: each('warm'),
    };
  };
  const viaWorker = seen([hit({ 'Sec-Fetch-Dest': 'empty' })]);

  test('a difference with a rule is its rule', () => {
    const { row, problems } = judge(type, runs({ bare: viaWorker, ours: viaWorker }));
    expect(row).toEqual({ bare: ['dest'], ours: [], busy: 'once', lost: 'once', stored: 'once' });
    expect(problems).toEqual([]);
  });

  test('as without a worker is left alone', () => {
    expect(judge(type, runs({ bare: viaWorker })).row.ours).toBe('left alone');
  });

  test('any other is a problem, in each comparison', () => {
    const odd = seen([hit({ 'Sec-Fetch-Dest': 'image' }), hit({ 'X-Steadfetch': '1' })]);
    expect(judge(type, runs({ busy: odd })).problems).toEqual([
      `${type.id}, busy: Sec-Fetch-Dest: image → (none)`,
      `${type.id}, busy: X-Steadfetch: (none) → 1`,
    ]);
    const late = seen([hit({ 'Sec-Fetch-Dest': 'image' })], { told: { status: 503 } });
    expect(judge(type, runs({ ours: late })).problems).toContain(`${type.id}, ours: page.told.status: (none) → 503`);
  });
});

test('each type has an id of its own, and a row', () => {
  const ids = CATALOGUE.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(Object.keys(readMeasured().chromium ?? {})).toEqual(ids);
});

test('no rule is there for nothing', () => {
  const used = new Set(
    Object.values(readMeasured()).flatMap((rows) =>
      Object.values(rows ?? {}).flatMap((row) =>
        Object.values(row).flatMap((cell) => (typeof cell === 'string' ? [] : cell)),
      ),
    ),
  );
  expect(RULES.filter(({ id, byChance }) => !byChance && !used.has(id)).map(({ id }) => id)).toEqual([]);
});

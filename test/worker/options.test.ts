import { describe, expect, test } from 'vitest';
import { constant } from '../../src/policy/backoff.ts';
import { RetryLayerError } from '../../src/policy/errors.ts';
import { checkLayerOptions } from '../../src/worker/options.ts';

/** What a bad option is answered with. */
function refusal(options: unknown): RetryLayerError {
  try {
    checkLayerOptions(options);
  } catch (error) {
    if (error instanceof RetryLayerError) return error;
    throw error;
  }
  throw new Error('was accepted');
}

describe('good options are taken', () => {
  test.each<{ name: string; options: object }>([
    { name: 'none', options: {} },
    { name: 'no routes', options: { routes: [] } },
    { name: 'undefined is absent', options: { routes: undefined, defaults: undefined, onEvent: undefined } },
    { name: 'a path', options: { routes: [{ match: '/api/' }] } },
    { name: 'the root', options: { routes: [{ match: '/' }] } },
    { name: 'a URL', options: { routes: [{ match: 'https://cdn.test/x' }] } },
    { name: 'an http URL with a port', options: { routes: [{ match: 'http://localhost:8080' }] } },
    { name: 'a RegExp', options: { routes: [{ match: /x/g }] } },
    { name: 'a function', options: { routes: [{ match: () => true }] } },
    { name: 'methods', options: { routes: [{ match: '/', methods: ['GET', 'POST', 'PURGE'] }] } },
    { name: 'never', options: { routes: [{ match: '/', retry: false }], defaults: false } },
    {
      name: 'a policy',
      options: { defaults: { attempts: 3, retries: 2, backoff: constant(1), totalMs: 50_000, mirrors: [] } },
    },
    { name: 'a classifier', options: { routes: [{ match: '/', classify: () => 'retry', classifyBody: true }] } },
    { name: 'a classifier for all', options: { classify: () => undefined, classifyBody: false } },
    {
      name: 'hedges and mirrors',
      options: {
        defaults: { hedge: { afterMs: 'p95' } },
        routes: [{ match: '/', retry: { mirrors: ['http://[::1]:8080', 'https://x-y.example:8443'] } }],
      },
    },
    { name: 'no hedges', options: { defaults: { hedge: false, mirrorStatuses: 'retried' } } },
    {
      name: 'a race',
      options: {
        routes: [
          { match: '/', raceNetwork: true },
          { match: /x/, raceNetwork: false },
        ],
      },
    },
    { name: 'a race with GET', options: { routes: [{ match: '/', raceNetwork: true, methods: ['PUT', 'GET'] }] } },
    {
      name: 'outboxes',
      options: {
        routes: [
          { match: '/', outbox: true },
          { match: '/', outbox: false, retry: false, methods: ['GET'] },
          {
            match: '/',
            outbox: { name: 'orders', page: '/queued', doneAt: '/done', maxEntries: 1, maxBytes: 1, maxAgeMs: 1 },
          },
          { match: '/', outbox: { answer: 'error', orderBy: 'none', addKey: true }, methods: ['PURGE', 'POST'] },
        ],
        prepare: () => undefined,
      },
    },
    { name: 'a name', options: { routes: [{ match: '/', name: 'search' }] } },
    { name: 'a budget', options: { budget: { capacity: 0, retryCost: 0.5 } } },
    {
      name: 'switches',
      options: { clientsClaim: false, skipWaiting: true, navigationPreload: true, onEvent: () => {} },
    },
  ])('$name', ({ options }) => {
    expect(() => checkLayerOptions(options)).not.toThrow();
  });
});

describe('a bad option is refused by name, with its value and the remedy', () => {
  const api = { match: '/api' };
  test.each<{ options: unknown; option: string; got: string; must: string | RegExp; code?: string }>([
    { options: null, option: 'options', got: 'null', must: 'an object' },
    { options: 5, option: 'options', got: '5', must: 'an object' },
    { options: '/sw.js', option: 'options', got: "'/sw.js'", must: 'an object' },
    { options: [], option: 'options', got: 'a list', must: 'an object' },
    { options: () => {}, option: 'options', got: 'a function', must: 'an object' },
    { options: { routes: {} }, option: 'routes', got: 'an object', must: 'a list' },
    { options: { routes: '/api' }, option: 'routes', got: "'/api'", must: 'a list' },
    { options: { routes: null }, option: 'routes', got: 'null', must: 'a list' },
    { options: { routes: ['/api'] }, option: 'routes[0]', got: "'/api'", must: 'an object' },
    { options: { routes: [api, null] }, option: 'routes[1]', got: 'null', must: 'an object' },
    // biome-ignore lint/suspicious/noSparseArray: somebody's trailing comma too many
    { options: { routes: [, api] }, option: 'routes[0]', got: 'undefined', must: 'an object' },
    { options: { routes: [{}] }, option: 'routes[0].match', got: 'undefined', must: 'must be given' },
    { options: { routes: [{ match: undefined }] }, option: 'routes[0].match', got: 'undefined', must: 'must be given' },
    { options: { routes: [{ match: null }] }, option: 'routes[0].match', got: 'null', must: "write '/path'" },
    { options: { routes: [{ match: 'api' }] }, option: 'routes[0].match', got: "'api'", must: "write '/path'" },
    { options: { routes: [{ match: '' }] }, option: 'routes[0].match', got: "''", must: "write '/path'" },
    { options: { routes: [{ match: './api' }] }, option: 'routes[0].match', got: "'./api'", must: "write '/path'" },
    {
      options: { routes: [{ match: 'cdn.test/x' }] },
      option: 'routes[0].match',
      got: "'cdn.test/x'",
      must: /whole URL/,
    },
    { options: { routes: [{ match: 'https://' }] }, option: 'routes[0].match', got: "'https://'", must: /whole URL/ },
    {
      options: { routes: [{ match: 'https://a b' }] },
      option: 'routes[0].match',
      got: "'https://a b'",
      must: /whole URL/,
    },
    { options: { routes: [{ match: 'ftp://a.test' }] }, option: 'routes[0].match', got: "'ftp://a.test'", must: /URL/ },
    {
      options: { routes: [{ match: new URL('https://a.test') }] },
      option: 'routes[0].match',
      got: 'an object',
      must: /a text/,
    },
    { options: { routes: [{ ...api, methods: [] }] }, option: 'routes[0].methods', got: 'a list', must: 'not empty' },
    { options: { routes: [{ ...api, methods: 'GET' }] }, option: 'routes[0].methods', got: "'GET'", must: 'a list' },
    {
      options: { routes: [{ ...api, methods: ['GET', 'post'] }] },
      option: 'routes[0].methods[1]',
      got: "'post'",
      must: 'in capitals',
    },
    {
      options: { routes: [{ ...api, methods: ['P T'] }] },
      option: 'routes[0].methods[0]',
      got: "'P T'",
      must: 'in capitals',
    },
    { options: { routes: [{ ...api, methods: [1] }] }, option: 'routes[0].methods[0]', got: '1', must: 'in capitals' },
    { options: { routes: [{ ...api, raceNetwork: 1 }] }, option: 'routes[0].raceNetwork', got: '1', must: 'true or' },
    {
      options: { routes: [api, { match: /x/, raceNetwork: true }] },
      option: 'routes[1].match',
      got: 'a RegExp',
      must: /a text to be raced.*or leave out raceNetwork/,
    },
    {
      options: { routes: [{ match: () => true, raceNetwork: true }] },
      option: 'routes[0].match',
      got: 'a function',
      must: /a text to be raced/,
    },
    {
      options: { routes: [{ ...api, raceNetwork: true, methods: ['PUT', 'HEAD'] }] },
      option: 'routes[0].methods',
      got: 'a list',
      must: /must have GET.*or leave out raceNetwork/,
    },
    {
      options: { routes: [{ ...api, raceNetwork: true, retry: false }] },
      option: 'routes[0].retry',
      got: 'false',
      must: /must not be false.*or leave out raceNetwork/,
    },
    { options: { routes: [{ ...api, outbox: 'yes' }] }, option: 'routes[0].outbox', got: "'yes'", must: 'an object' },
    ...(
      [
        ['name', '', "''", 'not empty'],
        ['answer', 'ok', "'ok'", "'accepted', 'error'"],
        ['orderBy', 'key', "'key'", "'outbox', 'url', 'none'"],
        ['addKey', 1, '1', 'true or false'],
        ['page', 'queued', "'queued'", "must be a path of this origin.*such as '/queued'"],
        ['page', '//other.test/', "'//other.test/'", 'must be a path of this origin'],
        ['page', 'https://other.test/', "'https://other.test/'", 'must be a path of this origin'],
        ['page', 5, '5', 'must be a path of this origin'],
        ['doneAt', '', "''", 'must be a path of this origin'],
        ['maxAgeMs', 0, '0', 'from 1'],
        ['maxEntries', 0, '0', 'a whole number from 1 to 100000'],
        ['maxEntries', 1.5, '1.5', 'a whole number'],
        ['maxBytes', 0, '0', 'a whole number from 1 to 1073741824'],
        ['maxBytes', 2.5, '2.5', 'a whole number'],
      ] as const
    ).map(([name, value, got, must]) => ({
      options: { routes: [{ ...api, outbox: { [name]: value } }] },
      option: `routes[0].outbox.${name}`,
      got,
      must: new RegExp(must),
    })),
    {
      options: { routes: [{ ...api, outbox: true, retry: false }] },
      option: 'routes[0].retry',
      got: 'false',
      must: /must not be false with an outbox.*write { attempts: 1 } or leave out `outbox`/,
    },
    {
      options: { routes: [{ ...api, outbox: {}, methods: ['POST', 'GET'] }] },
      option: 'routes[0].methods',
      got: "'GET'",
      must: /must have no method that reads, with an outbox.*name what changes, or leave out `outbox`/,
    },
    { options: { prepare: {} }, option: 'prepare', got: 'an object', must: 'a function' },
    { options: { routes: [{ ...api, retry: true }] }, option: 'routes[0].retry', got: 'true', must: 'an object' },
    { options: { routes: [{ ...api, retry: 3 }] }, option: 'routes[0].retry', got: '3', must: 'an object' },
    {
      options: { routes: [{ ...api, retry: { attempts: 0 } }] },
      option: 'routes[0].retry.attempts',
      got: '0',
      must: '`retry: false`',
    },
    {
      options: { routes: [api, { ...api, retry: { attempts: 1.5 } }] },
      option: 'routes[1].retry.attempts',
      got: '1.5',
      must: 'whole number',
    },
    {
      options: { routes: [{ ...api, retry: { retries: -1 } }] },
      option: 'routes[0].retry.retries',
      got: '-1',
      must: '`retry: false`',
    },
    {
      options: { routes: [{ ...api, retry: { attempts: 4, retries: 4 } }] },
      option: 'routes[0].retry.retries',
      got: '4',
      must: 'give one of the two',
    },
    {
      options: { routes: [{ ...api, retry: { methods: ['POST'] } }] },
      option: 'routes[0].retry.methods[0]',
      got: "'POST'",
      must: '`retryNonIdempotent: true`',
    },
    { options: { routes: [{ ...api, name: '' }] }, option: 'routes[0].name', got: "''", must: 'not empty' },
    { options: { routes: [{ ...api, name: 7 }] }, option: 'routes[0].name', got: '7', must: 'a text' },
    { options: { defaults: true }, option: 'defaults', got: 'true', must: 'an object' },
    {
      options: { defaults: { totalMs: 300_000 } },
      option: 'defaults.totalMs',
      got: '300000',
      must: 'from 1 to 240000',
    },
    { options: { defaults: { totalMs: Number.NaN } }, option: 'defaults.totalMs', got: 'NaN', must: 'a number' },
    { options: { defaults: { attemptTimeoutMs: 0 } }, option: 'defaults.attemptTimeoutMs', got: '0', must: 'from 1' },
    {
      options: { defaults: { attemptTimeoutMs: '10s' } },
      option: 'defaults.attemptTimeoutMs',
      got: "'10s'",
      must: 'a number',
    },
    { options: { defaults: { backoff: 500 } }, option: 'defaults.backoff', got: '500', must: 'constant()' },
    {
      options: { defaults: { backoff: { kind: 'constant' } } },
      option: 'defaults.backoff.delayMs',
      got: 'undefined',
      must: 'must be given',
    },
    { options: { defaults: { statuses: [99] } }, option: 'defaults.statuses[0]', got: '99', must: 'from 100 to 599' },
    {
      options: { defaults: { retryAfter: { mode: 'obey' } } },
      option: 'defaults.retryAfter.mode',
      got: "'obey'",
      must: "'extend', 'replace', 'ignore'",
    },
    {
      options: { defaults: { retryAfter: { maxMs: Number.POSITIVE_INFINITY } } },
      option: 'defaults.retryAfter.maxMs',
      got: 'Infinity',
      must: 'a number',
    },
    { options: { defaults: { maxReplayBytes: -1 } }, option: 'defaults.maxReplayBytes', got: '-1', must: 'at least 0' },
    {
      options: { defaults: { mediaRanges: 'yes' } },
      option: 'defaults.mediaRanges',
      got: "'yes'",
      must: 'true or false',
    },
    { options: { budget: { capacity: -1 } }, option: 'budget.capacity', got: '-1', must: 'at least 0' },
    { options: { budget: { retryCost: '1' } }, option: 'budget.retryCost', got: "'1'", must: 'a number' },
    { options: { budget: 20 }, option: 'budget', got: '20', must: 'an object' },
    { options: { clientsClaim: 1 }, option: 'clientsClaim', got: '1', must: 'true or false' },
    { options: { skipWaiting: 'yes' }, option: 'skipWaiting', got: "'yes'", must: 'true or false' },
    { options: { navigationPreload: null }, option: 'navigationPreload', got: 'null', must: 'true or false' },
    { options: { onEvent: 'log' }, option: 'onEvent', got: "'log'", must: 'a function' },
  ])('$option: $got', ({ options, option, got, must, code = 'bad-option' }) => {
    const error = refusal(options);
    expect(error.code).toBe(code);
    // Whether the path begins with the name of the argument is a matter of taste; that it is the whole path is not.
    expect(error.option?.replace(/^options\./, '')).toBe(option);
    expect(error.message).toContain(option);
    expect(error.message).toContain(`got ${got}`);
    expect(error.message).toMatch(must);
  });

  test.each<{ options: object; option: string; known: string }>([
    { options: { route: [] }, option: 'route', known: 'routes' },
    { options: { retry: {} }, option: 'retry', known: 'defaults' },
    { options: { constructor: {} }, option: 'constructor', known: 'routes' },
    { options: { routes: [{ match: '/', policy: {} }] }, option: 'routes[0].policy', known: 'retry' },
    { options: { defaults: { attempt: 3 } }, option: 'defaults.attempt', known: 'attempts' },
    { options: { defaults: { classify: () => {} } }, option: 'defaults.classify', known: 'beside `retry`, to a route' },
    { options: { routes: [{ match: '/', hedge: {} }] }, option: 'routes[0].hedge', known: 'it belongs into `retry`' },
    { options: { attempts: 2 }, option: 'attempts', known: 'it belongs into `defaults`' },
    { options: { defaults: { retryAfter: { max: 1 } } }, option: 'defaults.retryAfter.max', known: 'maxMs' },
    { options: { budget: { tokens: 3 } }, option: 'budget.tokens', known: 'capacity' },
    { options: { routes: [{ match: '/', outbox: { ttl: 1 } }] }, option: 'routes[0].outbox.ttl', known: 'maxAgeMs' },
  ])('$option is not an option', ({ options, option, known }) => {
    const error = refusal(options);
    expect(error.code).toBe('unknown-option');
    expect(error.option?.replace(/^options\./, '')).toBe(option);
    expect(error.message).toContain(option);
    expect(error.message).toContain(known);
  });

  test('no options at all', () => {
    expect(refusal(undefined)).toMatchObject({ code: 'bad-option' });
  });

  test('a backoff that contains itself is refused as any other mistake', () => {
    const backoff: Record<string, unknown> = { kind: 'full-jitter' };
    backoff.of = backoff;
    expect(refusal({ defaults: { backoff } }).code).toBe('bad-option');
  });

  test('an object that only looks like options is refused', () => {
    for (const options of [new Map(), new Date(), /x/, Promise.resolve({})]) {
      expect(refusal(options).code).toBe('bad-option');
    }
  });

  test.each(['/app#/route', 'https://a.test/x#y'])(
    'the text %s, which no URL could ever begin with, is refused',
    (match) => {
      expect(refusal({ routes: [{ match }] })).toMatchObject({ code: 'bad-option' });
    },
  );
});

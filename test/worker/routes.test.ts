import '../support/worker-scope.ts';

import { describe, expect, test, vi } from 'vitest';
import { DEFAULTS, NAVIGATION_DEFAULTS } from '../../src/policy/policy.ts';
import type { Candidate, RetryLayerOptions, Route } from '../../src/worker/options.ts';
import { compileRoutes } from '../../src/worker/routes.ts';

const OWN = 'https://app.test';

/** Looks a request up as the worker does: with a URL that has no fragment. */
function finder(options: RetryLayerOptions) {
  const find = compileRoutes(options);
  return (href: string, { method = 'GET', mode = 'cors' } = {}) => {
    const url = new URL(href, OWN);
    const request = { url: url.href, method, mode } as Request;
    url.hash = '';
    return find(request, url, url.origin === OWN);
  };
}

const matches = (match: Route['match'], href: string): boolean =>
  finder({ routes: [{ match, name: 'hit' }], defaults: false })(href) !== undefined;

describe('a path', () => {
  test.each<[match: string, href: string, hit: boolean]>([
    ['/api', '/api', true],
    ['/api', '/api/', true],
    ['/api', '/api/x', true],
    ['/api', '/api?x=1', true],
    ['/api', '/api#part', true],
    ['/api', '/api?#', true],
    ['/api', '/apix', false],
    ['/api', '/api.json', false],
    ['/api', '/api%2Fx', false],
    ['/api', '/API', false],
    ['/api', '/x/api', false],
    ['/api', '/', false],
    ['/api', 'https://other.test/api', false],
    ['/api', 'http://app.test/api', false],
    ['/api', 'https://app.test:8443/api', false],
    ['/api/', '/api/', true],
    ['/api/', '/api/x', true],
    ['/api/', '/api/?x', true],
    ['/api/', '/api', false],
    ['/api/', '/apix/', false],
    ['/', '/', true],
    ['/', '/any/thing?x', true],
    ['/', 'https://other.test/', false],
    ['/a?x=1', '/a?x=1', true],
    ['/a?x=1', '/a?x=1&y=2', true],
    ['/a?x=1', '/a?x=2', false],
    ['/a?x=1', '/a', false],
    // As people write them, and as a URL has them.
    ['/über', '/über', true],
    ['/%C3%BCber', '/über', true],
    ['/a b', '/a b/c', true],
  ])('%s at %s: %s', (match, href, hit) => {
    expect(matches(match, href)).toBe(hit);
  });
});

describe('a whole URL', () => {
  test.each<[match: string, href: string, hit: boolean]>([
    ['https://a.example', 'https://a.example/', true],
    ['https://a.example', 'https://a.example/x?y#z', true],
    ['https://a.example', 'https://a.example.org/', false],
    ['https://a.example', 'https://a.example.org/https://a.example/', false],
    ['https://a.example', 'https://b.a.example/', false],
    ['https://a.example', 'https://a.example:8443/', false],
    ['https://a.example', 'https://a.example@evil.test/', false],
    ['https://a.example', 'http://a.example/', false],
    ['https://a.example:443', 'https://a.example/x', true],
    ['https://A.Example/x', 'https://a.example/x', true],
    ['https://a.example/v1', 'https://a.example/v1', true],
    ['https://a.example/v1', 'https://a.example/v1/x', true],
    ['https://a.example/v1', 'https://a.example/v1?x', true],
    ['https://a.example/v1', 'https://a.example/v2', false],
    ['https://a.example/v1/', 'https://a.example/v1', false],
    ['https://a.example/ü', 'https://a.example/%C3%BC/x', true],
    ['https://app.test/api', '/api/x', true],
    ['http://localhost:8080', 'http://localhost:8080/x', true],
    ['http://localhost:8080', 'http://localhost:8081/x', false],
  ])('%s at %s: %s', (match, href, hit) => {
    expect(matches(match, href)).toBe(hit);
  });
});

describe('a RegExp', () => {
  test.each<[match: RegExp, href: string, hit: boolean]>([
    [/\/api\//, '/api/x', true],
    [/^https:\/\/app\.test\/x$/, '/x#part', true],
    [/#/, '/x#part', false],
    [/\?q=/, '/x?q=1', true],
    [/\/API/i, '/api', true],
    [/other/, 'https://other.test/', true],
    [/api/g, '/api', true],
    [/api/y, '/api', true],
    [/^https/y, '/api', true],
  ])('%s at %s: %s', (match, href, hit) => {
    const find = finder({ routes: [{ match }], defaults: false });
    // An expression with a memory would miss every second time.
    for (let time = 0; time < 4; time += 1) expect(find(href) !== undefined).toBe(hit);
    expect(match.lastIndex).toBe(0);
  });
});

describe('a function', () => {
  test('sees the URL without its fragment, the request, and whose it is', () => {
    const match = vi.fn((_candidate: Candidate) => true);
    const find = finder({ routes: [{ match }] });
    find('/a?b#c');
    find('https://other.test/');
    const [[own], [other]] = match.mock.calls as [[Candidate], [Candidate]];
    expect([own.url.href, own.sameOrigin, own.request.method]).toEqual(['https://app.test/a?b', true, 'GET']);
    expect([other.url.href, other.sameOrigin]).toEqual(['https://other.test/', false]);
  });

  test.each([
    [true, true],
    [1, true],
    ['yes', true],
    [{}, true],
    [[], true],
    [false, false],
    [undefined, false],
    [null, false],
    [0, false],
    ['', false],
  ])('that returns %o matches: %s', (result, hit) => {
    expect(matches((() => result) as never, '/')).toBe(hit);
  });

  test('after the first match is not asked', () => {
    const later = vi.fn(() => true);
    finder({ routes: [{ match: '/a' }, { match: later }] })('/a');
    expect(later).not.toHaveBeenCalled();
  });

  test('that changes the URL it was shown changes nothing for the routes after it', () => {
    const find = finder({
      routes: [
        {
          match: ({ url }) => {
            url.pathname = '/elsewhere';
            return false;
          },
        },
        { match: '/a', name: 'a' },
      ],
    });
    expect(find('/a')?.group).toBe('a');
  });

  test('that throws is no match that is remembered', () => {
    let broken = true;
    const find = finder({
      routes: [
        {
          match: () => {
            if (broken) throw new Error('match');
            return true;
          },
          name: 'hit',
        },
      ],
    });
    expect(() => find('/')).toThrow('match');
    broken = false;
    expect(find('/')?.group).toBe('hit');
  });
});

describe('the first match wins', () => {
  const named = (...routes: [Route['match'], string, string[]?][]) =>
    finder({ routes: routes.map(([match, name, methods]) => ({ match, name, ...(methods ? { methods } : {}) })) });

  test('in the order of the routes', () => {
    const find = named(['/a/b', 'deep'], ['/a', 'shallow'], [/./, 'all']);
    expect(['/a/b/c', '/a/c', '/c'].map((href) => find(href)?.group)).toEqual(['deep', 'shallow', 'all']);
  });

  test('a later route for one method does not come before an earlier one for all', () => {
    const find = named(['/a', 'all'], ['/a', 'get', ['GET']]);
    expect(find('/a')?.group).toBe('all');
  });

  test('an earlier route for one method is passed over by the others', () => {
    const find = named(['/a', 'post', ['POST']], ['/a', 'all']);
    expect(['GET', 'POST', 'PUT', 'POST', 'GET'].map((method) => find('/a', { method })?.group)).toEqual([
      'all',
      'post',
      'all',
      'post',
      'all',
    ]);
  });

  test.each(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'QUERY', 'TRACE', 'PURGE'])(
    '%s requests find their route, the second time as well',
    (method) => {
      const find = named(['/b', 'b'], ['/a', 'a']);
      expect(find('/a', { method })?.group).toBe('a');
      expect(find('/b', { method })?.group).toBe('b');
      expect(find('/c', { method })?.group).toBeUndefined();
    },
  );

  test('two layers do not know each other’s routes', () => {
    const [one, other] = [named(['/a', 'one']), named(['/a', 'other'])];
    expect([one('/a')?.group, other('/a')?.group, one('/a')?.group]).toEqual(['one', 'other', 'one']);
  });
});

describe('policies', () => {
  test('without routes everything has the defaults, navigations their own', () => {
    const find = finder({});
    expect(find('/x')).toMatchObject({ policy: DEFAULTS });
    expect(find('https://other.test/', { method: 'PUT' })).toMatchObject({ policy: DEFAULTS });
    expect(find('/x', { mode: 'navigate' })).toMatchObject({ policy: NAVIGATION_DEFAULTS });
  });

  test('a request without a route has the defaults that were set', () => {
    const find = finder({ routes: [{ match: '/a' }], defaults: { attempts: 2 } });
    expect(find('/b')?.policy).toEqual({ ...DEFAULTS, attempts: 2 });
    expect(find('/b', { mode: 'navigate' })?.policy).toEqual({ ...NAVIGATION_DEFAULTS, attempts: 2 });
  });

  test('a route inherits them and says more', () => {
    const find = finder({
      routes: [{ match: '/a', retry: { totalMs: 9_000, retryAfter: { maxMs: 1 } } }],
      defaults: { attempts: 2, totalMs: 8_000, retryAfter: { mode: 'replace' } },
    });
    const over = { attempts: 2, totalMs: 9_000 };
    expect(find('/a')?.policy).toEqual({
      ...DEFAULTS,
      ...over,
      retryAfter: { ...DEFAULTS.retryAfter, mode: 'replace', maxMs: 1 },
    });
    expect(find('/a', { mode: 'navigate' })?.policy).toMatchObject({ ...over, attemptTimeoutMs: 8_000 });
  });

  test('row 36: `retry: false` leaves a route alone, whatever the defaults', () => {
    const find = finder({ routes: [{ match: '/live', retry: false, name: 'live' }], defaults: { attempts: 5 } });
    expect(find('/live')).toMatchObject({ policy: false, group: 'live' });
    expect(find('/live', { mode: 'navigate' })?.policy).toBe(false);
    expect(find('/else')?.policy).toMatchObject({ attempts: 5 });
  });

  test('`defaults: false` leaves what has no route alone; routes have the library’s defaults', () => {
    const find = finder({ routes: [{ match: '/a' }, { match: '/b', retry: { retries: 1 } }], defaults: false });
    expect(find('/c')).toBeUndefined();
    expect(find('/c', { mode: 'navigate' })).toBeUndefined();
    expect(find('/a')?.policy).toEqual(DEFAULTS);
    expect(find('/b')?.policy).toEqual({ ...DEFAULTS, attempts: 2 });
    expect(finder({ defaults: false })('/c')).toBeUndefined();
  });

  test('a route’s name is its group; without one there is none', () => {
    const find = finder({ routes: [{ match: '/a', name: 'search' }, { match: '/b' }] });
    expect(find('/a')?.group).toBe('search');
    expect(find('/b')).not.toHaveProperty('group');
    expect(find('/c')).not.toHaveProperty('group');
  });

  test('a route that does not judge leaves that to the layer', () => {
    const [ours, theirs] = [() => 'retry' as const, () => 'deliver' as const];
    const find = finder({
      routes: [{ match: '/a', classify: theirs, classifyBody: false }, { match: '/b' }],
      classify: ours,
      classifyBody: true,
    });
    expect(find('/a')).toMatchObject({ classify: theirs, classifyBody: false });
    expect(find('/b')).toMatchObject({ classify: ours, classifyBody: true });
    expect(find('/c')).toMatchObject({ classify: ours, classifyBody: true });
    expect(finder({})('/c')).toMatchObject({ classify: undefined, classifyBody: false });
  });

  test('row 36: hedges are a matter of the route, and have a maximum of one unless there is another', () => {
    const find = finder({
      routes: [
        { match: '/a', retry: { hedge: { afterMs: 5, max: 2 } } },
        { match: '/b', retry: { hedge: false } },
      ],
      defaults: { hedge: { afterMs: 'p95' } },
    });
    expect(find('/a')?.policy).toMatchObject({ hedge: { afterMs: 5, max: 2 } });
    expect(find('/b')?.policy).toMatchObject({ hedge: false });
    expect(find('/c')?.policy).toMatchObject({ hedge: { afterMs: 'p95', max: 1 } });
  });

  test('row 12: what the user changes afterwards changes nothing', () => {
    const statuses = [503];
    const routes: Route[] = [{ match: '/a', retry: { statuses } }];
    const find = finder({ routes });
    statuses.push(404);
    routes.length = 0;
    expect(find('/a')?.policy).toMatchObject({ statuses: [503] });
  });
});

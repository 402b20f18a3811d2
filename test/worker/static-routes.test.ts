import '../support/worker-scope.ts';

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Route } from '../../src/worker/options.ts';
import { compileRoutes } from '../../src/worker/routes.ts';
import { toStaticRoutes } from '../../src/worker/static-routes.ts';

const never = (match: Route['match'], methods?: string[]): Route => ({
  match,
  retry: false,
  ...(methods ? { methods } : {}),
});
const raced = (match: string): Route => ({ match, raceNetwork: true });
const others = (match: Route['match'], methods?: string[]): Route => ({ match, ...(methods ? { methods } : {}) });

/** What the browser is told, in a line each: `never /live`, `race GET /api`. */
const told = (...routes: Route[]) =>
  toStaticRoutes(routes, 'https://app.test').map(({ source, method, match }) =>
    [source === 'network' ? 'never' : 'race', method, match].filter(Boolean).join(' '),
  );

test.each<{ name: string; routes: Route[]; written: string[] }>([
  { name: 'nothing of none', routes: [], written: [] },
  { name: 'nothing of routes that are retried', routes: [others('/a'), others(/b/)], written: [] },
  { name: 'what is left alone', routes: [never('/live')], written: ['never /live'] },
  { name: 'what is raced, for GET', routes: [raced('/api')], written: ['race GET /api'] },
  { name: 'each method', routes: [never('/a', ['GET', 'PUT'])], written: ['never GET /a', 'never PUT /a'] },
  { name: 'no method that cannot be sent', routes: [never('/a', ['TRACE', 'GET'])], written: ['never GET /a'] },
  { name: 'other origins', routes: [never('https://cdn.test/x')], written: ['never https://cdn.test/x'] },
  { name: 'no RegExp and no function', routes: [never(/live/), never(() => true)], written: [] },
  { name: 'nothing after a RegExp', routes: [others(/x/), never('/live'), raced('/api')], written: [] },
  { name: 'nothing after a function', routes: [never(() => false), never('/live')], written: [] },
  { name: 'before a RegExp', routes: [never('/live'), others(/x/)], written: ['never /live'] },
  { name: 'after a RegExp for other methods', routes: [others(/x/, ['POST']), raced('/a')], written: ['race GET /a'] },
  { name: 'not if a method is shared', routes: [others(/x/, ['POST']), never('/a', ['GET', 'POST'])], written: [] },
  { name: 'not if every method is meant', routes: [others(/x/, ['POST']), never('/a')], written: [] },
  { name: 'not below an earlier path', routes: [others('/a'), never('/a/b')], written: [] },
  { name: 'not above an earlier path', routes: [others('/a/b'), never('/a')], written: [] },
  { name: 'beside an earlier path', routes: [others('/a'), never('/ab')], written: ['never /ab'] },
  { name: 'not the same with a query', routes: [others('/a?x=1'), never('/a')], written: [] },
  { name: 'another query', routes: [others('/a?x=1'), never('/a?y')], written: ['never /a?y'] },
  { name: 'not the same as a whole URL', routes: [others('https://app.test/a'), never('/a/b')], written: [] },
  { name: 'the same path elsewhere', routes: [others('https://b.test/a'), never('/a')], written: ['never /a'] },
  { name: 'not the same, written differently', routes: [others('/ü'), never('/%C3%BC/x')], written: [] },
  {
    name: 'what is raced above what is left alone, because the browser keeps the order',
    routes: [never('/api/live'), raced('/api')],
    written: ['never /api/live', 'race GET /api'],
  },
  {
    name: 'not what is left alone below a race: its other methods are retried',
    routes: [raced('/api'), never('/api/live')],
    written: ['race GET /api'],
  },
  // A pattern cannot tell these apart from others.
  { name: 'no empty query', routes: [never('https://a.test/x?')], written: [] },
  { name: 'no user', routes: [never('https://me@a.test/x')], written: [] },
  { name: 'no two question marks', routes: [never('/x??y')], written: [] },
  { name: 'a path with an empty query, which is the path', routes: [never('/x?')], written: ['never /x?'] },
])('the browser is told $name', ({ routes, written }) => {
  expect(told(...routes)).toEqual(written);
});

test('a browser takes 255 rules or none', () => {
  const routes = Array.from({ length: 300 }, (_, index) => never(`/p${index}`));
  expect(told(...routes)).toEqual(routes.slice(0, 255).map(({ match }) => `never ${match}`));
});

test('patterns are literal, and end where the prefix does', () => {
  const patterns = ['/api', '/api/', '/a?x={1}', 'https://b.test:8443/a+(b)'].map((match) => never(match));
  expect(toStaticRoutes(patterns, 'http://localhost:5173').map(({ pattern }) => pattern)).toEqual([
    { protocol: 'http:', hostname: 'localhost', port: '5173', pathname: '/api{/*}?' },
    { protocol: 'http:', hostname: 'localhost', port: '5173', pathname: '/api/*' },
    { protocol: 'http:', hostname: 'localhost', port: '5173', pathname: '/a', search: 'x=\\{1\\}*' },
    {
      protocol: 'https:',
      username: '',
      password: '',
      hostname: 'b.test',
      port: '8443',
      pathname: '/a\\+\\(b\\){/*}?',
    },
  ]);
});

test('what is told never takes a request that an earlier route matches', () => {
  const texts = fc
    .tuple(
      fc.constantFrom('', 'https://app.test', 'https://b.test'),
      fc.array(fc.constantFrom('/', 'a', 'b', '?'), { maxLength: 5 }),
    )
    .map(([origin, rest]) => `${origin}/a${rest.join('')}`);
  const ends = fc.constantFrom('', '/', '/a', 'a', '?', '?a');
  const takes = (match: string, href: string): boolean => {
    const url = new URL(href, 'https://app.test');
    const find = compileRoutes({ routes: [never(match)], defaults: false });
    return find({ method: 'GET' } as Request, url, url.origin === 'https://app.test') !== undefined;
  };
  let both = 0;
  fc.assert(
    fc.property(texts, texts, fc.boolean(), ends, (earlier, match, longer, end) => {
      const href = (longer ? earlier : match) + end;
      if (!takes(earlier, href) || !takes(match, href)) return;
      both += 1;
      expect(told(others(earlier), never(match))).toEqual([]);
    }),
    { numRuns: 2_000, seed: 1 },
  );
  // A comparison of nothing would pass, too.
  expect(both).toBeGreaterThan(100);
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { allowsConnection, connectSources } from '../../src/policy/csp.ts';

describe('what a header says about connections', () => {
  test.each([
    ['', []],
    ["script-src 'self'", []],
    ["connect-src 'self'", [["'self'"]]],
    ["default-src 'none'", [["'none'"]]],
    ["default-src 'none'; connect-src 'self' https://a.example", [["'self'", 'https://a.example']]],
    ["connect-src 'self'; default-src *", [["'self'"]]],
    // Names in any case, empty directives, spaces of all kinds.
    [" ;; CONNECT-SRC\t 'self'  a.example ; ", [["'self'", 'a.example']]],
    // An empty list allows nothing, and is no missing one.
    ['connect-src; default-src *', [[]]],
    // Of directives of the same name the first counts.
    ["connect-src 'self'; connect-src *", [["'self'"]]],
    // Several policies, whether they came in one header or in two.
    ["connect-src 'self', default-src https:, img-src *", [["'self'"], ['https:']]],
  ])('%j', (header, lists) => expect(connectSources(header)).toEqual(lists));
});

const SELF = new URL('https://app.example/sw.js');
const allows = (sources: string, url: string, self = SELF) =>
  allowsConnection(connectSources(`connect-src ${sources}`), new URL(url), self);

describe('a source', () => {
  test.each([
    ['*', 'https://other.example:8443/x', true],
    ['*', 'http://other.example/', true],
    ["'self'", 'https://app.example/api', true],
    ["'SELF'", 'https://app.example/api', true],
    ["'self'", 'https://app.example:8443/api', false],
    ["'self'", 'http://app.example/api', false],
    ["'self'", 'https://other.example/', false],
    ["'none'", 'https://app.example/', false],
    ['', 'https://app.example/', false],
    // 'none' beside others is ignored.
    ["'none' a.example", 'https://a.example/', true],
    // What speaks of scripts fits no connection.
    ["'unsafe-inline' 'nonce-abc' 'sha256-YWJj/+=' 'report-sample'", 'https://app.example/', false],

    ['https:', 'https://any.example:8443/', true],
    ['HTTPS:', 'https://any.example/', true],
    ['http:', 'https://any.example/', true],
    ['http:', 'http://any.example/', true],
    ['https:', 'http://any.example/', false],
    ['data:', 'https://any.example/', false],
    ['wss:', 'https://any.example/', true],
    ['wss:', 'http://any.example/', false],
    ['ws:', 'http://any.example/', true],
    ['h323:', 'h323://any.example/', true],
    // It ends like a scheme, and is a file of a host.
    ['https://a.example/b:', 'https://a.example/b:', true],

    ['a.example', 'https://a.example/', true],
    ['A.EXAMPLE', 'https://a.example/', true],
    // Without a scheme: the worker's own, or its safer form.
    ['a.example', 'http://a.example/', false],
    ['a.example', 'https://b.a.example/', false],
    ['a.example', 'https://a.example.org/', false],
    ['http://a.example', 'https://a.example/', true],
    ['https://a.example', 'http://a.example/', false],
    ['https://a.example', 'https://a.example/x', true],

    ['*.a.example', 'https://b.a.example/', true],
    ['*.a.example', 'https://c.b.a.example/', true],
    ['*.a.example', 'https://a.example/', false],
    ['*.a.example', 'https://xa.example/', false],
    ['https://*', 'https://any.example/', true],
    ['https://*', 'https://any.example:8443/', false],
    ['*:8443', 'https://any.example:8443/', true],
    ['https://*:*', 'https://any.example:8443/', true],
    // The specification matches no addresses but 127.0.0.1; browsers do.
    ['http://127.0.0.1:81', 'http://127.0.0.1:81/', true],
    ['http://[::1]:81', 'http://[::1]:81/', true],

    ['a.example:443', 'https://a.example/', true],
    ['a.example:8443', 'https://a.example/', false],
    ['a.example:8443', 'https://a.example:8443/', true],
    ['a.example', 'https://a.example:8443/', false],
    ['a.example:*', 'https://a.example:8443/', true],
    ['http://a.example:80', 'http://a.example/', true],
    ['http://a.example:80', 'https://a.example/', true],
    ['http://a.example:81', 'http://a.example/', false],
    ['http://a.example:443', 'http://a.example/', false],
    ['http://a.example:80', 'https://a.example:8443/', false],

    ['a.example/', 'https://a.example/any/where', true],
    ['a.example/x/', 'https://a.example/x/y', true],
    ['a.example/x/', 'https://a.example/x', false],
    ['a.example/x', 'https://a.example/x', true],
    ['a.example/x', 'https://a.example/x/y', false],
    ['a.example/x', 'https://a.example/X', false],
    ['a.example/x?query', 'https://a.example/x?other', true],
    ['a.example/a%20b', 'https://a.example/a%20b', true],
    ['a.example/%41', 'https://a.example/A', true],
    // Broken escapes are compared as they are.
    ['a.example/%zz', 'https://a.example/%zz', true],
    ['a.example/%zz', 'https://a.example/x', false],

    ['//a.example', 'https://a.example/', false],
    ['https://', 'https://a.example/', false],
    ['a.example:port', 'https://a.example/', false],
  ])('%j for %s: %j', (source, url, allowed) => expect(allows(source, url)).toBe(allowed));

  test('the own origin over HTTP allows its safer form', () => {
    const self = new URL('http://app.example/sw.js');
    expect(allows("'self'", 'https://app.example/', self)).toBe(true);
    expect(allows('a.example', 'https://a.example/', self)).toBe(true);
    expect(allows('a.example', 'http://a.example/', self)).toBe(true);
  });

  test('of the same port, on one that is not the scheme’s own', () => {
    const self = new URL('http://localhost:5173/sw.js');
    expect(allows("'self'", 'http://localhost:5173/api', self)).toBe(true);
    expect(allows("'self'", 'http://localhost:5174/api', self)).toBe(false);
    expect(allows('localhost', 'http://localhost:5173/api', self)).toBe(false);
  });
});

test('one source of a list is enough, and every policy has to have one', () => {
  const url = new URL('https://a.example/');
  const allowed = (header: string) => allowsConnection(connectSources(header), url, SELF);
  expect(allowed("connect-src 'self' a.example")).toBe(true);
  expect(allowed("connect-src a.example, connect-src 'self'")).toBe(false);
  expect(allowed('connect-src a.example, default-src https:')).toBe(true);
  expect(allowed("script-src 'none'")).toBe(true);
});

describe('properties', () => {
  const source = fc.oneof(
    fc.constantFrom(
      '*',
      "'self'",
      "'none'",
      'https:',
      'http:',
      'a.example',
      '*.a.example',
      'a.example:*',
      'a.example/x/',
      'http://a.example:80',
    ),
    fc.stringMatching(/^[a-z*:/.%?#\d'-]{1,12}$/),
  );
  const sources = fc.array(source, { maxLength: 4 });
  const url = fc
    .tuple(
      fc.constantFrom('http:', 'https:'),
      fc.constantFrom('a.example', 'b.a.example', 'app.example', 'localhost'),
      fc.constantFrom('', ':80', ':443', ':8443'),
      fc.constantFrom('/', '/x', '/x/y', '/%zz'),
    )
    .map(([scheme, host, port, path]) => new URL(`${scheme}//${host}${port}${path}`));
  const may = (lists: readonly (readonly string[])[], to: URL) => allowsConnection(lists, to, SELF);

  test('a source more forbids nothing, and a policy more allows nothing', () => {
    fc.assert(
      fc.property(sources, sources, url, (list, more, to) => {
        if (may([list], to)) expect(may([[...list, ...more]], to)).toBe(true);
        if (!may([list], to)) expect(may([list, more], to)).toBe(false);
        expect(may([list, more], to)).toBe(may([more, list], to));
        expect([may([], to), may([[]], to), may([['*']], to)]).toEqual([true, false, true]);
      }),
    );
  });

  test('what may be asked over HTTP may be asked over HTTPS', () => {
    fc.assert(
      fc.property(sources, url, (list, to) => {
        fc.pre(to.protocol === 'http:' && to.port === '');
        const safer = new URL(to.href.replace('http:', 'https:'));
        if (may([list], to)) expect(may([list], safer)).toBe(true);
      }),
    );
  });

  test('schemes, hosts and names of directives are the same in any case', () => {
    const pathless = fc.constantFrom("'self'", "'none'", 'https:', '*.a.example', 'a.example:*', 'http://a.example:80');
    fc.assert(
      fc.property(fc.array(pathless), url, (list, to) => {
        expect(may([list.map((one) => one.toUpperCase())], to)).toBe(may([list], to));
      }),
    );
    expect(connectSources("CONNECT-SRC 'self'")).toEqual(connectSources("connect-src 'self'"));
  });

  test('whatever the header, lists of texts, and an answer for any URL', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          sources.map((list) => `connect-src ${list.join(' ')}`),
        ),
        url,
        (header, to) => {
          const lists = connectSources(header);
          expect(lists.flat().every((one) => typeof one === 'string' && !/[\s;,]/.test(one))).toBe(true);
          expect(may(lists, to)).toBeTypeOf('boolean');
        },
      ),
    );
  });
});

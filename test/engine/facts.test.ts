import '../support/worker-scope.ts';

import { describe, expect, test } from 'vitest';
import { toFacts } from '../../src/engine/facts.ts';

const read = (href: string, init: RequestInit = {}, over: object = {}) => {
  const request = new Request(href, init);
  const url = new URL(href);
  url.hash = '';
  const seen = new Proxy(request, {
    get: (target, key) => (key in over ? Reflect.get(over, key) : Reflect.get(target, key, target)),
  });
  return { request, facts: toFacts(seen as Request, url, 'https://app.test') };
};

describe('what is known of a request', () => {
  test('the body of one that is to be kept alive is not looked at: WebKit would not fetch it any more', () => {
    const body = {
      get body(): never {
        throw new Error('looked at');
      },
    };
    const init = { method: 'POST', body: 'x' };
    expect(read('https://app.test/', init, Object.assign(Object.create(body), { keepalive: true })).facts.hasBody).toBe(
      true,
    );
  });

  test('a page’s own fetch', () => {
    const { facts } = read('https://app.test/api/items?secret=1#part', {}, { destination: '' });
    expect(facts).toEqual({
      method: 'GET',
      url: 'https://app.test/api/items',
      protocol: 'https:',
      origin: 'https://app.test',
      path: '/api/items',
      sameOrigin: true,
      navigation: false,
      mode: 'cors',
      destination: '',
      cache: 'default',
      keyed: false,
      eventStream: false,
      range: false,
      hasBody: false,
      choosy: false,
      sameReferrer: true,
      polling: false,
      keepalive: false,
      reloaded: false,
    });
  });

  test('the body of one with `keepalive` is not touched: WebKit would not send it any more', () => {
    const touched = {
      get body() {
        throw new Error('touched');
      },
    };
    const { facts } = read('https://app.test/', { method: 'POST', keepalive: true, body: 'x' }, touched);
    expect(facts).toMatchObject({ keepalive: true, hasBody: true });
  });

  test.each<{ name: string; init: RequestInit; over?: object; fact: object }>([
    { name: 'a body', init: { method: 'PUT', body: 'x' }, fact: { method: 'PUT', hasBody: true } },
    { name: 'an empty body', init: { method: 'PUT', body: '' }, fact: { hasBody: true } },
    { name: 'no body', init: { method: 'DELETE' }, fact: { hasBody: false } },
    { name: 'a body nobody can tell', init: { method: 'DELETE' }, over: { body: undefined }, fact: { hasBody: true } },
    { name: 'a GET is sure to have none', init: {}, over: { body: undefined }, fact: { hasBody: false } },
    { name: 'a HEAD as well', init: { method: 'HEAD' }, over: { body: undefined }, fact: { hasBody: false } },
    { name: 'a key', init: { method: 'POST', headers: { 'idempotency-key': '1' } }, fact: { keyed: true } },
    {
      name: 'a key of the older name',
      init: { method: 'POST', headers: { 'X-Idempotency-Key': '1' } },
      fact: { keyed: true },
    },
    { name: 'an event stream', init: { headers: { accept: 'text/event-stream' } }, fact: { eventStream: true } },
    { name: 'a range', init: { headers: { range: 'bytes=0-' } }, fact: { range: true } },
    { name: 'an integrity', init: { integrity: 'sha256-x' }, fact: { choosy: true } },
    { name: 'no redirects', init: { redirect: 'error' }, fact: { choosy: true } },
    { name: 'redirects for the page to follow', init: { redirect: 'manual' }, fact: { choosy: false } },
    { name: 'a page as referrer', init: {}, over: { referrer: 'https://app.test/x' }, fact: { sameReferrer: true } },
    { name: 'no referrer', init: {}, over: { referrer: '' }, fact: { sameReferrer: true } },
    {
      name: 'a style sheet of another origin as referrer',
      init: {},
      over: { referrer: 'https://app.test.evil/x.css' },
      fact: { sameReferrer: false },
    },
    { name: 'a request that outlives its page', init: { keepalive: true }, fact: { keepalive: true } },
    { name: 'a reload', init: {}, over: { mode: 'navigate', isReloadNavigation: true }, fact: { reloaded: true } },
    { name: 'a cache mode', init: { cache: 'no-store' }, fact: { cache: 'no-store' } },
    {
      name: 'a navigation',
      init: {},
      over: { mode: 'navigate', destination: 'document' },
      fact: { navigation: true, destination: 'document' },
    },
  ])('$name', ({ init, over = {}, fact }) => {
    expect(read('https://app.test/', init, over).facts).toMatchObject(fact);
  });

  test.each([
    { href: 'https://app.test/socket.io/?EIO=4&transport=polling&t=P1a2b3c&sid=x', polling: true },
    { href: 'https://app.test/socket.io/?EIO=4&transport=polling', polling: true },
    { href: 'https://app.test/signalr/poll?transport=longPolling&messageId=d', polling: true },
    { href: 'https://app.test/hub?id=Abc_-1&_=1796015476123', polling: true },
    { href: 'https://app.test/socket.io/?EIO=4&transport=websocket', polling: false },
    { href: 'https://app.test/x?transport=pollingstation', polling: false },
    { href: 'https://app.test/items?_=1', polling: false },
    { href: 'https://app.test/items?page=2&_=1796015476123', polling: false },
  ])('$href: long polling $polling', ({ href, polling }) => {
    expect(read(href).facts.polling).toBe(polling);
  });

  test('another origin, another scheme', () => {
    expect(read('https://other.test/x').facts).toMatchObject({ sameOrigin: false, origin: 'https://other.test' });
    expect(read('http://app.test/x').facts).toMatchObject({ sameOrigin: false, protocol: 'http:' });
    expect(read('data:text/plain,x').facts).toMatchObject({ protocol: 'data:' });
  });

  test('where requests have no destination and no integrity, as at the edge', () => {
    const { facts } = read('https://app.test/', {}, { destination: undefined, integrity: undefined });
    expect(facts).toMatchObject({ destination: '', choosy: false });
  });

  test('reading consumes nothing', async () => {
    const { request } = read('https://app.test/', { method: 'PUT', body: 'still here' });
    expect(request.bodyUsed).toBe(false);
    expect(await request.text()).toBe('still here');
  });
});

import { afterEach, expect, test, vi } from 'vitest';
import { createWarner } from '../../src/engine/warner.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

test('says a thing once, with the first detail', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const say = createWarner();
  const detail = new Error('why');
  say('it broke', detail);
  say('it broke', new Error('again'));
  say('something else');
  expect(warn.mock.calls).toEqual([['steadfetch: it broke', detail], ['steadfetch: something else']]);
});

test('each warner says it for itself', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  createWarner()('it broke');
  createWarner()('it broke');
  expect(warn).toHaveBeenCalledTimes(2);
});

test('a detail that is `undefined` is left out, and `null` is not', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const say = createWarner();
  say('a', undefined);
  say('b', null);
  expect(warn.mock.calls).toEqual([['steadfetch: a'], ['steadfetch: b', null]]);
});

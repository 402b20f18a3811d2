import { afterEach, expect, test, vi } from 'vitest';
import { streamsLast } from '../../src/worker/streams-last.ts';

afterEach(() => vi.unstubAllGlobals());

const CHROMIUM =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36';
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0';

test.each([
  { browser: 'Chromium', userAgent: CHROMIUM, body: true, lasts: true },
  { browser: 'Firefox', userAgent: FIREFOX, body: false, lasts: false },
  { browser: 'a Firefox with Request.body', userAgent: FIREFOX, body: true, lasts: false },
  { browser: 'a Firefox by another name', userAgent: CHROMIUM, body: false, lasts: false },
  { browser: 'one without a name', userAgent: undefined, body: true, lasts: true },
])('$browser: $lasts', ({ userAgent, body, lasts }) => {
  vi.stubGlobal('navigator', { userAgent });
  if (!body) vi.stubGlobal('Request', class {});
  expect(streamsLast()).toBe(lasts);
});

import { readFileSync } from 'node:fs';
import { expect, test } from '../support/browser.ts';

// Every fault that the worker can plant, read from where they are planted: none can be forgotten here.
const source = readFileSync(new URL('./faulty.sw.ts', import.meta.url), 'utf8');
const FAULTS = [...source.matchAll(/^breakable(?:Getter)?\(.*'([^']+)'\);$/gm)].map(([, fault]) => fault ?? '');
FAULTS.push('match', 'onEvent');

const FINE = { status: 200, body: 'fine' };
const BUSY = { status: 503, body: 'busy' };

test('the list of faults is whole', () => expect(FAULTS.length).toBeGreaterThanOrEqual(27));

for (const fault of FAULTS) {
  test(`${fault} throws: pages get what a bare worker would give, or better`, async ({ site, open }) => {
    const page = await open('faulty');
    const arm = (after: number) =>
      page.evaluate(
        (message) =>
          new Promise((resolve) => {
            const { port1, port2 } = new MessageChannel();
            port1.onmessage = resolve;
            navigator.serviceWorker.controller?.postMessage(message, [port2]);
          }),
        { fault, after },
      );
    const body = 'é'.repeat(1_000);
    for (const after of [0, 1, 2, 3, 5, 8, 13]) {
      await arm(after);
      const good = site.plan([{ body: 'fine' }]);
      const flaky = site.plan([{ status: 503, body: 'busy' }, { body: 'fine' }]);
      const down = site.plan([{ status: 503, body: 'busy' }]);
      const reset = site.plan([{ reset: 'headers' }, { body: 'fine' }]);
      const put = site.plan([{ status: 503, body: 'busy' }, { body: 'fine' }]);
      const post = site.plan([{ status: 503, body: 'busy' }, { body: 'fine' }]);
      const seen = await page.evaluate(
        async ({ paths: [good = '', flaky = '', down = '', reset = '', put = '', post = ''], body }) => ({
          good: await window.sf.get(good),
          flaky: await window.sf.get(flaky),
          down: await window.sf.get(down),
          reset: await window.sf.get(reset),
          put: await window.sf.get(put, { method: 'PUT', body }),
          post: await window.sf.get(post, { method: 'POST', body }),
        }),
        { paths: [good, flaky, down, reset, put, post].map(({ path }) => path), body },
      );
      const label = `after ${after} good calls`;
      const what = (answer: object) =>
        'status' in answer && 'body' in answer ? { status: answer.status, body: answer.body } : { failed: true };
      expect.soft(what(seen.good), label).toEqual(FINE);
      expect.soft([FINE, BUSY], label).toContainEqual(what(seen.flaky));
      expect.soft(what(seen.down), label).toEqual(BUSY);
      expect.soft([FINE, { failed: true }], label).toContainEqual(what(seen.reset));
      expect.soft([FINE, BUSY], label).toContainEqual(what(seen.put));
      expect.soft(what(seen.post), label).toEqual(BUSY);
      expect.soft(good.hits().length, label).toBe(1);
      expect.soft(post.hits().length, label).toBe(1);
      for (const { hits } of [flaky, down, reset, put]) expect.soft(hits().length, label).toBeLessThanOrEqual(4);
      for (const hit of put.hits()) expect.soft(hit.body.toString(), label).toBe(body);
    }
  });
}

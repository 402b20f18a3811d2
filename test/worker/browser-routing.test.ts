import '../support/worker-scope.ts';

import { beforeEach, expect, test, vi } from 'vitest';
import { platformPorts } from '../../src/engine/index.ts';
import { routeInBrowser } from '../../src/worker/browser-routing.ts';
import { createNotes } from '../../src/worker/notes.ts';
import { toStaticRoutes } from '../../src/worker/static-routes.ts';
import { createMemoryStore, type MemoryStore } from '../support/memory-store.ts';
import { type FakeScope, settle, stubScope } from '../support/worker-scope.ts';

const ROUTES = toStaticRoutes(
  [
    { match: '/live', retry: false },
    { match: '/api', raceNetwork: true },
  ],
  'https://app.test',
);

let scope: FakeScope;
let store: MemoryStore;
let shared = false;
const problems = vi.fn();

beforeEach(() => {
  problems.mockReset();
  shared = false;
  store = createMemoryStore();
  // Node 20 has none; that patterns are right is for a browser to say.
  vi.stubGlobal('URLPattern', function pattern(this: object, init: object) {
    Object.assign(this, init);
  });
});

/** A start of the worker, the first one with the event that installs it. */
async function start({ routes = ROUTES, install }: { routes?: typeof ROUTES; install?: object } = {}) {
  scope = stubScope();
  const worker = self as unknown as ServiceWorkerGlobalScope;
  const notes = createNotes(store, platformPorts.sleep);
  void notes.store.load().catch(() => {});
  const isRaced = routeInBrowser(worker, routes, () => shared, notes, problems);
  const waits: Promise<unknown>[] = [];
  if (install) scope.dispatch('install', { waitUntil: (work: Promise<unknown>) => waits.push(work), ...install });
  await Promise.all(waits);
  const answer = await isRaced('/api');
  // What was found out is told at once.
  expect(isRaced('/api')).toBe(answer);
  if (install) await settle();
  return { answer, isRaced };
}

const taking = () => ({ addRoutes: vi.fn(async (_rules: object[]) => {}) });
const refusing = { addRoutes: () => Promise.reject(new TypeError('Too many router rules.')) };

test('the browser gets the rules in their order, with a pattern each', async () => {
  const install = taking();
  await start({ install });
  expect(install.addRoutes.mock.calls).toMatchObject([
    [
      [
        { source: 'network', condition: { urlPattern: { pathname: '/live{/*}?' } } },
        {
          source: 'race-network-and-fetch-handler',
          condition: { urlPattern: { pathname: '/api{/*}?' }, requestMethod: 'GET' },
        },
      ],
    ],
  ]);
  expect(install.addRoutes.mock.calls[0]?.[0][0]).not.toHaveProperty('condition.requestMethod');
});

test('where somebody else listens, what is left alone still comes to the worker; what is raced is raced', async () => {
  shared = true;
  const install = taking();
  expect((await start({ install })).answer).toBe(true);
  expect(install.addRoutes.mock.calls).toMatchObject([[[{ source: 'race-network-and-fetch-handler' }]]]);
});

test('a version that only waits takes nothing from the one that goes on', async () => {
  await start({ install: taking() });
  const others = toStaticRoutes([{ match: '/other', raceNetwork: true }], 'https://app.test');
  await start({ routes: others, install: taking() });
  expect((await start()).answer).toBe(true);
  expect((await start({ routes: others })).isRaced('/other')).toBe(true);
});

test('raced is what the browser has taken, also for a worker that is started later', async () => {
  for (const install of [taking(), undefined]) {
    const { answer, isRaced } = await start(install ? { install } : {});
    expect([answer, isRaced('/live'), isRaced('/else'), isRaced(undefined)]).toEqual([true, false, false, false]);
  }
});

test('a worker whose browser has learnt of static routes since it was installed knows that it has none', async () => {
  expect((await start({ install: {} })).answer).toBe(false);
  expect((await start()).answer).toBe(false);
  expect(problems).not.toHaveBeenCalled();
});

test('refused rules are reported, fail no installation, and nothing is raced', async () => {
  expect((await start({ install: refusing })).answer).toBe(false);
  expect((await start()).answer).toBe(false);
  expect(problems).toHaveBeenCalledOnce();
});

test('a pattern that the browser does not read is no more than that', async () => {
  vi.stubGlobal('URLPattern', undefined);
  expect((await start({ install: taking() })).answer).toBe(false);
  expect(problems).toHaveBeenCalledOnce();
});

test('what an earlier worker had says nothing about one that was refused, or that asks for others', async () => {
  await start({ install: taking() });
  const others = toStaticRoutes([{ match: '/api', raceNetwork: true }], 'https://app.test');
  expect((await start({ routes: others })).answer).toBe(false);
  expect((await start({ install: refusing })).answer).toBe(false);
  expect((await start()).answer).toBe(false);
});

test('without a store it is known only as long as the worker lives', async () => {
  store = createMemoryStore(() => {
    throw new Error('no store');
  });
  expect((await start({ install: taking() })).answer).toBe(true);
  expect((await start()).answer).toBe(false);
  expect(problems).not.toHaveBeenCalled();
});

test('a store that does not answer is not waited for', async () => {
  store = createMemoryStore(() => new Promise(() => {}));
  const startedAt = performance.now();
  expect((await start()).answer).toBe(false);
  expect(performance.now() - startedAt).toBeLessThan(1_000);
});

test('what else is stored, and the note of another scope, are no note', async () => {
  await start({ install: taking() });
  const [note] = store.stored.values();
  store = createMemoryStore(
    undefined,
    new Map<string, unknown>([
      ['a', 'text'],
      ['b', null],
      ['c', { ...(note as object), note: 'static-routes https://app.test/other/' }],
    ]),
  );
  expect((await start()).answer).toBe(false);
});

test('nothing is read or written where nothing is raced', async () => {
  const routes = toStaticRoutes([{ match: '/live', retry: false }], 'https://app.test');
  await start({ routes, install: taking() });
  expect(scope.listening).toEqual(['install']);
  await start({ routes: [] });
  expect([scope.listening, store.updates()]).toEqual([[], 0]);
});

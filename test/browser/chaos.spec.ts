import { expect, test } from '@playwright/test';
import { PLANTED, plant } from '../chaos/planted.ts';
import { inOneLine, runChaos, trace } from '../chaos/report.ts';
import { buildScripts, type Scripts } from '../chaos/site.ts';

// A thousand requests in all; `npm run chaos` has more, and `npm run chaos:planted` all planted faults.
test.describe.configure({ mode: 'parallel', timeout: 180_000 });

const scripts = (): Promise<Scripts> => {
  built ??= buildScripts();
  return built;
};
let built: Promise<Scripts> | undefined;

for (const { named, requests, seedOf } of [
  { named: 'with guards that never interfere', requests: 300, seedOf: () => 1 },
  { named: "with a user's guards", requests: 300, seedOf: () => 2 },
  { named: 'of a seed that nobody has tried', requests: 400, seedOf: () => 1 + Math.floor(Math.random() * 1e9) },
]) {
  test(`chaos ${named} breaks no invariant`, async ({ browser }) => {
    const seed = seedOf();
    const again = `npm run chaos -- --seed ${seed} --requests ${requests}`;
    console.log(`chaos: ${again}`);
    const verdict = await runChaos(seed, requests, await scripts(), browser);
    console.log(`chaos: ${inOneLine(verdict)}`);
    expect(trace(verdict), again).toEqual([]);
  });
}

for (const planted of PLANTED.filter(({ sample }) => sample)) {
  test(`chaos notices that ${planted.name}`, async ({ browser }) => {
    const { problems } = await runChaos(1, 100, await buildScripts(plant(planted)), browser);
    expect(problems.get(planted.caught)).not.toEqual([]);
  });
}

import { expect, test } from '@playwright/test';
import { PLANTED, plant } from '../chaos/planted.ts';
import { inOneLine, runChaos, trace } from '../chaos/report.ts';
import { buildScripts, type Scripts } from '../chaos/site.ts';

// A thousand requests in all; `npm run chaos` tries seeds that nobody has tried, and `npm run chaos:planted` all planted faults.
test.describe.configure({ mode: 'parallel', timeout: 180_000 });

const scripts = (): Promise<Scripts> => {
  built ??= buildScripts();
  return built;
};
let built: Promise<Scripts> | undefined;

for (const { named, requests, seed } of [
  { named: 'with guards that never interfere', requests: 500, seed: 1 },
  { named: "with a user's guards", requests: 500, seed: 2 },
]) {
  test(`chaos ${named} breaks no invariant`, async ({ browser }) => {
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

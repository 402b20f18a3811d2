// `npm run chaos:planted`: the same chaos with a fault planted in the worker, which its invariant has to notice.
// `-- --only N` the N-th of them; `--seed` and `--requests` as for `npm run chaos`.
import { ownArgs } from '../support/args.mjs';
import { load, withBrowser } from './launch.mjs';

const { buildScripts } = await load('site.ts');
const { runChaos } = await load('report.ts');
const { PLANTED, plant } = await load('planted.ts');
const { seed, requests, only } = ownArgs('chaos:planted', {
  numbers: { seed: 1, requests: 250, only: undefined },
  most: { only: PLANTED.length },
});
console.log(`${only === undefined ? PLANTED.length : 1} of ${PLANTED.length} planted faults, some 15 to 40 s each`);
let [caught, missed] = [0, 0];
for (const [index, planted] of PLANTED.entries()) {
  if (only !== undefined && only !== index + 1) continue;
  const scripts = await buildScripts(plant(planted));
  const { problems, seconds } = await withBrowser((browser) =>
    runChaos(planted.seed ?? seed, requests, scripts, browser),
  );
  const found = problems.get(planted.caught);
  const others = [...problems].filter(([name, all]) => name !== planted.caught && all.length > 0);
  if (found.length > 0) caught += 1;
  else missed += 1;
  const mark = found.length > 0 ? '✓' : '✗';
  console.log(`${mark} ${planted.name}: ${planted.caught}, ${found.length} times; ${seconds.toFixed(1)} s`);
  for (const [name, [first]] of [[planted.caught, found], ...others]) {
    if (first) console.log(`    ${name}: ${first.id ?? ''} ${first.what.split('\n')[0]}`);
  }
}
console.log(`\n${caught} caught, ${missed} missed`);
process.exitCode = missed > 0 ? 1 : 0;

// `npm run chaos:planted`: the same chaos with a fault planted in the worker, which its invariant has to notice.
// `-- --only N` the N-th of them; `--seed` and `--requests` as for `npm run chaos`.
import { load, readNumbers, withBrowser } from './launch.mjs';

const { seed, requests, only } = readNumbers({ seed: 1, requests: 150, only: 1_000 });
const { buildScripts } = await load('site.ts');
const { runChaos } = await load('report.ts');
const { PLANTED, plant } = await load('planted.ts');
let [caught, missed] = [0, 0];
for (const [index, planted] of PLANTED.entries()) {
  if (only <= PLANTED.length && only !== index + 1) continue;
  const scripts = await buildScripts(plant(planted));
  const { problems, seconds } = await withBrowser((browser) => runChaos(seed, requests, scripts, browser));
  const found = problems.get(planted.caught);
  const others = [...problems].filter(([name, all]) => name !== planted.caught && all.length > 0).map(([name]) => name);
  if (found.length > 0) caught += 1;
  else missed += 1;
  console.log(
    `${found.length > 0 ? '✓' : '✗'} ${planted.name}: ${planted.caught} (${found.length})${others.length > 0 ? `, also ${others.join(', ')}` : ''}, ${seconds.toFixed(1)} s`,
  );
  if (found[0]) console.log(`    ${found[0].id ?? ''} ${found[0].what}`);
}
console.log(`\n${caught} caught, ${missed} missed`);
process.exitCode = missed > 0 ? 1 : 0;

// `npm run chaos`: chaos in a real browser, by its seed, which is one that nobody has tried unless it is given.
// `-- --seed S --requests N` one run, `--seeds N` so many in a row from there.
import { ownArgs } from '../support/args.mjs';
import { load, withBrowser } from './launch.mjs';

const { seed, seeds, requests } = ownArgs('chaos', {
  numbers: { seed: 1 + Math.floor(Math.random() * 1e9), seeds: 1, requests: 1_000 },
  // An outbox remembers its last 100 results and takes so many entries: of more in one run it could not be told what became.
  most: { requests: 1_000 },
});
console.log(
  `${seeds === 1 ? 'One run' : `${seeds} runs`} of ${requests} requests, from seed ${seed} on; a thousand take about a minute`,
);
const { buildScripts } = await load('site.ts');
const { inAll, inOneLine, runChaos, trace } = await load('report.ts');
const scripts = await buildScripts();
const verdicts = [];
let failed = 0;
for (let next = seed; next < seed + seeds; next += 1) {
  const verdict = await withBrowser((browser) => runChaos(next, requests, scripts, browser));
  const lines = trace(verdict);
  console.log(`${lines.length === 0 ? '✓' : '✗'} ${inOneLine(verdict)}`);
  for (const line of lines) console.log(line);
  if (lines.length > 0) {
    failed += 1;
    console.log(`again: npm run chaos -- --seed ${next} --requests ${requests}`);
  }
  verdicts.push(verdict);
}
console.log(`\n${inAll(verdicts)}`);
console.log(`${seeds - failed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;

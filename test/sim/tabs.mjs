// `npm run sim:tabs`: what the simulator says of one client, measured on twenty real tabs of one browser, which share a
// worker and so are one client. By hand: each run takes a minute and a half. `--runs N`, three unless given.
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';
import { findBrowser } from '../support/find-browser.mjs';

const BOUNDS = { attempts: 0.1, points: 3 };

const [option, count = '3', ...others] = process.argv.slice(2);
const runs = Number(count);
if ((option !== undefined && option !== '--runs') || others.length > 0 || !(runs >= 1)) {
  console.error('usage: npm run sim:tabs -- [--runs N]');
  process.exit(1);
}

const { module } = await runnerImport(fileURLToPath(new URL('tabs.ts', import.meta.url)), {
  configFile: false,
  logLevel: 'error',
});

const browser = await findBrowser();
const print = ({ attempts, success }) => `${attempts.toFixed(2)} attempts, ${success.toFixed(1)} %`;
let [agreed, missed] = [0, 0];
for (const name of Object.keys(module.TRAFFICS)) {
  const simulated = module.expected(name);
  const { attemptsSigma, successSigma } = simulated;
  console.log(`${name}: simulated ${print(simulated)} (σ ${attemptsSigma.toFixed(3)}, ${successSigma.toFixed(1)})`);
  for (let run = 1; run <= runs; run++) {
    const real = await module.measure(name, browser);
    const agrees =
      Math.abs(real.attempts - simulated.attempts) <= BOUNDS.attempts &&
      Math.abs(real.success - simulated.success) <= BOUNDS.points;
    if (agrees) agreed += 1;
    else missed += 1;
    console.log(`${agrees ? '✓' : '✗'} run ${run}: ${print(real)} over ${real.requests} requests`);
  }
}
console.log(`\n${agreed} agree within ${BOUNDS.attempts} attempts and ${BOUNDS.points} points, ${missed} do not`);
process.exitCode = missed > 0 ? 1 : 0;

// `npm run chaos`: runs of seeded chaos in a real browser. `--seed S` one that is repeated, `--seeds N` so many in a row from
// there, `--requests N` each.
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { chromium } from '@playwright/test';
import { runnerImport } from 'vite';
import { findBrowser } from '../support/find-browser.mjs';

const { seed, seeds, requests } = readOptions();
const load = async (name) => {
  const file = fileURLToPath(new URL(name, import.meta.url));
  return (await runnerImport(file, { configFile: false, logLevel: 'error' })).module;
};
const [{ buildScripts }, { inOneLine, runChaos, trace }] = [await load('site.ts'), await load('report.ts')];
const scripts = await buildScripts();
const found = await findBrowser();

let broken = 0;
for (let one = seed; one < seed + seeds; one += 1) {
  // A browser of its own, so that no run inherits anything.
  const browser = await chromium.launch({
    executablePath: found.executablePath,
    env: { ...process.env, ...found.env },
    chromiumSandbox: false,
    args: ['--no-first-run', '--disable-quic', '--disable-background-networking', '--disable-component-update'],
  });
  try {
    const verdict = await runChaos(one, requests, scripts, browser);
    const lines = trace(verdict);
    console.log(`${lines.length === 0 ? '✓' : '✗'} ${inOneLine(verdict)}`);
    for (const line of lines) console.log(line);
    if (lines.length > 0) broken += 1;
  } finally {
    await browser.close();
  }
}
console.log(`\n${seeds - broken} passed, ${broken} failed, ${seeds * requests} requests`);
process.exitCode = broken > 0 ? 1 : 0;

function readOptions() {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string', default: '1' },
      seeds: { type: 'string', default: '1' },
      requests: { type: 'string', default: '1000' },
    },
  });
  const numbers = Object.fromEntries(Object.entries(values).map(([name, text]) => [name, Number(text)]));
  for (const [name, number] of Object.entries(numbers)) {
    if (Number.isInteger(number) && number >= (name === 'seed' ? 0 : 1)) continue;
    console.error(`chaos: --${name} must be a whole number, got ${values[name]}`);
    process.exit(1);
  }
  return numbers;
}

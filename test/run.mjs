// `npm test`: everything that can be checked on this machine, to the end even if something fails on the way.
// The last line counts every test, and each check that is no test suite as one.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { delimiter } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';
import { findBrowser } from './support/find-browser.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const unitReport = 'node_modules/.cache/vitest.json';
const vitest = `vitest run --coverage --reporter=default --reporter=json --outputFile.json=${unitReport}`;
const browserReport = 'node_modules/.cache/playwright.json';
const load = async (path) => (await runnerImport(`${root}${path}`, { configFile: false, logLevel: 'error' })).module;

process.env.PATH = `${root}node_modules/.bin${delimiter}${process.env.PATH}`;
// What Vite sets in this process, NODE_ENV among it, is not the commands' to know.
const env = { ...process.env };
const total = { passed: 0, failed: 0, skipped: 0 };
const faults = [];

mkdirSync(`${root}node_modules/.cache`, { recursive: true });

const browser = await stage('Browser', async () => {
  const { executablePath, from } = await findBrowser();
  console.log(`${executablePath} (from ${from})`);
  return true;
});
// Chromium is installed where there is none; the others come from packages of the system, which is its owner's to do.
await stage('Other engines', async () => {
  const { findFirefox } = await load('test/support/engines/firefox.ts');
  const { findWebKit } = await load('test/support/engines/webkit.ts');
  const missing = [
    ...(findFirefox() ? [] : ['Firefox: apt-get install firefox-esr, or set FIREFOX_PATH']),
    ...(findWebKit() ? [] : ['WebKit: apt-get install webkit2gtk-driver xvfb xauth']),
  ];
  console.log(missing.length === 0 ? 'Firefox and WebKit are there' : `Not tested here: ${missing.join('; ')}`);
  // Where everything is installed for it, an engine that is not there is a fault and no wish.
  if (process.env.CI) for (const engine of missing) fault(`missing ${engine}`);
  else total.skipped += missing.length;
});
await check('Lint and types', 'npm run lint');
const built = await check('Build', 'npm run build');
await stage('Unit tests', () => suite('unit tests', vitest, unitReport, countVitest));
await check('Package: exports (publint)', 'npm run check:exports', { needs: built });
await check('Package: types resolve (attw)', 'npm run check:types', { needs: built });
await check('Sizes', 'npm run size -- --check', { needs: built, show: true });
await check('Cases of other retry layers', 'npm run cases', { show: true });
await check('Simulator', 'npm run sim -- --quick', { show: true });
if (browser) {
  await stage('Browser tests', () => suite('browser tests', 'playwright test', browserReport, countPlaywright));
  await stage('Engines', async () => {
    const { summarize } = await load('test/support/engines/summary.ts');
    const complete = process.env.STEADFETCH_ENGINES === 'all';
    const { lines, faults } = summarize(JSON.parse(readFileSync(`${root}${browserReport}`, 'utf8')), { complete });
    console.log(lines.join('\n'));
    for (const one of faults) fault(one);
  });
}

if (faults.length > 0) console.log(`\nFailed:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
const { passed, failed, skipped } = total;
console.log(`\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exitCode = failed > 0 ? 1 : 0;

/** Runs under a heading; whatever it throws is one failure, and the next stage goes on. */
async function stage(title, work) {
  console.log(`\n== ${title}`);
  const startedAt = performance.now();
  let result;
  try {
    result = await work();
  } catch (error) {
    console.error(error.message);
    fault(`${title}: ${error.message.split('\n')[0]}`);
  }
  console.log(`-- ${title}: ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`);
  return result;
}

/** A command that passes or fails as a whole; what it printed is shown if it failed, or with `show`. */
function check(title, command, { needs = true, show = false } = {}) {
  return stage(title, async () => {
    if (!needs) {
      console.log('skipped: there is no build to look at');
      total.skipped += 1;
      return false;
    }
    const { code, output } = await run(command, { capture: true });
    if (code !== 0 || show) process.stdout.write(output);
    if (code === 0) total.passed += 1;
    else fault(`${title}: \`${command}\` exited with ${code}`);
    return code === 0;
  });
}

/** A test runner that also writes a report, from which its tests are counted. */
async function suite(name, command, report, count) {
  rmSync(`${root}${report}`, { force: true });
  const { code } = await run(command);
  let counts;
  try {
    counts = count(JSON.parse(readFileSync(`${root}${report}`, 'utf8')));
  } catch (error) {
    throw new Error(`${command} exited with ${code} without a report that can be read (${error.message})`);
  }
  for (const key of Object.keys(total)) total[key] += counts[key];
  if (counts.failed > 0) faults.push(`${name}: ${counts.failed} failed`);
  else if (counts.passed === 0) fault(`${name}: no test ran (exit code ${code})`);
  else if (code !== 0) fault(`${name}: exit code ${code} though no test failed`);
}

function countVitest({ numPassedTests, numFailedTests, numPendingTests, numTodoTests, testResults }) {
  // A file that does not load, or a hook of it that throws, fails no test.
  const broken = testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && assertionResults.every((test) => test.status !== 'failed'),
  );
  return {
    passed: numPassedTests,
    failed: numFailedTests + broken.length,
    skipped: numPendingTests + numTodoTests,
  };
}

function countPlaywright({ stats }) {
  return { passed: stats.expected + stats.flaky, failed: stats.unexpected, skipped: stats.skipped };
}

function fault(line) {
  total.failed += 1;
  faults.push(line);
}

function run(command, { capture = false } = {}) {
  return new Promise((resolve, reject) => {
    const output = capture ? 'pipe' : 'inherit';
    const child = spawn(command, { cwd: root, env, shell: true, stdio: ['ignore', output, output] });
    const printed = [];
    child.stdout?.on('data', (data) => printed.push(data));
    child.stderr?.on('data', (data) => printed.push(data));
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code: code ?? signal, output: Buffer.concat(printed) }));
  });
}

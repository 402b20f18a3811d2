// `npm run facts`: what the design takes for granted about browsers, measured in each of them, so that a browser's change is
// noticed. By hand: it needs the three of them and takes minutes; `-- --long` also waits until they stop a worker, which takes
// ten more; `-- firefox` or the ids of facts: only these.
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';
import { ownArgs } from '../support/args.mjs';
import { ENGINES } from './engines.mjs';

const inRepo = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const load = async (path) => (await runnerImport(inRepo(path), { configFile: false, logLevel: 'error' })).module;
const { FACTS, NotMeasured, underWorker } = await load('test/facts/facts.ts');
const { openFactServer } = await load('test/facts/server.ts');

const names = ENGINES.map(({ name }) => name);
const { long, named: asked } = ownArgs('facts', { flags: ['long'], names: [...names, ...FACTS.map(({ id }) => id)] });
const engines = ENGINES.filter(({ name }) => !names.some((one) => asked.includes(one)) || asked.includes(name));
const facts = FACTS.filter(({ id }) => !FACTS.some((one) => asked.includes(one.id)) || asked.includes(id));

/** A fact that hangs is one that has changed. */
const WITHIN_MS = 60_000;
const counts = { 'as expected': 0, CHANGED: 0, 'not measured': 0 };
const versions = [];

for (const engine of engines) {
  const found = await engine.find();
  if (found === undefined) {
    counts.CHANGED += 1;
    console.log(`\n✗ no ${engine.name} found: ${engine.remedy}`);
    continue;
  }
  const browser = await engine.launch(found);
  versions.push(`${engine.name} ${browser.version}`);
  console.log(`\n${engine.name} ${browser.version}`);
  try {
    for (const fact of facts) await measure(engine.name, browser, fact);
  } finally {
    await browser.close();
  }
}
console.log(`\n${versions.join(', ')}`);
console.log(
  Object.entries(counts)
    .map(([word, count]) => `${count} ${word}`)
    .join(', '),
);
process.exitCode = counts.CHANGED > 0 ? 1 : 0;

async function measure(engine, browser, fact) {
  if (fact.long && !long) return say('not measured', fact, 'it takes minutes: --long');
  // A server of its own: nothing of another fact is in its caches or on its connections.
  const server = await openFactServer();
  const openPage = (path) => browser.openPage(server.origin + path);
  try {
    const page = await openPage('/page.html');
    await underWorker(page, '/facts.sw.js', '/');
    const value = await inTime(fact.measure({ page, server, openPage }), fact.long ? 10 * WITHIN_MS : WITHIN_MS);
    const expected = fact.expected[engine];
    if (expected === value) say('as expected', fact, value);
    else say('CHANGED', fact, `${value}, where ${expected ?? 'nothing'} was expected; see ${fact.leans}`);
  } catch (error) {
    if (error instanceof NotMeasured) say('not measured', fact, error.message);
    else say('CHANGED', fact, `it cannot be measured any more: ${error.message}`);
  } finally {
    await server.close();
  }
}

function say(word, { id, says }, what) {
  counts[word] += 1;
  const sign = { 'as expected': '✓', CHANGED: '✗', 'not measured': '–' }[word];
  console.log(`${sign} ${word.padEnd(12)} ${id.padEnd(18)} ${says}: ${what}`);
}

async function inTime(work, ms) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not within ${ms / 1_000} s`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

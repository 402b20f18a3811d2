// `npm run recipes`: packs the package, installs it with each recipe of demo/recipes as a user would, builds them, and
// drives each in Chromium against the misbehaving server. `npm run recipes -- vite axios` does only these, `--built` packs
// `dist` as it is, `--keep` leaves the folder they were built in. The last line counts the checks.
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from '@playwright/test';
import { runnerImport } from 'vite';
import { checkPackage } from './package.mjs';
import { RECIPES } from './recipes.mjs';
import { createSite } from './site.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const recipesRoot = join(root, 'demo/recipes');
const load = async (path) => (await runnerImport(join(root, path), { configFile: false, logLevel: 'error' })).module;

const args = process.argv.slice(2);
const [keep, built] = ['--keep', '--built'].map((option) => args.includes(option));
const asked = args.filter((arg) => arg !== '--keep' && arg !== '--built');
const all = ['package', ...Object.keys(RECIPES)];
const unknown = asked.filter((name) => !all.includes(name));
const unwritten = readdirSync(recipesRoot, { withFileTypes: true }).filter(
  (entry) => entry.isDirectory() && !(entry.name in RECIPES),
);
if (unknown.length > 0 || unwritten.length > 0) {
  for (const name of unknown) console.error(`there is no recipe ${name}; there are ${all.join(', ')}`);
  for (const { name } of unwritten) console.error(`demo/recipes/${name} has no checks in test/recipes/recipes.mjs`);
  process.exit(1);
}
const names = asked.length > 0 ? asked : all;

const startedAt = performance.now();
const temp = mkdtempSync(join(tmpdir(), 'steadfetch-recipes-'));
const rows = [];
const total = { passed: 0, failed: 0 };

try {
  const tarball = await step('pack', async () => {
    const said = await run(
      'npm',
      ['pack', '--json', '--pack-destination', temp, ...(built ? ['--ignore-scripts'] : [])],
      root,
    );
    return join(temp, JSON.parse(said.slice(said.indexOf('[\n'))).at(0).filename);
  });
  const recipes = names.filter((name) => name !== 'package');
  if (recipes.length > 0) await step('install', () => install(recipes, tarball));
  if (names.includes('package')) {
    await recipe('package', async (check) => {
      await checkPackage({ tarball, folder: join(temp, 'package'), root, run, check });
    });
  }
  if (recipes.length > 0) await driveAll(recipes);
} catch (error) {
  total.failed += 1;
  console.error(error.message);
} finally {
  if (keep) console.log(`kept: ${temp}`);
  else rmSync(temp, { recursive: true, force: true });
}

console.log('\n| recipe | s | checks | |\n| --- | ---: | ---: | --- |');
for (const { name, seconds, passed, failed } of rows) {
  console.log(`| ${name} | ${seconds} | ${passed + failed} | ${failed === 0 ? 'works' : `${failed} failed`} |`);
}
console.log(`\nAll in ${secondsSince(startedAt)} s`);
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exit(total.failed > 0 ? 1 : 0);

/** One installation for all: each recipe is a workspace, and what they share is installed once. */
async function install(recipes, tarball) {
  for (const name of recipes) {
    const folder = join(temp, name);
    cpSync(join(recipesRoot, name), folder, { recursive: true });
    const file = join(folder, 'package.json');
    const manifest = JSON.parse(readFileSync(file, 'utf8'));
    manifest.dependencies.steadfetch = `file:${tarball}`;
    writeFileSync(file, JSON.stringify(manifest));
  }
  writeFileSync(
    join(temp, 'package.json'),
    JSON.stringify({ name: 'recipes', private: true, type: 'module', workspaces: recipes }),
  );
  const installing = ['install', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
  // A registry that does not answer is asked once more; a second failure is final.
  await run('npm', installing, temp).catch(() => run('npm', installing, temp));
}

async function driveAll(recipes) {
  const { default: config } = await load('playwright.config.ts');
  const { createMisbehavingServer } = await load('demo/misbehaving-server.ts');
  const browser = await chromium.launch(config.projects[0].use.launchOptions);
  try {
    const waiting = [...recipes];
    const lane = async () => {
      for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) await drive(name);
    };
    const drive = (name) =>
      recipe(name, async (check) => {
        const folder = join(temp, name);
        await run('npm', ['run', 'build', '--silent'], folder);
        const site = await createSite(
          join(folder, RECIPES[name].serves),
          createMisbehavingServer(),
          RECIPES[name].headers,
        );
        const cli = (...args) => run(join(temp, 'node_modules/.bin/steadfetch'), args, folder);
        for (const [title, work] of Object.entries(RECIPES[name].checks)) {
          const context = await browser.newContext();
          await check(title, () => work({ site, context, folder, cli }));
          await context.close();
        }
        await site.close();
      });
    await Promise.all([lane(), lane()]);
  } finally {
    await browser.close();
  }
}

/** Runs a recipe to its end: a check that fails does not keep the others from being made. */
async function recipe(name, work) {
  const from = performance.now();
  const row = { name, passed: 0, failed: 0 };
  const note = (title, error) => {
    row[error ? 'failed' : 'passed'] += 1;
    console.log(`${error ? 'FAIL' : 'ok  '} ${name}: ${title}${error ? `\n${error.stack ?? error}` : ''}`);
  };
  const check = async (title, made) => {
    try {
      await made();
      note(title);
    } catch (error) {
      note(title, error);
    }
  };
  try {
    await work(check);
  } catch (error) {
    note('can be installed and built', error);
  }
  rows.push({ ...row, seconds: secondsSince(from) });
  total.passed += row.passed;
  total.failed += row.failed;
}

async function step(title, work) {
  const from = performance.now();
  const result = await work();
  console.log(`-- ${title}: ${secondsSince(from)} s`);
  return result;
}

/** Resolves to what was printed; rejects with it if the command fails. */
function run(command, args, cwd) {
  return new Promise((resolve, reject) => {
    mkdirSync(cwd, { recursive: true });
    // npm hands its own settings down; a command here is to run as one that a user types.
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')));
    const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: 240_000 });
    let printed = '';
    let complained = '';
    child.stdout.on('data', (data) => {
      printed += data;
    });
    child.stderr.on('data', (data) => {
      complained += data;
    });
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (code === 0) resolve(printed);
      else reject(new Error(`${[command, ...args].join(' ')} exited with ${code ?? signal}\n${printed}${complained}`));
    });
  });
}

function secondsSince(from) {
  return ((performance.now() - from) / 1_000).toFixed(1);
}

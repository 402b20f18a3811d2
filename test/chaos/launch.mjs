// What the scripts of the chaos have in common: their modules, and a browser for each run.
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { chromium } from '@playwright/test';
import { runnerImport } from 'vite';
import { findBrowser } from '../support/find-browser.mjs';

export async function load(name) {
  const file = fileURLToPath(new URL(name, import.meta.url));
  return (await runnerImport(file, { configFile: false, logLevel: 'error' })).module;
}

const found = await findBrowser();

/** A browser of its own, so that no run inherits anything. */
export async function withBrowser(work) {
  const browser = await chromium.launch({
    executablePath: found.executablePath,
    env: { ...process.env, ...found.env },
    chromiumSandbox: false,
    args: ['--no-first-run', '--disable-quic', '--disable-background-networking', '--disable-component-update'],
  });
  try {
    return await work(browser);
  } finally {
    await browser.close();
  }
}

/** Whole numbers, by their names, with what they are unless given. */
export function readNumbers(defaults) {
  const options = Object.fromEntries(
    Object.entries(defaults).map(([name, number]) => [name, { type: 'string', default: String(number) }]),
  );
  try {
    const { values } = parseArgs({ options });
    const numbers = Object.fromEntries(Object.entries(values).map(([name, text]) => [name, Number(text)]));
    for (const [name, number] of Object.entries(numbers)) {
      if (!Number.isInteger(number) || number < 1) throw new Error(`--${name} must be a whole number from 1`);
    }
    return numbers;
  } catch (error) {
    console.error(
      `${error.message}; there are ${Object.keys(defaults)
        .map((name) => `--${name} N`)
        .join(', ')}`,
    );
    process.exit(1);
  }
}

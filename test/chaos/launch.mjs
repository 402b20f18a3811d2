// What the scripts of the chaos have in common: their modules, and a browser for each run.
import { fileURLToPath } from 'node:url';
import { chromium } from '@playwright/test';
import { runnerImport } from 'vite';
import { findBrowser } from '../support/find-browser.mjs';

export async function load(name) {
  const file = fileURLToPath(new URL(name, import.meta.url));
  return (await runnerImport(file, { configFile: false, logLevel: 'error' })).module;
}

let found;

/** A browser of its own, so that no run inherits anything. */
export async function withBrowser(work) {
  found ??= await findBrowser();
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

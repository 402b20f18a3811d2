import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import WebSocket from 'ws';
import type { Driver, LoadState, Profile, Tab } from './driver.ts';

// A real Firefox by its own WebDriver BiDi, which is JSON over a WebSocket: no driver has to be installed.

const START_MS = 60_000;
/** Longer than anything that a page is asked for here. */
const ANSWER_MS = 240_000;

type Prefs = Readonly<Record<string, number | boolean>>;

/**
 * Tabs that nobody looks at are as awake as the others, as in the Chromium that Playwright starts; and tests that count hits
 * count their own: as it comes, Firefox sends up to ten times by itself what meets a broken connection.
 */
export const FOR_TESTS: Prefs = {
  'network.http.request.max-attempts': 1,
  'dom.min_background_timeout_value': 4,
  'dom.timeout.enable_budget_timer_throttling': false,
  'dom.ipc.processPriorityManager.enabled': false,
  'browser.tabs.unloadOnLowMemory': false,
};

export function findFirefox({ FIREFOX_PATH, PATH = '' }: NodeJS.ProcessEnv = process.env): string | undefined {
  if (FIREFOX_PATH) return existsSync(FIREFOX_PATH) ? FIREFOX_PATH : undefined;
  const places = ['firefox-esr', 'firefox'].flatMap((name) => PATH.split(delimiter).map((dir) => join(dir, name)));
  return [...places, '/Applications/Firefox.app/Contents/MacOS/firefox'].find((place) => existsSync(place));
}

/** With a profile of its own, so with the settings that it comes with, but for `prefs`. */
export async function launchFirefox(
  executable: string,
  prefs: Prefs = {},
): Promise<Driver & Required<Pick<Driver, 'stopWorkers'>>> {
  const folder = await mkdtemp(join(tmpdir(), 'steadfetch-firefox-'));
  const lines = Object.entries(prefs).map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${value});\n`);
  await writeFile(join(folder, 'user.js'), lines.join(''));
  const child = spawn(
    executable,
    // System access: what only the browser itself may do, such as stopping workers, can be asked of it.
    ['--headless', '--no-remote', '--profile', folder, '--remote-debugging-port', '0', '--remote-allow-system-access'],
    {
      // As root it does not start in a home that is somebody else's.
      env: { ...process.env, HOME: folder, MOZ_CRASHREPORTER_DISABLE: '1' },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  const gone = new Promise((resolve) => child.once('close', resolve));
  const end = async () => {
    child.kill('SIGKILL');
    await gone;
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    const line = await openLine(`${await addressOf(child)}/session`);
    const { capabilities } = await line.send<{ capabilities: { browserVersion: string } }>('session.new', {
      capabilities: {},
    });
    return {
      engine: 'firefox',
      version: capabilities.browserVersion,
      openProfile: () => openProfile(line.send),
      stopWorkers: () => stopWorkers(line.send),
      async close() {
        await line.send('session.end').catch(() => {});
        line.close();
        await end();
      },
    };
  } catch (error) {
    await end();
    throw error;
  }
}

/** It says on its standard error where it listens. */
function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      const [, address] = /WebDriver BiDi listening on (ws:\S+)/.exec(said) ?? [];
      if (address) resolve(address);
    });
    const fail = () => reject(new Error(`Firefox says nowhere that it listens: ${said}`));
    child.once('error', reject).once('close', fail);
    setTimeout(fail, START_MS).unref();
  });
}

type Send = <T = unknown>(method: string, params?: object) => Promise<T>;

interface Answer {
  readonly id?: number;
  readonly type: 'success' | 'error' | 'event';
  readonly result?: unknown;
  readonly error?: string;
  readonly message?: string;
}

async function openLine(address: string): Promise<{ send: Send; close(): void }> {
  const socket = new WebSocket(address);
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  const asked = new Map<number, (answer: Answer) => void>();
  socket.on('message', (data) => {
    const answer = JSON.parse(String(data)) as Answer;
    if (answer.id !== undefined) asked.get(answer.id)?.(answer);
  });
  socket.on('close', () => {
    for (const settle of asked.values()) settle({ type: 'error', error: 'gone', message: 'Firefox has ended' });
  });
  let next = 0;
  const send: Send = (method, params = {}) =>
    new Promise((resolve, reject) => {
      const id = ++next;
      const settle = ({ type, result, error, message }: Answer) => {
        clearTimeout(late);
        asked.delete(id);
        if (type === 'success') resolve(result as never);
        else reject(new Error(`${method}: ${error}: ${message}`));
      };
      const late = setTimeout(
        () => settle({ type: 'error', error: 'timeout', message: `not answered in ${ANSWER_MS} ms` }),
        ANSWER_MS,
      );
      asked.set(id, settle);
      socket.send(JSON.stringify({ id, method, params }));
    });
  return { send, close: () => socket.close() };
}

async function openProfile(send: Send): Promise<Profile> {
  const { userContext } = await send<{ userContext: string }>('browser.createUserContext');
  return {
    async openTab() {
      const { context } = await send<{ context: string }>('browsingContext.create', { type: 'tab', userContext });
      return openTab(send, context);
    },
    async setCookie({ name, value, url }) {
      await send('storage.setCookie', {
        cookie: { name, value: { type: 'string', value }, domain: new URL(url).hostname, path: '/' },
        partition: { type: 'storageKey', userContext },
      });
    },
    async close() {
      await send('browser.removeUserContext', { userContext });
    },
  };
}

const WAIT = { commit: 'none', domcontentloaded: 'interactive', load: 'complete' } as const;

function openTab(send: Send, context: string): Tab {
  return {
    async goto(url: string, until: LoadState) {
      await send('browsingContext.navigate', { context, url, wait: WAIT[until] });
    },
    async reload() {
      await send('browsingContext.reload', { context, wait: 'complete' });
    },
    evaluate: (expression) => evaluate(send, context, expression),
    async addInitScript(source) {
      await send('script.addPreloadScript', { functionDeclaration: `() => { ${source}; }`, contexts: [context] });
    },
    async close() {
      await send('browsingContext.close', { context });
    },
  };
}

async function evaluate(send: Send, context: string, expression: string): Promise<string> {
  const { result, exceptionDetails } = await send<{
    result: { value: string };
    exceptionDetails?: { text: string };
  }>('script.evaluate', { expression, target: { context }, awaitPromise: true });
  if (exceptionDetails) throw new Error(exceptionDetails.text);
  return result.value;
}

async function stopWorkers(send: Send): Promise<void> {
  const { contexts } = await send<{ contexts: { context: string }[] }>('browsingContext.getTree', {
    'moz:scope': 'chrome',
  });
  await evaluate(
    send,
    contexts[0]?.context ?? '',
    `(async () => {
      const manager = Cc['@mozilla.org/serviceworkers/manager;1'].getService(Ci.nsIServiceWorkerManager);
      const all = manager.getAllRegistrations();
      for (let index = 0; index < all.length; index += 1) {
        await all.queryElementAt(index, Ci.nsIServiceWorkerRegistrationInfo).activeWorker?.terminateWorker();
      }
      return '';
    })()`,
  );
}

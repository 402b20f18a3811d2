// A real Firefox by its own WebDriver BiDi, which is JSON over a WebSocket: no driver has to be installed.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

const START_MS = 60_000;
/** Longer than anything that a page is asked for here. */
const ANSWER_MS = 150_000;

export function findFirefox({ FIREFOX_PATH, PATH = '' } = process.env) {
  if (FIREFOX_PATH) return existsSync(FIREFOX_PATH) ? FIREFOX_PATH : undefined;
  const places = ['firefox-esr', 'firefox'].flatMap((name) => PATH.split(delimiter).map((dir) => join(dir, name)));
  return [...places, '/Applications/Firefox.app/Contents/MacOS/firefox'].find((place) => existsSync(place));
}

/**
 * Starts it with a profile of its own, so with the settings that it comes with. `systemAccess`: what only the browser
 * itself may do, such as stopping workers, can be asked of it.
 */
export async function launchFirefox(executable, { systemAccess = false } = {}) {
  const profile = await mkdtemp(join(tmpdir(), 'steadfetch-firefox-'));
  const args = ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0'];
  if (systemAccess) args.push('--remote-allow-system-access');
  // As root it does not start in a home that is somebody else's.
  const env = { ...process.env, HOME: profile, MOZ_CRASHREPORTER_DISABLE: '1' };
  const child = spawn(executable, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  const gone = new Promise((resolve) => child.once('close', resolve));
  const end = async () => {
    child.kill('SIGKILL');
    await gone;
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    const { send, close } = await openLine(`${await addressOf(child)}/session`);
    const { capabilities } = await send('session.new', { capabilities: {} });
    return {
      version: capabilities.browserVersion,
      openPage: (url) => openPage(send, url),
      ...(systemAccess ? { stopWorkers: () => stopWorkers(send) } : {}),
      async close() {
        await send('browser.close').catch(() => {});
        close();
        await end();
      },
    };
  } catch (error) {
    await end();
    throw error;
  }
}

/** It says on its standard error where it listens. */
function addressOf(child) {
  return new Promise((resolve, reject) => {
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text) => {
      said += text;
      const [, address] = /WebDriver BiDi listening on (ws:\S+)/.exec(said) ?? [];
      if (address) resolve(address);
    });
    const fail = () => reject(new Error(`it says nowhere that it listens: ${said}`));
    child.once('error', reject).once('close', fail);
    setTimeout(fail, START_MS).unref();
  });
}

async function openLine(address) {
  const socket = new WebSocket(address);
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', () => reject(new Error(`no connection to ${address}`)));
  });
  const asked = new Map();
  socket.addEventListener('message', ({ data }) => {
    const { id, type, result, error, message } = JSON.parse(data);
    const { resolve, reject } = asked.get(id) ?? {};
    asked.delete(id);
    if (type === 'success') resolve?.(result);
    else reject?.(new Error(`${error}: ${message}`));
  });
  let next = 0;
  const send = (method, params = {}) =>
    new Promise((resolve, reject) => {
      const id = ++next;
      asked.set(id, { resolve, reject });
      setTimeout(() => reject(new Error(`${method} was not answered in ${ANSWER_MS} ms`)), ANSWER_MS).unref();
      socket.send(JSON.stringify({ id, method, params }));
    });
  return { send, close: () => socket.close() };
}

async function stopWorkers(send) {
  const { contexts } = await send('browsingContext.getTree', { 'moz:scope': 'chrome' });
  const { exceptionDetails } = await send('script.evaluate', {
    expression: `(async () => {
      const manager = Cc['@mozilla.org/serviceworkers/manager;1'].getService(Ci.nsIServiceWorkerManager);
      const all = manager.getAllRegistrations();
      for (let index = 0; index < all.length; index += 1) {
        await all.queryElementAt(index, Ci.nsIServiceWorkerRegistrationInfo).activeWorker?.terminateWorker();
      }
    })()`,
    target: { context: contexts[0].context },
    awaitPromise: true,
  });
  if (exceptionDetails) throw new Error(exceptionDetails.text);
}

/** With storage and workers of its own, as if it were in another browser. */
async function openPage(send, url) {
  const { userContext } = await send('browser.createUserContext');
  const { context } = await send('browsingContext.create', { type: 'tab', userContext });
  await send('browsingContext.navigate', { context, url, wait: 'complete' });
  return {
    /** Calls the function in the page. What it takes and returns must be plain data. */
    async run(work, ...args) {
      const call = `(${work})(...${JSON.stringify(args)})`;
      const { result, exceptionDetails } = await send('script.evaluate', {
        expression: `(async () => JSON.stringify({ value: await ${call} }))()`,
        target: { context },
        awaitPromise: true,
      });
      if (exceptionDetails) throw new Error(exceptionDetails.text);
      return JSON.parse(result.value).value;
    },
  };
}

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Driver, LoadState, Profile, Tab } from './driver.ts';

// A real WebKit by its WebDriver, which is JSON over HTTP. It needs a screen, which xvfb-run makes where there is none.

const START_MS = 30_000;
const LOAD_MS = 30_000;
/** How long one command may wait for what a page is asked for: the driver has one window at a time. */
const TURN_MS = 30;
const BROWSER = '/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser';

export interface FoundWebKit {
  readonly driver: string;
  readonly screen: string;
}

export function findWebKit({ PATH = '' }: NodeJS.ProcessEnv = process.env): FoundWebKit | undefined {
  const find = (name: string) =>
    PATH.split(delimiter)
      .map((dir) => join(dir, name))
      .find((place) => existsSync(place));
  const [driver, screen] = [find('WebKitWebDriver'), find('xvfb-run')];
  return driver && screen && existsSync(BROWSER) ? { driver, screen } : undefined;
}

type Send = <T = unknown>(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object) => Promise<T>;

/** Starts it with a home of its own. */
export async function launchWebKit({ driver, screen }: FoundWebKit): Promise<Driver> {
  const home = await mkdtemp(join(tmpdir(), 'steadfetch-webkit-'));
  const port = await freePort();
  const env = {
    ...process.env,
    HOME: home,
    XDG_DATA_HOME: join(home, 'data'),
    XDG_CACHE_HOME: join(home, 'cache'),
    XDG_CONFIG_HOME: join(home, 'config'),
    WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1',
    LIBGL_ALWAYS_SOFTWARE: '1',
    GDK_BACKEND: 'x11',
    NO_AT_BRIDGE: '1',
  };
  // A group of its own: the screen and the browser go with it.
  const child = spawn(screen, ['-a', driver, `--port=${port}`], { env, stdio: 'ignore', detached: true });
  const gone = new Promise((resolve) => child.once('close', resolve));
  const end = async () => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGTERM');
    await gone;
    await rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  };
  const send: Send = async (method, path, body) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const { value } = (await response.json()) as { value: { error?: string; message?: string } | null };
    if (value?.error) throw new Error(`${value.error}: ${value.message}`);
    return value as never;
  };
  try {
    await started(() => send('GET', '/status'));
    const { sessionId, capabilities } = await send<{ sessionId: string; capabilities: { browserVersion: string } }>(
      'POST',
      '/session',
      {
        capabilities: {
          alwaysMatch: {
            'webkitgtk:browserOptions': { binary: BROWSER, args: ['--automation'] },
            // Else each command waits for the page that is loading, and no other window can be asked meanwhile.
            pageLoadStrategy: 'none',
          },
        },
      },
    );
    const inSession: Send = (method, path, body) => send(method, `/session/${sessionId}${path}`, body);
    await inSession('POST', '/timeouts', { script: 60_000, pageLoad: LOAD_MS });
    const session = createSession(inSession, await inSession<string>('GET', '/window'));
    return {
      engine: 'webkit',
      version: capabilities.browserVersion,
      openProfile: async () => openProfile(session),
      async close() {
        await inSession('DELETE', '').catch(() => {});
        await end();
      },
    };
  } catch (error) {
    await end();
    throw error;
  }
}

interface Session {
  /** One command after the other, each to its window. */
  inWindow<T>(handle: string, method: 'GET' | 'POST', path: string, body?: object): Promise<T>;
  openWindow(): Promise<string>;
  closeWindow(handle: string): Promise<void>;
}

/** `first` is the window that it starts with: it stays, since the session ends with its last one. */
function createSession(send: Send, first: string): Session {
  let current = first;
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = last.then(work);
    last = done.catch(() => {});
    return done;
  };
  const turnTo = async (handle: string) => {
    if (current !== handle) await send('POST', '/window', { handle });
    current = handle;
  };
  return {
    inWindow: (handle, method, path, body) =>
      inTurn(async () => {
        await turnTo(handle);
        return send(method, path, body);
      }),
    closeWindow: (handle) =>
      inTurn(async () => {
        await turnTo(handle);
        await send('DELETE', '/window');
        await turnTo(first);
      }),
    // A window and not a tab: one that is behind another is hidden, and its timers are slowed down.
    openWindow: () =>
      inTurn(async () => (await send<{ handle: string }>('POST', '/window/new', { type: 'window' })).handle),
  };
}

const UNREGISTER_MS = 1_000;
const UNREGISTER = `(async () => {
  for (const one of (await navigator.serviceWorker?.getRegistrations()) ?? []) await one.unregister();
  return '';
})()`;

/** WebKit's driver has one storage for all its windows: tests get a host of their own instead. */
function openProfile(session: Session): Profile {
  const open = new Set<Tab>();
  return {
    async openTab() {
      const handle = await session.openWindow();
      const tab = openTab(session, handle, () => open.delete(tab));
      open.add(tab);
      return tab;
    },
    async setCookie({ name, value, url }) {
      const tab = await this.openTab();
      await tab.goto(url, 'load');
      await tab.evaluate(`(async () => String(document.cookie = ${JSON.stringify(`${name}=${value}; path=/`)}))()`);
      await tab.close();
    },
    async close() {
      const [tab] = open;
      // Else they live on as long as any page of the driver does, and the next profile of this host has them.
      if (tab) await Promise.race([tab.evaluate(UNREGISTER).catch(() => {}), sleep(UNREGISTER_MS)]);
      for (const one of open) await one.close();
    },
  };
}

function openTab(session: Session, handle: string, closed: () => void): Tab {
  let next = 0;
  const execute = <T>(script: string) =>
    session.inWindow<T>(handle, 'POST', '/execute/async', {
      script: `const done = arguments[0];\n${script}`,
      args: [],
    });
  const leave = async (how: () => Promise<unknown>, until: LoadState) => {
    const left = `left${++next}`;
    await execute(`window.${left} = true; done();`);
    await how();
    for (const end = Date.now() + LOAD_MS; ; ) {
      const state = await execute<string>(`done(window.${left} ? 'left' : document.readyState);`).catch(() => 'left');
      if (state === 'complete' || (state !== 'left' && until === 'commit')) return;
      if (state === 'interactive' && until === 'domcontentloaded') return;
      if (Date.now() > end) throw new Error(`the page is not there after ${LOAD_MS} ms`);
      await sleep(TURN_MS);
    }
  };
  return {
    async goto(url, until) {
      await leave(() => session.inWindow(handle, 'POST', '/url', { url }), until);
      // A page that cannot be had is an empty one here.
      const href = await execute<string>('done(location.href);');
      if (href === 'about:blank' && url !== 'about:blank') throw new Error(`nothing answers at ${url}`);
    },
    reload: () => leave(() => session.inWindow(handle, 'POST', '/refresh', {}), 'load'),
    async evaluate(expression) {
      const call = `steadfetchCall${++next}`;
      // What takes longer is asked for again, so that other windows have their turn.
      const turn = `const later = setTimeout(done, ${TURN_MS}, 'pending');
        window.${call}.then((value) => { clearTimeout(later); done({ value }); },
          (error) => { clearTimeout(later); done({ error: String(error) }); });`;
      let script = `window.${call} = ${expression};\n${turn}`;
      for (;;) {
        const answer = await execute<'pending' | { value?: string; error?: string }>(script);
        if (answer !== 'pending') {
          if (answer.error !== undefined) throw new Error(answer.error);
          return answer.value ?? '';
        }
        script = `if (!window.${call}) return done({ error: 'the page has gone to another document' });\n${turn}`;
      }
    },
    async close() {
      closed();
      await session.closeWindow(handle);
    },
  };
}

async function started<T>(asks: () => Promise<T>): Promise<T> {
  for (const until = Date.now() + START_MS; ; ) {
    try {
      return await asks();
    } catch (error) {
      if (Date.now() > until) throw error;
      await sleep(50);
    }
  }
}

const freePort = () =>
  new Promise<number>((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });

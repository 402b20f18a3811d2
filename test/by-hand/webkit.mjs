// A real WebKit by its WebDriver, which is JSON over HTTP. It needs a screen, which xvfb-run makes where there is none.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const START_MS = 20_000;
const BROWSER = '/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser';

export function findWebKit({ PATH = '' } = process.env) {
  const find = (name) =>
    PATH.split(delimiter)
      .map((dir) => join(dir, name))
      .find((place) => existsSync(place));
  const [driver, screen] = [find('WebKitWebDriver'), find('xvfb-run')];
  return driver && screen && existsSync(BROWSER) ? { driver, screen } : undefined;
}

/** Starts it with a home of its own. */
export async function launchWebKit({ driver, screen }) {
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
  const end = async () => {
    process.kill(-child.pid, 'SIGTERM');
    await sleep(500);
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  };
  const send = async (method, path, body) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const { value } = await response.json();
    if (value?.error) throw new Error(`${value.error}: ${value.message}`);
    return value;
  };
  try {
    await started(() => send('GET', '/status'));
    const options = { binary: BROWSER, args: ['--automation'] };
    const { sessionId, capabilities } = await send('POST', '/session', {
      capabilities: { alwaysMatch: { 'webkitgtk:browserOptions': options } },
    });
    const inSession = (method, path, body) => send(method, `/session/${sessionId}${path}`, body);
    await inSession('POST', '/timeouts', { script: 60_000, pageLoad: 20_000 });
    return {
      version: capabilities.browserVersion,
      async openPage(url) {
        await inSession('POST', '/url', { url });
        return {
          goto: (other) => inSession('POST', '/url', { url: other }),
          /** Calls the function in the page. What it takes and returns must be plain data. */
          async run(work, ...args) {
            const script = `const done = arguments[arguments.length - 1];
              (async () => (${work})(...[...arguments].slice(0, -1)))()
                .then((value) => done({ value }), (error) => done({ error: String(error) }));`;
            const { value, error } = await inSession('POST', '/execute/async', { script, args });
            if (error) throw new Error(error);
            return value ?? undefined;
          },
        };
      },
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

async function started(asks) {
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
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

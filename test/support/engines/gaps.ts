export type Engine = 'chromium' | 'firefox' | 'webkit';

/** Something that an engine, or what drives it, cannot do; and what is done in its place. */
export interface Gap {
  /** What a test that needs it would do. */
  readonly what: string;
  readonly engines: Readonly<Partial<Record<Engine, string>>>;
  readonly instead: string;
}

const BIDI = 'Playwright cannot drive this Firefox, and WebDriver BiDi';
const DRIVER = 'Playwright cannot drive this WebKit, and its WebDriver';

export const GAPS = {
  locators: {
    what: 'find an element by its role or label',
    engines: {
      firefox: `${BIDI} finds no elements by role or label`,
      webkit: `${DRIVER} finds no elements by role or label`,
    },
    instead:
      'test/browser/views.spec.ts asks panel and status themselves what they show; the demo is tested in Chromium only',
  },
  offline: {
    what: 'take the network away',
    engines: {
      firefox: 'no command takes the worker offline: those of BiDi reach the page only',
      webkit: 'its WebDriver has no command for it',
    },
    instead: '`npm run outbox:engines` closes the port of the server',
  },
  'init-script': {
    what: 'run a script before those of the page',
    engines: {
      webkit: 'its WebDriver runs nothing before a page’s own scripts',
    },
    instead: 'test/page/register.test.ts has a page without service workers',
  },
  route: {
    what: 'answer a request in place of the server',
    engines: {
      firefox: 'BiDi intercepts no request for a worker script',
      webkit: 'its WebDriver intercepts no requests',
    },
    instead: 'none: what these tests serve differs in no engine',
  },
  devtools: {
    what: 'set a quota, load past the worker, follow a worker’s state',
    engines: {
      firefox: 'there is no DevTools protocol: no quota, no hard reload, no worker status to follow',
      webkit: 'there is no DevTools protocol: no quota, no hard reload, no worker status to follow',
    },
    instead: 'none',
  },
  'background-sync': {
    what: 'Background Sync',
    engines: { firefox: 'it has no Background Sync', webkit: 'it has no Background Sync' },
    instead: 'tests in all engines whose worker has none (`fault=no-sync`): what has the outbox sent then',
  },
  'static-routes': {
    what: 'static routes',
    engines: { firefox: 'it has no static routes', webkit: 'WebKitGTK 2.50 has no static routes' },
    instead: 'tests in all engines where there are none, or the browser refuses them: the worker does it all',
  },
  resume: {
    what: 'go on with a download in the worker',
    engines: { firefox: 'no answer is resumed in its workers, which would cut short what they make themselves' },
    instead:
      'a test of the same file sees that it breaks off there as ever; in the page itself it is resumed in all engines',
  },
  push: {
    what: 'push a message',
    engines: {
      firefox: 'no command gives a worker a push message',
      webkit: 'no command gives a worker a push message',
    },
    instead: 'none',
  },
  'worker-console': {
    what: 'read what a worker logs',
    engines: {
      firefox: 'BiDi does not tell what a service worker logs',
      webkit: 'its WebDriver does not tell what anybody logs',
    },
    instead: 'the same tests look at what pages and servers see',
  },
  'stop-worker': {
    what: 'stop a worker',
    engines: { webkit: 'no command stops a worker: it dies some seconds after its last page was closed' },
    instead: '`npm run outbox:engines` leaves the site until the worker is gone',
  },
  restart: {
    what: 'close the browser and open it again with what it has kept',
    engines: {
      firefox: 'its driver here starts it with a new profile each time',
      webkit: 'its driver here starts it with a new home each time',
    },
    instead: '`npm run outbox:engines` leaves the site until the worker is gone, and comes back',
  },
  'inside-worker': {
    what: 'run code inside a worker',
    engines: {
      firefox: 'nothing is evaluated inside a service worker from outside',
      webkit: 'nothing is evaluated inside a service worker from outside',
    },
    instead: 'none',
  },
  responses: {
    what: 'ask whether an answer came from a worker',
    engines: {
      firefox: 'BiDi does not say whether an answer came from a worker',
      webkit: 'its WebDriver tells of no answers',
    },
    instead: 'none',
  },
  'late-answer-of-frame': {
    what: 'see the connection of a removed frame closed once its answer begins',
    engines: {
      webkit:
        'an answer that begins after its frame was taken away is read on, under a bare worker as well (its connection is open 15 s later; without a worker it is closed with the frame)',
    },
    instead: 'the same test sees that nothing is sent again; a page that calls it off closes it in all engines',
  },
  'document-status': {
    what: 'read the status of a document',
    engines: { webkit: 'neither its WebDriver nor `responseStatus` tells the status of a document' },
    instead: 'the same test looks at what the document shows and at what the server was asked for',
  },
} as const satisfies Record<string, Gap>;

export type GapName = keyof typeof GAPS;

export const hasGap = (engine: Engine, name: GapName): boolean => engine in GAPS[name].engines;

/** How a gap is told of in a report. */
export const gapText = (engine: Engine, name: GapName): string => `gap ${name}: ${reasonOf(engine, name)}`;

function reasonOf(engine: Engine, name: GapName): string {
  const { engines }: Gap = GAPS[name];
  const reason = engines[engine];
  if (reason === undefined) throw new Error(`${engine} has no gap '${name}': nothing may be left out for it`);
  return reason;
}

import type { Difference } from './compare.ts';

export const ENGINES = ['chromium', 'firefox', 'webkit'] as const;
export type Engine = (typeof ENGINES)[number];

/** What is compared with what. */
export type Column =
  /** No worker → a bare worker. */
  | 'bare'
  /** A bare worker → this layer. */
  | 'ours'
  /** The first attempt → the one after a 503; and no failure → one 503, as the page sees it. */
  | 'busy'
  /** The same after a reset. */
  | 'lost'
  /** The same after a 503 that the browser's cache may store, without what the page sees. */
  | 'stored';

/** A difference that is known, and why it is there. Anything else is a fault. */
export interface Rule {
  readonly id: string;
  /** In the table; without it it is in every row. */
  readonly name?: string;
  readonly columns: readonly Column[];
  /** It comes and goes by chance: known, and not held to any type. */
  readonly byChance?: true;
  readonly fits: (difference: Difference) => boolean;
  /** Only of these types. */
  readonly types?: readonly string[];
  readonly why: string;
}

const to =
  (field: string, after: string) =>
  (one: Difference): boolean =>
    one.field.toLowerCase() === field.toLowerCase() && one.after === after;

const NONE = '(none)';
const told = ({ field }: Difference): boolean => field.startsWith('page.told');

export const RULES: readonly Rule[] = [
  {
    id: 'timed',
    columns: ['bare'],
    fits: ({ field, after }) => /^page\.timing\.\d+\.viaWorker$/.test(field) && after === 'true',
    why: '`PerformanceResourceTiming.workerStart` is set for what a page with a worker loads.',
  },
  {
    id: 'dest',
    name: '`Sec-Fetch-Dest: empty`',
    columns: ['bare'],
    fits: to('Sec-Fetch-Dest', 'empty'),
    why: 'What something is fetched for is lost in a worker, and nothing there can set it.',
  },
  {
    id: 'user',
    name: 'no `Sec-Fetch-User`',
    columns: ['bare'],
    fits: to('Sec-Fetch-User', NONE),
    why: 'So is that a user has asked for a document.',
  },
  {
    id: 'site',
    name: '`Sec-Fetch-Site: same-origin`',
    columns: ['bare'],
    fits: to('Sec-Fetch-Site', 'same-origin'),
    types: ['go-address', 'go-reload'],
    why: 'A worker asks from its own origin; an address that is typed comes from nowhere (`none`).',
  },
  {
    id: 'upload',
    name: 'no `load` of `xhr.upload`',
    columns: ['bare', 'busy', 'lost'],
    fits: ({ field }) => field.startsWith('page.told.heard.'),
    types: ['xhr-put', 'xhr-post'],
    why: 'The browser cannot see how far an upload of a worker has come.',
  },
  {
    id: 'accept',
    name: '`Accept: */*`',
    columns: ['bare'],
    fits: to('Accept', '*/*'),
    types: ['prefetch'],
    why: 'For a prefetch a worker is given another `Accept`.',
  },
  {
    id: 'mode',
    name: '`Sec-Fetch-Mode: same-origin`',
    columns: ['bare'],
    fits: to('Sec-Fetch-Mode', 'same-origin'),
    why: 'Firefox has documents fetched in the mode of a script.',
  },
  {
    id: 'referrer',
    name: 'no `document.referrer`',
    columns: ['bare', 'busy', 'lost'],
    fits: to('page.told.referrer', '""'),
    why: 'Firefox does not tell a document that came through a worker from where it was asked for.',
  },
  {
    id: 'purposeless',
    name: 'no `Sec-Purpose`',
    columns: ['bare'],
    fits: to('Sec-Purpose', NONE),
    types: ['prefetch'],
    why: 'In Firefox a worker’s fetch is no prefetch.',
  },
  {
    id: 'storage-access',
    name: 'no `Sec-Fetch-Storage-Access`',
    columns: ['bare'],
    fits: to('Sec-Fetch-Storage-Access', NONE),
    why: 'Firefox says it of a page’s own requests only.',
  },
  {
    id: 'initiator',
    name: 'timed as `other`',
    columns: ['bare'],
    fits: ({ field, after }) => /^page\.timing\.\d+\.initiatorType$/.test(field) && after === '"other"',
    why: 'Firefox times a frame that came through a worker as something else.',
  },
  {
    id: 'priority',
    columns: ['bare', 'ours', 'busy', 'lost', 'stored'],
    byChance: true,
    fits: ({ field }) => field.toLowerCase() === 'priority',
    why: 'Firefox gives its opinion on what is urgent, which changes with what else is under way.',
  },
  {
    id: 'untimed',
    name: 'not timed',
    columns: ['bare'],
    fits: ({ field }) => field.startsWith('page.timing'),
    types: ['integrity-wrong', 'script-integrity-wrong'],
    why: 'WebKit does not time what a worker was refused.',
  },
  {
    id: 'cors-headers',
    name: 'CORS headers are shown',
    columns: ['bare'],
    fits: ({ field }) => field === 'page.told.headers',
    types: ['xhr-credentials'],
    why: 'WebKit hides them from an XMLHttpRequest that no worker has answered.',
  },
  {
    id: 'event-source',
    name: 'refused',
    columns: ['bare'],
    fits: (one) => one.field.startsWith('hits ') || told(one),
    types: ['event-source-credentials'],
    why: 'In WebKit an EventSource of another origin that a worker fetches has a preflight, which servers do not expect. Here it is left alone.',
  },
  {
    id: 'referer',
    name: '`Referer` of the worker',
    columns: ['bare'],
    fits: ({ field, after }) => field === 'Referer' && after.endsWith('/sw.js'),
    types: ['iframe-srcdoc', 'worker-blob', 'go-address', 'go-link-no-referrer'],
    why: 'In WebKit what comes from nowhere comes from the worker.',
  },
  {
    id: 'refererless',
    name: 'no `Referer`',
    columns: ['stored'],
    fits: to('Referer', NONE),
    types: ['iframe-srcdoc', 'worker-blob'],
    why: 'And a request that is rebuilt has the referrer that the page has given it, which is none.',
  },
  {
    id: 'clone-cors',
    name: '`Sec-Fetch-Mode: cors` and `Origin`',
    columns: ['busy', 'lost', 'stored'],
    fits: (one) => to('Sec-Fetch-Mode', 'cors')(one) || (one.field === 'Origin' && one.before === NONE),
    types: ['img-crossorigin', 'img-crossorigin-refused', 'img-credentials'],
    why: 'WebKit fetches an image with CORS as if it had none, and only its clone as it is asked for.',
  },
  {
    id: 'media',
    columns: ['bare', 'ours', 'busy', 'lost', 'stored'],
    byChance: true,
    fits: ({ field }) => ['accept-encoding', 'connection', 'icy-metadata'].includes(field.toLowerCase()),
    types: ['audio', 'video', 'video-abroad', 'video-crossorigin'],
    why: 'WebKitGTK has media asked for by a library of its own, which has headers of its own.',
  },
  {
    id: 'type',
    name: 'no `Content-Type`',
    columns: ['bare'],
    fits: to('Content-Type', NONE),
    types: ['ping', 'csp-report'],
    why: 'In WebKit a ping or a report that a worker fetches loses its type.',
  },
  {
    id: 'origin-other',
    name: 'another `Origin`',
    columns: ['bare'],
    fits: ({ field, before, after }) => field === 'Origin' && before !== NONE && after !== NONE,
    types: ['ping', 'csp-report'],
    why: 'And has another `Origin` (`null` or the page’s own).',
  },
  {
    id: 'unreloaded',
    name: 'no `Cache-Control: max-age=0`',
    columns: ['bare'],
    fits: to('Cache-Control', NONE),
    types: ['go-reload'],
    why: 'In WebKit a worker’s fetch does not say that a page is reloaded.',
  },
  {
    id: 'reloaded',
    name: '`Cache-Control: max-age=0`',
    columns: ['bare'],
    fits: to('Cache-Control', 'max-age=0'),
    types: ['go-reload'],
    why: 'In Firefox a reload says so only where it comes through a worker.',
  },
  {
    id: 'again',
    name: 'asked again',
    columns: ['ours'],
    fits: ({ field, before, after }) =>
      field.startsWith('hits ') && Number(after) > Number(before) && Number(before) > 0,
    why: 'A browser that refuses an answer (CORS, `integrity`, `redirect: error`) tells a worker no more than that the request has failed, as if the connection had been lost; so it is asked again.',
  },
  {
    id: 'last-answer',
    name: 'the 503 instead of an error',
    columns: ['busy'],
    fits: ({ field }) => field.startsWith('page.'),
    types: ['redirect-error', 'redirect-abroad-refused'],
    why: 'What comes of the retry is an error that no attempt will mend, and the page gets the last real answer.',
  },
  {
    id: 'unread',
    name: 'only the first hop',
    columns: ['busy'],
    fits: told,
    types: ['img-redirected'],
    why: 'The 503 at the end of a redirect to another site cannot be read, so that one is final.',
  },
  {
    id: 'reload',
    name: '`Cache-Control` and `Pragma: no-cache`',
    columns: ['stored'],
    fits: (one) => to('Cache-Control', 'no-cache')(one) || to('Pragma', 'no-cache')(one),
    why: 'It is asked with `cache: reload`: the browser’s cache would answer with the error again.',
  },
  {
    id: 'hints',
    name: 'no `Sec-CH-UA*`',
    columns: ['stored'],
    fits: ({ field, after }) => /^sec-ch-ua/i.test(field) && after === NONE,
    why: 'Chromium adds its hints to a page’s own request only, and one in another cache mode is the worker’s.',
  },
  {
    id: 'origin',
    name: 'no `Origin`',
    columns: ['bare', 'stored'],
    fits: to('Origin', NONE),
    why: 'So it is with the `Origin` of a request to the own origin that has come from an element with CORS.',
  },
  {
    id: 'purpose',
    name: 'no `Sec-Purpose`',
    columns: ['stored'],
    fits: to('Sec-Purpose', NONE),
    types: ['prefetch'],
    why: 'And with what says that a request is a prefetch.',
  },
];

/** What an engine has not, or not here, and why. */
export const LACKING: Readonly<Record<Engine, Readonly<Record<string, string>>>> = {
  chromium: {},
  firefox: {},
  webkit: {},
};

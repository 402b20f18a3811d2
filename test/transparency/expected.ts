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
    types: ['go-address'],
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
    columns: ['stored'],
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

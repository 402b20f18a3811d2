import { createHash } from 'node:crypto';
import { VERSION } from '../protocol/index.js';

export const DROPIN = 'steadfetch.dropin.js';
export const PAGE = 'steadfetch.page.js';

/** What is found in the place of a worker. */
export type WorkerFound =
  /** Written by us, some version of us, and left as it was. */
  | 'untouched'
  /** Edited, or written by somebody else, and loads the drop-in. */
  | 'edited'
  /** Somebody else's worker, which does not load the drop-in. */
  | 'foreign';

/** The lines that a worker needs, whoever wrote it. */
export const WORKER_LINES = [`importScripts('${DROPIN}');`, 'steadfetch.createRetryLayer().listen();'] as const;

const WORKER_BODY = `// All options: node_modules/steadfetch/docs/options.md
importScripts('${DROPIN}');
steadfetch
  .createRetryLayer({
    // routes: [{ match: '/live', retry: false }],
  })
  .listen();
`;

/** The worker as `init` writes it. By the sum in its first line it is known later whether anybody has edited it. */
export const workerText = (): string =>
  `// steadfetch ${VERSION} wrote this worker for you to edit; it is left alone once you have. (${sum(WORKER_BODY)})\n${WORKER_BODY}`;

export function inspectWorker(text: string): WorkerFound {
  const [, stamped, body = ''] = /^\/\/ steadfetch \S+ wrote [^\n]*\((\w+)\)\n(.*)$/s.exec(asWritten(text)) ?? [];
  if (stamped !== undefined && stamped === sum(body)) return 'untouched';
  return loadsDropin(text) ? 'edited' : 'foreign';
}

/** A script of `dist` as it is put into a site: with a stamp, and without the map that stays in the package. */
export const copyText = (built: string): string =>
  `/*! steadfetch ${VERSION} (MIT; what else is in it: node_modules/steadfetch/dist/*.licenses.md). Not to be edited: \`npx steadfetch init\` writes it anew. */\n${built.replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n')}`;

/** The version that is stamped on a copy; `undefined` if it is none of ours. */
export const versionOf = (text: string): string | undefined => /^\/\*! steadfetch (\S+) /.exec(text)?.[1];

/** Git may have checked a file out with other line ends than it was written with. */
export const asWritten = (text: string): string => text.replaceAll('\r\n', '\n');

/** Of a path such as `'/static/*'` or `'https://…'` no comment begins. */
const TEXTS_AND_COMMENTS = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|\/\*.*?\*\/|\/\/[^\n]*/gs;

function loadsDropin(text: string): boolean {
  const code = text.replace(TEXTS_AND_COMMENTS, (found) => (found.startsWith('/') ? '' : found));
  return /\bimportScripts\s*\([^)]*steadfetch\.dropin\.js/.test(code);
}

const sum = (body: string): string => createHash('sha256').update(body).digest('hex').slice(0, 12);

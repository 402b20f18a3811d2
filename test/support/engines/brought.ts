const BOTH = [
  'bodies',
  'calls',
  'connect',
  'csp',
  'fetch',
  'first-try',
  'mirrors',
  'navigation',
  'outbox',
  'outbox-answers',
  'pass-through',
  'retries',
  'views',
] as const;

/** The files of test/browser that `npm test` runs in the engines that Playwright cannot drive. */
export const BROUGHT = { firefox: BOTH, webkit: [...BOTH, 'security'] } as const;

const BOTH_LONG = [
  'budget',
  'circuit',
  'coverage',
  'fail-open',
  'faults',
  'faults-of-state',
  'hold',
  'matching',
  'offline-page',
  'outbox-bodies',
  'outbox-pages',
  'outbox-storage',
  'outbox-wakes',
  'resume',
  'static-routes',
  'timing',
  'two-workers',
  'update',
  'workbox',
] as const;

/** Green there as well, and left to `npm run test:engines` for the time that they take. */
export const GREEN = {
  firefox: [...BOTH_LONG, 'outbox-kills', 'security'],
  webkit: BOTH_LONG,
} as const;

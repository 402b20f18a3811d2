/** The files of test/browser that are green in an engine that Playwright cannot drive. `npm run test:engines` runs all. */
export const BROUGHT = {
  firefox: [
    'first-try',
    'retries',
    'pass-through',
    'navigation',
    'hold',
    'bodies',
    'budget',
    'circuit',
    'connect',
    'csp',
    'faults-of-state',
  ],
  webkit: [
    'first-try',
    'retries',
    'pass-through',
    'navigation',
    'hold',
    'bodies',
    'calls',
    'circuit',
    'connect',
    'csp',
    'faults',
  ],
} as const;

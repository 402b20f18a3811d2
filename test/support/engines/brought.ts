/** The files of test/browser that are green in an engine that Playwright cannot drive. `npm run test:engines` runs all. */
export const BROUGHT = {
  firefox: ['first-try', 'retries', 'pass-through', 'navigation', 'hold'],
  webkit: ['first-try', 'retries', 'pass-through', 'navigation', 'hold'],
} as const;

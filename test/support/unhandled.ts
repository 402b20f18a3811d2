import { afterEach, beforeEach, expect } from 'vitest';

/**
 * Fails every test of this file that leaves a rejected promise to nobody: in a worker that is a red line in the
 * user's console, in Node the end of the process.
 */
export function expectNothingUnhandled(): void {
  const unhandled: unknown[] = [];
  const onUnhandled = (reason: unknown) => unhandled.push(reason);
  beforeEach(() => {
    unhandled.length = 0;
    process.on('unhandledRejection', onUnhandled);
  });
  afterEach(async () => {
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', onUnhandled);
    expect(unhandled, 'promises that nobody handled').toEqual([]);
  });
}

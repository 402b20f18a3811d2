import { defineConfig } from 'vitest/config';

/** What bundles the source sees another program than the one that is changed. */
export default defineConfig({
  test: { include: ['test/{policy,protocol}/**/*.test.ts'], exclude: ['**/*.bundle.test.ts'] },
});

import { build } from 'vite';
import { expect, test } from 'vitest';

test('where nobody uses them a bundler leaves them out', async () => {
  const entry = 'virtual:entry';
  const worker = new URL('../../src/worker/index.ts', import.meta.url).pathname;
  const bundle = async (code: string): Promise<string> => {
    const built = await build({
      configFile: false,
      logLevel: 'error',
      build: { write: false, rolldownOptions: { input: entry } },
      plugins: [
        {
          name: 'entry',
          resolveId: (id) => (id === entry ? id : undefined),
          load: (id) => (id === entry ? code : undefined),
        },
      ],
    });
    return [built]
      .flat()
      .map((result) => ('output' in result ? result.output[0].code : ''))
      .join('');
  };
  const [without, using] = await Promise.all([
    bundle(`import { createRetryLayer } from '${worker}'; createRetryLayer().listen();`),
    bundle(
      `import { createRetryLayer, presets } from '${worker}'; createRetryLayer({ defaults: presets.reads }).listen();`,
    ),
  ]);
  expect([without.includes('507'), using.includes('507')]).toEqual([false, true]);
}, 30_000);

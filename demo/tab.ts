import { ask } from './scenes/ask.ts';
import type { Answer, Question } from './scenes/tabs.ts';

const stays = new AbortController().signal;

addEventListener('message', ({ origin, ports: [port] }) => {
  if (origin !== location.origin || port === undefined) return;
  port.addEventListener('message', async ({ data: { call, lane, url } }: MessageEvent<Question>) => {
    port.postMessage({ call, got: await ask(lane, url, stays) } satisfies Answer);
  });
  port.start();
});

import { ask, type Got } from './ask.ts';
import type { LaneName } from './scene.ts';

/** Tabs that take turns in asking: this one, or hidden ones of the same origin, which share the worker with it. */
export interface Tabs {
  ask(lane: LaneName, url: string): Promise<Got>;
  /** Calls off what is under way, and closes the hidden ones. */
  close(): void;
}

/** What a hidden tab is asked. */
export interface Question {
  readonly call: number;
  readonly lane: LaneName;
  readonly url: string;
}
export interface Answer {
  readonly call: number;
  readonly got: Got;
}

export async function openTabs(count: number): Promise<Tabs> {
  const leaving = new AbortController();
  const here = (lane: LaneName, url: string) => ask(lane, url, leaving.signal);
  const others = await Promise.all(Array.from({ length: count - 1 }, () => openHidden(leaving.signal)));
  const all = [here, ...others.map((tab) => tab.ask)];
  let turn = 0;
  return {
    ask: (lane, url) => (all[turn++ % all.length] ?? here)(lane, url),
    close() {
      leaving.abort();
      for (const { frame } of others) frame.remove();
    },
  };
}

async function openHidden(signal: AbortSignal) {
  const frame = document.createElement('iframe');
  frame.hidden = true;
  frame.title = 'another tab of the traffic';
  frame.src = './tab.html';
  const loaded = new Promise((resolve) => frame.addEventListener('load', resolve, { once: true }));
  document.body.append(frame);
  await loaded;
  const { port1: port, port2 } = new MessageChannel();
  frame.contentWindow?.postMessage('traffic', location.origin, [port2]);
  const open = new Map<number, (got: Got) => void>();
  let calls = 0;
  port.addEventListener('message', ({ data: { call, got } }: MessageEvent<Answer>) => {
    open.get(call)?.(got);
    open.delete(call);
  });
  port.start();
  signal.addEventListener('abort', () => {
    for (const end of open.values()) end({ ok: false, tookMs: 0, stopped: true });
  });
  return {
    frame,
    ask: (lane: LaneName, url: string) =>
      new Promise<Got>((resolve) => {
        calls += 1;
        open.set(calls, resolve);
        port.postMessage({ call: calls, lane, url } satisfies Question);
      }),
  };
}

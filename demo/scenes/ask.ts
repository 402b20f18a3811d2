import type { LaneName } from './scene.ts';

/** What the page got in the end. */
export interface Got {
  readonly ok: boolean;
  readonly tookMs: number;
  /** It was called off. */
  readonly stopped?: true;
}

/** Asks as the page of a lane would. How often the server was asked, only the server knows. */
export async function ask(lane: LaneName, url: string, signal: AbortSignal): Promise<Got> {
  const startedAt = performance.now();
  const attempts = lane === 'naive' ? 1 + IMMEDIATE_RETRIES : 1;
  let ok = false;
  for (let attempt = 0; attempt < attempts && !ok && !signal.aborted; attempt++) ok = await isAnswered(url, signal);
  const got = { ok, tookMs: performance.now() - startedAt };
  return signal.aborted ? { ...got, stopped: true } : got;
}

/** What is found in many an app: try again at once, three times. */
const IMMEDIATE_RETRIES = 3;

async function isAnswered(url: string, signal: AbortSignal): Promise<boolean> {
  try {
    const response = await fetch(url, { signal });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}

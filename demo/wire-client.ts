import type { HitEvent, Phase, Step } from './misbehaving-server.ts';
import type { End } from './trace.ts';

/** Tells the server what to do with the hits of an id. */
export async function setPlan(id: string, steps: readonly Step[]): Promise<void> {
  const answer = await fetch(`/wire-control/plan/${id}`, { method: 'PUT', body: JSON.stringify(steps) });
  if (!answer.ok) throw new Error(`the misbehaving server did not take the plan: ${answer.status}`);
}

/** Tells the server how to be with the hits of an id as time goes by. */
export async function setWeather(id: string, phases: readonly Phase[]): Promise<void> {
  const answer = await fetch(`/wire-control/play/${id}`, { method: 'PUT', body: JSON.stringify(phases) });
  if (!answer.ok) throw new Error(`the misbehaving server did not take the weather: ${await answer.text()}`);
}

/** Calls `onHit` for every request that arrives at the server, once the returned promise has resolved. */
export function watchHits(onHit: (hit: HitEvent) => void): Promise<void> {
  return new Promise((resolve) => {
    const source = new EventSource('/wire-control/events');
    source.addEventListener('message', ({ data }) => onHit(JSON.parse(data)));
    source.addEventListener('open', () => resolve());
    // The stream reconnects by itself; a page without a server is told so by its first plan.
    source.addEventListener('error', () => resolve());
  });
}

/** An ordinary fetch, read to its end, and what the page got from it. */
export async function ask(url: string): Promise<End> {
  let response: Response;
  try {
    response = await fetch(url);
  } catch {
    return { at: Date.now(), kind: 'network-error' };
  }
  const { status } = response;
  try {
    await response.arrayBuffer();
    return { at: Date.now(), kind: 'answer', status };
  } catch {
    return { at: Date.now(), kind: 'cut', status };
  }
}

/** The server's second port, which is another origin; `undefined` where this page cannot reach it. */
export async function findSecondOrigin(): Promise<string | undefined> {
  // It listens on the loopback interface only, and asking for that from elsewhere makes browsers ask the user.
  if (!['localhost', '127.0.0.1', '[::1]'].includes(location.hostname)) return undefined;
  try {
    const { origin } = await (await fetch('/wire-control/second-origin')).json();
    return String(origin);
  } catch {
    return undefined;
  }
}

import { byId } from './dom.ts';
import { createLane, ROWS } from './lanes.ts';
import { scaleFor } from './timeline.ts';
import type { Trace } from './trace.ts';

/** The two lanes: `bare` requests never meet the worker, `with` requests do. Ids begin with the lane's name. */
export const LANES = ['bare', 'with'] as const;

/** Keeps what is known of every request shown, and draws it for as long as something is under way. */
export interface Board {
  add(...traces: readonly Trace[]): void;
  /** Ignores ids that are not shown. */
  change(id: string, change: (trace: Trace) => Trace): void;
  find(id: string): Trace | undefined;
  isBusy(): boolean;
  clear(): void;
}

export function createBoard(): Board {
  const traces = new Map<string, Trace>();
  const lanes = LANES.map((name) => ({ name, lane: createLane(byId(`lane-${name}`, HTMLElement)) }));
  let planned = false;

  const isBusy = () => [...traces.values()].some(({ end }) => end === undefined);

  function draw(): void {
    const now = Date.now();
    const sides = lanes.map(({ name, lane }) => ({
      lane,
      traces: [...traces.values()].filter(({ id }) => id.startsWith(`${name}-`)),
    }));
    // One scale for both, or they could not be compared.
    const scaleMs = scaleFor(
      sides.flatMap((side) => side.traces.slice(-ROWS)),
      now,
    );
    for (const side of sides) side.lane.draw(side.traces, now, scaleMs);
  }

  function drawSoon(): void {
    if (planned) return;
    planned = true;
    requestAnimationFrame(() => {
      planned = false;
      draw();
      if (isBusy()) drawSoon();
    });
  }

  addEventListener('resize', drawSoon);

  return {
    add(...added) {
      for (const trace of added) traces.set(trace.id, trace);
      drawSoon();
    },
    change(id, change) {
      const trace = traces.get(id);
      if (trace) traces.set(id, change(trace));
      drawSoon();
    },
    find: (id) => traces.get(id),
    isBusy,
    clear() {
      traces.clear();
      drawSoon();
    },
  };
}

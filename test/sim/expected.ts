import type { Failing, TrafficName } from '../../src/sim/index.ts';

/** Success in per cent at attempts per request. */
export type Cell = readonly [success: number, attempts: number];

const TRAFFIC: readonly TrafficName[] = ['0.1/s', '1/s', '5/s', '30 a minute at once'];
const row = (...cells: Cell[]): Record<TrafficName, Cell> =>
  Object.fromEntries(TRAFFIC.map((name, index) => [name, cells[index]])) as Record<TrafficName, Cell>;

/** What the guards were designed to achieve: within 1.5 points and 0.1 attempts. */
export const STEADFETCH: Record<Failing, Record<TrafficName, Cell>> = {
  '10 s blip': row([86.7, 1.4], [97.6, 1.25], [100, 1.19], [100, 1.18]),
  '30 s blip': row([65.2, 1.94], [86, 1.5], [89.6, 1.42], [77.4, 1.27]),
  '5 min outage': row([0, 1.34], [0, 1.04], [0, 1.01], [0, 1.03]),
  '10 % random': row([100, 1.12], [100, 1.1], [100, 1.11], [100, 1.12]),
  '30 % random': row([99.1, 1.42], [99, 1.4], [99, 1.41], [99.1, 1.42]),
  '50 % random': row([92.5, 1.85], [83.6, 1.68], [83.2, 1.66], [84.8, 1.68]),
  '80 % random': row([47.1, 2.32], [31.7, 1.58], [27.3, 1.33], [25.5, 1.28]),
  '95 % random': row([8.4, 1.66], [5.9, 1.22], [5.5, 1.1], [5.6, 1.11]),
};

export const BOUNDS = { points: 1.5, attempts: 0.1 } as const;

/** Cells that come out elsewhere, and why. */
export const KNOWN_CELLS: Readonly<Record<string, { readonly points: number; readonly why: string }>> = {
  '30 s blip, 30 a minute at once': {
    points: 73.4,
    why: 'probes at 2, 6 and 14 s save bursts with up to 14 s of outage left, which is 73.7 %; 77.4 is one lucky sample of 667 bursts (σ 1.8)',
  },
};

export const OVERLOAD_MISS =
  'one release for each success allows 1 / 1.3 = 0.77 extra attempts while anything is parked; fewer releases would lose the 50 % cells';

import type { Step } from '../misbehaving-server.ts';
import type { Scene } from './scene.ts';

const FINE: Step = { body: 'fine', delayMs: 30 };
const BUSY: Step = { status: 503, delayMs: 15 };

export const SCENES: readonly [Scene, ...Scene[]] = [
  {
    id: 'deploy',
    name: 'Deploy blip',
    story: 'A new version goes out, and for three seconds there is only 503.',
    expect:
      'Three immediate retries are over before the deploy is. steadfetch waits it out: while it lasts the server is asked hardly more than usual, and then everything that has waited is answered.',
    phases: (lengthMs) => [
      { forMs: 0.25 * lengthMs, step: FINE },
      { forMs: 0.15 * lengthMs, step: BUSY, trouble: 'deploying' },
      { forMs: 0.6 * lengthMs, step: FINE },
    ],
  },
  {
    id: 'limit',
    name: 'Rate limit',
    story: 'A rush of requests meets a limit: 429, come back in two seconds.',
    expect:
      'Each immediate retry counts against the same limit. steadfetch holds all requests until the time that the server named, and lets them go one after the other. That takes time: look at its slowest 1 %.',
    phases: (lengthMs, perSecond) => {
      // A limit by the second is not met by a shorter rush.
      const rushMs = Math.max(1_000, 0.15 * lengthMs);
      const limit = { step: FINE, perSecond: Math.ceil(1.8 * perSecond), over: { status: 429, retryAfter: 2 } };
      return [
        { forMs: 0.25 * lengthMs, ...limit },
        { forMs: rushMs, ...limit, rush: 3, trouble: 'rush' },
        { forMs: 0.75 * lengthMs - rushMs, ...limit },
      ];
    },
  },
  {
    id: 'outage',
    name: 'Outage and recovery',
    story: 'The server is down for eight seconds, and comes back with cold caches.',
    expect:
      'Naive retries ask a server that is down four times as often. steadfetch asks once, keeps what failed, and lets it follow success by success: its tall column is what has waited, and all of it is answered.',
    phases: (lengthMs, perSecond) => [
      { forMs: 0.15 * lengthMs, step: FINE },
      { forMs: 0.4 * lengthMs, step: BUSY, trouble: 'down' },
      {
        forMs: 0.2 * lengthMs,
        step: { ...FINE, delayMs: 120 },
        perSecond: 2 * perSecond,
        over: BUSY,
        trouble: 'cold caches',
      },
      { forMs: 0.25 * lengthMs, step: FINE },
    ],
  },
  {
    id: 'train',
    name: 'Flaky train',
    story: 'One connection in four is lost, and there are two tunnels.',
    expect: 'Naive retries get through the noise and fail in the tunnels. steadfetch gets through both.',
    phases: (lengthMs) => {
      const noise = { step: FINE, share: 0.25, instead: { reset: 'headers' }, trouble: 'noise' } as const;
      const tunnel = { step: { reset: 'headers' }, trouble: 'tunnel' } as const;
      return [
        { forMs: 0.2 * lengthMs, ...noise },
        { forMs: 0.1 * lengthMs, ...tunnel },
        { forMs: 0.25 * lengthMs, ...noise },
        { forMs: 0.1 * lengthMs, ...tunnel },
        { forMs: 0.35 * lengthMs, ...noise },
      ];
    },
  },
  {
    id: 'slow',
    name: 'Slow 2 %',
    story: 'Nothing fails, but one answer in fifty takes three seconds.',
    expect:
      'Look at the slowest 1 %. Nothing fails, so nothing is retried; steadfetch sends a second request beside a slow one (hedging, which its route asks for) and takes what comes first.',
    phases: (lengthMs) => [
      {
        forMs: lengthMs,
        step: FINE,
        share: 0.02,
        instead: { ...FINE, delayMs: Math.min(3_000, lengthMs / 2) },
        trouble: '2 % slow',
      },
    ],
    route: 'hedged',
  },
];

/** What the server can be told to be while traffic runs by hand. */
export const MOODS = {
  fine: { forMs: 1, step: FINE },
  down: { forMs: 1, step: BUSY, trouble: 'down' },
  resets: { forMs: 1, step: { reset: 'headers' }, trouble: 'resets' },
  limited: { forMs: 1, step: FINE, perSecond: 4, over: { status: 429, retryAfter: 2 }, trouble: 'limited' },
} as const;

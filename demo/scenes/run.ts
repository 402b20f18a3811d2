import type { HitEvent } from '../misbehaving-server.ts';
import { setWeather } from '../wire-client.ts';
import { type Band, bandsOf, dueBy, LANES, type LaneName, lengthOf, type ScenePhase, toWeather } from './scene.ts';
import type { Tabs } from './tabs.ts';
import { EMPTY, openOf, type Tally, withGot, withHit, withSent } from './tally.ts';

/** A scene that is being played, or was. */
export interface Run {
  readonly ids: Readonly<Record<LaneName, string>>;
  readonly startedAt: number;
  readonly lengthMs: number;
  readonly bands: readonly Band[];
  tally(lane: LaneName): Tally;
  /** From 0 to 1; what follows is waiting for the last answers. */
  progress(): number;
  open(): number;
  /** Of other ids nothing is counted. */
  hit(hit: HitEvent): void;
  /** What the server is from now on, and until the run ends. */
  change(phase: ScenePhase): Promise<void>;
  /** No more requests; the server is told to be well, so that what waits is over soon. */
  stop(): void;
  /** When everything that was asked is over. */
  readonly ended: Promise<void>;
}

export interface RunOptions {
  readonly phases: readonly ScenePhase[];
  readonly perSecond: number;
  readonly tabs: Tabs;
  readonly ids: Readonly<Record<LaneName, string>>;
  readonly onChange: () => void;
}

/** How often it is looked at what is due: a tab that is busy catches up. */
const TICK_MS = 40;

export async function startRun({ phases, perSecond, tabs, ids, onChange }: RunOptions): Promise<Run> {
  const tallies = new Map<LaneName, Tally>(LANES.map((lane) => [lane, EMPTY]));
  const lengthMs = lengthOf(phases);
  const bands = [...bandsOf(phases)];
  const tell = (of: readonly ScenePhase[]) => Promise.all(LANES.map((lane) => setWeather(ids[lane], toWeather(of))));
  const change = (lane: LaneName, by: (tally: Tally) => Tally) => {
    tallies.set(lane, by(tally(lane)));
    onChange();
  };
  const tally = (lane: LaneName) => tallies.get(lane) ?? EMPTY;
  /** Paths that the server has been asked for; each request has its own. */
  const asked = new Set<string>();
  await tell(phases);
  const startedAt = Date.now();
  const elapsedMs = () => Date.now() - startedAt;
  let stopped = false;
  let number = 0;

  function send(): void {
    number += 1;
    for (const lane of LANES) {
      change(lane, withSent);
      // A query of its own: the browser's cache lets a second request for the same URL wait for the first.
      void tabs.ask(lane, `/wire/${ids[lane]}?n=${number}`).then((got) => change(lane, (tally) => withGot(tally, got)));
    }
  }

  const open = () => LANES.reduce((sum, lane) => sum + openOf(tally(lane)), 0);

  async function play(): Promise<void> {
    while (!stopped && elapsedMs() < lengthMs) {
      const due = dueBy(phases, perSecond, elapsedMs());
      while (number < due) send();
      await pause(TICK_MS);
    }
    while (open() > 0) await pause(TICK_MS);
    // The server's last words come by another way than its answers.
    await pause(SETTLE_MS);
    tabs.close();
    onChange();
  }

  return {
    ids,
    startedAt,
    lengthMs,
    bands,
    tally,
    progress: () => Math.min(1, elapsedMs() / lengthMs),
    open,
    hit({ id, path, at, status }) {
      const lane = LANES.find((lane) => ids[lane] === id);
      if (lane === undefined) return;
      const isFirst = !asked.has(path);
      asked.add(path);
      change(lane, (tally) => withHit(tally, isFirst, at - startedAt, status));
    },
    async change(phase) {
      if (stopped || elapsedMs() >= lengthMs) return;
      const last = bands.at(-1);
      const now = elapsedMs();
      if (last !== undefined && last.untilMs > now) bands.splice(-1, 1, { ...last, untilMs: now });
      if (phase.trouble !== undefined) bands.push({ fromMs: now, untilMs: lengthMs, trouble: phase.trouble });
      onChange();
      await tell([phase]);
    },
    stop() {
      if (stopped) return;
      stopped = true;
      // A server that is not there any more has nothing to be told.
      tell([{ forMs: 1 }]).catch(() => {});
      tabs.close();
    },
    ended: play(),
  };
}

const SETTLE_MS = 150;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

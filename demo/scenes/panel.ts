import { byId, make, setText } from '../dom.ts';
import type { HitEvent } from '../misbehaving-server.ts';
import { createLaneView } from './lane-view.ts';
import { type Run, startRun } from './run.ts';
import { LANES, type Scene } from './scene.ts';
import { MOODS, SCENES } from './scenes.ts';
import { openTabs, type Tabs } from './tabs.ts';
import { figuresOf } from './tally.ts';

/** Scenes to be played by a click, and traffic by hand, in three lanes. */
export interface ScenePanel {
  /** Whoever clicks before the server's log is heard would see too few hits. */
  enable(): void;
  hit(hit: HitEvent): void;
}

export interface ScenePanelOptions {
  /** Of this page: ids of other tabs are not ours. */
  readonly session: string;
  /** The worker forgets what earlier scenes have taught it. */
  readonly forget: () => Promise<unknown>;
}

/** `?seconds=4` plays scenes of that length. */
const lengthMs = (Number(new URLSearchParams(location.search).get('seconds')) || 20) * 1_000;
/** Traffic by hand ends by itself, should somebody forget it. */
const BY_HAND_MS = 120_000;

type Mood = keyof typeof MOODS;

export function createScenePanel({ session, forget }: ScenePanelOptions): ScenePanel {
  const section = byId('scenes', HTMLElement);
  const story = byId('scene-story', HTMLElement);
  const status = byId('scene-status', HTMLElement);
  const progress = byId('scene-progress', HTMLProgressElement);
  const stop = byId('scene-stop', HTMLButtonElement);
  const byHand = byId('by-hand', HTMLButtonElement);
  const moods = byId('moods', HTMLFieldSetElement);
  const views = LANES.map((lane) => createLaneView(lane));
  byId('ways', HTMLElement).append(...views.map(({ element }) => element));
  let run: Run | undefined;
  let stopping = false;
  let runs = 0;
  let planned = false;

  const buttons = SCENES.map((scene) => {
    const button = make('button', 'scene', make('strong', '', scene.name), make('span', '', scene.story));
    button.type = 'button';
    button.disabled = true;
    button.dataset.scene = scene.id;
    button.addEventListener('click', () => void play(scene, button));
    return button;
  });
  byId('scene-buttons', HTMLElement).append(...buttons.map((button) => make('li', '', button)));
  byHand.addEventListener('click', () => void play(handmade(), byHand));
  stop.addEventListener('click', () => {
    stopping = true;
    run?.stop();
  });
  moods.addEventListener('change', () => {
    const phase = MOODS[mood()];
    // Without its server the run is over soon, and says so.
    run?.change(phase).catch(() => {});
  });

  const mood = (): Mood => {
    const chosen = moods.querySelector<HTMLInputElement>('input:checked')?.value ?? 'fine';
    return chosen in MOODS ? (chosen as Mood) : 'fine';
  };

  const handmade = (): Scene => ({
    id: 'by-hand',
    name: 'Traffic by hand',
    story: 'Requests go on until you stop them.',
    expect: 'Change what the server is, and see what each way to ask makes of it.',
    phases: () => [{ ...MOODS[mood()], forMs: BY_HAND_MS }],
  });

  async function play(scene: Scene, button: HTMLButtonElement): Promise<void> {
    const perSecond = Number(byId('rate', HTMLSelectElement).value);
    const tabCount = Number(byId('tabs', HTMLSelectElement).value);
    setBusy(button);
    stopping = false;
    run = undefined;
    section.dataset.state = 'playing';
    setText(story, scene.expect);
    setText(status, `${scene.name}: opening ${tabCount === 1 ? 'no other tab' : `${tabCount} tabs`} …`);
    let tabs: Tabs | undefined;
    try {
      await forget();
      tabs = await openTabs(tabCount);
      runs += 1;
      const id = `${session}-${runs}`;
      run = await startRun({
        phases: scene.phases(lengthMs, perSecond),
        perSecond,
        tabs,
        ids: { none: `none-${id}`, naive: `naive-${id}`, steadfetch: `${scene.route ?? 'scene'}-${id}` },
        onChange: drawSoon,
      });
      section.dataset.ids = JSON.stringify(run.ids);
      section.dataset.startedAt = String(run.startedAt);
      // While its tabs were opened, there was nothing to stop yet.
      if (stopping) run.stop();
      moods.disabled = button !== byHand;
      await watch(run, scene);
      setText(status, verdict(run, scene));
    } catch {
      tabs?.close();
      setText(status, 'The misbehaving server does not answer. It is part of npm start.');
    }
    section.dataset.state = 'over';
    progress.value = 0;
    moods.disabled = false;
    setBusy();
  }

  async function watch(run: Run, { name }: Scene): Promise<void> {
    let over = false;
    void run.ended.then(() => {
      over = true;
    });
    while (!over) {
      progress.value = run.progress();
      // Read out when it changes, so not each second.
      setText(status, run.progress() < 1 ? `${name} is playing …` : `${name}: waiting for the last answers …`);
      drawSoon();
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
    draw();
  }

  function setBusy(by?: HTMLButtonElement): void {
    const hadFocus = document.activeElement;
    for (const button of [...buttons, byHand]) button.disabled = by !== undefined;
    by?.classList.add('is-playing');
    stop.disabled = by === undefined;
    // Whoever starts and stops it by keyboard is not to lose the place.
    if (by !== undefined && hadFocus === by) stop.focus();
    if (by !== undefined) return;
    const played = [...buttons, byHand].find((button) => button.classList.contains('is-playing'));
    played?.classList.remove('is-playing');
    if (hadFocus === stop) played?.focus();
  }

  function drawSoon(): void {
    if (planned) return;
    planned = true;
    requestAnimationFrame(draw);
  }

  function draw(): void {
    planned = false;
    if (!run) return;
    const tallies = LANES.map((lane) => run?.tally(lane));
    // One scale for all, or they could not be compared.
    const most = Math.max(10, ...tallies.flatMap((tally) => tally?.load.map(({ hits }) => hits) ?? []));
    const elapsed = Math.max(...tallies.map((tally) => tally?.load.length ?? 0));
    const seconds = Math.max(run.lengthMs === BY_HAND_MS ? 20 : run.lengthMs / 1_000, elapsed);
    for (const { view } of views) view.draw(run, seconds, Math.ceil(most * 1.1));
  }

  return {
    enable() {
      for (const button of [...buttons, byHand]) button.disabled = false;
    },
    hit: (hit) => run?.hit(hit),
  };
}

function verdict(run: Run, { name }: Scene): string {
  const said = LANES.map((lane) => {
    const { success, attempts } = figuresOf(run.tally(lane));
    return `${WORDS[lane]} ${success} at ${attempts} attempts a request`;
  });
  return `${name}: ${said.join('; ')}.`;
}

const WORDS = { none: 'no worker', naive: 'naive retries', steadfetch: 'steadfetch' } as const;

/// <reference types="vite/client" />
import { showDevtools } from '../src/devtools/index.ts';
import { connect, type LayerEvent } from '../src/page/index.ts';
import { SteadfetchStatus } from '../src/status/index.ts';
import { createBoard, LANES } from './board.ts';
import { createBudgetPanel } from './budget.ts';
import { showConnection } from './connection.ts';
import { byId, setText } from './dom.ts';
import { createDownloadPanel } from './download/panel.ts';
import { createEventLog } from './event-log.ts';
import { createPicker } from './picker.ts';
import { createScenePanel } from './scenes/panel.ts';
import workerSource from './sw.ts?raw';
import { beginTrace, idIn, isSuccess, withEnd, withEvent, withHit } from './trace.ts';
import { ask, findSecondOrigin, setPlan, watchHits } from './wire-client.ts';
import { sentence } from './words.ts';

setText(byId('worker-source', HTMLElement), workerSource.replace('../src/worker/index.ts', 'steadfetch/worker').trim());
const chosen = createPicker();
const log = createEventLog(byId('events', HTMLElement));
const board = createBoard();

const retries = await connect('/sw.js');
showConnection(retries);
// Small screens have no room for both the panel and what it tells of.
showDevtools(retries, { open: false });
byId('status', SteadfetchStatus).retries = retries;
const budget = createBudgetPanel(retries, board.isBusy);

const onEvent = (event: LayerEvent) => {
  if (event.type === 'budget-exhausted') budget.showExhausted(event);
  if (!('elapsedMs' in event)) {
    log.say(sentence(event, undefined));
    return;
  }
  const id = idIn(event.url);
  board.change(id, (trace) => withEvent(trace, event));
  // Of a whole scene that would be too much: the panel at the lower edge has it all.
  const trace = board.find(id);
  if (trace) log.say(sentence(event, trace));
};
retries.on('retry-scheduled', onEvent);
retries.on('waiting', onEvent);
retries.on('released', onEvent);
retries.on('recovered', onEvent);
retries.on('gave-up', onEvent);
retries.on('budget-exhausted', onEvent);
retries.on('hold-started', onEvent);
retries.on('hold-ended', onEvent);
retries.on('circuit-changed', onEvent);

// Ids of other tabs and of earlier loads must not be taken for ours.
const session = Math.random().toString(36).slice(2, 8);
const scenes = createScenePanel({ session, forget: () => retries.reset() });
const file = createDownloadPanel(session);

const [secondOrigin] = await Promise.all([
  findSecondOrigin(),
  watchHits((hit) => {
    board.change(hit.id, (trace) => withHit(trace, hit));
    scenes.hit(hit);
    file.hit(hit);
  }),
]);
const elsewhere = byId('elsewhere', HTMLInputElement);
elsewhere.disabled = secondOrigin === undefined;

// Else Retry-After is hidden from the pages of other origins, as it is by most servers.
const QUERY = 'expose=1';

let serial = 0;
let number = 0;
let compared = '';

/** Sends each request once to either lane, at the same moment. */
async function send(count: number): Promise<void> {
  const fault = chosen();
  const origin = elsewhere.checked && secondOrigin !== undefined ? secondOrigin : location.origin;
  const comparison = `${fault.id} ${origin}`;
  // A score over different faults would say nothing.
  if (comparison !== compared) {
    board.clear();
    number = 0;
  }
  compared = comparison;

  const pairs = Array.from({ length: count }, (_, index) => {
    const id = `${session}-${++serial}`;
    return { number: ++number, ids: LANES.map((lane) => `${lane}-${id}`), steps: fault.steps(index) };
  });
  try {
    await Promise.all(pairs.flatMap(({ ids, steps }) => ids.map((id) => setPlan(id, steps))));
  } catch {
    log.say('The misbehaving server does not answer. It is part of npm start.');
    return;
  }

  log.say(`Sent to both lanes: ${count === 1 ? 'one request' : `${count} requests`}, “${fault.name}”.`);
  const now = Date.now();
  for (const pair of pairs) board.add(...pair.ids.map((id) => beginTrace(id, pair.number, now)));
  budget.watch(origin);
  const ends = await Promise.all(
    pairs.map(({ ids }) =>
      Promise.all(
        ids.map(async (id) => {
          const end = await ask(`${origin}/wire/${id}?${QUERY}`);
          board.change(id, (trace) => withEnd(trace, end));
          return isSuccess(end);
        }),
      ),
    ),
  );
  // The worker's last words on these requests come just after their answers.
  await new Promise((resolve) => setTimeout(resolve, 100));
  const [bare, helped] = LANES.map((_, lane) => ends.filter((pair) => pair[lane]).length);
  log.say(`Done: ${bare} of ${count} succeeded without steadfetch, ${helped} of ${count} with it.`);
}

for (const [id, count] of [
  ['send-1', 1],
  ['send-10', 10],
] as const) {
  const button = byId(id, HTMLButtonElement);
  button.disabled = false;
  button.addEventListener('click', () => void send(count));
}
scenes.enable();
byId('download-start', HTMLButtonElement).disabled = false;
// Nobody should have to click to see what it is about.
await send(1);

import { byId, make, setText } from '../dom.ts';
import type { HitEvent } from '../misbehaving-server.ts';
import { setPlan } from '../wire-client.ts';
import { BREAKS, BYTES, brokenPlan, type Download, download, expectedSha256 } from './download.ts';

/** A download whose connection breaks five times, without steadfetch and with it. */
export interface DownloadPanel {
  hit(hit: HitEvent): void;
}

const SIDES = [
  { name: 'none', title: 'No worker', route: 'none' },
  { name: 'with', title: 'steadfetch, with resume: true', route: 'download' },
] as const;

export function createDownloadPanel(session: string): DownloadPanel {
  const button = byId('download-start', HTMLButtonElement);
  const status = byId('download-status', HTMLElement);
  const sides = SIDES.map((side) => ({ ...side, view: createSide(side.title) }));
  byId('downloads', HTMLElement).append(...sides.map(({ view }) => view.element));
  const connections = new Map<string, number>();
  let runs = 0;

  button.addEventListener('click', () => void start());

  async function start(): Promise<void> {
    runs += 1;
    button.disabled = true;
    setText(status, 'Downloading …');
    connections.clear();
    const expected = await expectedSha256();
    try {
      const ended = await Promise.all(
        sides.map(async ({ route, view }) => {
          const id = `${route}-file-${session}-${runs}`;
          connections.set(id, 0);
          await setPlan(id, brokenPlan());
          view.begin(() => connections.get(id) ?? 0);
          const got = await download(`/wire/${id}`, view.bytes);
          view.end(got, expected);
          return got.whole && got.sha256 === expected;
        }),
      );
      const [bare, helped] = ended.map((whole) => (whole ? 'has the whole file' : 'has a broken one'));
      setText(status, `No worker: the page ${bare}. steadfetch: the page ${helped}.`);
    } catch {
      setText(status, 'The misbehaving server does not answer. It is part of npm start.');
    }
    button.disabled = false;
    // Whoever went on meanwhile is not to be called back.
    if (document.activeElement === document.body) button.focus();
  }

  return {
    hit({ id }) {
      const known = connections.get(id);
      if (known !== undefined) connections.set(id, known + 1);
    },
  };
}

function createSide(title: string) {
  const bar = make('progress', 'download-bar');
  bar.max = BYTES;
  bar.value = 0;
  bar.setAttribute('aria-label', title);
  const marks = make('div', 'marks', ...BREAKS.map(mark));
  marks.setAttribute('aria-hidden', 'true');
  const size = make('dd', '', '–');
  const hits = make('dd', '', '–');
  const digest = make('dd', 'digest', '–');
  const element = make(
    'div',
    'download',
    make('h3', '', title),
    make('div', 'bar', bar, marks),
    make(
      'dl',
      'facts',
      make('div', '', make('dt', '', 'received'), size),
      make('div', '', make('dt', '', 'connections'), hits),
      make('div', 'is-wide', make('dt', '', 'SHA-256'), digest),
    ),
  );
  let connections = () => 0;
  return {
    element,
    begin(ofConnections: () => number) {
      connections = ofConnections;
      element.dataset.outcome = 'open';
      bar.value = 0;
      setText(digest, '…');
    },
    bytes(bytes: number) {
      bar.value = bytes;
      setText(size, `${mebibytes(bytes)} of ${mebibytes(BYTES)} MiB`);
      setText(hits, String(connections()));
    },
    end({ bytes, sha256, whole }: Download, expected: string) {
      const right = whole && sha256 === expected;
      element.dataset.outcome = right ? 'ok' : 'fail';
      bar.value = bytes;
      setText(size, `${mebibytes(bytes)} of ${mebibytes(BYTES)} MiB${whole ? '' : ', then it broke off'}`);
      setText(hits, String(connections()));
      setText(digest, `${sha256} ${right ? '(that of the file)' : '(not that of the file)'}`);
    },
  };
}

function mark(at: number): HTMLElement {
  const element = make('span', 'mark');
  element.style.setProperty('left', `${at * 100}%`);
  return element;
}

const mebibytes = (bytes: number): string => (bytes / 1024 / 1024).toFixed(1);

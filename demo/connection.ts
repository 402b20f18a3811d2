import type { ConnectState, Retries } from '../src/page/index.ts';
import { byId, setText } from './dom.ts';

/** Says in words how this page stands to the worker, and what to do about it. */
export function showConnection(retries: Retries): void {
  const panel = byId('connection', HTMLElement);
  const reload = byId('reload', HTMLButtonElement);
  reload.addEventListener('click', () => location.reload());

  const show = (state: ConnectState) => {
    panel.dataset.state = state;
    const version = retries.workerVersion === undefined ? '' : `, worker ${retries.workerVersion}`;
    setText(byId('connection-state', HTMLElement), `${state}${version}`);
    const why = state === 'failed' && retries.error !== undefined ? ` (${messageOf(retries.error)})` : '';
    setText(byId('connection-words', HTMLElement), WORDS[state] + why);
    byId('with-off', HTMLElement).hidden = state === 'controlled' || state === 'waiting';
    reload.hidden = state !== 'uncontrolled-reload';
  };
  show(retries.state);
  // The state is that of the moment in which `connect` resolved; a claim may come later.
  if (retries.state === 'uncontrolled-reload') {
    navigator.serviceWorker.addEventListener('controllerchange', () => show('controlled'));
  }
}

const WORDS: Readonly<Record<ConnectState, string>> = {
  controlled: 'The worker answers this page’s fetches.',
  waiting:
    'The worker answers this page’s fetches. A newer version of it waits: close every tab of this page, then open it again.',
  'uncontrolled-reload':
    'The worker runs, but not for this page, which was loaded past it (a hard reload does that). Until you reload, both lanes are the same.',
  unsupported:
    'This browser has no service workers here, so both lanes are the same. Open the page on localhost or over https, and not in a private window of Firefox.',
  failed: 'The worker could not be started, so both lanes are the same. The terminal of npm start may say why.',
};

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

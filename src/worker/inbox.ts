import { isCompatible, type LayerStatus, parsePageMessage, toMessage, VERSION } from '../protocol/index.js';
import type { Mailbox } from './mailbox.js';

/** Answers what pages ask. Messages of others are left alone, broken ones are reported and ignored. */
export function createInbox(
  mailbox: Mailbox,
  status: () => LayerStatus,
  onProblem: (problem: string, detail?: string) => void,
): (event: ExtendableMessageEvent) => void {
  return ({ data, source, ports }) => {
    const message = parsePageMessage(data);
    if (message === 'foreign') return;
    if (message === 'malformed') {
      onProblem('a page sent a message that this version does not understand');
      return;
    }
    const [port] = ports;
    switch (message.kind) {
      case 'hello': {
        const theirs = message.version.slice(0, 20);
        if (!isCompatible(VERSION, message.version)) {
          // Whoever sends it chooses it: it is neither trusted to be short nor to be the same twice.
          onProblem(`a page's version does not fit ${VERSION}, the worker's; rebuild the older of the two`, theirs);
        }
        port?.postMessage(toMessage({ kind: 'welcome', version: VERSION }));
        if (source && 'id' in source) mailbox.welcome(source as Client);
        return;
      }
      case 'status':
        port?.postMessage(toMessage({ kind: 'status', status: status() }));
        return;
    }
  };
}

import {
  isCompatible,
  type LayerStatus,
  type OutboxItem,
  type OutboxWish,
  type PageMessage,
  parsePageMessage,
  REMEDY,
  toMessage,
  VERSION,
  type WorkerMessage,
} from '../protocol/index.js';
import type { Mailbox } from './mailbox.js';

/** What a page wants done. */
export type Wish = Exclude<PageMessage, { kind: 'hello' | 'status' | 'outbox' }>;

/** The entries that a wish was about, and how many wait now. */
export interface OutboxAnswer {
  readonly items: readonly OutboxItem[];
  readonly waiting: number;
}

/** Who answers pages. */
export interface Desk {
  /** What a page that says hello needs to know. */
  welcome(): Promise<{ readonly nonce: string; readonly fragments: boolean; readonly waiting: number }>;
  status(): LayerStatus;
  /** `event` keeps the worker alive for what the wish sets going. */
  outbox(wish: OutboxWish, event: ExtendableEvent): Promise<OutboxAnswer>;
  carryOut(wish: Wish, clientId: string, event: ExtendableEvent): unknown;
}

/** Answers what pages ask. Messages of others are left alone, broken ones are reported and ignored. */
export function createInbox(
  mailbox: Mailbox,
  desk: Desk,
  onProblem: (problem: string, detail?: unknown) => void,
): (event: ExtendableMessageEvent) => void {
  return (event) => {
    const { data, source, ports } = event;
    const message = parsePageMessage(data);
    if (message === 'foreign') return;
    if (message === 'malformed') {
      onProblem('a page sent a message that this version does not understand');
      return;
    }
    const [port] = ports;
    const clientId = source && 'id' in source ? source.id : '';
    const answer = async (): Promise<WorkerMessage> => {
      switch (message.kind) {
        case 'hello':
          return { kind: 'welcome', version: VERSION, ...(await desk.welcome()) };
        case 'status':
          return { kind: 'status', status: desk.status() };
        case 'outbox':
          return { kind: 'outbox', ...(await desk.outbox(message.wish, event)) };
        default:
          await desk.carryOut(message, clientId, event);
          return { kind: 'done' };
      }
    };
    if (message.kind === 'hello') {
      const theirs = message.version.slice(0, 20);
      if (!isCompatible(VERSION, message.version)) {
        // Whoever sends it chooses it: it is neither trusted to be short nor to be the same twice.
        onProblem(`a page's version does not fit ${VERSION}, the worker's; ${REMEDY}`, theirs);
      }
      if (clientId !== '') mailbox.welcome(source as Client);
    }
    const answered = answer().then(
      (said) => port?.postMessage(toMessage(said)),
      (problem: unknown) => onProblem('what a page asked for failed', problem),
    );
    event.waitUntil(answered);
  };
}

import { CHANNEL, type Gossip, parseGossip, toGossip } from '../protocol/index.js';
import type { OriginBook, OriginKey } from './origin-book.js';

/** Tells the other workers and page engines of this origin what was found out here, and hears the same of them. */
export interface GossipChannel {
  tell(gossip: Gossip): void;
}

/** Without a BroadcastChannel everybody knows no more than the store, which is how it was before there were any. */
export function createGossip(
  book: Pick<OriginBook, 'merge'>,
  onSuccess: (key: OriginKey) => void,
  onProblem: (problem: unknown) => void,
): GossipChannel {
  try {
    const channel = new BroadcastChannel(CHANNEL);
    // In Node an open channel would keep the process alive.
    (channel as { unref?: () => void }).unref?.();
    channel.onmessage = ({ data }) => {
      const gossip = parseGossip(data);
      if (gossip?.kind === 'guards') book.merge(gossip.record);
      if (gossip?.kind === 'success') onSuccess(gossip);
    };
    return {
      tell(gossip) {
        try {
          channel.postMessage(toGossip(gossip));
        } catch (problem) {
          onProblem(problem);
        }
      },
    };
  } catch (problem) {
    onProblem(problem);
    return { tell: () => {} };
  }
}

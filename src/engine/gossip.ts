import { CHANNEL, type Gossip, parseGossip, toGossip } from '../protocol/index.js';

/** Tells the other workers and page engines of this origin what was found out here, and hears the same of them. */
export interface GossipChannel {
  tell(gossip: Gossip): void;
  close(): void;
  /** Again, after it was closed. */
  open(): void;
}

/** What is done about what others tell. */
export type Hearers = { readonly [Kind in Gossip['kind']]: (gossip: Gossip & { kind: Kind }) => void };

/** Without a BroadcastChannel everybody knows no more than the store, which is how it was before there were any. */
export function createGossip(hearers: Hearers, onProblem: (problem: unknown) => void): GossipChannel {
  let channel: BroadcastChannel | undefined;
  const guarded = (work: () => void): void => {
    try {
      work();
    } catch (problem) {
      onProblem(problem);
    }
  };
  const open = (): void =>
    guarded(() => {
      channel = new BroadcastChannel(CHANNEL);
      // In Node an open channel would keep the process alive.
      (channel as { unref?: () => void }).unref?.();
      channel.onmessage = ({ data }) => {
        const gossip = parseGossip(data);
        if (gossip) (hearers[gossip.kind] as (gossip: Gossip) => void)(gossip);
      };
    });
  open();
  return {
    open,
    tell: (gossip) => guarded(() => channel?.postMessage(toGossip(gossip))),
    close() {
      channel?.close();
      channel = undefined;
    },
  };
}

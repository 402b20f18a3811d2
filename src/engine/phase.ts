import type { GiveUpReason } from '../policy/index.js';
import type { As } from './evidence.js';
import type { Place } from './parking.js';

/** What a run does between two events. All instants are of the run's own clock. */
export type Phase =
  /** An attempt is on its way; at `hedgeAt` another may be sent beside it, at `overtakeAt` it is overdue. */
  | { readonly kind: 'flying'; readonly overtakeAt?: number; readonly hedgeAt?: number | undefined }
  /** The next attempt starts at `until`; it has been paid for. `woken`: sooner than was planned. */
  | { readonly kind: 'waiting'; readonly until: number; readonly cost: number; readonly woken?: boolean }
  /** The device is offline; it is asked again at `askAt`. */
  | { readonly kind: 'offline'; readonly askAt: number }
  /** The server has asked for time; `spread`: that is over, and not everybody comes back at once. */
  | {
      readonly kind: 'held';
      readonly until: number;
      readonly spread: boolean;
      readonly cost: number | undefined;
      readonly as: As | undefined;
    }
  /** Nobody retries alone while the circuit is not closed; at `lookAt` this one may try if nobody else does. */
  | { readonly kind: 'parked'; readonly place: Place; readonly lookAt: number }
  /** No further attempt will start; what is in flight is waited for. */
  | { readonly kind: 'stopped'; readonly reason: GiveUpReason };

/** When something is to be done unless an attempt lands before. */
export function wakeAt(phase: Phase): number | undefined {
  switch (phase.kind) {
    case 'flying':
      return phase.hedgeAt ?? phase.overtakeAt;
    case 'waiting':
      return phase.until;
    case 'offline':
      return phase.askAt;
    case 'held':
      return phase.until;
    case 'parked':
      return phase.lookAt;
    case 'stopped':
      return undefined;
  }
}

/** Is nothing hoped for, but something to come? */
export const waits = ({ kind }: Phase): boolean => kind !== 'flying' && kind !== 'stopped';

export type LongPhase = Phase & { kind: 'waiting' | 'held' };
export const isLong = (phase: Phase): phase is LongPhase => phase.kind === 'waiting' || phase.kind === 'held';

/** May somebody end this wait? Once, so that whoever is woken again and again still goes. */
export const isOurs = (phase: Phase): boolean => phase.kind === 'offline' || (phase.kind === 'waiting' && !phase.woken);

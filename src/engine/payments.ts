import type { Aim } from './aim.js';
import type { Engine } from './call.js';
import type { OriginKey } from './origin-book.js';

/** What one request has taken out of the budgets of its servers, so that it gives back what it did not need. */
export interface Payments {
  /** Pays for the next attempt, to the server that is aimed at. */
  reserve(cost: number): void;
  /** Nothing was sent for it after all. */
  refund(cost: number | undefined): void;
  /** An attempt was sent for it. */
  spend(attempt: number, cost: number | undefined): void;
  /** The attempt has brought the answer. */
  giveBack(attempt: number): void;
}

export function createPayments(aim: Aim, { book, ports }: Engine): Payments {
  const paid = new Map<number, { readonly key: OriginKey; readonly cost: number }>();
  /** When the price of the next attempt was paid (wall clock). */
  let reservedAt = ports.now();

  function refundTo(key: OriginKey, cost: number | undefined, launched: boolean): void {
    if (cost) book.record(key, { kind: 'retry-refunded', at: ports.now(), cost, launched, reservedAt });
  }

  return {
    reserve(cost) {
      reservedAt = ports.now();
      book.record(aim.target.key, { kind: 'retry-reserved', at: reservedAt, cost });
    },
    refund: (cost) => refundTo(aim.target.key, cost, false),
    spend(attempt, cost) {
      if (cost !== undefined) paid.set(attempt, { key: aim.target.key, cost });
    },
    giveBack(attempt) {
      const payment = paid.get(attempt);
      if (payment) refundTo(payment.key, payment.cost, true);
    },
  };
}

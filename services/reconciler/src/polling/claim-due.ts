import type { Clock } from '@pesewa/kernel';
import type { ClaimLoop, Transaction } from '@pesewa/messaging';
import type { Tracked } from '../domain/tracked.ts';
import { type PollDocument, toDocument, watchOf } from '../poll-document.ts';

/** Claims payments as a transaction makes them due, so that no claim is written for them. */
export type ClaimDue = (
  payments: readonly Tracked[],
  nowMs: number,
  transaction: Transaction,
) => Promise<readonly Tracked[]>;

/** Builds {@link ClaimDue}; what there is no room for is due, and its loop is woken once that is committed. */
export function createClaimDue(
  loops: ReadonlyMap<string, ClaimLoop<PollDocument>>,
  wake: (watches: ReadonlySet<string>) => void,
  clock: Pick<Clock, 'nowMs'>,
): ClaimDue {
  return async (payments, nowMs, transaction) => {
    const due = payments.filter(({ dueAtMs }) => dueAtMs !== null && dueAtMs <= nowMs);
    const claimed = new Map<string, Tracked>();
    for (const [watch, ofRail] of Map.groupBy(due, watchOf)) {
      const loop = loops.get(watch);
      if (!loop) continue;
      const { granted, fields, begin } = await loop.claimAtBirth(transaction, { keys: ofRail.map(() => '') });
      const askedAtMs = clock.nowMs();
      const mine = ofRail
        .filter((_, index) => granted[index])
        .map((payment) => ({
          ...payment,
          claim: fields.claim,
          dueAtMs: fields.dueAt.getTime(),
          askedAtMs,
        }));
      for (const payment of mine) claimed.set(payment.reference, payment);
      // Without the time of asking, which only the database's clock gives as owners need it.
      begin(mine.map((payment) => toDocument({ ...payment, askedAtMs: null }, 0)));
    }
    const left = new Set(due.filter(({ reference }) => !claimed.has(reference)).map(watchOf));
    if (left.size > 0) transaction.afterCommit(() => wake(left));
    return payments.map((payment) => claimed.get(payment.reference) ?? payment);
  };
}

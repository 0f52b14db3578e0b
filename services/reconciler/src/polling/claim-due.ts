import type { ClaimLoop, Transaction } from '@pesewa/messaging';
import type { Tracked } from '../domain/tracked.ts';
import { type PollDocument, toDocument } from '../poll-document.ts';

/**
 * Claims those of the payments that a transaction makes due, as far as there is room: their rails are asked once it has
 * committed, and no claim is written for them (ADR 5). Gives all payments as they are to be written.
 */
export type ClaimDue = (
  payments: readonly Tracked[],
  nowMs: number,
  transaction: Pick<Transaction, 'afterCommit' | 'afterRollback'>,
) => readonly Tracked[];

const railOf = ({ terms }: Tracked) => terms?.rail ?? '';
/** When a claimed payment is deleted does not matter: it is open. */
const NOT_KEPT = { paymentMs: 0, unknownMs: 0 } as const;

/**
 * Builds {@link ClaimDue}.
 *
 * @param loops by rail
 * @param wake called with the rails of payments that are due and were not claimed, once the transaction has committed
 */
export function createClaimDue(
  loops: ReadonlyMap<string, Pick<ClaimLoop<PollDocument>, 'claimOnWrite'>>,
  wake: (rails: readonly string[]) => void,
): ClaimDue {
  return (payments, nowMs, transaction) => {
    const due = payments.filter(({ dueAtMs }) => dueAtMs !== null && dueAtMs <= nowMs);
    const claimed = new Map<string, Tracked>();
    for (const [rail, ofRail] of Map.groupBy(due, railOf)) {
      const claim = loops.get(rail)?.claimOnWrite(transaction, { keys: ofRail.map(() => rail) });
      if (!claim) continue;
      const mine = ofRail
        .filter((_, index) => claim.granted[index])
        .map((one) => ({
          ...one,
          claim: claim.fields.claim,
          dueAtMs: claim.fields.dueAt.getTime(),
          askedAtMs: nowMs,
        }));
      for (const one of mine) claimed.set(one.reference, one);
      claim.begin(mine.map((one) => toDocument(one, NOT_KEPT)));
    }
    const waiting = due.filter(({ reference }) => !claimed.has(reference)).map(railOf);
    if (waiting.length > 0) transaction.afterCommit(() => wake([...new Set(waiting)]));
    return payments.map((one) => claimed.get(one.reference) ?? one);
  };
}

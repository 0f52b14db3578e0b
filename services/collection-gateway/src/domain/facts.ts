import { accept, feeFor, refuse, unreachable } from '@pesewa/kernel';
import { merchantReason } from './reasons.ts';
import type { CollectionFact, CollectionState, DecidedAmount, Decision } from './state.ts';

/** What a fact from the rail does to a collection (ADR 6, invariant P13). */
export function decideFact(fact: CollectionFact, resubmitGraceMs: number, state: CollectionState): Decision {
  if (state.status !== 'PENDING') {
    const same = fact.status.toUpperCase() === state.status && !differs(fact.amount, state.amountReceived);
    return refuse(same ? 'collection.already_there' : 'collection.contradiction');
  }
  const { minor: asked } = state.order.amount;
  switch (fact.status) {
    case 'completed':
      // People must decide about an amount other than the one asked (ADR 23).
      if (differs(fact.amount, asked)) return refuse('collection.amount_differs');
      return accept([
        { kind: 'completed', amountReceived: asked, fee: state.fee, railFee: fact.fee ?? state.railFee },
      ]);
    case 'failed':
      return accept([{ kind: 'failed', reason: merchantReason(fact.reason) }]);
    case 'reversed':
      return refuse('collection.contradiction');
    case 'notFound':
      if (state.step === 'queued') return refuse('collection.already_there');
      // It was certainly never sent and never will be; after an unclear attempt only an end of the rail's counts.
      if (state.step === 'abandoned' && !state.earlierUnclear)
        return accept([{ kind: 'failed', reason: 'EXPIRED' }]);
      // If the rail may have acknowledged it, its "not found" decides nothing.
      if (state.step !== 'initiating' && state.step !== 'unknown') return refuse('collection.contradiction');
      if (fact.polledAtMs - state.attemptedAtMs < resubmitGraceMs) return refuse('collection.grace_not_over');
      return accept([{ kind: 'requeued', dueAtMs: fact.polledAtMs, unclear: true }]);
    default:
      return unreachable(fact.status);
  }
}

/** Whether two amounts are known and differ. */
function differs(reported: bigint | null, ours: bigint | null): boolean {
  return reported !== null && ours !== null && reported !== ours;
}

/**
 * Completes a collection with the amount that, by people's decision, the customer paid (ADR 23).
 *
 * Our fee is calculated from that amount, by the terms at acceptance, and never exceeds it.
 */
export function decideAmount({ currency, amount, railFee }: DecidedAmount, state: CollectionState): Decision {
  if (currency !== state.order.amount.currency) return refuse('collection.currency_differs');
  if (state.status !== 'PENDING') {
    const same = state.status === 'COMPLETED' && state.amountReceived === amount;
    return refuse(same ? 'collection.already_there' : 'collection.contradiction');
  }
  const scheduled = feeFor(state.feeSchedule, amount);
  const fee = scheduled < amount ? scheduled : amount;
  return accept([{ kind: 'completed', amountReceived: amount, fee, railFee }]);
}

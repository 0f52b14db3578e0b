import { walletKeyOf } from '@pesewa/contracts';
import { unreachable } from '@pesewa/kernel';
import type { Cause, OutgoingEvent } from '@pesewa/messaging';
import type { PayoutDomainEvent } from './domain/payout-state.ts';
import type { Payout } from './store.ts';

const payment = (payout: Payout) => ({
  reference: payout.reference,
  merchantReference: payout.order.merchantReference,
  merchantId: payout.merchantId,
  currency: payout.order.amount.currency,
  rail: payout.rail,
});

const amounts = (payout: Payout) => ({ amount: payout.order.amount.minor, fee: payout.fee });

const address = (payout: Payout, causationId: string | null) => ({
  topic: 'payouts' as const,
  key: walletKeyOf(payout.merchantId, payout.order.amount.currency),
  version: payout.version,
  causationId,
  traceparent: payout.traceparent,
});

/**
 * This much of a hash, 18 bits, can't be turned back into an account number, and is unlikely to match another order's.
 */
const CONTENT_CHECK_LENGTH = 3;

/** The event of a payout's acceptance; like all its events derived from the record alone, so that it can be repeated. */
export function acceptedEvent(payout: Payout): OutgoingEvent {
  return {
    ...address(payout, null),
    type: 'pesewa.payouts.PayoutAccepted',
    payload: {
      occurredAt: BigInt(payout.acceptedAtMs),
      ...payment(payout),
      ...amounts(payout),
      country: payout.order.country,
      channel: payout.order.channel,
      bankCode: payout.order.beneficiary.bankCode,
      batchReference: payout.batchReference,
      contentCheck: payout.contentHash.slice(0, CONTENT_CHECK_LENGTH),
    },
  };
}

/** The published event of a domain event; undefined for an internal one. `after` is the state after it. */
export function eventOf(
  domainEvent: PayoutDomainEvent,
  after: Payout,
  { causationId, atMs }: Cause,
): OutgoingEvent | undefined {
  const to = address(after, causationId);
  const common = { occurredAt: BigInt(atMs), ...payment(after) };
  const ending = (reason: string) => ({ ...common, ...amounts(after), statusReason: reason });
  switch (domainEvent.kind) {
    case 'held':
    case 'withheld':
    case 'requeued':
    case 'decided':
    case 'cancelRequested':
    case 'lapsed':
      return undefined;
    case 'submitted': {
      const answer = domainEvent.answer === 'acknowledged' ? 'acknowledged' : 'unknown';
      const payload = {
        ...common,
        attempt: after.attempts,
        answer,
        refused: domainEvent.answer === 'refused',
      } as const;
      return { ...to, type: 'pesewa.payouts.PayoutSubmitted', payload };
    }
    case 'completed': {
      const payload = { ...ending(domainEvent.reason), railFee: domainEvent.railFee };
      return { ...to, type: 'pesewa.payouts.PayoutCompleted', payload };
    }
    case 'failed':
      return { ...to, type: 'pesewa.payouts.PayoutFailed', payload: ending(domainEvent.reason) };
    case 'reversed':
      return { ...to, type: 'pesewa.payouts.PayoutReversed', payload: ending(domainEvent.reason) };
    default:
      return unreachable(domainEvent);
  }
}

import { walletKeyOf } from '@pesewa/contracts';
import { type Clock, type Ids, unreachable } from '@pesewa/kernel';
import type { OutgoingEvent } from '@pesewa/messaging';
import type { PayoutHappening } from './domain/payout.ts';
import type { Payout } from './store.ts';

/** What turns a payout's happenings into events of payouts.events. */
export interface PayoutEvents {
  readonly accepted: (payout: Payout) => OutgoingEvent;
  /** The event that others see of a happening, or nothing where it is ours alone; `after` is the state it led to. */
  readonly happened: (
    happening: PayoutHappening,
    after: Payout,
    causationId: string | null,
  ) => OutgoingEvent | undefined;
}

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
});

/** Builds {@link PayoutEvents}. */
export function createPayoutEvents(deps: { readonly ids: Ids; readonly clock: Clock }): PayoutEvents {
  const envelope = () => ({ eventId: deps.ids.next('ev'), occurredAt: BigInt(deps.clock.nowMs()) });
  return {
    accepted: (payout) => ({
      ...address(payout, null),
      type: 'pesewa.payouts.PayoutAccepted',
      payload: {
        ...envelope(),
        ...payment(payout),
        ...amounts(payout),
        country: payout.order.country,
        channel: payout.order.channel,
        bankCode: payout.order.beneficiary.bankCode,
        batchReference: payout.batchReference,
      },
    }),
    happened: (happening, after, causationId) => {
      const common = { ...envelope(), ...payment(after) };
      const ending = (reason: string) => ({ ...common, ...amounts(after), statusReason: reason });
      switch (happening.kind) {
        case 'held':
        case 'requeued':
        case 'decided':
        case 'lapsed':
          return undefined;
        case 'submitted':
          return {
            ...address(after, causationId),
            type: 'pesewa.payouts.PayoutSubmitted',
            payload: {
              ...common,
              attempt: after.attempts,
              answer: happening.answer === 'accepted' ? 'accepted' : 'unknown',
              refused: happening.answer === 'refused',
            },
          };
        case 'completed':
          return {
            ...address(after, causationId),
            type: 'pesewa.payouts.PayoutCompleted',
            payload: { ...ending(happening.reason), railFee: happening.railFee },
          };
        case 'failed':
          return {
            ...address(after, causationId),
            type: 'pesewa.payouts.PayoutFailed',
            payload: ending(happening.reason),
          };
        case 'reversed':
          return {
            ...address(after, causationId),
            type: 'pesewa.payouts.PayoutReversed',
            payload: ending(happening.reason),
          };
        default:
          return unreachable(happening);
      }
    },
  };
}

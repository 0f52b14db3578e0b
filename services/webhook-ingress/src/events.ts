import type { Clock, Ids } from '@pesewa/kernel';
import type { OutgoingEvent } from '@pesewa/messaging';
import type { CallbackKind, Claim } from './domain/callback.ts';

/** A callback as it is told of. */
export interface TellableCallback {
  readonly rail: string;
  readonly kind: CallbackKind;
  readonly digest: string;
  readonly claim: Claim;
  /** Whether the claim is a fact. */
  readonly proven: boolean;
}

/** What turns callbacks into events of rails.notices. */
export interface CallbackEvents {
  readonly received: (callback: TellableCallback) => OutgoingEvent;
}

/** Builds {@link CallbackEvents}. */
export function createCallbackEvents(deps: { readonly ids: Ids; readonly clock: Clock }): CallbackEvents {
  return {
    received: ({ rail, kind, claim, digest, proven }) => ({
      topic: 'railNotices',
      key: claim.reference,
      // A callback knows nothing of the payment's version.
      version: 0n,
      causationId: null,
      type: 'pesewa.rails.CallbackReceived',
      payload: {
        eventId: deps.ids.next('ev'),
        occurredAt: BigInt(deps.clock.nowMs()),
        rail,
        reference: claim.reference,
        kind,
        claimedStatus: claim.status,
        claimedAmount: claim.amount,
        claimedCurrency: claim.currency,
        claimedFee: claim.fee,
        claimedReason: claim.reason,
        digest,
        proven,
      },
    }),
  };
}

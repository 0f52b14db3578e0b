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
  /** When it was passed on, as its record has it. */
  readonly atMs: number;
  /** The trace of the request that it came in; a new one where it is passed on by hand. */
  readonly traceparent?: string;
}

/** Turns callbacks into events of rails.notices. */
export interface CallbackEvents {
  readonly received: (callback: TellableCallback) => OutgoingEvent;
}

/** The {@link CallbackEvents}. */
export const callbackEvents: CallbackEvents = {
  received: ({ rail, kind, claim, digest, proven, atMs, traceparent }) => ({
    topic: 'railNotices',
    key: claim.reference,
    // A callback knows nothing of the payment's version.
    version: 0n,
    causationId: null,
    ...(traceparent !== undefined && { traceparent }),
    type: 'pesewa.rails.CallbackReceived',
    payload: {
      occurredAt: BigInt(atMs),
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

import type { PaymentKind } from '@pesewa/contracts';
import type { OutgoingEvent } from '@pesewa/messaging';
import type { Claim } from './domain/callback.ts';

/** A callback's data for its event. */
export interface ReportableCallback {
  readonly rail: string;
  readonly kind: PaymentKind;
  readonly digest: string;
  readonly claim: Claim;
  /** Whether the claim is a fact. */
  readonly proven: boolean;
  /** When it was passed on, according to its record. */
  readonly atMs: number;
  /** The trace of its request; if it is passed on by hand, a new one. */
  readonly traceparent?: string;
}

/** The event of a callback. */
export function callbackReceived(callback: ReportableCallback): OutgoingEvent {
  const { rail, kind, claim, digest, proven, atMs, traceparent } = callback;
  return {
    topic: 'railCallbacks',
    key: claim.reference,
    // A callback does not know the payment's version.
    version: 0n,
    causationId: null,
    ...(traceparent !== undefined && { traceparent }),
    type: 'pesewa.rails.CallbackReceived',
    payload: { occurredAt: BigInt(atMs), rail, kind, ...claim, digest, proven },
  };
}

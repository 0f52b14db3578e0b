import type { Claimable } from '@pesewa/messaging';
import type { AttemptError, DeliveryKind, DeliveryState } from './domain/delivery.ts';

/**
 * A webhook that a merchant is owed; `_id` follows from the payment and its end, so that each is created once (ADR 37).
 */
export interface DeliveryDocument extends Claimable {
  readonly merchantId: string;
  /** Our reference of the payment. */
  readonly reference: string;
  readonly merchantReference: string;
  readonly kind: DeliveryKind;
  /** The exact text, built once, which every attempt signs and sends. */
  readonly body: string;
  /** The address in the collection's request; null for the merchant's own at the time of sending. */
  readonly webhookUrl: string | null;
  /** The merchant and the destination of these webhooks, which share an endpoint (contract 10.15). */
  readonly bulkhead: string;
  /** The event behind it, and its trace. */
  readonly causationId: string;
  readonly traceparent?: string;
  readonly createdAt: Date;
  readonly state: DeliveryState;
  /** All attempts so far. */
  readonly attempts: number;
  /** Attempts since it was created or last resent, by which the next pause is chosen. */
  readonly roundAttempts: number;
  /** The newest {@link ATTEMPTS_LOGGED_MAX} attempts, the oldest first; absent before the first. */
  readonly attemptLog?: readonly Attempt[];
  /** Why it is exhausted or discarded. */
  readonly reason?: string;
  /** When it is deleted; absent while it is `pending`. */
  readonly forgetAt?: Date;
}

/** One attempt; never has a body. */
export interface Attempt {
  readonly at: Date;
  readonly status?: number;
  readonly error?: AttemptError;
  readonly durationMs: number;
}

/** Only resending makes more attempts than the schedule has. */
export const ATTEMPTS_LOGGED_MAX = 100;

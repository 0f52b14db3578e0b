import { MINOR_UNITS_MAX } from '@pesewa/kernel';
import type { LedgerDomainEvent, Payment } from './instructions.ts';

/** The outcome of one instruction. */
export type Outcome =
  | { readonly kind: 'posted'; readonly domainEvent: LedgerDomainEvent }
  /** Applied or refused before: it changes nothing, and gets the same answer again. */
  | { readonly kind: 'alreadyApplied' }
  /** It asks for nothing, and has no answer. */
  | { readonly kind: 'noEffect' }
  /** It can't be applied, now or later; people must look at it. */
  | { readonly kind: 'parked'; readonly reason: string };

/** Applied or refused before. */
export const alreadyApplied: Outcome = { kind: 'alreadyApplied' };

/** There was nothing to do. */
export const noEffect: Outcome = { kind: 'noEffect' };

/** Why a hold or an order that its wallet can't cover is refused. */
export const insufficientFunds = 'Insufficient funds';

type WithoutSequence<H> = H extends LedgerDomainEvent ? Omit<H, 'sequence'> : never;

/** A domain event before its wallet's sequence is known. */
export type Unnumbered = WithoutSequence<LedgerDomainEvent>;

/** It was applied, or refused for good; the outcome is published. */
export function posted(domainEvent: Unnumbered, sequence: bigint): Outcome {
  return { kind: 'posted', domainEvent: { ...domainEvent, sequence } };
}

/** It can't be applied; people must look at it. */
export function park(reason: string): Outcome {
  return { kind: 'parked', reason };
}

/** The fields of every domain event of a payment. */
export function causeOf({ causationId, reference, merchantId, currency }: Payment): Payment {
  return { causationId, reference, merchantId, currency };
}

/** Whether an amount is above zero and within the contract's largest number. */
export function isAmount(minor: bigint): boolean {
  return minor > 0n && minor <= MINOR_UNITS_MAX;
}

/** The same, but zero is allowed. */
export function isCost(minor: bigint): boolean {
  return minor >= 0n && minor <= MINOR_UNITS_MAX;
}

/**
 * Whether a wallet could hold no more: by all of its money, held money included, so that a release always has room and no
 * balance is more than every consumer reads exactly.
 */
export function isOverfull(
  { available, held }: { readonly available: bigint; readonly held: bigint },
  gain: bigint,
): boolean {
  return available + held + gain > MINOR_UNITS_MAX;
}

import { MINOR_UNITS_MAX } from '@pesewa/kernel';
import type { Happening, Payment } from './instructions.ts';

/** What became of one instruction. */
export type Outcome =
  | { readonly kind: 'posted'; readonly happening: Happening }
  /** Applied or refused before: it changes nothing, and is answered again. */
  | { readonly kind: 'known' }
  /** It asks for nothing, and has no answer. */
  | { readonly kind: 'nothing' }
  /** Can't be applied, now or later; people must look at it. */
  | { readonly kind: 'parked'; readonly reason: string };

/** Nothing is left to do. */
export const known: Outcome = { kind: 'known' };

/** Nothing was to be done. */
export const nothing: Outcome = { kind: 'nothing' };

/** Why a hold, or an order, is refused that its wallet can't bear. */
export const insufficientFunds = 'Insufficient funds';

type WithoutSequence<H> = H extends Happening ? Omit<H, 'sequence'> : never;

/** A happening before the wallet's sequence is known. */
export type Unnumbered = WithoutSequence<Happening>;

/** It was applied, or refused for good: others hear of it. */
export function posted(happening: Unnumbered, sequence: bigint): Outcome {
  return { kind: 'posted', happening: { ...happening, sequence } };
}

/** People must look at it. */
export function park(reason: string): Outcome {
  return { kind: 'parked', reason };
}

/** What every happening of a payment tells of it. */
export function causeOf({ causationId, reference, merchantId, currency }: Payment): Payment {
  return { causationId, reference, merchantId, currency };
}

/** Whether money that is to move is some, and not more than a number of the contract holds. */
export function isAmount(minor: bigint): boolean {
  return minor > 0n && minor <= MINOR_UNITS_MAX;
}

/** The same for what may be nothing. */
export function isCost(minor: bigint): boolean {
  return minor >= 0n && minor <= MINOR_UNITS_MAX;
}

import type { PaymentKind } from '@pesewa/contracts';
import type { Field } from './break-kinds.ts';

/**
 * What our float gains for each unit that the rail has more than we in a field of an ended payment: what it paid out and
 * charged more is gone from our float, what it received more is in it; 0 if the field says nothing of that.
 */
export function floatDirection(field: Field, kind: PaymentKind): 1n | 0n | -1n {
  if (field === 'fee') return -1n;
  if (field !== 'amount') return 0n;
  return kind === 'payout' ? -1n : 1n;
}

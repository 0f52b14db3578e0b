import { type BreakView, decidableKinds, type PaymentKind } from '@pesewa/contracts';

/** The break of a payment that people must decide before it can end, if any. */
export function breakToDecide<One extends Pick<BreakView, 'kind' | 'status'>>(
  kind: PaymentKind,
  breaks: readonly One[],
): One | undefined {
  return decidableKinds[kind]
    .map((code) => breaks.find((one) => one.kind === code && one.status !== 'resolved'))
    .find((one) => one !== undefined);
}

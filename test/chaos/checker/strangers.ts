import type { Violation } from './rules.ts';
import type { World } from './world.ts';

/** Traces of a payment that no gateway has: at the rail (X2), at the merchants (W3), among the breaks (R3). */
export function checkStrangers(world: World): readonly Violation[] {
  const known = new Set(world.payments.map(({ reference }) => reference));
  const isStrange = ({ reference }: { readonly reference: string }) => !known.has(reference);
  return [
    ...world.moves.filter(isStrange).map(
      ({ reference, kind, operation }): Violation => ({
        rule: 'X2 stranger',
        reference,
        what: `the rail has a ${kind} (${operation}) of it, and no gateway knows it`,
      }),
    ),
    ...[...world.deliveries, ...world.received].filter(isStrange).map(
      ({ reference, merchantId }): Violation => ({
        rule: 'W3 stranger',
        reference,
        what: `${merchantId} has a webhook for it, and no gateway knows it`,
      }),
    ),
    ...world.breaks
      .filter(isStrange)
      .filter(({ kind, isOpen }) => isOpen || !isOfNoPayment(kind))
      .map(
        ({ reference, kind, isOpen }): Violation => ({
          rule: 'R3 stranger',
          reference,
          what: `${kind} is ${isOpen ? 'open' : 'resolved'}, and is of no payment`,
        }),
      ),
  ];
}

/** Breaks of wallets, whose subject is no payment. */
function isOfNoPayment(kind: string): boolean {
  return kind === 'wallet.drift';
}

import type { PaymentKind } from '@pesewa/contracts';
import type { Window, WindowPayment } from '../matching/payments.ts';
import type { StatementDocument } from './store.ts';

type Period = Pick<StatementDocument, 'rail' | 'from' | 'to' | 'firstAt' | 'lastAt' | 'requestedAt'>;

/** The period whose payments must be in the statement, none of it after its upload; undefined if nothing defines it. */
export function windowOf({ rail, from, to, firstAt, lastAt, requestedAt }: Period): Window | undefined {
  const begins = from ?? firstAt;
  const last = to ?? (lastAt && new Date(lastAt.getTime() + 1));
  const ends = last && last > requestedAt ? requestedAt : last;
  return begins && ends && begins < ends ? { from: begins, to: ends, rail } : undefined;
}

/** Whether a payment that moved money must be in the statement. */
export function mustHave(
  statement: Period & Pick<StatementDocument, 'currency' | 'currencies' | 'mapping'>,
  { endedAt, terms }: Pick<WindowPayment, 'endedAt' | 'terms'>,
): boolean {
  const window = windowOf(statement);
  if (!window || !endedAt || endedAt < window.from || endedAt >= window.to) return false;
  const { currency: only, currencies, rail, mapping } = statement;
  const holds = kindsOf(mapping.holds);
  return (
    terms?.rail === rail &&
    (only === null ? currencies.includes(terms.currency) : only === terms.currency) &&
    holds.includes(terms.kind)
  );
}

const kindsOf = (holds: StatementDocument['mapping']['holds']): readonly PaymentKind[] =>
  holds === undefined ? ['payout', 'collection'] : [holds === 'payouts' ? 'payout' : 'collection'];

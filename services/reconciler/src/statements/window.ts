import type { PaymentKind } from '@pesewa/contracts';
import type { Window, WindowPayment } from '../matching/payments.ts';
import type { StatementDocument } from './store.ts';

/** What the period of a statement follows from. */
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

/**
 * Whether a payment's end was compared: by a line, or for want of one in a statement that must have it. When a rail lists a
 * reversal is not known, and a line of a failed payment may be one that can't be read.
 */
export function isCompared(
  { _id, status }: Pick<WindowPayment, '_id' | 'status'>,
  movements: ReadonlySet<string>,
  place: Pick<StatementDocument, 'hasUnreadable'> | undefined,
): boolean {
  if (status === 'reversed') return movements.has(`${_id}/reversal`);
  return movements.has(_id) || (place !== undefined && (status === 'completed' || !place.hasUnreadable));
}

const kindsOf = (holds: StatementDocument['mapping']['holds']): readonly PaymentKind[] =>
  holds === undefined ? ['payout', 'collection'] : [holds === 'payouts' ? 'payout' : 'collection'];

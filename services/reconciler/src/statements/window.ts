import type { Window, WindowPayment } from '../matching/payments.ts';
import type { StatementDocument } from './store.ts';

/** What the period of a statement follows from. */
interface Period extends Pick<StatementDocument, 'rail' | 'from' | 'to' | 'requestedAt'> {
  /** The times of the first and the last line with a time, if there are any. */
  readonly firstAt?: Date;
  readonly lastAt?: Date;
}

/** The period whose payments must be in the statement, none of it after its upload; undefined if nothing defines it. */
export function windowOf({ rail, from, to, firstAt, lastAt, requestedAt }: Period): Window | undefined {
  const begins = from ?? firstAt;
  const last = to ?? (lastAt && new Date(lastAt.getTime() + 1));
  const ends = last && last > requestedAt ? requestedAt : last;
  return begins && ends && begins < ends ? { from: begins, to: ends, rail } : undefined;
}

/** Whether a payment that moved money must be in the statement. */
export function mustHave(
  { window, currency, currencies, mapping }: StatementDocument,
  { endedAt, terms }: Pick<WindowPayment, 'endedAt' | 'terms'>,
): boolean {
  if (!window || !terms || !endedAt || endedAt < window.from || endedAt >= window.to) return false;
  return (
    terms.rail === window.rail &&
    (currency === null ? currencies.includes(terms.currency) : currency === terms.currency) &&
    (mapping.holds === undefined || mapping.holds === `${terms.kind}s`)
  );
}

/**
 * Whether a payment's end was compared: by a line, or for want of one in statements that must have it. When a rail lists a
 * reversal is not known, and a line of a failed payment may be one that can't be read.
 */
export function isCompared(
  { _id, status }: Pick<WindowPayment, '_id' | 'status'>,
  movements: ReadonlySet<string>,
  places: readonly Pick<StatementDocument, 'hasUnreadable'>[],
): boolean {
  if (status === 'reversed') return movements.has(`${_id}/reversal`);
  return movements.has(_id) || places.some(({ hasUnreadable }) => status === 'completed' || !hasUnreadable);
}

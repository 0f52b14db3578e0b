import { displayAmount } from '@pesewa/kernel';
import type { BreakKind } from './break-kinds.ts';
import { isEnd } from './claim.ts';
import type { Finding } from './judging.ts';
import { agreedAmount, isBooked, isUnknown, type Terms, type Tracked } from './tracked.ts';

/** The breaks between the ledger and the owners of payments. */
export const bookKinds: readonly BreakKind[] = [
  'books.unposted',
  'books.posted_wrongly',
  'books.unreleased',
  'books.unexplained_entry',
];

/**
 * How the ledger's entries of a payment differ from those that its state requires, or that only they or a proven callback
 * name it; undefined if they match (ADR 27).
 *
 * The amount is signed as a wallet's drift, the rail minus the ledger, without the rails' own fees: our float is wrong
 * by that much. Null if it is unknown.
 */
export function judgeBooks(tracked: Tracked): Finding | undefined {
  const { terms, status, booked } = tracked;
  if (terms === null) {
    const amount = booked === null ? null : -booked.minor;
    const entry = 'the ledger has an entry, and the payment is unknown';
    if (isBooked(tracked)) return { kind: 'books.unexplained_entry', amount, detail: entry };
    const detail = 'a proven callback names an unknown payment';
    const isNamed = isUnknown(tracked) && tracked.callbacks.some(({ proven }) => proven);
    return isNamed ? { kind: 'callback.unknown_reference', amount, detail } : undefined;
  }
  const amount = offBy(tracked, terms);
  const state = isEnd(status) ? `is ${status}` : 'has not ended';
  const wrong = wrongEntry(tracked, terms);
  if (wrong !== undefined)
    return {
      kind: 'books.posted_wrongly',
      amount,
      detail: `the payment ${state}, yet the ledger has ${wrong}`,
    };
  const lacking = lackingEntry(tracked, terms);
  if (lacking !== undefined) {
    const kind = lacking === 'release' ? 'books.unreleased' : 'books.unposted';
    return { kind, amount, detail: `the payment ${state}, and the ledger has no ${lacking}` };
  }
  return otherMoney(terms, booked, amount);
}

/** An entry that does not match its payment's state. */
function wrongEntry(tracked: Tracked, { kind }: Terms): string | undefined {
  const { posted, refunded, released, status } = tracked;
  const isPaid = status === 'completed' || (status === 'reversed' && kind === 'payout');
  if (posted && !isPaid) return kind === 'payout' ? 'its capture' : 'its credit';
  if (refunded && status !== 'reversed') return 'its refund';
  if (released && status !== 'failed') return 'given its hold back, or refused it';
  return undefined;
}

/** The entry that is missing for a payment's state. */
function lackingEntry(
  { posted, refunded, released, status }: Tracked,
  { kind }: Terms,
): 'capture' | 'credit' | 'refund' | 'release' | undefined {
  if (kind === 'collection') return status === 'completed' && !posted ? 'credit' : undefined;
  if ((status === 'completed' || status === 'reversed') && !posted) return 'capture';
  if (status === 'reversed' && !refunded) return 'refund';
  return status === 'failed' && !released ? 'release' : undefined;
}

/** Entries of the right kinds with other amounts than the payment's. */
function otherMoney(terms: Terms, booked: Tracked['booked'], amount: bigint | null): Finding | undefined {
  if (booked === null) return undefined;
  const isElsewhere = booked.rail !== terms.rail || booked.currency !== terms.currency;
  if (!isElsewhere && (amount === null || amount === 0n)) return undefined;
  const moved = `${displayAmount(booked.minor, booked.currency)} at ${booked.rail}`;
  return { kind: 'books.posted_wrongly', amount, detail: `the ledger moved our float by ${moved}` };
}

/** The payment's movement at the rail minus what the ledger has moved in our float for it. */
function offBy(tracked: Tracked, terms: Terms): bigint | null {
  const { status, posted, refunded, booked } = tracked;
  // Entries that were seen without their amounts can't be compared.
  const isUnreported = booked === null && (posted || refunded);
  if (!isEnd(status) || isUnreported || (booked !== null && booked.currency !== terms.currency)) return null;
  const paid = terms.kind === 'payout' ? -terms.amount : agreedAmount(tracked, terms);
  return (status === 'completed' ? paid : 0n) - (booked?.minor ?? 0n);
}

/** Schedules the comparison of the payment with its entries for a grace time later, unless they match by now. */
export function dueBooks(
  tracked: Tracked,
  at: { readonly nowMs: number; readonly booksGraceMs: number },
): Tracked {
  const finding = judgeBooks(tracked);
  const isReported = finding === undefined || tracked.breaks.includes(finding.kind);
  const booksDueAtMs = isReported ? null : (tracked.booksDueAtMs ?? at.nowMs + at.booksGraceMs);
  return booksDueAtMs === tracked.booksDueAtMs ? tracked : { ...tracked, booksDueAtMs };
}

import { type CloseRecordView, type CloseView } from '@pesewa/contracts';
import { formatAmount } from '@pesewa/kernel';
import type { Difference, Side } from '../domain/close.ts';
import type { CloseProgress } from './closes.ts';
import type { CloseRecord } from './store.ts';

/**
 * A close as operators see it: times in UTC, and how many of its payments have each result; null if there are too many
 * to count while it runs.
 */
export function viewClose({ close, counts }: CloseProgress): CloseView {
  const { _id, from, to, rail, stage, late = 0, requestedBy, requestedAt, finishedAt } = close;
  return {
    id: _id,
    from: from.toISOString(),
    to: to.toISOString(),
    rail,
    status: stage,
    ...viewCounts(counts),
    /** How many of its payments were reported only after it had been done once. */
    late,
    requestedBy,
    requestedAt: requestedAt.toISOString(),
    finishedAt: finishedAt?.toISOString() ?? null,
  };
}

function viewCounts(counts: CloseProgress['counts']) {
  if (counts === null) return { payments: null, done: null, results: null };
  const { pending, matched, differs, missing_there, unclear } = counts;
  const done = matched + differs + missing_there + unclear;
  return {
    payments: done + pending,
    done,
    results: { matched, differs, missing_there, unclear, pending },
  };
}

/** A payment of a close as operators see it: amounts as decimal strings, null if unknown. */
export function viewRecord(record: CloseRecord): CloseRecordView {
  const { reference, kind, rail, merchantId, currency, endedAt, result, tries } = record;
  const side = (of: Side | undefined) =>
    of
      ? { status: of.status, amount: textOf(of.amount, currency), fee: textOf(of.fee, currency) }
      : { status: null, amount: null, fee: null };
  return {
    reference,
    kind,
    rail,
    merchantId,
    currency,
    endedAt: endedAt.toISOString(),
    result,
    ours: side(record.ours),
    theirs: side(record.theirs),
    differences: (record.differences ?? []).map(({ field, minor }: Difference) => ({
      field,
      amount: formatAmount(minor, currency),
    })),
    why: record.why ?? null,
    breakId: record.breakId ?? null,
    alsoCoveredBy: record.alsoCoveredBy ?? [],
    /** Whether the rail reported an end that the payment's owner did not know, which was published to it. */
    factPublished: record.factPublished === true,
    askedAt: record.askedAt?.toISOString() ?? null,
    tries,
  };
}

function textOf(minor: bigint | null, currency: string): string | null {
  return minor === null ? null : formatAmount(minor, currency);
}

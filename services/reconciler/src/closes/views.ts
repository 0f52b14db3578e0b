import { type CloseRecordView, type CloseView, closeResults } from '@pesewa/contracts';
import { formatAmount } from '@pesewa/kernel';
import type { Side } from '../domain/close.ts';
import { breakId } from '../domain/observing.ts';
import type { Export } from '../exports.ts';
import type { ResultCounts } from '../matching/store.ts';
import type { CloseDocument, CloseRecord } from './store.ts';

/**
 * A close as operators see it: times in UTC, and how many of its payments have each result; null if there are too many
 * to count while it runs.
 */
export function viewClose(close: CloseDocument, counts: ResultCounts | null): CloseView {
  const { _id, from, to, rail, late = 0, requestedBy, requestedAt, finishedAt } = close;
  const found = counts && Object.fromEntries(closeResults.map((result) => [result, counts[result] ?? 0]));
  const results = found as CloseView['results'];
  const payments = Object.values(found ?? {}).reduce((sum, count) => sum + count, 0);
  return {
    id: _id,
    from: from.toISOString(),
    to: to.toISOString(),
    rail,
    status: close.stage,
    running: close.running === true,
    ...(results ? { payments, done: payments - results.pending } : { payments: null, done: null }),
    results,
    /** How many of its payments were reported only after it had been done once. */
    late,
    requestedBy,
    requestedAt: requestedAt.toISOString(),
    finishedAt: finishedAt?.toISOString() ?? null,
  };
}

/** A payment of a close as operators see it: amounts as decimal strings, null if unknown. */
export function viewRecord(record: CloseRecord): CloseRecordView {
  const { reference, kind, rail, merchantId, currency, endedAt, result, tries } = record;
  const { differences = [] } = record;
  const hasBreaks = result === 'differs' || result === 'not_at_rail';
  const [covering = null, ...alsoCoveredBy] = hasBreaks
    ? differences.map(({ field }) => breakId(reference, field))
    : [];
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
    differences: differences.map(({ field, minor }) => ({ field, amount: formatAmount(minor, currency) })),
    why: record.why ?? null,
    breakId: covering,
    alsoCoveredBy,
    /** Whether the rail reported an end that the payment's owner did not know, which was published to it. */
    correctionSent: record.correctionSent === true,
    askedAt: record.askedAt?.toISOString() ?? null,
    tries,
  };
}

function textOf(minor: bigint | null, currency: string): string | null {
  return minor === null ? null : formatAmount(minor, currency);
}

/** Written for what a lookup does not report, which is not the same as zero. */
const NOT_REPORTED = 'not reported';

const known = (text: string | null) => text ?? NOT_REPORTED;

const difference = ({ differences }: CloseRecordView, field: string) =>
  differences.find((one) => one.field === field)?.amount ?? null;

/** The columns of an export. */
export const closeColumns: Export<CloseRecord, CloseRecordView>['columns'] = {
  reference: ({ reference }) => reference,
  kind: ({ kind }) => kind,
  rail: ({ rail }) => rail,
  merchant: ({ merchantId }) => merchantId,
  currency: ({ currency }) => currency,
  ended_at: ({ endedAt }) => endedAt,
  result: ({ result }) => result,
  status_ours: ({ ours }) => known(ours.status),
  status_theirs: ({ theirs }) => known(theirs.status),
  status_difference: (view) => difference(view, 'status'),
  amount_ours: ({ ours }) => known(ours.amount),
  amount_theirs: ({ theirs }) => known(theirs.amount),
  amount_difference: (view) => difference(view, 'amount'),
  fee_ours: ({ ours }) => known(ours.fee),
  fee_theirs: ({ theirs }) => known(theirs.fee),
  fee_difference: (view) => difference(view, 'fee'),
  why: ({ why }) => why,
  break: ({ breakId }) => breakId,
  correction_sent: ({ correctionSent }) => (correctionSent ? 'yes' : 'no'),
  asked_at: ({ askedAt }) => askedAt,
  tries: ({ tries }) => tries,
};

import type { BreakKind } from './break-kinds.ts';
import type { EndStatus } from './claim.ts';
import type { Finding } from './question.ts';
import type { Terms, Tracked } from './tracked.ts';

/** The breaks of the coverage audit: an opening, or an end, that we never heard of; a record behind its own events. */
export const coverageKinds = [
  'coverage.missing',
  'coverage.ended',
  'coverage.behind',
] as const satisfies readonly BreakKind[];

/** A payment as its gateway has it on record. */
export interface OwnerRecord {
  readonly reference: string;
  readonly status: 'open' | EndStatus;
  /** What was agreed; of a collection that completed, with the amount that it completed with. */
  readonly terms: Terms;
  readonly acceptedAtMs: number;
  /** When the rail was asked, where it took the payment on; null where it did not, or nobody knows. */
  readonly takenOnAtMs: number | null;
}

/** What the audit finds of a payment. */
export type Gap = (typeof coverageKinds)[number];

/**
 * How the working set and a gateway's record of a payment differ; nothing where they do not (ADR 27).
 *
 * A payment that neither side has open is no matter of the audit; one without its terms can't be polled, and so is missing.
 */
export function gapBetween(
  ours: { readonly status: Tracked['status']; readonly terms: object | null } | undefined,
  record: Pick<OwnerRecord, 'status'> | null,
): Gap | undefined {
  const here = ours === undefined || ours.terms === null ? 'missing' : ours.status;
  if (record === null) return here === 'open' ? 'coverage.behind' : undefined;
  if (record.status !== 'open') return here === 'open' ? 'coverage.ended' : undefined;
  if (here === 'open') return undefined;
  return here === 'missing' ? 'coverage.missing' : 'coverage.behind';
}

/**
 * Whether the audit still finds what made it look at a payment, and has not told it before: what was a gap only while an
 * event was under way is none the second time, and what has become another one meanwhile is that event.
 *
 * @param expected the gap at first sight; nothing where it was told then and may be gone
 */
export function isStillNews(
  ours: Tracked | undefined,
  record: OwnerRecord | null,
  expected: Gap | undefined,
): boolean {
  const gap = gapBetween(ours, record);
  if (gap !== expected) return false;
  const told = ours?.breaks ?? [];
  return gap === undefined ? told.includes('coverage.behind') : !told.includes(gap);
}

/** What people are told of a gap that the payment has no break for yet; the amount is the payment's. */
export function gapFinding(
  { status, terms, breaks }: Tracked,
  record: OwnerRecord | null,
): Finding | undefined {
  const kind = gapBetween({ status, terms }, record);
  if (kind === undefined || breaks.includes(kind)) return undefined;
  const there = record === null ? 'has no record of it' : `has it as ${record.status}`;
  const here = terms === null ? 'is not in the working set' : `is ${status} here`;
  const detail = `the payment ${here}, and its gateway ${there}`;
  return { kind, amount: (terms ?? record?.terms)?.amount ?? null, detail };
}

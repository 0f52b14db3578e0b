import type { BreakKind } from './break-kinds.ts';
import type { EndStatus } from './claim.ts';
import type { Finding } from './question.ts';
import type { Terms, Tracked } from './tracked.ts';

/**
 * The breaks of the coverage audit: an opening or an end that never reached us, or a record that is behind its own
 * events.
 */
export const coverageKinds = [
  'coverage.missing',
  'coverage.ended',
  'coverage.behind',
] as const satisfies readonly BreakKind[];

/** A payment in its gateway's records. */
export interface OwnerRecord {
  readonly reference: string;
  readonly status: 'open' | EndStatus;
  /** The agreed terms; for a completed collection with the amount that it completed with. */
  readonly terms: Terms;
  readonly acceptedAtMs: number;
  /** When the rail was asked, if it accepted the payment; null if it did not, or if that is unknown. */
  readonly takenOnAtMs: number | null;
}

/** The kinds of differences that the audit finds. */
export type Gap = (typeof coverageKinds)[number];

/**
 * How the working set and a gateway's record of a payment differ; undefined if they do not (ADR 27).
 *
 * A payment that is open on neither side is not audited; one without its terms can't be polled, and so counts as
 * missing.
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
 * Whether the second check gives news: the same difference as at first sight, not reported before; or a reported one that
 * is gone. A difference that only existed while an event was on its way is gone the second time; if it has become another
 * one meanwhile, that event has come.
 *
 * @param expected the difference at the first look; undefined if it was reported before and may be gone
 */
export function isStillNews(
  ours: Tracked | undefined,
  record: OwnerRecord | null,
  expected: Gap | undefined,
): boolean {
  const gap = gapBetween(ours, record);
  if (gap !== expected) return false;
  const reported = ours?.breaks ?? [];
  return gap === undefined ? reported.includes('coverage.behind') : !reported.includes(gap);
}

/** The finding about a difference for which the payment has no break yet; the amount is the payment's. */
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

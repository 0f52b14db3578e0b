import type { BreakKind } from './break-kinds.ts';
import type { EndStatus } from './claim.ts';
import type { Finding } from './judging.ts';
import type { Terms, Tracked } from './tracked.ts';

/**
 * The differences between the working set and a gateway's record, by what did not arrive: an opening or an end that
 * never reached us, or a record that is behind its own events.
 */
export const gapKinds = {
  opening: 'coverage.missing',
  end: 'coverage.ended',
  record: 'coverage.behind',
} as const satisfies Readonly<Record<string, BreakKind>>;

/** What did not arrive. */
export type Gap = keyof typeof gapKinds;

/** A payment in its gateway's records. */
export interface OwnerRecord {
  readonly reference: string;
  readonly status: 'open' | EndStatus;
  /** The agreed terms; for a completed collection with the amount that it completed with. */
  readonly terms: Terms;
  readonly acceptedAt: Date;
  /** When the rail was asked, if it accepted the payment; null if it did not, or if that is unknown. */
  readonly takenOnAtMs: number | null;
  /** Whether the ledger has not answered its hold. */
  readonly awaitsHold: boolean;
}

/**
 * How the working set and a gateway's record of a payment differ; undefined if they do not (ADR 27).
 *
 * A payment that is open on neither side is not audited; one without its terms can't be polled, and so counts as
 * missing.
 */
export function gapBetween(
  ours: { readonly status: Tracked['status']; readonly terms?: object | null } | undefined,
  record: Pick<OwnerRecord, 'status'> | undefined,
): Gap | undefined {
  const here = ours?.terms ? ours.status : 'missing';
  if (record?.status !== 'open') {
    if (here !== 'open') return undefined;
    return record ? 'end' : 'record';
  }
  if (here === 'open') return undefined;
  return here === 'missing' ? 'opening' : 'record';
}

/** What the record of its gateway brings of a payment: its opening or its end, unless people were shown that before. */
export function broughtBy(tracked: Tracked, record: OwnerRecord): 'opening' | 'end' | undefined {
  const gap = gapBetween(tracked, record);
  return gap === undefined || gap === 'record' || tracked.breaks.includes(gapKinds[gap]) ? undefined : gap;
}

/** The finding about what a record brings; the amount is the payment's. */
export function gapFinding(tracked: Tracked, record: OwnerRecord): Finding | undefined {
  const gap = broughtBy(tracked, record);
  if (gap === undefined) return undefined;
  const here = gap === 'opening' ? 'is not in the working set' : `is ${tracked.status} here`;
  const detail = `the payment ${here}, and its gateway has it as ${record.status}`;
  return { kind: gapKinds[gap], amount: (tracked.terms ?? record.terms).amount, detail };
}

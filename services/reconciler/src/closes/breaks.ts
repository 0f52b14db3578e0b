import { type BreakReport } from '../breaks/reports.ts';
import { findingsOf, type Matching, type Side } from '../domain/close.ts';
import { breakId, toFoundBreak, toWithdrawal } from '../domain/observing.ts';
import type { CloseRecord } from './store.ts';

/** The result of an answer in a close. */
export interface CloseFinding {
  readonly record: CloseRecord;
  /** Null if the payment is not known any more. */
  readonly ours: Side | null;
  readonly matching: Matching;
  /** Whether a fact was published. */
  readonly correctionSent: boolean;
  /** What the same answer says as a poll's. */
  readonly reports: readonly BreakReport[];
}

/** All that closes may say of a payment. */
const SAID = [
  { kind: 'close.differs', field: 'status' },
  { kind: 'close.differs', field: 'amount' },
  { kind: 'close.differs', field: 'fee' },
  { kind: 'close.not_at_rail', field: 'status' },
] as const;

/** What a record says of its payment once it is finished: what differs, and what it compared and found the same. */
export function reportsOfRecord({ record, ours, matching }: CloseFinding, at: Date): readonly BreakReport[] {
  const { reference, run: close } = record;
  const { result } = matching;
  if (result === 'pending' || result === 'unclear' || !ours) return [];
  const found = findingsOf(matching, ours).map((one) => toFoundBreak(reference, one, record, at));
  const resolution = `close ${close}: ${resultText(result)}`;
  const gone = SAID.filter(
    (said) =>
      matching.compared.includes(said.field) &&
      found.every(({ kind, field }) => kind !== said.kind || field !== said.field),
  ).map((said) => toWithdrawal(reference, { ...said, resolution }, at));
  return [...found, ...gone];
}

/** The breaks that a finished record names. */
export function breaksOfRecord({ record, ours, matching }: CloseFinding): readonly string[] {
  const { result } = matching;
  if (result === 'pending' || !ours) return [];
  return findingsOf(matching, ours).map(({ field = 'status' }) => breakId(record.reference, field));
}

function resultText(result: Matching['result']): string {
  return result === 'matched' ? 'both have the same' : result.replace('_', ' ');
}

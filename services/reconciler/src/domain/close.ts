import { type CloseRecordView } from '@pesewa/contracts';
import type { FoundBreak } from './break.ts';
import { type EndStatus, isEnd } from './claim.ts';
import type { Finding, RailAnswer, Verdict } from './judging.ts';
import { toFoundBreak, toWithdrawal } from './observing.ts';
import type { Terms, Tracked } from './tracked.ts';

/**
 * The result of a payment in a close; `pending` until it is known. Payments that are missing in our books can't be
 * found by lookups, only by statement files.
 */
export type CloseResult = CloseRecordView['result'];

/** One side's view of a payment; minor units, null if not reported. */
export interface Side {
  readonly status: EndStatus | 'open' | 'pending' | 'not_found';
  readonly amount: bigint | null;
  readonly fee: bigint | null;
}

/** A difference between the two sides: in minor units, theirs minus ours; for a status, the money that moved by it. */
export interface Difference {
  readonly field: 'status' | 'amount' | 'fee';
  readonly minor: bigint;
}

/** The changes of a record by an answer. */
export interface Matching {
  readonly result: CloseResult;
  readonly differences: readonly Difference[];
  /** The fields that both sides have; nothing is said of any other. */
  readonly compared: readonly Difference['field'][];
  readonly theirs: Side | null;
  /** Why the newest answer is unclear, for people to read; null if it is clear. */
  readonly why: string | null;
}

/** What a record is judged by. */
export interface CloseEvidence {
  readonly tracked: Tracked;
  readonly terms: Terms;
  readonly answer: RailAnswer;
  /** The verdict on the same answer as a poll's. */
  readonly verdict: Pick<Verdict, 'fact'>;
  /** How often the rail was asked for this record, including this time. */
  readonly tries: number;
  readonly triesMax: number;
  /** The rail's latest earlier answer, which differed; null if there was none. */
  readonly lastReported: Side | null;
  /** Whether that difference counts already, and the rail is asked once more. */
  readonly hasCounted: boolean;
}

/** What a record knows of the rail before the next question; one that is unclear begins anew. */
export function knownBefore({
  result,
  theirs = null,
}: {
  readonly result: CloseResult;
  readonly theirs?: Side | null;
}): Pick<CloseEvidence, 'lastReported' | 'hasCounted'> {
  return result === 'unclear'
    ? { lastReported: null, hasCounted: false }
    : { lastReported: theirs, hasCounted: result !== 'pending' };
}

/** Our view of a payment: a failed one has moved nothing, and a collection's fee is in no lookup. */
export function sideOf(tracked: Pick<Tracked, 'status' | 'received' | 'charged'>, terms: Terms): Side {
  const { status } = tracked;
  const ours = isEnd(status) ? status : 'open';
  if (ours === 'failed') return { status: ours, amount: null, fee: null };
  const amount = tracked.received ?? terms.amount;
  return { status: ours, amount, fee: terms.kind === 'payout' ? tracked.charged : null };
}

/**
 * Matches a rail's answer about an ended payment with our records (ADR 29): payouts by status, amount and fee,
 * collections by status, because check-status reports nothing else. A field that one side does not report is not
 * compared.
 *
 * A difference counts once the rail has reported it twice, so that a passing error of the rail, or an end that is just
 * being published to its owner, does not reach people. An unclear answer does not take back a reported difference: the
 * difference counts from the last try on, and one that counts already stands. A record that stays unclear gets that result;
 * none is dropped.
 */
export function matchRecord(evidence: CloseEvidence): Matching {
  const { tracked, terms, answer, verdict } = evidence;
  const ours = sideOf(tracked, terms);
  if (ours.status === 'open') return unclear(evidence, ours, 'it is open again here');
  if (answer.kind === 'unknown') return unclear(evidence, ours, 'the rail gave no clear answer');
  if (answer.kind === 'unaskable') return unclear(evidence, ours, answer.why);
  const theirs = reportedBy(answer);
  const comparison = compareSides(ours, theirs, terms);
  // It failed before the rail acknowledged it, so neither side has moved money.
  const isNeverAccepted =
    answer.kind === 'notFound' && ours.status === 'failed' && (answer.takenOnAtMs ?? null) === null;
  if (isNeverAccepted || comparison.differences.length === 0)
    return { ...comparison, result: 'matched', differences: [], theirs, why: null };
  // The rail may still end it, or its owner is only now receiving an end, so this waits.
  const mayPass = answer.kind === 'pending' || (answer.kind !== 'notFound' && verdict.fact !== null);
  const { tries, triesMax, lastReported } = evidence;
  const counts = lastReported !== null && (tries >= triesMax || !mayPass);
  return { result: counts ? resultOf(theirs) : 'pending', ...comparison, theirs, why: null };
}

/** The rail's view of a payment. */
function reportedBy(answer: Exclude<RailAnswer, { readonly kind: 'unknown' | 'unaskable' }>): Side {
  if (answer.kind === 'completed' || answer.kind === 'reversed') {
    const { kind: status, amount, fee } = answer;
    return { status, amount: amount === 'unreadable' ? null : amount, fee };
  }
  return { status: answer.kind === 'notFound' ? 'not_found' : answer.kind, amount: null, fee: null };
}

/** What a finished record finds, by field; nothing if it matches, or if the result is unclear. */
export function findingsOf({ result, differences, theirs }: Matching, ours: Side): readonly Finding[] {
  if (result === 'not_at_rail') {
    const detail = `${ours.status} here, and the rail does not know it`;
    return [{ kind: 'close.not_at_rail', amount: differences[0]?.minor ?? 0n, detail }];
  }
  if (result !== 'differs') return [];
  return differences.map(({ field, minor: amount }) => {
    const detail =
      field === 'status'
        ? `${ours.status} here, and the rail says ${theirs?.status ?? 'nothing'}`
        : `the rail reports another ${field} than our books`;
    return { kind: 'close.differs', field, amount, detail };
  });
}

/** All that closes may say of a payment. */
const SAID = [
  { kind: 'close.differs', field: 'status' },
  { kind: 'close.differs', field: 'amount' },
  { kind: 'close.differs', field: 'fee' },
  { kind: 'close.not_at_rail', field: 'status' },
] as const;

/** What a close says of a payment that it compared: what differs, and what it compared and found the same. */
export function reportsOfRecord(
  record: Pick<FoundBreak, 'reference' | 'rail' | 'currency'> & { readonly run: string },
  ours: Side,
  matching: Matching,
  at: Date,
) {
  const { reference, run: close } = record;
  const found = findingsOf(matching, ours).map((one) => toFoundBreak(reference, one, record, at));
  const { result, compared } = matching;
  const resolution = `close ${close}: ${result === 'matched' ? 'both have the same' : result.replace('_', ' ')}`;
  const gone = SAID.filter(
    (said) =>
      compared.includes(said.field) &&
      found.every(({ kind, field }) => kind !== said.kind || field !== said.field),
  ).map((said) => toWithdrawal(reference, { ...said, resolution }, at));
  return [...found, ...gone];
}

/** Handles an unclear answer: an earlier difference stands as far as it still differs from our present view. */
function unclear(
  { tries, triesMax, lastReported, hasCounted, terms }: CloseEvidence,
  ours: Side,
  why: string,
): Matching {
  const isLast = tries >= triesMax;
  const comparison = lastReported && ours.status !== 'open' ? compareSides(ours, lastReported, terms) : null;
  if (lastReported && comparison && comparison.differences.length > 0) {
    const counts = isLast || hasCounted;
    return { result: counts ? resultOf(lastReported) : 'pending', ...comparison, theirs: lastReported, why };
  }
  return { result: isLast ? 'unclear' : 'pending', differences: [], compared: [], theirs: null, why };
}

function resultOf(theirs: Side): CloseResult {
  return theirs.status === 'not_found' ? 'not_at_rail' : 'differs';
}

type Comparison = Pick<Matching, 'differences' | 'compared'>;

/** Compares two sides: amounts and fees only if both have them, and have moved them by the same status. */
function compareSides(ours: Side, theirs: Side, terms: Terms): Comparison {
  if (ours.status !== theirs.status) {
    const minor = movedBy(theirs, ours, terms) - movedBy(ours, ours, terms);
    return { differences: [{ field: 'status', minor }], compared: ['status'] };
  }
  const found = (['amount', 'fee'] as const).flatMap((field): readonly Difference[] => {
    const [here, there] = [ours[field], theirs[field]];
    return here === null || there === null ? [] : [{ field, minor: there - here }];
  });
  return {
    differences: found.filter(({ minor }) => minor !== 0n),
    compared: ['status', ...found.map(({ field }) => field)],
  };
}

/** What another end has moved, less what ours has; null while ours is open. */
export function movedByEnd(
  tracked: Pick<Tracked, 'status' | 'received' | 'charged'>,
  terms: Terms,
  theirs: Pick<Side, 'status' | 'amount'>,
): bigint | null {
  const ours = sideOf(tracked, terms);
  return ours.status === 'open' ? null : movedBy(theirs, ours, terms) - movedBy(ours, ours, terms);
}

/** The money that has moved for good: only a completed payment has moved any. */
function movedBy(side: Pick<Side, 'status' | 'amount'>, ours: Side, terms: Terms): bigint {
  return side.status === 'completed' ? (side.amount ?? ours.amount ?? terms.amount) : 0n;
}

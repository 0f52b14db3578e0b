import { unreachable } from '@pesewa/kernel';
import type { FoundBreak } from './break.ts';
import type { BreakKind } from './break-kinds.ts';
import { type EndStatus, isEnd } from './claim.ts';
import { differsText } from './discrepancies.ts';
import type { RailAnswer, Verdict } from './question.ts';
import type { Terms, Tracked } from './tracked.ts';

/** What became of a payment in a close; `pending` until it is known. "Missing here" no lookup can tell: statement files do. */
export const closeResults = ['pending', 'matched', 'differs', 'missing_there', 'unclear'] as const;

/** One of {@link closeResults}. */
export type CloseResult = (typeof closeResults)[number];

/** A payment as one of the two has it; minor units, null where it is not told. */
export interface Side {
  readonly status: EndStatus | 'open' | 'pending' | 'not_found';
  readonly amount: bigint | null;
  readonly fee: bigint | null;
}

/** Where the two differ: minor units, theirs minus ours; of a status, of what has moved by it. */
export interface Difference {
  readonly field: 'status' | 'amount' | 'fee';
  readonly minor: bigint;
}

/** What there is to say of a record after an answer. */
export interface Matching {
  readonly result: CloseResult;
  readonly differences: readonly Difference[];
  readonly theirs: Side | null;
  /** Why the newest answer is not clear, for people; null where it is. */
  readonly why: string | null;
}

/** What a record is judged by. */
export interface CloseQuestion {
  readonly tracked: Tracked;
  readonly terms: Terms;
  readonly answer: RailAnswer;
  /** What the same answer came to as a poll. */
  readonly verdict: Pick<Verdict, 'fact'>;
  /** How often the rail was asked for this record, this time included. */
  readonly tries: number;
  readonly triesMax: number;
  /** What the rail told the last time that it told anything, which differed; null where it has told nothing yet. */
  readonly lastTold: Side | null;
}

/** What we hold of a payment: a failed one has moved nothing, and a collection's fee no lookup tells. */
export function sideOf(tracked: Tracked, terms: Terms): Side {
  const { status } = tracked;
  const ours = isEnd(status) ? status : 'open';
  if (ours === 'failed') return { status: ours, amount: null, fee: null };
  const amount = tracked.received ?? terms.amount;
  return { status: ours, amount, fee: terms.kind === 'payout' ? tracked.charged : null };
}

/**
 * Matches what a rail says of an ended payment with what we hold (ADR 29): payouts on status, amount and fee,
 * collections on status, since check-status tells no more. What is not told on either side is not compared.
 *
 * A difference counts once the rail has told it twice, so that neither a slip of the rail nor an end that its owner is
 * just being told of is for people. An answer that is not clear takes back no difference that was told: it counts at the
 * last try. What stays unclear is said to be so; nothing is dropped.
 */
export function matchRecord(question: CloseQuestion): Matching {
  const { tracked, terms, answer } = question;
  const ours = sideOf(tracked, terms);
  if (ours.status === 'open') return unclear(question, ours, 'it is open again here');
  switch (answer.kind) {
    case 'unknown':
      return unclear(question, ours, 'the rail gave no clear answer');
    case 'unaskable':
      return unclear(question, ours, answer.why);
    case 'pending': {
      const theirs = { status: answer.kind, amount: null, fee: null } as const;
      return later(question, theirs, differencesOf(ours, theirs, terms), true);
    }
    case 'notFound': {
      const theirs = { status: 'not_found', amount: null, fee: null } as const;
      // It failed before the rail took it on: neither has moved anything.
      if (ours.status === 'failed' && tracked.acceptedAtMs === null) return matched(theirs);
      return later(question, theirs, differencesOf(ours, theirs, terms), false);
    }
    case 'failed':
      return compared(question, ours, { status: answer.kind, amount: null, fee: null });
    case 'completed':
    case 'reversed': {
      const amount = answer.amount === 'unreadable' ? null : answer.amount;
      return compared(question, ours, { status: answer.kind, amount, fee: answer.fee });
    }
    default:
      return unreachable(answer);
  }
}

/** The break that a finished record stands for, with every field that differs; nothing where it matches, or nobody knows. */
export function breakOf(
  { result, differences, theirs }: Matching,
  ours: Side,
):
  | (Pick<FoundBreak, 'detail' | 'tells'> & { readonly kind: BreakKind; readonly amount: bigint })
  | undefined {
  const [first] = differences;
  if (result === 'missing_there') {
    const amount = first?.minor ?? 0n;
    const detail = `${ours.status} here, and the rail does not know it`;
    return { kind: 'close.missing_there', amount, detail };
  }
  if (result !== 'differs' || !first) return undefined;
  const kind = 'close.differs';
  const tells = differences.map(({ field, minor }) => ({ field, amount: minor }));
  const detail =
    first.field === 'status'
      ? `${ours.status} here, and the rail says ${theirs?.status ?? 'nothing'}`
      : (differsText(kind, tells) ?? kind);
  return { kind, amount: first.minor, detail, tells };
}

function compared(question: CloseQuestion, ours: Side, theirs: Side): Matching {
  const differences = differencesOf(ours, theirs, question.terms);
  // An end that its owner is told of now is waited for.
  const isNews = question.verdict.fact !== null;
  return differences.length === 0 ? matched(theirs) : later(question, theirs, differences, isNews);
}

/** A difference: it counts when it was told before, or where it may pass by itself only when it has not for so long. */
function later(
  { tries, triesMax, lastTold }: CloseQuestion,
  theirs: Side,
  differences: readonly Difference[],
  mayPass: boolean,
): Matching {
  const counts = tries >= triesMax || (lastTold !== null && !mayPass);
  return { result: counts ? resultOf(theirs) : 'pending', differences, theirs, why: null };
}

/** Not clear: what was told before stands, as far as it still differs from what we hold now. */
function unclear({ tries, triesMax, lastTold, terms }: CloseQuestion, ours: Side, why: string): Matching {
  const isLast = tries >= triesMax;
  const differences = lastTold && ours.status !== 'open' ? differencesOf(ours, lastTold, terms) : [];
  if (lastTold && differences.length > 0) {
    return { result: isLast ? resultOf(lastTold) : 'pending', differences, theirs: lastTold, why };
  }
  return { result: isLast ? 'unclear' : 'pending', differences: [], theirs: null, why };
}

function resultOf(theirs: Side): CloseResult {
  return theirs.status === 'not_found' ? 'missing_there' : 'differs';
}

function matched(theirs: Side): Matching {
  return { result: 'matched', differences: [], theirs, why: null };
}

function differencesOf(ours: Side, theirs: Side, terms: Terms): readonly Difference[] {
  if (ours.status !== theirs.status) {
    return [{ field: 'status', minor: movedBy(theirs, ours, terms) - movedBy(ours, ours, terms) }];
  }
  const fields = ['amount', 'fee'] as const;
  return fields.flatMap((field) => {
    const [here, there] = [ours[field], theirs[field]];
    return here === null || there === null || here === there ? [] : [{ field, minor: there - here }];
  });
}

/** What has moved for good: only a completed payment has moved anything. */
function movedBy(side: Side, ours: Side, terms: Terms): bigint {
  return side.status === 'completed' ? (side.amount ?? ours.amount ?? terms.amount) : 0n;
}

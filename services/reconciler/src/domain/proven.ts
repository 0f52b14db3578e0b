import { readFee, readMinor } from './amounts.ts';
import { type Claim, claimedEnd, isProven } from './claim.ts';
import type { Finding, Question, RailAnswer, Verdict } from './question.ts';
import type { Terms, Tracked } from './tracked.ts';
import { afterVerdict, judge } from './verdict.ts';

/** What a proven callback is judged by, besides itself. */
export type ProofSettings = Pick<Question, 'settleMs' | 'notFoundGraceMs' | 'pollsBeforeBreak'>;

/**
 * Judges an end that the rail proves by its callback, like an answer to a poll (design 6); nothing where the claim is
 * a hint, or speaks of no end.
 */
export function judgeProven(
  tracked: Tracked,
  terms: Terms,
  claim: Claim,
  settings: ProofSettings,
): Verdict | undefined {
  const answer = isProven(claim, terms) ? answerOf(claim, terms) : undefined;
  if (!answer) return undefined;
  const verdict = judge({
    ...settings,
    tracked,
    terms,
    expectedFee: terms.railFee,
    source: 'provenCallback',
    answer,
    polledAtMs: claim.atMs,
  });
  const odd = verdict.fact && oddFee(tracked, terms, claim);
  return odd ? { ...verdict, findings: [...verdict.findings, odd] } : verdict;
}

/** What the verdict on a proven callback makes of the payment: where it settles nothing, the rail is asked at once. */
export function afterProven(tracked: Tracked, verdict: Verdict, nowMs: number): Tracked {
  const isOpen = tracked.status === 'open' && verdict.fact === null;
  return {
    ...afterVerdict(tracked, verdict, nowMs),
    notFoundSinceMs: null,
    ...(isOpen && { dueAtMs: nowMs, claim: null }),
  };
}

function answerOf(claim: Claim, terms: Terms): RailAnswer | undefined {
  const kind = claimedEnd(claim);
  if (kind === undefined) return undefined;
  const { reason } = claim;
  if (kind === 'failed') return { kind, reason: reason ?? claim.status };
  const amount = claim.amount === null ? null : (readMinor(claim.amount, terms) ?? 'unreadable');
  return { kind, amount, fee: readFee(claim.fee, terms), reason };
}

/** A fee that the payment can't have cost: it is not taken, and the owner goes by the rail's schedule. */
function oddFee(tracked: Tracked, terms: Terms, claim: Claim): Finding | undefined {
  const kind = 'callback.fee_differs';
  const isPaid = claimedEnd(claim) !== 'failed';
  if (!isPaid || claim.fee === null || readFee(claim.fee, terms) !== null || tracked.breaks.includes(kind)) {
    return undefined;
  }
  const claimed = readMinor(claim.fee, terms);
  const amount = claimed === null ? null : claimed - terms.railFee;
  return { kind, amount, detail: 'a proven callback tells a fee that is none; it is not taken' };
}

import { type Claim, claimedEnd, isProven } from './claim.ts';
import type { Finding, ProofSettings, RailAnswer, Verdict } from './judging.ts';
import { hastened, untilTaken } from './schedule.ts';
import type { Terms, Tracked } from './tracked.ts';
import { readFee, readMinor } from './values.ts';
import { afterVerdict, judge } from './verdict.ts';

/**
 * Judges an end that the rail proves by its callback, like an answer to a poll (ADR 6); undefined if the claim is a
 * hint, or names no end.
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
    source: 'provenCallback',
    answer,
    isScheduled: false,
    askedAtMs: claim.atMs,
    // A callback is judged by itself, whatever else is on its way.
    arrived: null,
  });
  const odd = verdict.fact && oddFee(terms, claim);
  return odd ? { ...verdict, findings: [...verdict.findings, odd] } : verdict;
}

/**
 * The payment after the verdict on a proven callback. If the callback finalises nothing, the rail is asked at once, even
 * about a completed payment that it claims to have reversed.
 */
export function afterProven(tracked: Tracked, claim: Claim, verdict: Verdict, nowMs: number): Tracked {
  const mayMove =
    tracked.status === 'open' || (tracked.status === 'completed' && claimedEnd(claim) === 'reversed');
  return {
    ...afterVerdict(tracked, verdict, nowMs),
    notFoundSinceMs: null,
    ...(mayMove && verdict.fact === null && hastened(tracked, nowMs)),
    ...untilTaken(tracked, verdict, nowMs),
  };
}

function answerOf(claim: Claim, terms: Terms): RailAnswer | undefined {
  const kind = claimedEnd(claim);
  if (kind === undefined) return undefined;
  const { reason } = claim;
  if (kind === 'failed') return { kind, reason: reason ?? claim.status.toUpperCase() };
  const amount = claim.amount === null ? null : (readMinor(claim.amount, terms) ?? 'unreadable');
  return { kind, amount, fee: readFee(claim.fee, terms), reason };
}

/** A finding about a fee that the payment can't have cost: it is not used, and the owner uses the rail's schedule. */
function oddFee(terms: Terms, claim: Claim): Finding | undefined {
  const kind = 'callback.fee_differs';
  const isPaid = claimedEnd(claim) !== 'failed';
  if (!isPaid || claim.fee === null || readFee(claim.fee, terms) !== null) return undefined;
  const claimed = readMinor(claim.fee, terms);
  const amount = claimed === null ? null : claimed - terms.railFee;
  const detail =
    'a proven callback claims a fee that the payment cannot have cost; the fee is not taken over';
  return { kind, observer: 'provenCallback', amount, detail, about: [String(claimed ?? 'no fee')] };
}

import { waitedMs } from './arrived.ts';
import { claimedEnd, isProven } from './claim.ts';
import { type Evidence, type Finding, isGraceOver, type Judged } from './judging.ts';

/** The owner needs one grace time before it initiates the collection again, and the rail another to know it. */
const COLLECTION_GRACES = 2;

/**
 * Judges an answer that the rail doesn't know an open payment. The owner sends the payment again if no attempt had a
 * clear answer. If the rail had acknowledged it, or refused it while an earlier attempt may still be executed, people must
 * look at it (ADR 5), and likewise at a collection that the rail continues not to know.
 */
export function judgeNotFound(evidence: Evidence): Judged {
  const { tracked, terms } = evidence;
  const finding = terms.kind === 'payout' ? lostPayout(evidence) : lostCollection(evidence);
  // A payment for which the rail has reported an end must not be sent again, even if its lookup lags.
  const isEndReported = tracked.callbacks.some((claim) => isProven(claim, terms) && claimedEnd(claim));
  const fact = { status: 'notFound', amount: null, fee: null, reason: null } as const;
  return { fact: isEndReported ? null : fact, findings: finding ? [finding] : [] };
}

/**
 * Whether the rail's not knowing an open payment has a break of its own, or will have one; undefined if neither.
 *
 * It is one discrepancy, whatever callbacks claim.
 */
export function notFoundBreak(evidence: Evidence): 'opens' | 'awaited' | undefined {
  const { tracked, terms } = evidence;
  if (terms.kind === 'collection') return lostCollection(evidence) ? 'opens' : 'awaited';
  if (takenOnAtOf(evidence) === null && tracked.refusedAtMs === null) return undefined;
  return lostPayout(evidence) ? 'opens' : 'awaited';
}

function takenOnAtOf({ answer }: Evidence): number | null {
  return answer.kind === 'notFound' ? (answer.takenOnAtMs ?? null) : null;
}

function lostPayout(evidence: Evidence): Finding | undefined {
  const { tracked, terms } = evidence;
  const { amount } = terms;
  const takenOnAtMs = takenOnAtOf(evidence);
  const accepted = 'the rail acknowledged it, yet its lookup does not find it';
  if (takenOnAtMs !== null)
    return isGraceOver(evidence, takenOnAtMs)
      ? { kind: 'payout.not_found', amount, detail: accepted }
      : undefined;
  const refused = 'the rail refused it after an unclear attempt, and its lookup finds neither';
  if (isGraceOver(evidence, tracked.refusedAtMs))
    return { kind: 'payout.refused_again', amount, detail: refused };
  const detail = 'the rail does not know it, and no attempt to send it is known';
  return isUnattempted(evidence) ? { kind: 'payout.unattempted', amount, detail } : undefined;
}

/** How many grace times may pass from a payout's acceptance to the first attempt that its gateway reports. */
const ATTEMPT_GRACES = 30;

/** Whether a payout has not been sent for that long; it can't be sent while its hold is unanswered. */
function isUnattempted(evidence: Evidence): boolean {
  const { tracked, notFoundGraceMs } = evidence;
  const isFirst = tracked.version <= 1n && !tracked.breaks.includes('hold.unanswered');
  return isFirst && waitedMs(evidence, tracked.openedAtMs) >= ATTEMPT_GRACES * notFoundGraceMs;
}

function lostCollection(evidence: Evidence): Finding | undefined {
  const { tracked, terms, notFoundGraceMs } = evidence;
  const withLongerGrace = { ...evidence, notFoundGraceMs: COLLECTION_GRACES * notFoundGraceMs };
  if (!isGraceOver(withLongerGrace, tracked.notFoundSinceMs)) return undefined;
  const detail = 'the rail has not known it since it was first polled again, and still does not';
  return { kind: 'collection.not_found', amount: terms.amount, detail };
}

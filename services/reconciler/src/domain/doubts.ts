import { absenceBreak } from './absence.ts';
import { bearsOut, type Claim, claimedEnd, isEnd, isOwn, isProven } from './claim.ts';
import type { Finding, Question } from './question.ts';

/** What callbacks have claimed, held against what the rail says. */
export interface Doubts {
  /** A claim that the rail denies; an unproven one is somebody's, a proven one the rail's own contradiction. */
  readonly denied: Finding | undefined;
  readonly contradicted: Finding | undefined;
  /** Some claim is neither borne out nor denied, within its settle time. */
  readonly settling: boolean;
  /** Some claim is neither after its settle time, for want of an answer. */
  readonly unsettled: boolean;
}

/** Judges every claim of the payment's own rail by an answer of it (design 4.5); those of others are no matter of it. */
export function judgeClaims(question: Question): Doubts {
  const { tracked, terms, answer } = question;
  let denied: Finding | undefined;
  let contradicted: Finding | undefined;
  let settling = false;
  let unsettled = false;
  for (const claim of tracked.callbacks.filter((one) => isOwn(one, terms))) {
    const judged = judgeClaim(claim, question);
    if (judged === 'settling') settling = true;
    if (judged === 'unsettled') unsettled = true;
    if (judged !== 'denied') continue;
    const { amount } = terms;
    if (claim.proven) {
      const detail = `a proven callback says ${claim.status.toUpperCase()}, and the rail also says ${answer.kind}`;
      contradicted ??= { kind: 'payment.contradiction', amount, detail };
    } else {
      const detail = `a callback claims ${claim.status}, the rail says ${answer.kind}`;
      denied ??= { kind: 'callback.denied', amount, detail };
    }
  }
  return { denied, contradicted, settling, unsettled };
}

/**
 * Judges one claim: another end denies it at once, no end denies it a settle time after it came.
 *
 * A completed payment may yet be reversed, so COMPLETED denies a claim of REVERSED only after the settle time.
 */
function judgeClaim(claim: Claim, question: Question): 'fine' | 'settling' | 'unsettled' | 'denied' {
  const { answer, tracked } = question;
  const end = claimedEnd(claim);
  if (end === undefined) return 'fine';
  if (isEnd(answer.kind)) {
    if (bearsOut(answer.kind, end)) return 'fine';
    if (!(answer.kind === 'completed' && end === 'reversed')) return 'denied';
  }
  if (bearsOut(tracked.status, end)) return 'fine';
  const isOverdue = question.polledAtMs - claim.atMs >= question.settleMs;
  if (answer.kind === 'unknown' || answer.kind === 'unaskable') return isOverdue ? 'unsettled' : 'settling';
  if (answer.kind === 'notFound' && tracked.status === 'open') {
    const absence = absenceBreak(question);
    if (absence !== undefined) return absence === 'opens' || isOverdue ? 'fine' : 'settling';
  }
  return isOverdue ? 'denied' : 'settling';
}

/** Whether the rail's own callbacks tell of ends that don't go together: then none of them is a fact. */
export function provenDisagree({ tracked, terms }: Pick<Question, 'tracked' | 'terms'>): boolean {
  const ends = tracked.callbacks
    .filter((claim) => isProven(claim, terms))
    .map(claimedEnd)
    .filter((end) => end !== undefined);
  return ends.some((one) => ends.some((other) => !bearsOut(one, other) && !bearsOut(other, one)));
}

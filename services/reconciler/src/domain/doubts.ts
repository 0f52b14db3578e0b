import { bearsOut, type Claim, claimedEnd, isEnd, isProven } from './claim.ts';
import { type Finding, isOver, type Question } from './question.ts';

/** What callbacks have claimed, held against what the rail says. */
export interface Doubts {
  /** A claim that the rail denies; an unproven one is somebody's, a proven one the rail's own contradiction. */
  readonly denied: Finding | undefined;
  readonly contradicted: Finding | undefined;
  /** Some claim is neither borne out nor denied yet. */
  readonly settling: boolean;
}

/** Judges every claim by an answer of the rail (design 4.5). */
export function judgeClaims(question: Question): Doubts {
  const { tracked, terms, answer } = question;
  let denied: Finding | undefined;
  let contradicted: Finding | undefined;
  let settling = false;
  for (const claim of tracked.callbacks) {
    const judged = judgeClaim(claim, question);
    if (judged === 'settling') settling = true;
    if (judged !== 'denied') continue;
    const { amount } = terms;
    if (isProven(claim, terms)) {
      const detail = `a proven callback says ${claim.status.toUpperCase()}, and the rail also says ${answer.kind}`;
      contradicted ??= { kind: 'payment.contradiction', amount, detail };
    } else {
      const detail = `a callback claims ${claim.status}, the rail says ${answer.kind}`;
      denied ??= { kind: 'callback.denied', amount, detail };
    }
  }
  return { denied, contradicted, settling };
}

/**
 * Judges one claim: another end denies it at once, no end denies it a settle time after it came.
 *
 * A completed payment may yet be reversed, so COMPLETED denies a claim of REVERSED only after the settle time.
 */
function judgeClaim(claim: Claim, question: Question): 'fine' | 'settling' | 'denied' {
  const { answer, tracked } = question;
  const end = claimedEnd(claim);
  if (end === undefined) return 'fine';
  if (isEnd(answer.kind)) {
    if (bearsOut(answer.kind, end)) return 'fine';
    if (!(answer.kind === 'completed' && end === 'reversed')) return 'denied';
  }
  if (bearsOut(tracked.status, end)) return 'fine';
  if (answer.kind === 'unknown') return 'settling';
  if (answer.kind === 'notFound' && tracked.status === 'open' && tracked.acceptedAtMs !== null) {
    // That the rail lost what it took on is one discrepancy, whatever callbacks claim: the absence has its own break.
    return isOver(question, tracked.acceptedAtMs) ? 'fine' : 'settling';
  }
  return question.polledAtMs - claim.atMs >= question.settleMs ? 'denied' : 'settling';
}

/** Whether the rail's own callbacks tell of ends that don't go together: then none of them is a fact. */
export function provenDisagree({ tracked, terms }: Pick<Question, 'tracked' | 'terms'>): boolean {
  const ends = tracked.callbacks
    .filter((claim) => isProven(claim, terms))
    .map(claimedEnd)
    .filter((end) => end !== undefined);
  return ends.some((one) => ends.some((other) => !bearsOut(one, other) && !bearsOut(other, one)));
}

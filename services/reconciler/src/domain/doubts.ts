import { absenceBreak } from './absence.ts';
import { bearsOut, type Claim, claimedEnd, isEnd, isOwn, isProven, newestAtMs } from './claim.ts';
import type { Finding, Question } from './question.ts';

/** What callbacks have claimed, held against what the rail says. */
export interface Doubts {
  /** Claims that the rail denies; an unproven one is somebody's, a proven one the rail's own contradiction. */
  readonly denied: readonly Finding[];
  readonly contradicted: readonly Finding[];
  /** Some claim is neither borne out nor denied, within its settle time. */
  readonly settling: boolean;
  /** Some claim is neither after its settle time, for want of an answer. */
  readonly unsettled: boolean;
}

/** Judges every claim of the payment's own rail by an answer of it (ADR 6); those of others are no matter of it. */
export function judgeClaims(question: Question): Doubts {
  const { tracked, terms } = question;
  const denied: Finding[] = [];
  const contradicted: Finding[] = [];
  let settling = false;
  let unsettled = false;
  for (const claim of tracked.callbacks.filter((one) => isOwn(one, terms))) {
    const judged = judgeClaim(claim, question);
    if (judged.awaits === 'settling') settling = true;
    if (judged.awaits === 'unsettled') unsettled = true;
    if (!judged.isDenied) continue;
    if (claim.proven) contradicted.push(contradictionBy(claim, question));
    else denied.push(denialOf(claim, question));
  }
  return { denied, contradicted, settling, unsettled };
}

function denialOf(claim: Claim, { terms, answer }: Question): Finding {
  const detail = `a callback claims ${claim.status}, the rail says ${answer.kind}`;
  const about = [`claimed ${claimedEnd(claim) ?? ''}`];
  return { kind: 'callback.denied', amount: terms.amount, detail, about };
}

function contradictionBy(claim: Claim, { terms, answer, source }: Question): Finding {
  const detail = `a proven callback says ${claim.status.toUpperCase()}, and the rail also says ${answer.kind}`;
  // Two proven callbacks contradict each other, whichever of them came first.
  const told = [claimedEnd(claim) ?? '', ...(source === 'provenCallback' ? [answer.kind] : [])];
  const about = told.map((end) => `proven ${end}`);
  return { kind: 'payment.contradiction', amount: terms.amount, detail, about };
}

/** What an answer says of one claim. */
interface Judgement {
  readonly isDenied: boolean;
  /** Whether the rail is asked on about it, within its settle time or after. */
  readonly awaits?: 'settling' | 'unsettled';
}

const FINE: Judgement = { isDenied: false };

/**
 * Judges one claim: another end denies it at once, no end denies it a settle time after it first came. It settles for as long
 * after it came the last time: what was forged once may be true when it comes again.
 *
 * A completed payment may yet be reversed, so COMPLETED denies a claim of REVERSED only after the settle time.
 */
function judgeClaim(claim: Claim, question: Question): Judgement {
  const { answer, tracked, polledAtMs, settleMs } = question;
  const end = claimedEnd(claim);
  if (end === undefined) return FINE;
  if (isEnd(answer.kind)) {
    if (bearsOut(answer.kind, end)) return FINE;
    if (!(answer.kind === 'completed' && end === 'reversed')) return { isDenied: true };
  }
  if (bearsOut(tracked.status, end)) return FINE;
  const isSettling = polledAtMs - newestAtMs(claim) < settleMs;
  if (answer.kind === 'unknown' || answer.kind === 'unaskable')
    return { isDenied: false, awaits: isSettling ? 'settling' : 'unsettled' };
  const settling = isSettling && ({ awaits: 'settling' } as const);
  if (answer.kind === 'notFound' && tracked.status === 'open') {
    const absence = absenceBreak(question);
    if (absence !== undefined) return absence === 'opens' ? FINE : { isDenied: false, ...settling };
  }
  return { isDenied: polledAtMs - claim.atMs >= settleMs, ...settling };
}

/**
 * Whether the rail's own callbacks tell of ends that don't go together, or of none but a collection's reversal, which is no
 * end that it can have: then none of them is a fact, and its lookup decides.
 */
export function lookupDecides({ tracked, terms }: Pick<Question, 'tracked' | 'terms'>): boolean {
  const ends = tracked.callbacks
    .filter((claim) => isProven(claim, terms))
    .map(claimedEnd)
    .filter((end) => end !== undefined);
  if (terms.kind === 'collection' && ends.every((end) => end === 'reversed')) return true;
  return ends.some((one) => ends.some((other) => !bearsOut(one, other) && !bearsOut(other, one)));
}

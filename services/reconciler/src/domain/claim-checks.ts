import { type Claim, claimedEnd, isConsistentWith, isEnd, isOwn, isProven, newestAtMs } from './claim.ts';
import { movedByEnd } from './close.ts';
import type { Evidence, Finding } from './judging.ts';
import { notFoundBreak } from './not-found.ts';

/**
 * Judges every claim of the payment's own rail by the rail's answer (ADR 6); claims of other rails are ignored. Gives those
 * that the rail denies (an unproven one may be anybody's, a proven one contradicts the rail itself), and what the others
 * wait for.
 */
export function judgeClaims(evidence: Evidence) {
  const { tracked, terms } = evidence;
  const own = tracked.callbacks.filter((one) => isOwn(one, terms));
  const judged = own.map((claim) => ({ claim, ...judgeClaim(claim, evidence) }));
  const denied = judged.filter(({ isDenied }) => isDenied).map(({ claim }) => claim);
  return {
    denied: denied.filter(({ proven }) => !proven).map((claim) => denialOf(claim, evidence)),
    contradicted: denied.filter(({ proven }) => proven).map((claim) => contradictionBy(claim, evidence)),
    lagging: judged.some(({ awaits }) => awaits === 'lagging'),
    undecided: judged.some(({ awaits }) => awaits === 'undecided'),
  };
}

function denialOf(claim: Claim, { terms, answer }: Evidence): Finding {
  const detail = `a callback claims ${claim.status}, the rail says ${answer.kind}`;
  const about = [claimedEnd(claim) ?? ''];
  return { kind: 'callback.denied', amount: terms.amount, detail, about };
}

function contradictionBy(claim: Claim, { tracked, terms, answer, source }: Evidence): Finding {
  const detail = `a proven callback says ${claim.status.toUpperCase()}, and the rail also says ${answer.kind}`;
  // If two proven callbacks contradict each other, the finding names both, whichever came first.
  const about = [claimedEnd(claim) ?? '', ...(source === 'provenCallback' ? [answer.kind] : [])];
  // One of the two ends is another than ours.
  const end = [claimedEnd(claim) ?? '', answer.kind].filter(isEnd).find((one) => one !== tracked.status);
  const amount = movedByEnd(tracked, terms, { status: end ?? 'pending', amount: null });
  return { kind: 'payment.contradiction', observer: 'provenCallback', amount, detail, about };
}

/** The result of comparing an answer with one claim. */
interface Judgement {
  readonly isDenied: boolean;
  /** Whether the rail must be asked again about it, within the allowed lag or after it. */
  readonly awaits?: 'lagging' | 'undecided';
}

const FINE: Judgement = { isDenied: false };

/**
 * Judges one claim. Another end denies it at once; an answer without an end denies it once the allowed lag is over since
 * it first came. It also lags for that long after it last came, because a claim that was forged once may be true when it
 * comes again.
 *
 * A completed payment may still be reversed, so COMPLETED denies a claim of REVERSED only after the allowed lag.
 */
function judgeClaim(claim: Claim, evidence: Evidence): Judgement {
  const { answer, tracked, askedAtMs, lagMs } = evidence;
  const end = claimedEnd(claim);
  if (end === undefined) return FINE;
  if (isEnd(answer.kind)) {
    if (isConsistentWith(answer.kind, end)) return FINE;
    if (!(answer.kind === 'completed' && end === 'reversed')) return { isDenied: true };
  }
  if (isConsistentWith(tracked.status, end)) return FINE;
  const isLagging = askedAtMs - newestAtMs(claim) < lagMs;
  if (answer.kind === 'unknown' || answer.kind === 'unaskable')
    return { isDenied: false, awaits: isLagging ? 'lagging' : 'undecided' };
  const lagging = isLagging && ({ awaits: 'lagging' } as const);
  if (answer.kind === 'notFound' && tracked.status === 'open') {
    const notFound = notFoundBreak(evidence);
    if (notFound !== undefined) return notFound === 'opens' ? FINE : { isDenied: false, ...lagging };
  }
  return { isDenied: askedAtMs - claim.atMs >= lagMs, ...lagging };
}

/**
 * Whether the rail's proven callbacks name ends that contradict one another, or only a reversal of a collection, which
 * does not exist: then none of them is a fact, and the lookup decides.
 */
export function lookupDecides({ tracked, terms }: Pick<Evidence, 'tracked' | 'terms'>): boolean {
  const ends = tracked.callbacks
    .filter((claim) => isProven(claim, terms))
    .map(claimedEnd)
    .filter((end) => end !== undefined);
  if (terms.kind === 'collection' && ends.every((end) => end === 'reversed')) return true;
  return ends.some((one) =>
    ends.some((other) => !isConsistentWith(one, other) && !isConsistentWith(other, one)),
  );
}

import { unreachable } from '@pesewa/kernel';
import { judgeAmounts, judgeLateClaims } from './amounts.ts';
import { waitedMs } from './arrived.ts';
import { type BreakKind, isBreakKind, termsOfBreak } from './break-kinds.ts';
import { claimedEnd, isEnd, isOwn } from './claim.ts';
import { judgeClaims, lookupDecides } from './claim-checks.ts';
import { movedByEnd } from './close.ts';
import type { Evidence, Finding, Judged, RailAnswer, Verdict } from './judging.ts';
import { judgeNotFound } from './not-found.ts';
import { failureReason } from './reasons.ts';
import { type Tracked, withBreaks } from './tracked.ts';

/** Kinds that show to people, beside those of polls, that the payment does not proceed. */
const SHOWN: readonly string[] = ['coverage.behind', 'hold.unanswered'] satisfies readonly BreakKind[];

/** The kinds by which a lookup contradicts us, and which it may take back. */
export const LOOKUP_KINDS: readonly BreakKind[] = [
  'payment.contradiction',
  'payout.amount_differs',
  'collection.not_found',
];

/** Judges a rail's answer about a payment, together with the claims of callbacks (contract 10.16, invariant P13). */
export function judge(evidence: Evidence): Verdict {
  const { source, tracked, answer } = evidence;
  const { denied, contradicted, lagging, undecided } = judgeClaims(evidence);
  const { fact, findings } = judgeAnswer(evidence);
  // The rail contradicts itself: people decide, unless only its callbacks contradict one another and this is its
  // lookup.
  const isUnclear = contradicted.length > 0 && (source !== 'poll' || !lookupDecides(evidence));
  const all = [...findings, ...contradicted];
  // A rail that contradicts the owner also contradicts the callback that the owner applied: one discrepancy, one break.
  const isContradicted = all.some(({ kind }) => kind === 'payment.contradiction');
  if (!isContradicted) all.push(...denied);
  const goesOut = isUnclear ? null : fact;
  const contested = source === 'poll' ? LOOKUP_KINDS.filter((kind) => tracked.breaks.includes(kind)) : [];
  // What people have resolved is looked up until there is an answer.
  const isUnasked = contested.length > 0 && answer.kind === 'unknown';
  // A reversal comes after the end; the owner has applied it once its own event says so.
  const isReversing = tracked.status !== 'open' && goesOut?.status === 'reversed';
  const goesOn = tracked.status === 'open' || lagging || undecided || isReversing;
  const stuck = goesOn ? stuckBy(evidence, goesOut, all) : undefined;
  if (stuck) all.push(stuck);
  return {
    fact: goesOut,
    // One without keys is found once.
    findings: all.filter(({ kind, about }) => about !== undefined || !tracked.breaks.includes(kind)),
    agreed: contested.filter(
      (kind) => isCompared(kind, answer) && all.every((one) => one.kind !== kind || one.observer !== 'poll'),
    ),
    lagging,
    undecided: undecided || isUnasked || isReversing,
  };
}

/** Whether a lookup compares what a kind is about: an answer without an amount says nothing of amounts. */
function isCompared(kind: BreakKind, answer: RailAnswer): boolean {
  if (kind === 'payment.contradiction') return isEnd(answer.kind);
  if (kind === 'collection.not_found') return answer.kind === 'pending';
  return 'amount' in answer && answer.amount !== null;
}

/** The payment after a verdict: with what it found, and the end that the rail reports. */
export function afterVerdict(
  tracked: Tracked,
  { fact, findings }: Pick<Verdict, 'fact' | 'findings'>,
  nowMs: number,
): Tracked {
  const found = withBreaks(
    tracked,
    findings.map(({ kind }) => kind),
  );
  if (!fact || !isEnd(fact.status)) return found;
  return { ...found, endReported: { status: fact.status, sinceMs: tracked.endReported?.sinceMs ?? nowMs } };
}

/**
 * A payment without an end after so many scheduled polls is reported to people, and so is one that can't be asked
 * about; no counter ever makes it fail (invariant P11).
 */
function stuckBy(
  evidence: Evidence,
  fact: Verdict['fact'],
  findings: readonly Finding[],
): Finding | undefined {
  const { tracked, terms, answer, source, isScheduled, pollsBeforeBreak } = evidence;
  const kind = 'payment.stuck';
  if (answer.kind === 'unaskable') return { kind, amount: terms.amount, detail: answer.why };
  if (fact !== null && isEnd(fact.status)) return untakenBy(evidence);
  const kinds = [...tracked.breaks, ...findings.map((finding) => finding.kind)];
  const isShown = kinds.some(
    (other) => SHOWN.includes(other) || (isBreakKind(other) && termsOfBreak(other).observer === 'poll'),
  );
  if (source !== 'poll' || !isScheduled || tracked.status !== 'open' || isShown) return undefined;
  const polls = tracked.polls - tracked.hintedPolls + 1;
  if (polls < pollsBeforeBreak) return undefined;
  return { kind, amount: terms.amount, detail: `no end after ${polls} polls; the rail says ${answer.kind}` };
}

/** How many times the allowed lag its owner has to apply an end; every poll publishes the end again. */
const LAG_TIMES = 15;

/**
 * A finding about an end that its owner does not apply: by this fact, or by an earlier one that it has had time for.
 */
function untakenBy({ tracked, terms, answer, source, isScheduled, ...at }: Evidence) {
  const { endReported } = tracked;
  const isDue = endReported !== null && waitedMs(at, endReported.sinceMs) >= LAG_TIMES * at.lagMs;
  if (source !== 'poll' || !isScheduled || !isDue) return undefined;
  const detail = `its owner has not taken over the reported end; the rail says ${answer.kind}`;
  return { kind: 'payment.end_untaken', amount: terms.amount, detail } as const;
}

/**
 * Whether the owner of a payment must publish its end again. The end was published to it at least the allowed lag ago, and either
 * the owner never received it, in which case it is published once more, or the owner's own event never reached us.
 * Messages still on their way count as neither.
 */
export function isEndOverdue(
  { endReported }: Pick<Tracked, 'endReported'>,
  { fact }: Pick<Verdict, 'fact'>,
  at: Pick<Evidence, 'askedAtMs' | 'lagMs' | 'arrived'>,
): boolean {
  if (fact === null || !isEnd(fact.status) || endReported === null) return false;
  return waitedMs(at, endReported.sinceMs) >= at.lagMs;
}

/**
 * Whether an answer only confirms the end that a callback claimed. Then nothing about the payment is written: its owner
 * gets the fact, and the lease of the poll says when to ask again if the owner does not take it over.
 */
export function confirmsCallback(
  { tracked, terms, isScheduled }: Pick<Evidence, 'tracked' | 'terms' | 'isScheduled'>,
  { fact, findings, agreed, lagging, undecided }: Verdict,
): boolean {
  const { status, notFoundSinceMs, callbacks } = tracked;
  if (fact === null || isScheduled || status !== 'open' || notFoundSinceMs !== null) return false;
  if (lagging || undecided || findings.length > 0 || agreed.length > 0) return false;
  return callbacks.some((claim) => isOwn(claim, terms) && claimedEnd(claim) === fact.status);
}

function judgeAnswer(evidence: Evidence): Judged {
  const { tracked, answer, terms } = evidence;
  const { status } = tracked;
  const isOpen = status === 'open';
  switch (answer.kind) {
    case 'pending':
    case 'unknown':
    case 'unaskable':
    case 'notFound':
      return isOpen && answer.kind === 'notFound'
        ? judgeNotFound(evidence)
        : { fact: null, findings: judgeLateClaims(evidence) };
    case 'failed': {
      const reason = failureReason(evidence, answer.reason);
      if (isOpen) return { fact: { status: 'failed', amount: null, fee: null, reason }, findings: [] };
      return { fact: null, findings: status === 'failed' ? [] : [contradiction(evidence)] };
    }
    case 'completed':
    case 'reversed': {
      if (status === 'failed' || (answer.kind === 'reversed' && terms.kind === 'collection'))
        return { fact: null, findings: [contradiction(evidence)] };
      const judged = judgeAmounts(evidence, answer);
      // An end that its owner knows is no news; an end that precedes the owner's is only a lookup that lags.
      const news = isOpen || (status === 'completed' && answer.kind === 'reversed');
      return { fact: news ? judged.fact : null, findings: judged.findings };
    }
    default:
      return unreachable(answer);
  }
}

function contradiction({ tracked, terms, answer, source }: Evidence): Finding {
  const stands = tracked.status === 'open' ? 'it is open' : `ended as ${tracked.status}`;
  const detail = `${stands}, yet the rail says ${answer.kind}`;
  const about = [answer.kind];
  const said = 'amount' in answer && answer.amount !== 'unreadable' ? answer.amount : null;
  const end = isEnd(answer.kind) ? answer.kind : 'pending';
  const amount = movedByEnd(tracked, terms, { status: end, amount: said });
  return { kind: 'payment.contradiction', observer: source, amount, detail, about };
}

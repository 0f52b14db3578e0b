import { parseAmount, unreachable } from '@pesewa/kernel';
import { bearsOut, type Claim, claimedEnd, type EndStatus, type Terms, type Tracked } from './tracked.ts';

/** What a rail said of a payment when asked; amounts in minor units, null where it doesn't tell. */
export type RailAnswer =
  | { readonly kind: 'pending' | 'notFound' | 'unknown' }
  | { readonly kind: 'failed'; readonly reason: string }
  | {
      readonly kind: 'completed' | 'reversed';
      readonly amount: bigint | null;
      readonly fee: bigint | null;
      readonly reason: string | null;
    };

/** A discrepancy for people (design 4.5); it changes no state by itself. */
export type BreakKind =
  | 'callback.denied'
  | 'callback.amount_differs'
  | 'callback.fee_differs'
  | 'collection.amount_differs'
  | 'payout.amount_differs'
  | 'payout.not_found'
  | 'payout.refused_again'
  | 'payment.contradiction'
  | 'payment.stuck';

/** A discrepancy found by a poll: the difference in minor units, and a line without personal data. */
export interface Finding {
  readonly kind: BreakKind;
  readonly amount: bigint | null;
  readonly detail: string;
}

/** What goes out on rails.notices for the owner to act on. */
export interface RailFact {
  readonly status: EndStatus | 'notFound';
  readonly amount: bigint | null;
  readonly fee: bigint | null;
  readonly reason: string | null;
}

/** What a poll came to. */
export interface Verdict {
  readonly fact: RailFact | null;
  /** Only what the payment has not opened a break for. */
  readonly findings: readonly Finding[];
  /** A callback's claim is neither borne out nor denied yet. */
  readonly settling: boolean;
}

/** What a poll is judged by. */
export interface Question {
  readonly tracked: Tracked;
  readonly terms: Terms;
  /** The rail's fee by its own schedule, in minor units: the only one that a callback may bear out. */
  readonly expectedFee: bigint;
  readonly answer: RailAnswer;
  /** When the rail was asked. */
  readonly polledAtMs: number;
  readonly settleMs: number;
  /** How long after an answer of the rail its NOT FOUND is not believed yet. */
  readonly notFoundGraceMs: number;
  readonly pollsBeforeBreak: number;
}

/** Judges the answer of a rail, with what callbacks have claimed (design 4.5, 6). */
export function judge(question: Question): Verdict {
  const { tracked, answer } = question;
  const claims = judgeClaims(question);
  const { fact, findings } = judgeAnswer(question);
  // A rail that contradicts the owner contradicts the callback that the owner went by: one discrepancy, one break.
  const told = findings.some(({ kind }) => kind === 'payment.contradiction');
  const all = [...findings, ...(claims.denied && !told ? [claims.denied] : [])];
  const unheard = all.filter(({ kind }) => !tracked.breaks.includes(kind));
  if (isStuck(question, fact) && unheard.length === 0) {
    const detail = `no end after ${tracked.polls + 1} polls; the rail says ${answer.kind}`;
    unheard.push({ kind: 'payment.stuck', amount: question.terms.amount, detail });
  }
  return { fact, findings: unheard, settling: claims.settling };
}

/** A payment without an end after so many polls is a matter for people, once; no counter ever fails it (design 4.4). */
function isStuck({ tracked, pollsBeforeBreak }: Question, fact: RailFact | null): boolean {
  if (tracked.status !== 'open' || tracked.breaks.length > 0) return false;
  const endsNow = fact !== null && fact.status !== 'notFound';
  return !endsNow && tracked.polls + 1 >= pollsBeforeBreak;
}

function judgeAnswer(question: Question): { fact: RailFact | null; findings: Finding[] } {
  const { tracked, answer, terms } = question;
  const { status } = tracked;
  switch (answer.kind) {
    case 'pending':
    case 'unknown':
      return { fact: null, findings: [] };
    case 'notFound':
      return judgeAbsence(question);
    case 'failed':
      if (status === 'open') {
        return { fact: { status: 'failed', amount: null, fee: null, reason: answer.reason }, findings: [] };
      }
      return { fact: null, findings: status === 'failed' ? [] : [contradiction(question)] };
    case 'completed':
    case 'reversed': {
      if (status === 'failed' || (answer.kind === 'reversed' && terms.kind === 'collection')) {
        return { fact: null, findings: [contradiction(question)] };
      }
      const judged =
        terms.kind === 'payout' ? judgePayout(question, answer) : judgeCollection(question, answer);
      // An end that its owner knows is no news, and an older end than the owner's is only a lookup that lags.
      const news = status === 'open' || (status === 'completed' && answer.kind === 'reversed');
      return { fact: news ? judged.fact : null, findings: judged.findings };
    }
    default:
      return unreachable(answer);
  }
}

/**
 * A rail that doesn't know an open payment. Its owner sends it again where no attempt had a clear answer; what the rail
 * took on, or refused while an earlier attempt may yet be executed, is for people (design 4.3).
 */
function judgeAbsence(question: Question): { fact: RailFact | null; findings: Finding[] } {
  const { tracked, terms } = question;
  if (tracked.status !== 'open') return { fact: null, findings: [] };
  const fact = { status: 'notFound', amount: null, fee: null, reason: null } as const;
  const { amount } = terms;
  if (isOver(question, tracked.acceptedAtMs)) {
    const detail = 'the rail took it on, yet its lookup does not find it';
    return { fact, findings: [{ kind: 'payout.not_found', amount, detail }] };
  }
  if (isOver(question, tracked.refusedAtMs)) {
    const detail = 'the rail refused it after an unclear attempt, and its lookup finds neither';
    return { fact, findings: [{ kind: 'payout.refused_again', amount, detail }] };
  }
  return { fact, findings: [] };
}

/** Whether the grace time after an answer of the rail is over; never where there was no such answer. */
function isOver({ polledAtMs, notFoundGraceMs }: Question, answeredAtMs: number | null): boolean {
  return answeredAtMs !== null && polledAtMs - answeredAtMs >= notFoundGraceMs;
}

function contradiction({ tracked, terms, answer }: Question): Finding {
  const detail = `ended as ${tracked.status}, yet the rail says ${answer.kind}`;
  return { kind: 'payment.contradiction', amount: terms.amount, detail };
}

type Paid = Extract<RailAnswer, { kind: 'completed' | 'reversed' }>;

/** A payout's lookup tells amount and fee; a callback with another amount is a break, yet the lookup stands. */
function judgePayout(
  { terms, tracked }: Question,
  answer: Paid,
): { fact: RailFact | null; findings: Finding[] } {
  if (answer.amount !== null && answer.amount !== terms.amount) {
    const amount = answer.amount - terms.amount;
    return {
      fact: null,
      findings: [{ kind: 'payout.amount_differs', amount, detail: 'the rail paid another amount' }],
    };
  }
  const fact = { status: answer.kind, amount: answer.amount, fee: answer.fee, reason: answer.reason };
  const other = paidClaims(tracked.callbacks).find((claim) => !claimsAmount(claim, terms));
  if (!other) return { fact, findings: [] };
  const detail = 'a callback claims another amount than the lookup';
  return { fact, findings: [{ kind: 'callback.amount_differs', amount: difference(other, terms), detail }] };
}

/**
 * What check-status can't tell is taken from the callback when it equals the amount asked (design 6).
 *
 * Anyone may have written the callback, so its fee counts only where it is the one of the rail's schedule. Any other
 * goes to people, and the fact goes out without a fee: its owner takes the schedule.
 */
function judgeCollection(
  { terms, tracked, expectedFee }: Question,
  answer: Paid,
): { fact: RailFact | null; findings: Finding[] } {
  const claims = paidClaims(tracked.callbacks);
  if (answer.amount !== null && answer.amount !== terms.amount) {
    const amount = answer.amount - terms.amount;
    return {
      fact: null,
      findings: [{ kind: 'collection.amount_differs', amount, detail: 'the rail received another amount' }],
    };
  }
  const other = claims.find((claim) => !claimsAmount(claim, terms));
  if (other) {
    const detail = 'the callback claims another amount than was asked';
    return {
      fact: null,
      findings: [{ kind: 'collection.amount_differs', amount: difference(other, terms), detail }],
    };
  }
  const [claim] = claims;
  const scheduled = answer.fee ?? expectedFee;
  const unscheduled = claims.find(({ fee }) => fee !== null && readMinor(fee, terms) !== scheduled);
  const borneOut = !unscheduled && claims.some(({ fee }) => fee !== null);
  const fact = {
    status: answer.kind,
    amount: answer.amount ?? (claim ? terms.amount : null),
    fee: answer.fee ?? (borneOut ? expectedFee : null),
    reason: answer.reason,
  };
  if (!unscheduled) return { fact, findings: [] };
  const claimed = readMinor(unscheduled.fee, terms);
  const amount = claimed === null ? null : claimed - scheduled;
  const detail = 'a callback claims another fee than the rail charges; it is not taken';
  return { fact, findings: [{ kind: 'callback.fee_differs', amount, detail }] };
}

function paidClaims(claims: readonly Claim[]): readonly Claim[] {
  return claims.filter((claim) => claimedEnd(claim) === 'completed' || claimedEnd(claim) === 'reversed');
}

/** Whether a claim names the amount asked; one that names none denies nothing. */
function claimsAmount(claim: Claim, terms: Terms): boolean {
  return claim.amount === null || readMinor(claim.amount, terms) === terms.amount;
}

function difference(claim: Claim, terms: Terms): bigint | null {
  const claimed = readMinor(claim.amount, terms);
  return claimed === null ? null : claimed - terms.amount;
}

function readMinor(text: string | null, terms: Terms): bigint | null {
  const amount = text === null ? undefined : parseAmount(text, terms.currency);
  return amount?.ok === true ? amount.value.minor : null;
}

function judgeClaims(question: Question): {
  readonly denied: Finding | undefined;
  readonly settling: boolean;
} {
  let denied: Finding | undefined;
  let settling = false;
  for (const claim of question.tracked.callbacks) {
    const judged = judgeClaim(claim, question);
    if (judged === 'settling') settling = true;
    if (judged !== 'denied' || denied) continue;
    const detail = `a callback claims ${claim.status}, the rail says ${question.answer.kind}`;
    denied = { kind: 'callback.denied', amount: question.terms.amount, detail };
  }
  return { denied, settling };
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
  if (answer.kind === 'completed' || answer.kind === 'failed' || answer.kind === 'reversed') {
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

import { parseAmount } from '@pesewa/kernel';
import { type Claim, claimedEnd, isProven } from './claim.ts';
import type { Finding, Judged, Paid, Question, RailFact } from './question.ts';
import type { Terms } from './tracked.ts';

/**
 * Judges what a rail says it paid, or took in, by what was agreed.
 *
 * Another amount is for people: it goes out as no fact (design 4.5, 6).
 */
export function judgeAmounts(question: Question, answer: Paid): Judged {
  const differing = differingAmount(question, answer);
  if (differing) return { fact: null, findings: [differing] };
  const { reason, kind: status } = answer;
  const amount = answer.amount === 'unreadable' ? null : answer.amount;
  if (question.terms.kind === 'payout') {
    return { fact: { status, amount, fee: answer.fee, reason }, findings: hintedAmount(question) };
  }
  return judgeCollection(question, { ...answer, amount });
}

/**
 * The rail's own word of another amount: told now, or by a callback that it proved.
 *
 * A payout's lookup stands against a proven callback; what check-status can't tell, a collection's callbacks do, and
 * where none is proven, any of them.
 */
function differingAmount({ terms, tracked, source }: Question, answer: Paid): Finding | undefined {
  const { amount } = answer;
  const kind = `${terms.kind}.amount_differs` as const;
  if (amount !== null && amount !== terms.amount) {
    const difference = amount === 'unreadable' ? null : amount - terms.amount;
    const detail =
      terms.kind === 'payout' ? 'the rail paid another amount' : 'the rail received another amount';
    return { kind, amount: difference, detail };
  }
  if (terms.kind === 'payout' && source === 'poll') return undefined;
  const { proven, hints } = paidClaims(tracked.callbacks, terms);
  const trusted = proven.length > 0 || amount !== null || terms.kind === 'payout' ? proven : hints;
  const other = trusted.find((claim) => !claimsAmount(claim, terms));
  if (!other) return undefined;
  const detail = 'the callback claims another amount than was asked';
  return { kind, amount: differenceOf(other, terms), detail };
}

/** A hint of another amount than the rail itself tells: it is for people, and the rail's word stands. */
function hintedAmount({ terms, tracked }: Question): readonly Finding[] {
  const other = paidClaims(tracked.callbacks, terms).hints.find((claim) => !claimsAmount(claim, terms));
  if (!other) return [];
  const detail = 'a callback claims another amount than the rail itself tells';
  return [{ kind: 'callback.amount_differs', amount: differenceOf(other, terms), detail }];
}

/**
 * What check-status can't tell is taken from the callback when it equals the amount asked (design 6).
 *
 * Anyone may have written a hint, so its fee counts only where it is the one of the rail's schedule. Any other goes to
 * people, and the fact goes out without a fee: its owner takes the schedule.
 */
function judgeCollection(
  question: Question,
  answer: Omit<Paid, 'amount'> & { readonly amount: bigint | null },
): Judged {
  const { terms, tracked, expectedFee } = question;
  const { proven, hints } = paidClaims(tracked.callbacks, terms);
  const told = answer.fee ?? provenFee(proven, terms);
  const scheduled = told ?? expectedFee;
  const unscheduled = hints.find(({ fee }) => fee !== null && readMinor(fee, terms) !== scheduled);
  const borneOut = !unscheduled && hints.some(({ fee }) => fee !== null);
  const isNamed = proven.length > 0 || hints.length > 0;
  const fact: RailFact = {
    status: answer.kind,
    amount: answer.amount ?? (isNamed ? terms.amount : null),
    fee: told ?? (borneOut ? expectedFee : null),
    reason: answer.reason,
  };
  const findings = [...hintedAmount(question)];
  if (unscheduled) {
    const claimed = readMinor(unscheduled.fee, terms);
    const amount = claimed === null ? null : claimed - scheduled;
    const detail = 'a callback claims another fee than the rail charges; it is not taken';
    findings.push({ kind: 'callback.fee_differs', amount, detail });
  }
  return { fact, findings };
}

/** A fee that the rail may have kept of the payment, in minor units; null where the text is no such fee. */
export function readFee(text: string | null, terms: Terms): bigint | null {
  const fee = readMinor(text, terms);
  return fee !== null && fee >= 0n && fee <= terms.amount ? fee : null;
}

/** An amount of the payment's currency, in minor units; null where the text is none. */
export function readMinor(text: string | null, terms: Terms): bigint | null {
  const amount = text === null ? undefined : parseAmount(text, terms.currency);
  return amount?.ok === true ? amount.value.minor : null;
}

function provenFee(proven: readonly Claim[], terms: Terms): bigint | null {
  for (const { fee } of proven) {
    const read = readFee(fee, terms);
    if (read !== null) return read;
  }
  return null;
}

function paidClaims(
  claims: readonly Claim[],
  terms: Terms,
): { readonly proven: readonly Claim[]; readonly hints: readonly Claim[] } {
  const paid = claims.filter(
    (claim) => claimedEnd(claim) === 'completed' || claimedEnd(claim) === 'reversed',
  );
  return {
    proven: paid.filter((claim) => isProven(claim, terms)),
    hints: paid.filter((claim) => !isProven(claim, terms)),
  };
}

/** Whether a claim names the amount asked; one that names none denies nothing. */
function claimsAmount(claim: Claim, terms: Terms): boolean {
  return claim.amount === null || readMinor(claim.amount, terms) === terms.amount;
}

function differenceOf(claim: Claim, terms: Terms): bigint | null {
  const claimed = readMinor(claim.amount, terms);
  return claimed === null ? null : claimed - terms.amount;
}

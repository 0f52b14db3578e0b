import { type Claim, claimedEnd, isOwn } from './claim.ts';
import { lookupSays } from './known-findings.ts';
import type { Finding, Judged, Paid, Question, RailFact } from './question.ts';
import { agreedAmount, type Terms, type Tracked } from './tracked.ts';
import { currencyOf, readFee, readMinor } from './values.ts';

/**
 * Judges what a rail says it paid, or took in, by what was agreed.
 *
 * Another amount is for people: it goes out as no fact (ADR 23).
 */
export function judgeAmounts(question: Question, answer: Paid): Judged {
  const differing = differingAmount(question, answer);
  if (differing) return { fact: null, findings: [differing] };
  const { reason, kind: status } = answer;
  const amount = answer.amount === 'unreadable' ? null : answer.amount;
  if (question.terms.kind === 'payout') {
    // Where the rail tells none that counts, it is the schedule's: its owner would book none.
    const fee = answer.fee ?? question.expectedFee;
    return { fact: { status, amount, fee, reason }, findings: hintedAmount(question) };
  }
  return judgeCollection(question, { ...answer, amount });
}

/**
 * Judges the amounts that callbacks name of a collection which has completed: another than it completed with is for
 * people, whatever the rail answers meanwhile, since its answer tells no amount.
 */
export function judgeLateClaims(question: Question): readonly Finding[] {
  const { tracked, terms } = question;
  if (terms.kind === 'payout' || tracked.status !== 'completed') return [];
  const untold = { kind: 'completed', amount: null, fee: null, reason: null } as const;
  const differing = differingAmount(question, untold);
  return differing ? [differing] : [];
}

/**
 * The first claim of another amount or currency than was agreed, of those that people have not decided about: by the
 * rail's own proof, or where nothing is proven by any callback that came to its address.
 */
export function differingClaim(tracked: Tracked, terms: Terms): Claim | undefined {
  const { proven, hints } = paidClaims(tracked, terms);
  return (proven.length > 0 ? proven : hints).find((claim) => !isAgreed(claim, tracked, terms));
}

/**
 * The rail's own word of another amount: told now, or by a callback that it proved.
 *
 * A payout's lookup stands against a proven callback; what check-status can't tell, a collection's callbacks do, and
 * where none is proven, any of them.
 */
function differingAmount({ terms, tracked, source }: Question, answer: Paid): Finding | undefined {
  const { amount } = answer;
  const agreed = agreedAmount(tracked, terms);
  const kind = `${terms.kind}.amount_differs` as const;
  if (amount !== null && amount !== agreed) {
    const difference = amount === 'unreadable' ? null : amount - agreed;
    const detail =
      terms.kind === 'payout' ? 'the rail paid another amount' : 'the rail received another amount';
    const about = source === 'poll' ? lookupSays(String(amount)) : `proven ${amount}`;
    return { kind, amount: difference, detail, ...(terms.kind === 'payout' && { about: [about] }) };
  }
  if (terms.kind === 'payout' && source === 'poll') return undefined;
  const other = differingClaim(tracked, terms);
  const isTold = amount !== null || terms.kind === 'payout';
  return other && (other.proven || !isTold) ? differenceOf(kind, other, tracked, terms) : undefined;
}

/** Hints of other amounts than the rail itself tells: they are for people, and the rail's word stands. */
function hintedAmount({ terms, tracked }: Question): readonly Finding[] {
  return paidClaims(tracked, terms)
    .hints.filter((claim) => !isAgreed(claim, tracked, terms))
    .map((claim) => differenceOf('callback.amount_differs', claim, tracked, terms));
}

/**
 * What check-status can't tell is taken from the callback when it equals the amount asked (ADR 6).
 *
 * Anyone may have written a hint, so its fee counts only where it is the one of the rail's schedule. Any other goes to
 * people, and the fact goes out without a fee: its owner takes the schedule.
 */
function judgeCollection(
  question: Question,
  answer: Omit<Paid, 'amount'> & { readonly amount: bigint | null },
): Judged {
  const { terms, tracked, expectedFee } = question;
  const { proven, hints } = paidClaims(tracked, terms);
  const told = answer.fee ?? provenFee(proven, terms);
  const scheduled = told ?? expectedFee;
  const unscheduled = hints.filter(({ fee }) => fee !== null && readMinor(fee, terms) !== scheduled);
  const borneOut = unscheduled.length === 0 && hints.some(({ fee }) => fee !== null);
  const isNamed = proven.length > 0 || hints.length > 0;
  const fact: RailFact = {
    status: answer.kind,
    amount: answer.amount ?? (isNamed ? terms.amount : null),
    fee: told ?? (borneOut ? expectedFee : null),
    reason: answer.reason,
  };
  const findings = [...hintedAmount(question)];
  for (const { fee } of unscheduled) {
    const claimed = readMinor(fee, terms);
    const amount = claimed === null ? null : claimed - scheduled;
    const detail = 'a callback claims another fee than the rail charges; it is not taken';
    findings.push({
      kind: 'callback.fee_differs',
      amount,
      detail,
      about: [`claimed ${claimed ?? 'no fee'}`],
    });
  }
  return { fact, findings };
}

function provenFee(proven: readonly Claim[], terms: Terms): bigint | null {
  for (const { fee } of proven) {
    const read = readFee(fee, terms);
    if (read !== null) return read;
  }
  return null;
}

/** The claims of the payment's own rail that it paid, less those that people had before them when they decided. */
function paidClaims(
  { callbacks, claimsSettled }: Tracked,
  terms: Terms,
): { readonly proven: readonly Claim[]; readonly hints: readonly Claim[] } {
  const paid = callbacks.slice(claimsSettled).filter((claim) => {
    const end = claimedEnd(claim);
    return isOwn(claim, terms) && (end === 'completed' || end === 'reversed');
  });
  return { proven: paid.filter(({ proven }) => proven), hints: paid.filter(({ proven }) => !proven) };
}

/** Whether a claim names the amount and the currency agreed; one that names none denies nothing. */
function isAgreed(claim: Claim, tracked: Tracked, terms: Terms): boolean {
  if ((currencyOf(claim) ?? terms.currency) !== terms.currency) return false;
  return claim.amount === null || readMinor(claim.amount, terms) === agreedAmount(tracked, terms);
}

const CURRENCY = /^[A-Z]{3}$/;

function differenceOf(kind: Finding['kind'], claim: Claim, tracked: Tracked, terms: Terms): Finding {
  const currency = currencyOf(claim) ?? terms.currency;
  const who = kind === 'callback.amount_differs' ? 'a callback' : 'the callback';
  if (currency !== terms.currency) {
    // Whoever wrote it may have written anything, and a break is read by people.
    const named = CURRENCY.test(currency) ? currency : 'another currency';
    const detail = `${who} names ${named} instead of ${terms.currency}`;
    return { kind, amount: null, detail, ...toldOf(kind, claim, named) };
  }
  const agreed = agreedAmount(tracked, terms);
  const claimed = readMinor(claim.amount, terms);
  const than =
    kind === 'callback.amount_differs'
      ? 'the rail itself tells'
      : tracked.received === null
        ? 'was asked'
        : 'it completed with';
  const amount = claimed === null ? null : claimed - agreed;
  const detail = `${who} claims another amount than ${than}`;
  return { kind, amount, detail, ...toldOf(kind, claim, String(claimed ?? 'unreadable')) };
}

/** What a claim tells, where it is told once: a collection's amount is decided, and then told against that. */
function toldOf(kind: Finding['kind'], { proven }: Claim, what: string): Pick<Finding, 'about'> {
  return kind === 'collection.amount_differs' ? {} : { about: [`${proven ? 'proven' : 'claimed'} ${what}`] };
}

import { type Claim, claimedEnd, isOwn } from './claim.ts';
import type { Evidence, Finding, Judged, Paid, RailFact } from './judging.ts';
import { agreedAmount, type Terms, type Tracked } from './tracked.ts';
import { currencyOf, readFee, readMinor } from './values.ts';

/**
 * Compares the amounts that a rail reports with those agreed.
 *
 * A different amount is for people: it is not published as a fact (ADR 23).
 */
export function judgeAmounts(evidence: Evidence, answer: Paid): Judged {
  const differing = differingAmount(evidence, answer);
  if (differing) return { fact: null, findings: [differing] };
  const { terms, tracked } = evidence;
  const { reason, kind: status } = answer;
  const amount = answer.amount === 'unreadable' ? null : answer.amount;
  const findings = hintedAmount(evidence);
  // Without a valid fee of the rail the schedule's is assumed, because the owner would otherwise book none.
  if (terms.kind === 'payout')
    return { fact: { status, amount, fee: answer.fee ?? terms.railFee, reason }, findings };
  const { proven, hints } = paidClaims(tracked, terms);
  const isNamed = proven.length > 0 || hints.length > 0;
  const fact: RailFact = {
    status,
    amount: amount ?? (isNamed ? terms.amount : null),
    // Check-status reports none. Anybody may have written a hint: without a fee the owner uses the schedule (ADR 6).
    fee: answer.fee ?? provenFee(proven, terms),
    reason,
  };
  return { fact, findings };
}

/**
 * Judges the amounts in callbacks about a completed collection. A claim of another amount than it completed with is for
 * people, whatever the rail answers meanwhile, because its answers have no amount.
 */
export function judgeLateClaims(evidence: Evidence): readonly Finding[] {
  const { tracked, terms } = evidence;
  if (terms.kind === 'payout' || tracked.status !== 'completed') return [];
  const withoutAmount = { kind: 'completed', amount: null, fee: null, reason: null } as const;
  const differing = differingAmount(evidence, withoutAmount);
  return differing ? [differing] : [];
}

/**
 * The first claim of another amount or currency than agreed, among those that people have not decided about: one that
 * the rail has proven or, if no callback is proven, any that came to its address.
 */
export function differingClaim(tracked: Tracked, terms: Terms): Claim | undefined {
  const { proven, hints } = paidClaims(tracked, terms);
  return (proven.length > 0 ? proven : hints).find((claim) => !isAgreed(claim, tracked, terms));
}

/** The readable amount of the claim that differs, in minor units; null if there is none. */
export function claimedAmount(tracked: Tracked, terms: Terms): bigint | null {
  const claim = differingClaim(tracked, terms);
  const isOurs = claim !== undefined && (currencyOf(claim) ?? terms.currency) === terms.currency;
  return isOurs ? readMinor(claim.amount, terms) : null;
}

/**
 * The rail's own report of another amount: in this answer, or in a callback that it proved.
 *
 * A payout's lookup outranks a proven callback. Check-status has no amount, so a collection's comes from its callbacks,
 * and if none is proven, from any of them.
 */
function differingAmount({ terms, tracked, source }: Evidence, answer: Paid): Finding | undefined {
  const { amount } = answer;
  const agreed = agreedAmount(tracked, terms);
  const kind = `${terms.kind}.amount_differs` as const;
  if (amount !== null && amount !== agreed) {
    const difference = amount === 'unreadable' ? null : amount - agreed;
    const detail =
      terms.kind === 'payout' ? 'the rail paid another amount' : 'the rail received another amount';
    const about = terms.kind === 'payout' && { about: [String(amount)] };
    return { kind, observer: source, amount: difference, detail, ...about };
  }
  if (terms.kind === 'payout' && source === 'poll') return undefined;
  const other = differingClaim(tracked, terms);
  const isAmountReported = amount !== null || terms.kind === 'payout';
  return other && (other.proven || !isAmountReported) ? differenceOf(kind, other, tracked, terms) : undefined;
}

/** Hints of other amounts than the rail itself reports: people see them, and the rail's own report stands. */
function hintedAmount({ terms, tracked }: Evidence): readonly Finding[] {
  return paidClaims(tracked, terms)
    .hints.filter((claim) => !isAgreed(claim, tracked, terms))
    .map((claim) => differenceOf('callback.amount_differs', claim, tracked, terms));
}

function provenFee(proven: readonly Claim[], terms: Terms): bigint | null {
  return proven.map(({ fee }) => readFee(fee, terms)).find((fee) => fee !== null) ?? null;
}

/** The claims of the payment's own rail that it paid, without those that people had seen when they decided. */
function paidClaims(
  { callbacks, claimsJudged }: Tracked,
  terms: Terms,
): { readonly proven: readonly Claim[]; readonly hints: readonly Claim[] } {
  const paid = callbacks.slice(claimsJudged).filter((claim) => {
    const end = claimedEnd(claim);
    return isOwn(claim, terms) && (end === 'completed' || end === 'reversed');
  });
  return { proven: paid.filter(({ proven }) => proven), hints: paid.filter(({ proven }) => !proven) };
}

/** Whether a claim names the agreed amount and currency; a claim without them denies nothing. */
function isAgreed(claim: Claim, tracked: Tracked, terms: Terms): boolean {
  if ((currencyOf(claim) ?? terms.currency) !== terms.currency) return false;
  return claim.amount === null || readMinor(claim.amount, terms) === agreedAmount(tracked, terms);
}

const CURRENCY = /^[A-Z]{3}$/;

/** How a claim differs; of a collection's amount, which is decided, a later claim is compared with that. */
function differenceOf(kind: Finding['kind'], claim: Claim, tracked: Tracked, terms: Terms): Finding {
  const isHint = kind === 'callback.amount_differs';
  const who = isHint ? 'a callback' : 'the callback';
  const differs = (amount: bigint | null, what: string, detail: string): Finding => ({
    kind,
    observer: claim.proven ? 'provenCallback' : 'callback',
    amount,
    detail: `${who} ${detail}`,
    ...(kind !== 'collection.amount_differs' && { about: [what] }),
  });
  const currency = currencyOf(claim) ?? terms.currency;
  if (currency !== terms.currency) {
    // Anybody may have written the claim, and people read the break, so only a currency code is shown.
    const named = CURRENCY.test(currency) ? currency : 'another currency';
    return differs(null, named, `names ${named} instead of ${terms.currency}`);
  }
  const claimed = readMinor(claim.amount, terms);
  const amount = claimed === null ? null : claimed - agreedAmount(tracked, terms);
  const others = tracked.received === null ? 'was asked' : 'it completed with';
  const than = isHint ? 'the rail itself reports' : others;
  return differs(amount, String(claimed ?? 'unreadable'), `claims another amount than ${than}`);
}

import type { Break, FoundBreak } from './break.ts';
import { type BreakKind, type Field, isBreakKind, type ReportedDiscrepancy } from './break-kinds.ts';

/**
 * How a kind of break relates to the fields that it is about:
 *
 * - `rail`: the rail's own statement about them; for each field of a payment at most one such break is open.
 * - `claim`: what anybody may have claimed about them; equal to another difference if it has the same amount.
 * - `beside`: another discrepancy, but an order for it would correct the same field.
 */
interface FieldPolicy {
  readonly word: 'rail' | 'claim' | 'beside';
  readonly fields: readonly Field[];
}

const status = ['status'] as const;
const amount = ['amount'] as const;
const fee = ['fee'] as const;

/**
 * Which fields of a payment each kind is about (ADR 31); null if it is about none that a rail reports of an ended
 * payment.
 */
export const fieldPolicies: Readonly<Record<BreakKind, FieldPolicy | null>> = {
  'payment.contradiction': { word: 'rail', fields: status },
  'close.missing_there': { word: 'rail', fields: status },
  'statement.missing_there': { word: 'rail', fields: status },
  'payout.amount_differs': { word: 'rail', fields: amount },
  'close.differs': { word: 'rail', fields: ['status', 'amount', 'fee'] },
  'statement.differs': { word: 'rail', fields: ['rail', 'currency', 'status', 'amount', 'fee'] },
  'statement.missing_here': { word: 'rail', fields: ['existence'] },
  'collection.amount_differs': { word: 'claim', fields: amount },
  'callback.fee_differs': { word: 'claim', fields: fee },
  'callback.denied': { word: 'beside', fields: status },
  'callback.amount_differs': { word: 'beside', fields: amount },
  'callback.unknown_reference': { word: 'beside', fields: ['existence'] },
  'payout.not_found': null,
  'payout.refused_again': null,
  'collection.not_found': null,
  'payment.stuck': null,
  'coverage.missing': null,
  'coverage.ended': null,
  'coverage.behind': null,
  'hold.unanswered': null,
  'payout.unattempted': null,
  'payment.end_untaken': null,
  'webhook.missing': null,
  'books.unposted': null,
  'books.posted_wrongly': null,
  'books.unreleased': null,
  'books.unexplained_entry': null,
  'books.ledger_behind': null,
  'wallet.drift': null,
};

/** The differences of a break: those that it was found with or, for a kind with one field, its amount. */
export function differencesOf({
  kind,
  reports,
  amount: minor,
}: Pick<FoundBreak, 'kind' | 'reports' | 'amount'>) {
  if (reports) return reports;
  return (policyOf(kind)?.fields ?? []).map((field): ReportedDiscrepancy => ({ field, amount: minor }));
}

/** The fields of a payment that an order for a break corrects; two orders for one field would correct it twice. */
export function correctedBy(one: Pick<FoundBreak, 'kind' | 'reference' | 'reports' | 'amount'>) {
  return [...new Set(differencesOf(one).map(({ field }) => `${one.reference}/${field}`))];
}

/** A finding compared with the existing breaks. */
export interface Placing {
  /** The part that needs a break of its own; undefined if other breaks cover all of it. */
  readonly own: FoundBreak | undefined;
  /** Parts already reported by other breaks, keyed by break id. */
  readonly others: ReadonlyMap<string, FoundBreak>;
}

/**
 * Finds out which parts of a finding are already reported by other breaks of its payment, whichever came first.
 *
 * A field that the finding's own break has stays there. A difference that an order of the ledger has corrected by the
 * same amount belongs to the break with that order, even though it is resolved.
 */
export function placeFinding(found: FoundBreak, breaks: readonly Break[]): Placing {
  const { kind, reference } = found;
  const reports = differencesOf(found);
  const word = policyOf(kind)?.word;
  if (word === undefined || word === 'beside' || reports.length === 0)
    return { own: found, others: new Map() };
  const known = breaks.filter((one) => one.reference === reference);
  const open = known.filter((one) => one.status === 'open');
  const standing = open.find(({ _id }) => _id === found._id);
  const elsewhere = open.filter((one) => one !== standing);
  const coveringBreakOf = (reported: ReportedDiscrepancy): string | undefined => {
    const keys = keysOf(kind, reference, reported);
    if (holds(standing, keys)) return undefined;
    const coveringBreak =
      elsewhere.find((one) => holds(one, keys)) ?? known.find((one) => hasCorrected(one, reported));
    return coveringBreak?._id;
  };
  const others = new Map<string, readonly ReportedDiscrepancy[]>();
  const rest: ReportedDiscrepancy[] = [];
  for (const reported of reports) {
    const coveringBreak = coveringBreakOf(reported);
    if (coveringBreak === undefined) rest.push(reported);
    else others.set(coveringBreak, [...(others.get(coveringBreak) ?? []), reported]);
  }
  const held = new Set(elsewhere.flatMap(({ coveredKeys = [] }) => coveredKeys));
  const keys = rest.flatMap((reported) => keysOf(kind, reference, reported)).filter((key) => !held.has(key));
  const own =
    rest.length === 0
      ? undefined
      : { ...narrowed(found, reports, rest), ...(keys.length > 0 && { coveredKeys: keys }) };
  return { own, others: new Map([...others].map(([id, part]) => [id, narrowed(found, reports, part)])) };
}

/** Merges two findings that belong to one break. */
export function mergeFindings(one: FoundBreak, other: FoundBreak): FoundBreak {
  const reports = differencesOf(one);
  const further = differencesOf(other).filter(({ field }) =>
    reports.every((reported) => reported.field !== field),
  );
  if (further.length === 0) return one;
  const all = [...reports, ...further];
  return { ...one, reports: all, detail: differsText(one.kind, all) ?? one.detail };
}

/** The text of a break about several fields; undefined for kinds with only one. */
export function differsText(kind: string, reports: readonly ReportedDiscrepancy[]): string | undefined {
  const fields = reports.map(({ field }) => field).join(' and ');
  if (kind === 'close.differs') return `the rail reports another ${fields} than our books`;
  return kind === 'statement.differs' ? `the rail's statement differs in ${fields}` : undefined;
}

/** Whether a kind of break is the rail's own statement about a field of its payment. */
export function isRailsWord(kind: string): boolean {
  return policyOf(kind)?.word === 'rail';
}

function policyOf(kind: string): FieldPolicy | null {
  return isBreakKind(kind) ? fieldPolicies[kind] : null;
}

/**
 * The keys that an open break reserves: for a rail's own statement the field, and in any case the field with its
 * amount.
 */
function keysOf(
  kind: string,
  reference: string,
  { field, amount: minor }: ReportedDiscrepancy,
): readonly string[] {
  const whole = JSON.stringify([reference, field]);
  const exact = minor === null ? [] : [JSON.stringify([reference, field, String(minor)])];
  return isRailsWord(kind) ? [whole, ...exact] : exact;
}

function holds(one: Pick<Break, 'coveredKeys'> | undefined, keys: readonly string[]): boolean {
  return keys.some((key) => one?.coveredKeys?.includes(key));
}

function hasCorrected(
  { status: stands, adjustments = [] }: Break,
  { field, amount: minor }: ReportedDiscrepancy,
): boolean {
  return (
    stands === 'resolved' &&
    minor !== null &&
    adjustments.some(
      ({ status: became, reports = [] }) =>
        became === 'booked' &&
        reports.some((reported) => reported.field === field && reported.amount === minor),
    )
  );
}

/** The finding reduced to a part of its differences. */
function narrowed(
  found: FoundBreak,
  reports: readonly ReportedDiscrepancy[],
  part: readonly ReportedDiscrepancy[],
): FoundBreak {
  if (part.length === reports.length) return { ...found, reports };
  const [first] = part;
  return {
    ...found,
    reports: part,
    amount: first?.amount ?? null,
    detail: differsText(found.kind, part) ?? found.detail,
  };
}

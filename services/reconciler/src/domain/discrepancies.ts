import type { Break, FoundBreak } from './break.ts';
import { type BreakKind, isBreakKind } from './break-kinds.ts';

/**
 * The fields of a payment in which two records of it may differ; `existence` if only one side has the payment at all.
 */
export type Field = 'status' | 'amount' | 'fee' | 'currency' | 'rail' | 'existence';

/** One difference of a payment: its field and its amount in minor units, null if the amount is unknown. */
export interface Told {
  readonly field: Field;
  readonly amount: bigint | null;
}

/**
 * How a kind of break relates to the fields that it is about:
 *
 * - `rail`: the rail's own statement about them; for each field of a payment at most one such break is open.
 * - `claim`: what anybody may have claimed about them; equal to another difference if it has the same amount.
 * - `beside`: another discrepancy, but an order for it would correct the same field.
 */
interface Say {
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
export const saysOfKinds: Readonly<Record<BreakKind, Say | null>> = {
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
export function toldBy({ kind, tells, amount: minor }: Pick<FoundBreak, 'kind' | 'tells' | 'amount'>) {
  if (tells) return tells;
  return (sayOf(kind)?.fields ?? []).map((field): Told => ({ field, amount: minor }));
}

/** The fields of a payment that an order for a break corrects; two orders for one field would correct it twice. */
export function correctedBy(one: Pick<FoundBreak, 'kind' | 'reference' | 'tells' | 'amount'>) {
  return [...new Set(toldBy(one).map(({ field }) => `${one.reference}/${field}`))];
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
  const tells = toldBy(found);
  const word = sayOf(kind)?.word;
  if (word === undefined || word === 'beside' || tells.length === 0) return { own: found, others: new Map() };
  const known = breaks.filter((one) => one.reference === reference);
  const open = known.filter((one) => one.status === 'open');
  const standing = open.find(({ _id }) => _id === found._id);
  const elsewhere = open.filter((one) => one !== standing);
  const tellerOf = (told: Told): string | undefined => {
    const keys = keysOf(kind, reference, told);
    if (holds(standing, keys)) return undefined;
    const teller = elsewhere.find((one) => holds(one, keys)) ?? known.find((one) => hasCorrected(one, told));
    return teller?._id;
  };
  const others = new Map<string, readonly Told[]>();
  const rest: Told[] = [];
  for (const told of tells) {
    const teller = tellerOf(told);
    if (teller === undefined) rest.push(told);
    else others.set(teller, [...(others.get(teller) ?? []), told]);
  }
  const held = new Set(elsewhere.flatMap(({ matters = [] }) => matters));
  const keys = rest.flatMap((told) => keysOf(kind, reference, told)).filter((key) => !held.has(key));
  const own =
    rest.length === 0
      ? undefined
      : { ...narrowed(found, tells, rest), ...(keys.length > 0 && { matters: keys }) };
  return { own, others: new Map([...others].map(([id, part]) => [id, narrowed(found, tells, part)])) };
}

/** Merges two findings that belong to one break. */
export function mergeFindings(one: FoundBreak, other: FoundBreak): FoundBreak {
  const tells = toldBy(one);
  const further = toldBy(other).filter(({ field }) => tells.every((told) => told.field !== field));
  if (further.length === 0) return one;
  const all = [...tells, ...further];
  return { ...one, tells: all, detail: differsText(one.kind, all) ?? one.detail };
}

/** The text of a break about several fields; undefined for kinds with only one. */
export function differsText(kind: string, tells: readonly Told[]): string | undefined {
  const fields = tells.map(({ field }) => field).join(' and ');
  if (kind === 'close.differs') return `the rail tells another ${fields} than we have`;
  return kind === 'statement.differs' ? `the rail's statement differs in ${fields}` : undefined;
}

/** Whether a kind of break is the rail's own statement about a field of its payment. */
export function isRailsWord(kind: string): boolean {
  return sayOf(kind)?.word === 'rail';
}

function sayOf(kind: string): Say | null {
  return isBreakKind(kind) ? saysOfKinds[kind] : null;
}

/**
 * The keys that an open break reserves: for a rail's own statement the field, and in any case the field with its
 * amount.
 */
function keysOf(kind: string, reference: string, { field, amount: minor }: Told): readonly string[] {
  const whole = JSON.stringify([reference, field]);
  const exact = minor === null ? [] : [JSON.stringify([reference, field, String(minor)])];
  return isRailsWord(kind) ? [whole, ...exact] : exact;
}

function holds(one: Pick<Break, 'matters'> | undefined, keys: readonly string[]): boolean {
  return keys.some((key) => one?.matters?.includes(key));
}

function hasCorrected({ status: stands, adjustments = [] }: Break, { field, amount: minor }: Told): boolean {
  return (
    stands === 'resolved' &&
    minor !== null &&
    adjustments.some(
      ({ status: became, tells = [] }) =>
        became === 'booked' && tells.some((told) => told.field === field && told.amount === minor),
    )
  );
}

/** The finding reduced to a part of its differences. */
function narrowed(found: FoundBreak, tells: readonly Told[], part: readonly Told[]): FoundBreak {
  if (part.length === tells.length) return { ...found, tells };
  const [first] = part;
  return {
    ...found,
    tells: part,
    amount: first?.amount ?? null,
    detail: differsText(found.kind, part) ?? found.detail,
  };
}

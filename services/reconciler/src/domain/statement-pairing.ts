import type { StatementRow } from './statement-rows.ts';

/** A line or a payment to be paired by amount and time; both must have the same amount, currency and kind. */
export interface Timed {
  readonly id: string;
  readonly atMs: number;
}

/** The neighbours of a line in order of time: the adjacent lines, and the nearest payments. */
export interface Surroundings {
  readonly before: Timed | undefined;
  readonly after: Timed | undefined;
  /** Those before or at the line's time, the nearest last. */
  readonly earlier: readonly Timed[];
  /** Those after the line's time, the nearest first. */
  readonly later: readonly Timed[];
}

/** The result of a line without a usable reference. */
export type Pairing =
  | { readonly kind: 'paired'; readonly with: string; readonly confidence: number }
  | { readonly kind: 'ambiguous'; readonly candidates: readonly string[] }
  | { readonly kind: 'alone' };

const MINUTE_MS = 60_000;
const NEAR_MS = 5 * MINUTE_MS;

/** How far apart a line and its payment may be. */
export const PAIRED_WITHIN_MS = 60 * MINUTE_MS;

/** How many payments on either side are examined and listed. */
export const NEIGHBOURS_MAX = 5;

/** How certain a pair is (ADR 30): near or up to an hour apart, and the only one within that hour or not. */
const confidences = {
  near: { alone: 0.9, rivalled: 0.7 },
  far: { alone: 0.6, rivalled: 0.6 },
} as const;

/** The fields that a pair must agree in; undefined for lines that moved no money. */
export function pairingKeyOf({
  kind,
  currency,
  amount,
}: Pick<StatementRow, 'kind' | 'currency' | 'amount'>): string {
  return `${currency}/${kind ?? ''}/${amount}`;
}

/**
 * Pairs a line with the only payment near it, if the payment has no other line near it (ADR 30).
 *
 * Every line and payment is judged as unpaired, so the result does not depend on their order. The neighbours in time
 * are sufficient: if any other were near, so would be a neighbour.
 */
export function pairByTime(line: Timed, { before, after, earlier, later }: Surroundings): Pairing {
  const around = [...earlier, ...later].filter((payment) => isWithin(line, payment, PAIRED_WITHIN_MS));
  if (around.length === 0) return { kind: 'alone' };
  const near = around.filter((payment) => isWithin(line, payment, NEAR_MS));
  const [only, ...others] = near.length > 0 ? near : around;
  const reach = near.length > 0 ? NEAR_MS : PAIRED_WITHIN_MS;
  const lines = [before, after].filter((other) => other !== undefined);
  const isRivalled = (withinMs: number) =>
    only !== undefined && lines.some((other) => isWithin(other, only, withinMs));
  if (only === undefined || others.length > 0 || isRivalled(reach)) {
    return { kind: 'ambiguous', candidates: around.map(({ id }) => id) };
  }
  const hasRivals = around.length > 1 || isRivalled(PAIRED_WITHIN_MS);
  const { alone, rivalled } = near.length > 0 ? confidences.near : confidences.far;
  return { kind: 'paired', with: only.id, confidence: hasRivals ? rivalled : alone };
}

function isWithin(one: Timed, other: Timed, withinMs: number): boolean {
  return Math.abs(one.atMs - other.atMs) <= withinMs;
}

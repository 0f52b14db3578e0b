import { accept, type Result, refuse, unreachable } from '@pesewa/kernel';
import {
  type Adjustment,
  type AdjustmentOutcome,
  type AdjustmentTerms,
  isSameAdjustment,
} from './adjustments.ts';
import type { Break, BreakChange } from './break.ts';
import { closeBreak } from './break-finding.ts';
import { termsOfBreak } from './break-kinds.ts';
import { changed, openedAgain, resolved } from './break-versions.ts';
import { correctedBy, isRailsWord, toldBy } from './discrepancies.ts';

/** An operator's request about a break. */
export type BreakWish =
  | { readonly what: 'assign'; readonly to: string }
  | { readonly what: 'note'; readonly text: string }
  | { readonly what: 'explain'; readonly explanation: string }
  | { readonly what: 'resolve'; readonly resolution: string }
  | { readonly what: 'reopen'; readonly reason: string }
  | { readonly what: 'adjust'; readonly terms: AdjustmentTerms; readonly explanation: string }
  | { readonly what: 'withdraw'; readonly commandId: string };

/** Why a request is refused. */
export type LifeRefusal =
  | 'break.resolved'
  | 'break.unresolved'
  | 'break.full'
  | 'break.waits_for_end'
  | 'break.waits_for_decision'
  | 'adjustment.pending'
  | 'adjustment.differs'
  | 'adjustment.unknown';

/** The operator, the time, and whether the break's payment has ended; null if the break is about no known payment. */
export interface Wisher {
  readonly by: string;
  readonly at: Date;
  readonly hasEnded: boolean | null;
}

/** How many changes people may make to one break: enough in practice, and small enough for its document. */
const CHANGES_MAX = 100;
const ADJUSTMENTS_MAX = 10;

/** The break after an operator's request; the same object if the request repeats the newest change. */
export function changeBreak(current: Break, wish: BreakWish, wisher: Wisher): Result<Break, LifeRefusal> {
  if (isRepeated(current, wish, wisher)) return accept(current);
  // Ending an order or the break is allowed however long its history is: otherwise neither could ever end.
  const ends = wish.what === 'resolve' || wish.what === 'withdraw';
  if (!ends && isFull(current)) return refuse('break.full');
  const isResolved = current.status === 'resolved';
  if (wish.what === 'reopen') {
    if (!isResolved) return refuse('break.unresolved');
    return accept(openedAgain(current, lineOf(wish, wisher)));
  }
  // Notes may be added at any time, as may the end of an order.
  if (wish.what === 'note') return accept(changed(current, lineOf(wish, wisher)));
  if (wish.what === 'withdraw') return withdraw(current, wish, wisher);
  if (isResolved) return refuse('break.resolved');
  switch (wish.what) {
    case 'assign':
      return accept(changed({ ...current, owner: wish.to }, lineOf(wish, wisher)));
    case 'explain':
      return accept(changed({ ...current, explanation: wish.explanation }, lineOf(wish, wisher)));
    case 'adjust':
      return adjust(current, wish, wisher);
    case 'resolve':
      return resolveByHand(current, wish, wisher);
    default:
      return unreachable(wish);
  }
}

/**
 * The break after the ledger booked or refused its proposed order.
 *
 * Booked as proposed, the order resolves it. Refused, or booked differently, the break stays open and loses its
 * explanation.
 *
 * @param correctedElsewhere the fields that orders of other breaks correct: an order that was withdrawn, but is booked
 * all the same, may come in addition to another, and then gets none of those fields
 */
export function settleAdjustment(
  current: Break,
  outcome: AdjustmentOutcome,
  correctedElsewhere: ReadonlySet<string> = new Set(),
): Break {
  const { commandId, at } = outcome;
  const adjustment = current.adjustments?.find((one) => one.commandId === commandId);
  if (!adjustment || adjustment.settledAt) return current;
  const asProposed = outcome.status === 'booked' && isSameAdjustment(adjustment, outcome.terms);
  const status = outcome.status === 'refused' ? 'refused' : asProposed ? 'booked' : 'differs';
  const { tells = [] } = adjustment;
  const mine = tells.filter((told) =>
    correctedBy({ ...current, tells: [told] }).every((field) => !correctedElsewhere.has(field)),
  );
  const settledNow = {
    ...adjustment,
    status,
    settledAt: at,
    ...(tells.length > 0 && { tells: mine }),
  } as const;
  const adjustments = current.adjustments?.map((one) => (one === adjustment ? settledNow : one));
  const { explanation: _, ...unexplained } = current;
  const kept = asProposed || current.status === 'resolved' ? current : unexplained;
  const line = {
    at,
    by: null,
    what: `adjustment ${outcome.status}`,
    text: status === 'differs' ? `${commandId}, otherwise than proposed` : whyOf(outcome),
  } as const;
  const settled = changed({ ...kept, ...(adjustments && { adjustments }) }, line);
  return asProposed ? closeBreak(settled, `the ledger booked ${commandId}`, at) : settled;
}

function whyOf(outcome: AdjustmentOutcome): string {
  return outcome.status === 'refused' ? `${outcome.commandId}: ${outcome.reason}` : outcome.commandId;
}

function resolveByHand(
  current: Break,
  wish: Extract<BreakWish, { readonly what: 'resolve' }>,
  wisher: Wisher,
): Result<Break, LifeRefusal> {
  const why = whyWaits(current, wisher);
  if (why) return refuse(why);
  if (pendingOf(current)) return refuse('adjustment.pending');
  return accept(resolved(current, wisher, wish.resolution));
}

/**
 * Why people can't resolve a break yet: its payment is open, and its end or a decision will resolve it, or what it
 * covers for a kind that waits for these.
 */
function whyWaits(
  { kind, alsoFound = [] }: Break,
  { hasEnded }: Wisher,
): 'break.waits_for_end' | 'break.waits_for_decision' | undefined {
  if (hasEnded !== false) return undefined;
  const byHand = [kind, ...alsoFound.map((other) => other.kind)].map((one) => termsOfBreak(one)?.byHand);
  if (byHand.includes('ended')) return 'break.waits_for_end';
  return byHand.includes('decided') ? 'break.waits_for_decision' : undefined;
}

/** Why no order may yet correct what a rail reports about an open payment: the payment's end may book the same. */
function whyEarly({ kind }: Break, { hasEnded }: Wisher): 'break.waits_for_end' | undefined {
  return hasEnded === false && isRailsWord(kind) ? 'break.waits_for_end' : undefined;
}

function adjust(
  current: Break,
  wish: Extract<BreakWish, { readonly what: 'adjust' }>,
  wisher: Wisher,
): Result<Break, LifeRefusal> {
  const { terms, explanation } = wish;
  const adjustments = current.adjustments ?? [];
  const known = adjustments.find(({ commandId }) => commandId === terms.commandId);
  const pending = pendingOf(current);
  if (known) {
    if (!isSameAdjustment(known, terms)) return refuse('adjustment.differs');
    return known === pending ? accept(current) : refuse('adjustment.differs');
  }
  const why = whyWaits(current, wisher) ?? whyEarly(current, wisher);
  if (why) return refuse(why);
  if (pending) return refuse('adjustment.pending');
  if (adjustments.length >= ADJUSTMENTS_MAX) return refuse('break.full');
  const tells = toldBy(current);
  const told = tells.length > 0 && { tells };
  const proposed: Adjustment = { ...terms, by: wisher.by, at: wisher.at, status: 'proposed', ...told };
  const next = { ...current, explanation, adjustments: [...adjustments, proposed] };
  return accept(changed(next, lineOf(wish, wisher)));
}

function withdraw(
  current: Break,
  wish: Extract<BreakWish, { readonly what: 'withdraw' }>,
  wisher: Wisher,
): Result<Break, LifeRefusal> {
  const pending = pendingOf(current);
  if (!pending || pending.commandId !== wish.commandId) return refuse('adjustment.unknown');
  const adjustments = current.adjustments?.map((one) =>
    one === pending ? ({ ...one, status: 'withdrawn' } as const) : one,
  );
  const { explanation: _, ...unexplained } = current;
  const kept = current.status === 'resolved' ? current : unexplained;
  return accept(changed({ ...kept, ...(adjustments && { adjustments }) }, lineOf(wish, wisher)));
}

/** The adjustment that waits for the second operator, if any. */
function pendingOf({ adjustments }: Pick<Break, 'adjustments'>): Adjustment | undefined {
  return adjustments?.find(({ status }) => status === 'proposed');
}

function isFull({ history }: Break): boolean {
  return history.filter(({ by }) => by !== null).length >= CHANGES_MAX;
}

/** Whether the newest change is this same request, whose answer was lost. */
function isRepeated({ history }: Break, wish: BreakWish, wisher: Wisher): boolean {
  // An order is identified by its terms, not by its texts.
  if (wish.what === 'adjust') return false;
  const newest = history.at(-1);
  const line = lineOf(wish, wisher);
  return newest?.by === line.by && newest.what === line.what && newest.text === line.text;
}

function lineOf(wish: BreakWish, { by, at }: Pick<Wisher, 'by' | 'at'>): BreakChange {
  switch (wish.what) {
    case 'assign':
      return { at, by, what: 'assigned', text: wish.to };
    case 'note':
      return { at, by, what: 'noted', text: wish.text };
    case 'explain':
      return { at, by, what: 'explained', text: wish.explanation };
    case 'resolve':
      return { at, by, what: 'resolved', text: wish.resolution };
    case 'reopen':
      return { at, by, what: 'opened again', text: wish.reason };
    case 'adjust':
      return { at, by, what: 'adjustment proposed', text: `${wish.terms.commandId}: ${wish.explanation}` };
    case 'withdraw':
      return { at, by, what: 'adjustment withdrawn', text: wish.commandId };
    default:
      return unreachable(wish);
  }
}

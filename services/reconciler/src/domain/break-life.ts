import { accept, type Result, refuse } from '@pesewa/kernel';
import {
  type Adjustment,
  type AdjustmentOutcome,
  type AdjustmentTerms,
  isSameAdjustment,
} from './adjustments.ts';
import {
  type Break,
  type BreakChange,
  changed,
  type Observation,
  openedAgain,
  proposedResolutionOf,
  resolved,
} from './break.ts';
import { type Observer, termsOfBreak } from './break-kinds.ts';
import { closeBreak, isCorrectedBy, isOverMoney, judgedOf, shown, unjudged } from './observing.ts';

/** What the history says of an operator's request. */
const HISTORY = {
  assign: 'assigned',
  note: 'noted',
  explain: 'explained',
  resolve: 'resolved',
  reject: 'resolution rejected',
  reopen: 'opened again',
  withdraw: 'adjustment withdrawn',
} as const satisfies Readonly<Record<string, BreakChange['what']>>;

/** An operator's request about a break; its text is a comment, an owner's name or an order's id. */
export type BreakRequest =
  | { readonly what: keyof typeof HISTORY; readonly text: string }
  | { readonly what: 'approve'; readonly approves: string }
  | { readonly what: 'adjust'; readonly terms: AdjustmentTerms; readonly explanation: string };

/** Why a request is refused. */
export type LifeRefusal =
  | 'break.resolved'
  | 'break.unresolved'
  | 'break.full'
  | 'break.waits_for_end'
  | 'break.waits_for_decision'
  | 'resolution.proposed_already'
  | 'resolution.not_proposed'
  | 'resolution.same_operator'
  | 'adjustment.pending'
  | 'adjustment.differs'
  | 'adjustment.unknown';

/** The operator, the time, and whether the break's payment has ended; null if the break is about no known payment. */
export interface Requester {
  readonly by: string;
  readonly at: Date;
  readonly hasEnded: boolean | null;
}

/** By currency, the minor units above which another operator must approve a resolution. */
export type AloneUpTo = ReadonlyMap<string, bigint>;

const noLimits: AloneUpTo = new Map();

/** How many changes people may make to one break: enough in practice, and small enough for its document. */
const CHANGES_MAX = 100;
const ADJUSTMENTS_MAX = 10;
/** The observers whose word is the rail's own. */
const RAILS: readonly Observer[] = ['poll', 'provenCallback', 'close', 'statement'];

/** The break after an operator's request; the same object if the request repeats the newest change. */
export function changeBreak(
  current: Break,
  request: BreakRequest,
  requester: Requester,
  aloneUpTo = noLimits,
): Result<Break, LifeRefusal> {
  if (isRepeated(current, request, requester)) return accept(current);
  // Ending an order, a proposal or the break is allowed however long its history is: otherwise none could ever end.
  const ends = ['resolve', 'approve', 'reject', 'withdraw'].includes(request.what);
  if (!ends && isFull(current)) return refuse('break.full');
  const isResolved = current.status === 'resolved';
  const line = lineOf(request, requester);
  if (request.what === 'reopen')
    return isResolved ? accept(openedAgain(unjudged(current), line)) : refuse('break.unresolved');
  // Notes may be added at any time, as may the end of an order.
  if (request.what === 'note') return accept(changed(current, line));
  if (request.what === 'withdraw') return withdraw(current, request.text, line);
  if (isResolved) return refuse('break.resolved');
  if (request.what === 'adjust') return adjust(current, request, requester);
  if (request.what === 'resolve') return resolveByHand(current, request.text, requester, aloneUpTo);
  if (request.what === 'approve') return approveResolution(current, request.approves, requester);
  if (request.what === 'reject') {
    const { resolutionProposedBy, ...unproposed } = current;
    return resolutionProposedBy === undefined
      ? refuse('resolution.not_proposed')
      : accept(changed(unproposed, line));
  }
  const said = request.what === 'assign' ? { owner: request.text } : { explanation: request.text };
  return accept(changed({ ...current, ...said }, line));
}

/**
 * The break after the ledger booked or refused its proposed order.
 *
 * Booked as proposed, the order resolves it, unless something else was found since it was placed. Refused, or booked differently, the break stays open and loses its
 * explanation.
 */
export function concludeAdjustment(current: Break, outcome: AdjustmentOutcome): Break {
  const { commandId, at } = outcome;
  const adjustment = current.adjustments?.find((one) => one.commandId === commandId);
  if (!adjustment || adjustment.concludedAt) return current;
  const asProposed = outcome.status === 'booked' && isSameAdjustment(adjustment, outcome.terms);
  const status = outcome.status === 'refused' ? 'refused' : asProposed ? 'booked' : 'differs';
  const ended = { ...adjustment, status, concludedAt: at } as const;
  const adjustments = current.adjustments?.map((one) => (one === adjustment ? ended : one));
  const { explanation: _, ...unexplained } = current;
  const left = current.observations.filter((one) => !asProposed || !isFixedBy(adjustment, one));
  const kept = current.status === 'resolved' || left.length === 0 ? current : unexplained;
  const line = {
    at,
    by: null,
    what: `adjustment ${outcome.status}`,
    text: status === 'differs' ? `${commandId}, otherwise than proposed` : whyOf(outcome),
  } as const;
  const concluded = changed({ ...kept, ...(adjustments && { adjustments }) }, line);
  if (!asProposed || concluded.status === 'resolved') return concluded;
  const fixed = current.observations.filter((one) => !left.includes(one));
  const judged = { ...concluded, judged: judgedOf({ ...concluded, observations: fixed }) };
  return left.length > 0 ? shown(judged, left) : closeBreak(judged, `the ledger booked ${commandId}`, at);
}

/** Whether the operator saw this when they ordered, or its amount. */
function isFixedBy(adjustment: Adjustment, { at, amount }: Observation): boolean {
  return at <= adjustment.at || isCorrectedBy(adjustment, amount);
}

function whyOf(outcome: AdjustmentOutcome): string {
  return outcome.status === 'refused' ? `${outcome.commandId}: ${outcome.reason}` : outcome.commandId;
}

function resolveByHand(
  current: Break,
  resolution: string,
  requester: Requester,
  aloneUpTo: AloneUpTo,
): Result<Break, LifeRefusal> {
  const why = whyUnresolvable(current, requester);
  if (why) return refuse(why);
  if (!takesTwo(current, aloneUpTo)) return accept(judgedBy(current, requester, resolution));
  const { by, at } = requester;
  const { resolutionProposedBy = by } = current;
  if (resolutionProposedBy !== by) return refuse('resolution.proposed_already');
  const line = { at, by, what: 'resolution proposed', text: resolution } as const;
  return accept(changed({ ...current, resolutionProposedBy: by }, line));
}

function approveResolution(
  current: Break,
  approves: string,
  requester: Requester,
): Result<Break, LifeRefusal> {
  if (approves === requester.by) return refuse('resolution.same_operator');
  const why = whyUnresolvable(current, requester);
  if (why) return refuse(why);
  const proposed = proposedResolutionOf(current);
  if (proposed?.by !== approves) return refuse('resolution.not_proposed');
  return accept(judgedBy(current, requester, proposed.resolution));
}

/** The break as a person resolves it, who has judged what observers say. */
function judgedBy(current: Break, requester: Requester, resolution: string): Break {
  return resolved({ ...current, judged: judgedOf(current) }, requester, resolution);
}

function whyUnresolvable(current: Break, requester: Requester): LifeRefusal | undefined {
  return whyWaits(current, requester) ?? (pendingOf(current) && 'adjustment.pending');
}

/** Whether a break is of more money than one operator may resolve, or of an unknown amount of money. */
function takesTwo({ observations }: Break, aloneUpTo: AloneUpTo): boolean {
  return observations.some(({ kind, amount, currency }) => {
    const limit = currency === null ? undefined : aloneUpTo.get(currency);
    if (limit === undefined) return false;
    return amount === null ? isOverMoney(kind) : amount > limit || amount < -limit;
  });
}

/** Why people can't resolve a break yet: its payment is open, and its end or a decision will resolve it. */
function whyWaits(
  { observations }: Break,
  { hasEnded }: Requester,
): 'break.waits_for_end' | 'break.waits_for_decision' | undefined {
  if (hasEnded !== false) return undefined;
  const manualResolution = observations.map(({ kind }) => termsOfBreak(kind).manualResolution);
  if (manualResolution.includes('ended')) return 'break.waits_for_end';
  return manualResolution.includes('decided') ? 'break.waits_for_decision' : undefined;
}

/** Why no order may yet correct what a rail reports about an open payment: the payment's end may book the same. */
function whyEarly({ observations }: Break, { hasEnded }: Requester): 'break.waits_for_end' | undefined {
  const isRails = observations.some(({ observer }) => RAILS.includes(observer));
  return hasEnded === false && isRails ? 'break.waits_for_end' : undefined;
}

function adjust(
  current: Break,
  request: Extract<BreakRequest, { readonly what: 'adjust' }>,
  requester: Requester,
): Result<Break, LifeRefusal> {
  const { terms, explanation } = request;
  const adjustments = current.adjustments ?? [];
  const known = adjustments.find(({ commandId }) => commandId === terms.commandId);
  const pending = pendingOf(current);
  if (known) {
    if (!isSameAdjustment(known, terms)) return refuse('adjustment.differs');
    return known === pending ? accept(current) : refuse('adjustment.differs');
  }
  const why = whyWaits(current, requester) ?? whyEarly(current, requester);
  if (why) return refuse(why);
  if (pending) return refuse('adjustment.pending');
  if (adjustments.length >= ADJUSTMENTS_MAX) return refuse('break.full');
  const { by, at } = requester;
  // What anybody may have claimed is corrected only where nothing else is shown.
  const said = current.observations.filter(({ observer }) => observer !== 'callback');
  const differences = [...new Set([current, ...said].flatMap(({ amount }) => amount ?? []))];
  const proposed: Adjustment = { ...terms, by, at, status: 'proposed', differences };
  const next = { ...current, explanation, adjustments: [...adjustments, proposed] };
  return accept(changed(next, lineOf(request, requester)));
}

function withdraw(current: Break, commandId: string, line: BreakChange): Result<Break, LifeRefusal> {
  const pending = pendingOf(current);
  if (!pending || pending.commandId !== commandId) return refuse('adjustment.unknown');
  const adjustments = current.adjustments?.map((one) =>
    one === pending ? ({ ...one, status: 'withdrawn' } as const) : one,
  );
  const { explanation: _, ...unexplained } = current;
  const kept = current.status === 'resolved' ? current : unexplained;
  return accept(changed({ ...kept, ...(adjustments && { adjustments }) }, line));
}

/** The adjustment that waits for the second operator, if any. */
function pendingOf({ adjustments }: Pick<Break, 'adjustments'>): Adjustment | undefined {
  return adjustments?.find(({ status }) => status === 'proposed');
}

function isFull({ history }: Break): boolean {
  return history.filter(({ by }) => by !== null).length >= CHANGES_MAX;
}

/** Whether the newest change is this same request, whose answer was lost. */
function isRepeated({ history }: Break, request: BreakRequest, requester: Requester): boolean {
  // An order is identified by its terms, not by its texts.
  if (request.what === 'adjust') return false;
  const newest = history.at(-1);
  const line = lineOf(request, requester);
  const isSame =
    newest?.what === line.what || (newest?.what === 'resolution proposed' && request.what === 'resolve');
  // An approval takes the text that was proposed.
  return isSame && newest.by === line.by && (request.what === 'approve' || newest.text === line.text);
}

function lineOf(request: BreakRequest, { by, at }: Pick<Requester, 'by' | 'at'>): BreakChange {
  if (request.what === 'approve') return { at, by, what: 'resolved' };
  if (request.what !== 'adjust') return { at, by, what: HISTORY[request.what], text: request.text };
  const { terms, explanation } = request;
  return { at, by, what: 'adjustment proposed', text: `${terms.commandId}: ${explanation}` };
}

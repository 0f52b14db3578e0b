import { accept, type Result, refuse } from '@pesewa/kernel';
import { type Break, type BreakChange, changed, openedAgain, resolved } from './break.ts';
import { type Observer, termsOfBreak } from './break-kinds.ts';
import { amountKey, isOverMoney, judgedOf, shown, unjudged } from './observing.ts';

/** What the history says of an operator's request. */
const HISTORY = {
  assign: 'assigned',
  note: 'noted',
  explain: 'explained',
  resolve: 'resolved',
  reject: 'resolution rejected',
  reopen: 'opened again',
} as const satisfies Readonly<Record<string, BreakChange['what']>>;

/** An operator's request about a break; its text is a comment or an owner's name. */
export type BreakRequest =
  | { readonly what: keyof typeof HISTORY; readonly text: string }
  | { readonly what: 'approve'; readonly approves: string };

/** Why a request is refused. */
export type LifeRefusal =
  | 'break.resolved'
  | 'break.unresolved'
  | 'break.full'
  | 'break.waits_for_end'
  | 'break.waits_for_decision'
  | 'resolution.proposed_already'
  | 'resolution.not_proposed'
  | 'resolution.same_operator';

/** The operator, the time, and whether the break's payment has ended; null if the break is about no known payment. */
export interface Requester {
  readonly by: string;
  readonly at: Date;
  readonly hasEnded: boolean | null;
}

/** By currency, the minor units above which another operator must approve a resolution. */
export type AloneUpTo = ReadonlyMap<string, bigint>;

/** How many changes people may make to one break: enough in practice, and small enough for its document. */
const CHANGES_MAX = 100;
/** The observers whose word is the rail's own. */
const RAILS: readonly Observer[] = ['poll', 'provenCallback', 'close', 'statement'];

/** The break after an operator's request; the same object if the request repeats the newest change. */
export function changeBreak(
  current: Break,
  request: BreakRequest,
  requester: Requester,
  aloneUpTo: AloneUpTo = new Map(),
): Result<Break, LifeRefusal> {
  if (isRepeated(current, request, requester)) return accept(current);
  // Ending a proposal or the break is allowed however long its history is: otherwise none could ever end.
  const ends = ['resolve', 'approve', 'reject'].includes(request.what);
  if (!ends && isFull(current)) return refuse('break.full');
  const isResolved = current.status === 'resolved';
  const line = lineOf(request, requester);
  if (request.what === 'reopen')
    return isResolved ? accept(openedAgain(unjudged(current), line)) : refuse('break.unresolved');
  // Notes may be added at any time.
  if (request.what === 'note') return accept(changed(current, line));
  if (isResolved) return refuse('break.resolved');
  if (request.what === 'resolve') return resolveByHand(current, request.text, requester, aloneUpTo);
  if (request.what === 'approve') return approveResolution(current, request.approves, requester);
  if (request.what === 'reject') {
    const { proposedResolution, ...unproposed } = current;
    return proposedResolution ? accept(changed(unproposed, line)) : refuse('resolution.not_proposed');
  }
  const said = request.what === 'assign' ? { owner: request.text } : { explanation: request.text };
  return accept(changed({ ...current, ...said }, line));
}

/** An order for a break that the ledger has booked. */
interface BookedOrder {
  readonly commandId: string;
  /** When it was proposed. */
  readonly requestedAt: Date;
  readonly at: Date;
}

/**
 * The break after the ledger has booked an order for it: it is resolved, unless something else was found since the order
 * was proposed. One that was resolved before notes the order. The same object if it knows the order.
 */
export function correct(current: Break, { commandId, requestedAt, at }: BookedOrder): Break {
  const { corrections = [], observations, judged: before = [] } = current;
  if (corrections.includes(commandId)) return current;
  const seen = observations.filter((one) => one.at <= requestedAt);
  // What anybody may have claimed is corrected only where nothing else is shown.
  const said = seen.filter(({ observer }) => observer !== 'callback');
  const shownThen = seen.length === 0 ? [] : [shown(current, seen), ...said];
  const amounts = shownThen.flatMap(({ amount }) => (amount === null ? [] : amountKey(amount)));
  const fixed = observations.filter((one) => seen.includes(one) || amounts.includes(amountKey(one.amount)));
  const left = observations.filter((one) => !fixed.includes(one));
  const line = { at, by: null, what: 'adjustment booked', text: commandId } as const;
  const known = [...new Set([...before, ...amounts])];
  const noted = changed({ ...current, corrections: [...corrections, commandId], judged: known }, line);
  if (current.status === 'resolved') return noted;
  const judged = { ...noted, judged: judgedOf({ ...noted, observations: fixed }) };
  if (left.length === 0) return resolved(judged, { by: null, at }, `the ledger booked ${commandId}`);
  const { explanation: _, ...unexplained } = shown(judged, left);
  return unexplained;
}

function resolveByHand(
  current: Break,
  resolution: string,
  requester: Requester,
  aloneUpTo: AloneUpTo,
): Result<Break, LifeRefusal> {
  const why = whyWaits(current, requester);
  if (why) return refuse(`break.waits_for_${why}` as const);
  if (!takesTwo(current, aloneUpTo)) return accept(judgedBy(current, requester, resolution));
  const { by, at } = requester;
  if ((current.proposedResolution?.by ?? by) !== by) return refuse('resolution.proposed_already');
  const line = { at, by, what: 'resolution proposed', text: resolution } as const;
  return accept(changed({ ...current, proposedResolution: { by, at, resolution } }, line));
}

function approveResolution(
  current: Break,
  approves: string,
  requester: Requester,
): Result<Break, LifeRefusal> {
  if (approves === requester.by) return refuse('resolution.same_operator');
  const why = whyWaits(current, requester);
  if (why) return refuse(`break.waits_for_${why}` as const);
  const { proposedResolution: proposed } = current;
  if (proposed?.by !== approves) return refuse('resolution.not_proposed');
  return accept(judgedBy(current, requester, proposed.resolution));
}

/** The break as a person resolves it, who has judged what observers say. */
function judgedBy(current: Break, requester: Requester, resolution: string): Break {
  return resolved({ ...current, judged: judgedOf(current) }, requester, resolution);
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
  { hasEnded }: Pick<Requester, 'hasEnded'>,
): 'end' | 'decision' | null {
  if (hasEnded !== false) return null;
  const manualResolution = observations.map(({ kind }) => termsOfBreak(kind).manualResolution);
  if (manualResolution.includes('ended')) return 'end';
  return manualResolution.includes('decided') ? 'decision' : null;
}

/** What must come before an order may correct a break: the end of its open payment may book what a rail reports. */
export function orderWaitsFor(current: Break, of: Pick<Requester, 'hasEnded'>): 'end' | 'decision' | null {
  const isRails = current.observations.some(({ observer }) => RAILS.includes(observer));
  return whyWaits(current, of) ?? (of.hasEnded === false && isRails ? 'end' : null);
}

function isFull({ history }: Break): boolean {
  return history.filter(({ by }) => by !== null).length >= CHANGES_MAX;
}

/** Whether the newest change is this same request, whose answer was lost. */
function isRepeated({ history }: Break, request: BreakRequest, requester: Requester): boolean {
  const newest = history.at(-1);
  const line = lineOf(request, requester);
  const isSame =
    newest?.what === line.what || (newest?.what === 'resolution proposed' && request.what === 'resolve');
  // An approval takes the text that was proposed.
  return isSame && newest.by === line.by && (request.what === 'approve' || newest.text === line.text);
}

function lineOf(request: BreakRequest, { by, at }: Pick<Requester, 'by' | 'at'>): BreakChange {
  if (request.what === 'approve') return { at, by, what: 'resolved' };
  return { at, by, what: HISTORY[request.what], text: request.text };
}

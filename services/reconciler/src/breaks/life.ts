import { accept, type Clock, type Result, refuse } from '@pesewa/kernel';
import type { Messaging, Transaction } from '@pesewa/messaging';
import type { ClientSession } from 'mongodb';
import type { Break } from '../domain/break.ts';
import {
  type BreakRequest,
  changeBreak,
  concludeAdjustment,
  type LifeRefusal,
} from '../domain/break-life.ts';
import { isEnd } from '../domain/claim.ts';
import { afterManualResolution } from '../domain/manual-resolution.ts';
import type { Tracked } from '../domain/tracked.ts';
import { breakAssigned, breakExplained, breakOpened, breakResolved } from '../events.ts';
import type { WorkingStore } from '../store.ts';
import type { AdjustmentStore } from './adjustments.ts';
import type { BreakStore } from './store.ts';

/** Why an operator's request about a break is refused; if another break of its payment is in the way, which one. */
export type BreakRefusal =
  | LifeRefusal
  | 'break.unknown'
  | 'break.changed'
  | 'operator.unknown'
  | { readonly why: 'break.covered' | 'adjustment.elsewhere'; readonly breakId: string };

/** An operator's request about a break. */
export interface BreakOrder {
  readonly id: string;
  readonly request: BreakRequest;
  readonly by: string;
  /** The version that the operator has seen; if there is a newer one, the request is refused. */
  readonly version?: number | undefined;
}

/** The operators' actions on breaks (ADR 31). */
export interface BreakLife {
  /** Changes a break and publishes the change in the same transaction; a repeated request changes nothing. */
  readonly change: (order: BreakOrder) => Promise<Result<Break, BreakRefusal>>;
  readonly find: (id: string) => Promise<Break | undefined>;
  readonly list: BreakStore['list'];
}

interface LifeDeps {
  readonly breaks: Pick<BreakStore, 'findAll' | 'findAbout' | 'save' | 'list'>;
  readonly adjustmentStore: Pick<AdjustmentStore, 'propose'>;
  readonly store: Pick<WorkingStore, 'load' | 'save'>;
  readonly messaging: Pick<Messaging, 'groupCommit'>;
  /** Whether a break can be assigned to this name: that of an operator with a token of their own. */
  readonly isOperator: (name: string) => boolean;
  readonly clock: Clock;
}

/** Builds {@link BreakLife}. */
export function createBreakLife(deps: LifeDeps): BreakLife {
  const changing = deps.messaging.groupCommit<BreakOrder, Result<Break, BreakRefusal>>(
    'reconciler.break',
    (orders, transaction) => Promise.all(orders.map((order) => change(deps, order, transaction))),
    // One at a time and retried in place: requests are few, and a conflicting one waits for the other.
    { itemsMax: 1 },
  );
  return {
    change: changing.submit,
    find: async (id) => (await deps.breaks.findAll([id])).at(0),
    list: deps.breaks.list,
  };
}

async function change(
  deps: LifeDeps,
  { id, request, by, version }: BreakOrder,
  transaction: Transaction,
): Promise<Result<Break, BreakRefusal>> {
  const { session } = transaction;
  const at = new Date(deps.clock.nowMs());
  if (request.what === 'assign' && !deps.isOperator(request.to)) return refuse('operator.unknown');
  const [current] = await deps.breaks.findAll([id], session);
  if (!current) return refuse('break.unknown');
  const tracked = (await deps.store.load([current.reference], session)).get(current.reference);
  const hasEnded = tracked?.terms ? isEnd(tracked.status) : null;
  const changed = changeBreak(current, request, { by, at, hasEnded });
  if (!changed.ok || changed.value === current) return changed;
  if (version !== undefined && version !== current.version) return refuse('break.changed');
  const rival = await rivalOf(deps, changed.value, request, session);
  if (rival) return refuse(rival);
  const concluded = await concludedBy(deps, changed.value, request, session);
  if (concluded === 'taken') return refuse('adjustment.differs');
  await deps.breaks.save([concluded], session);
  const what = whatBecame(request, concluded);
  if (tracked && what) {
    // The other findings that the break covers end with it.
    const kinds = [
      current.kind,
      ...(what === 'reopen' ? [] : (current.alsoFound ?? [])).map(({ kind }) => kind),
    ];
    const concludedIn = (payment: Tracked, kind: string) =>
      afterManualResolution(payment, kind, what, at.getTime());
    await deps.store.save([kinds.reduce(concludedIn, tracked)], session);
  }
  emitChange(concluded, request, by, transaction);
  return accept(concluded);
}

/**
 * The other break of the payment that covers the same difference as this one would, or whose order corrects it. If two
 * requests come at once, the second violates a unique index and is checked again.
 */
async function rivalOf(
  { breaks }: LifeDeps,
  changed: Break,
  { what }: BreakRequest,
  session: ClientSession,
): Promise<Extract<BreakRefusal, object> | undefined> {
  if (what !== 'reopen' && what !== 'adjust') return undefined;
  const about = await breaks.findAbout([changed.reference], session);
  const others = about.filter(({ _id }) => _id !== changed._id);
  const coveringBreak = others.find(
    ({ status, coveredKeys }) => status === 'open' && isShared(coveredKeys, changed.coveredKeys),
  );
  if (what === 'reopen' && coveringBreak) return { why: 'break.covered', breakId: coveringBreak._id };
  const orderer = others.find(({ corrects }) => isShared(corrects, changed.corrects));
  return what === 'adjust' && orderer ? { why: 'adjustment.elsewhere', breakId: orderer._id } : undefined;
}

function isShared(some: readonly string[] = [], others: readonly string[] = []): boolean {
  return some.some((one) => others.includes(one));
}

/** The effect of a request on the payment of its break; undefined if only the break changed. */
function whatBecame(
  { what }: BreakRequest,
  { status }: Break,
): Parameters<typeof afterManualResolution>[2] | undefined {
  if (what === 'resolve' || what === 'reopen') return what;
  return what === 'adjust' && status === 'resolved' ? what : undefined;
}

/** The break after the outcome that the ledger already has for the order. */
async function concludedBy(
  { adjustmentStore }: LifeDeps,
  changed: Break,
  request: BreakRequest,
  session: ClientSession,
): Promise<Break | 'taken'> {
  if (request.what !== 'adjust') return changed;
  const outcome = await adjustmentStore.propose(request.terms.commandId, changed._id, session);
  if (outcome === 'taken') return outcome;
  return outcome ? concludeAdjustment(changed, outcome) : changed;
}

function emitChange(changed: Break, request: BreakRequest, by: string, { emit }: Transaction): void {
  if (request.what === 'assign') emit(breakAssigned(changed, request.to, by));
  if (request.what === 'reopen') emit(breakOpened(changed, by));
  if (request.what === 'explain' || request.what === 'adjust') emit(breakExplained(changed, by));
  const mayResolve = request.what === 'resolve' || request.what === 'adjust';
  if (mayResolve && changed.status === 'resolved') emit(breakResolved(changed));
}

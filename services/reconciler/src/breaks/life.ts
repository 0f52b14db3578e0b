import { type Clock, type Result, refuse } from '@pesewa/kernel';
import type { Messaging, Transaction } from '@pesewa/messaging';
import { commitEach } from '../batches.ts';
import type { Break } from '../domain/break.ts';
import { type AloneUpTo, type BreakRequest, changeBreak, type LifeRefusal } from '../domain/break-life.ts';
import { isEnd } from '../domain/claim.ts';
import { afterManualResolution } from '../domain/manual-resolution.ts';
import { breakAssigned, breakExplained, breakOpened, breakResolved } from '../events.ts';
import type { WorkingStore } from '../store.ts';
import type { BreakStore } from './store.ts';

/** Why an operator's request about a break is refused. */
export type BreakRefusal = LifeRefusal | 'break.unknown' | 'break.changed' | 'operator.unknown';

/** An operator's request about a break. */
export interface BreakOrder {
  readonly id: string;
  readonly request: BreakRequest;
  readonly by: string;
  /** The version that the operator has seen; if there is a newer one, the request is refused. */
  readonly version?: number | undefined;
}

/** The operators' actions on breaks (ADR 70). */
export type BreakLife = ReturnType<typeof createBreakLife>;

interface LifeDeps {
  readonly breaks: Pick<BreakStore, 'findAll' | 'save' | 'list'>;
  readonly store: Pick<WorkingStore, 'load' | 'save'>;
  readonly messaging: Pick<Messaging, 'groupCommit'>;
  /** Whether a break can be assigned to this name: that of an operator with a token of their own. */
  readonly isOperator: (name: string) => boolean;
  readonly aloneUpTo: AloneUpTo;
  readonly clock: Clock;
}

/** Builds {@link BreakLife}. */
export function createBreakLife(deps: LifeDeps) {
  return {
    /** Changes a break and publishes the change in the same transaction; a repeated request changes nothing. */
    change: commitEach(deps.messaging, 'reconciler.break', (order: BreakOrder, transaction) =>
      change(deps, order, transaction),
    ),
    find: async (id: string): Promise<Break | undefined> => (await deps.breaks.findAll([id])).at(0),
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
  if (request.what === 'assign' && !deps.isOperator(request.text)) return refuse('operator.unknown');
  const [current] = await deps.breaks.findAll([id], session);
  if (!current) return refuse('break.unknown');
  const tracked = (await deps.store.load([current.reference], session)).get(current.reference);
  const hasEnded = tracked?.terms ? isEnd(tracked.status) : null;
  const changed = changeBreak(current, request, { by, at, hasEnded }, deps.aloneUpTo);
  if (!changed.ok || changed.value === current) return changed;
  if (version !== undefined && version !== current.version) return refuse('break.changed');
  const { value } = changed;
  await deps.breaks.save([value], session);
  if (tracked) {
    const payment = afterManualResolution(tracked, current, value, { by: 'person', at });
    await deps.store.save([payment], session);
  }
  if (request.what === 'assign') transaction.emit(breakAssigned(value, request.text, by));
  if (request.what === 'reopen') transaction.emit(breakOpened(value, by));
  if (request.what === 'explain') transaction.emit(breakExplained(value, by));
  if (current.status === 'open' && value.status === 'resolved') transaction.emit(breakResolved(value));
  return changed;
}

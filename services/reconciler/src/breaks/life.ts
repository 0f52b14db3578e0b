import type { TopicEvent } from '@pesewa/contracts';
import { type Clock, type Result, refuse } from '@pesewa/kernel';
import type { BatchTransaction, Messaging, Received, Transaction } from '@pesewa/messaging';
import { commitEach } from '../batches.ts';
import type { Break, BreakCause } from '../domain/break.ts';
import {
  type AloneUpTo,
  type BreakRequest,
  changeBreak,
  correct,
  type LifeRefusal,
} from '../domain/break-life.ts';
import { isEnd } from '../domain/claim.ts';
import { afterManualResolution } from '../domain/manual-resolution.ts';
import type { Tracked } from '../domain/tracked.ts';
import { breakOpened, breakResolved } from '../events.ts';
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

/** The ledger's entry of an order that corrects something; it names the break, if it is for one. */
export type CorrectionEvent = Received<
  Extract<
    TopicEvent<'ledger'>,
    { readonly type: 'pesewa.ledger.WalletAdjusted' | 'pesewa.ledger.SuspenseBooked' }
  >
>;

/** Changes a break as an operator requests. */
export type ChangeBreak = ReturnType<typeof createBreakChange>;

/** Resolves the breaks for which the ledger has booked orders. */
export type Corrections = ReturnType<typeof createCorrections>;

interface CorrectionDeps {
  readonly breaks: Pick<BreakStore, 'findAll' | 'save'>;
  readonly store: Pick<WorkingStore, 'load' | 'save'>;
}

interface LifeDeps extends CorrectionDeps {
  readonly messaging: Pick<Messaging, 'groupCommit'>;
  /** Whether a break can be assigned to this name: that of an operator with a token of their own. */
  readonly isOperator: (name: string) => boolean;
  readonly aloneUpTo: AloneUpTo;
  readonly clock: Clock;
}

/**
 * Builds what changes a break and publishes the change in the same transaction (ADR 70); a repeated request changes
 * nothing.
 */
export function createBreakChange(deps: LifeDeps) {
  return commitEach(deps.messaging, 'reconciler.break', (order: BreakOrder, transaction) =>
    change(deps, order, transaction),
  );
}

/** Builds {@link Corrections}. */
export function createCorrections(deps: CorrectionDeps) {
  return async (events: readonly CorrectionEvent[], transaction: BatchTransaction): Promise<void> => {
    for (const { eventId, payload } of events) {
      const { breakId, commandId } = payload;
      const known = breakId === null ? undefined : await read(deps, breakId, transaction);
      if (!known) continue;
      const [requestedAt, at] = [new Date(Number(payload.requestedAt)), new Date(Number(payload.occurredAt))];
      const corrected = correct(known.current, { commandId, requestedAt, at });
      const how = { by: 'order', at, cause: { eventId } } as const;
      if (corrected !== known.current) await save(deps, known, corrected, how, transaction);
    }
  };
}

async function change(
  deps: LifeDeps,
  { id, request, by, version }: BreakOrder,
  transaction: Transaction,
): Promise<Result<Break, BreakRefusal>> {
  const at = new Date(deps.clock.nowMs());
  if (request.what === 'assign' && !deps.isOperator(request.text)) return refuse('operator.unknown');
  const known = await read(deps, id, transaction);
  if (!known) return refuse('break.unknown');
  const { current, tracked } = known;
  const hasEnded = tracked?.terms ? isEnd(tracked.status) : null;
  const changed = changeBreak(current, request, { by, at, hasEnded }, deps.aloneUpTo);
  if (!changed.ok || changed.value === current) return changed;
  if (version !== undefined && version !== current.version) return refuse('break.changed');
  await save(deps, known, changed.value, { by: 'person', at }, transaction);
  if (request.what === 'reopen') transaction.emit(breakOpened(changed.value, by));
  return changed;
}

/** A break, and its payment if that is known. */
interface Known {
  readonly current: Break;
  readonly tracked: Tracked | undefined;
}

async function read(
  { breaks, store }: CorrectionDeps,
  id: string,
  { session }: Pick<Transaction, 'session'>,
): Promise<Known | undefined> {
  const [current] = await breaks.findAll([id], session);
  if (!current) return undefined;
  const { reference } = current;
  return { current, tracked: (await store.load([reference], session)).get(reference) };
}

/** Saves a changed break and what follows of it for its payment, and publishes that it is resolved. */
async function save(
  { breaks, store }: CorrectionDeps,
  { current, tracked }: Known,
  after: Break,
  { by, at, cause }: { readonly by: 'person' | 'order'; readonly at: Date; readonly cause?: BreakCause },
  { session, emit }: Pick<Transaction, 'session' | 'emit'>,
): Promise<void> {
  await breaks.save([after], session);
  if (tracked) await store.save([afterManualResolution(tracked, current, after, { by, at })], session);
  if (current.status === 'open' && after.status === 'resolved') emit(breakResolved(after, cause));
}

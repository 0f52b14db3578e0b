import { isBreakCommand, type TopicEvent } from '@pesewa/contracts';
import type { BatchTransaction, Received } from '@pesewa/messaging';
import type { ClientSession, Db } from 'mongodb';
import type { AdjustmentOutcome, AdjustmentTerms } from '../domain/adjustments.ts';
import { kindsOf } from '../domain/break.ts';
import { concludeAdjustment } from '../domain/break-life.ts';
import { afterManualResolution } from '../domain/manual-resolution.ts';
import { breakResolved } from '../events.ts';
import type { WorkingStore } from '../store.ts';
import type { BreakStore } from './store.ts';

/** The ledger's events about an order that corrects something. */
export type CorrectionEvent = Received<
  Extract<TopicEvent<'ledger'>, { readonly type: (typeof CORRECTIONS)[number] }>
>;

const CORRECTIONS = [
  'pesewa.ledger.WalletAdjusted',
  'pesewa.ledger.SuspenseBooked',
  'pesewa.ledger.CommandRefused',
] as const;

/**
 * An order for a break as MongoDB holds it; `_id` is its command id.
 *
 * A proposal and the ledger's event write the same document, so whichever comes second finds the other.
 */
interface AdjustmentDocument {
  readonly _id: string;
  readonly breakId?: string;
  readonly outcome?: AdjustmentOutcome;
}

/** The orders that correct the differences of breaks. */
export type AdjustmentStore = ReturnType<typeof openAdjustmentStore>;

/** Opens the store. */
export function openAdjustmentStore(db: Db) {
  const collection = db.collection<AdjustmentDocument>('adjustments');
  return {
    /**
     * Records what an order is for; gives the ledger's outcome, if there is one already, or `taken` if it is for another
     * break.
     */
    propose: async (
      commandId: string,
      breakId: string,
      session: ClientSession,
    ): Promise<AdjustmentOutcome | 'taken' | undefined> => {
      const noted = await collection.findOneAndUpdate(
        { _id: commandId },
        [{ $set: { breakId: { $ifNull: ['$breakId', { $literal: breakId }] } } }],
        { session, upsert: true, returnDocument: 'after' },
      );
      return noted?.breakId === breakId ? noted.outcome : 'taken';
    },
    /** Records the ledger's outcome of an order; gives the break that it is for, if known. */
    conclude: async (outcome: AdjustmentOutcome, session: ClientSession): Promise<string | undefined> => {
      const noted = await collection.findOneAndUpdate(
        { _id: outcome.commandId },
        { $set: { outcome } },
        { session, upsert: true, returnDocument: 'after' },
      );
      return noted?.breakId;
    },
  };
}

/** Applies the ledger's outcomes of orders that were proposed for breaks, and resolves the breaks of booked ones. */
export type Adjustments = ReturnType<typeof createAdjustments>;

/** Whether the event is the outcome of a correction. */
export function isCorrection(event: Received<TopicEvent<'ledger'>>): event is CorrectionEvent {
  return CORRECTIONS.some((type) => type === event.type);
}

/** Builds {@link Adjustments}. */
export function createAdjustments(deps: {
  readonly adjustmentStore: Pick<AdjustmentStore, 'conclude'>;
  readonly breaks: Pick<BreakStore, 'findAll' | 'save'>;
  readonly store: Pick<WorkingStore, 'load' | 'save'>;
}) {
  return async (events: readonly CorrectionEvent[], { session, emit }: BatchTransaction): Promise<void> => {
    for (const event of events) {
      if (!isBreakCommand(event.payload.commandId)) continue;
      const outcome = outcomeOf(event);
      const breakId = await deps.adjustmentStore.conclude(outcome, session);
      const [current] = breakId === undefined ? [] : await deps.breaks.findAll([breakId], session);
      if (!current) continue;
      const concluded = concludeAdjustment(current, outcome);
      if (concluded === current) continue;
      await deps.breaks.save([concluded], session);
      if (current.status === 'resolved') continue;
      const isResolved = concluded.status === 'resolved';
      if (isResolved) emit(breakResolved(concluded, { eventId: event.eventId }));
      const left = isResolved ? [] : kindsOf(concluded);
      const gone = kindsOf(current).filter((kind) => !left.includes(kind));
      if (gone.length === 0) continue;
      const { reference } = concluded;
      const payment = (await deps.store.load([reference], session)).get(reference);
      if (!payment) continue;
      // Further differences of the payment are news again.
      const corrected = afterManualResolution(payment, gone, 'adjust', outcome.at.getTime());
      await deps.store.save([corrected], session);
    }
  };
}

function outcomeOf({ type, payload }: CorrectionEvent): AdjustmentOutcome {
  const { commandId, currency, amount, occurredAt } = payload;
  const common = { commandId, at: new Date(Number(occurredAt)) };
  if (type === 'pesewa.ledger.CommandRefused')
    return { ...common, status: 'refused', reason: payload.reason };
  const isGain = payload.direction === 'credit' || payload.direction === 'surplus';
  const moved = { commandId, currency, minor: isGain ? amount : -amount };
  const terms: AdjustmentTerms =
    type === 'pesewa.ledger.WalletAdjusted'
      ? { ...moved, kind: 'adjust', target: payload.merchantId }
      : { ...moved, kind: 'suspense', target: payload.rail };
  return { ...common, status: 'booked', terms };
}

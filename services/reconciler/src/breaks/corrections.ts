import type { TopicEvent } from '@pesewa/contracts';
import type { BatchTransaction, Received } from '@pesewa/messaging';
import { correct } from '../domain/break-life.ts';
import { afterManualResolution } from '../domain/manual-resolution.ts';
import { breakResolved } from '../events.ts';
import type { WorkingStore } from '../store.ts';
import type { BreakStore } from './store.ts';

/** The ledger's entry of an order that corrects something; it names the break, if it is for one. */
export type CorrectionEvent = Received<
  Extract<
    TopicEvent<'ledger'>,
    { readonly type: 'pesewa.ledger.WalletAdjusted' | 'pesewa.ledger.SuspenseBooked' }
  >
>;

/** Resolves the breaks for which the ledger has booked orders. */
export type Corrections = ReturnType<typeof createCorrections>;

/** Builds {@link Corrections}. */
export function createCorrections(deps: {
  readonly breaks: Pick<BreakStore, 'findAll' | 'save'>;
  readonly store: Pick<WorkingStore, 'load' | 'save'>;
}) {
  return async (events: readonly CorrectionEvent[], { session, emit }: BatchTransaction): Promise<void> => {
    for (const { eventId, payload } of events) {
      const { breakId, commandId } = payload;
      const [current] = breakId === null ? [] : await deps.breaks.findAll([breakId], session);
      if (!current) continue;
      const [requestedAt, at] = [new Date(Number(payload.requestedAt)), new Date(Number(payload.occurredAt))];
      const corrected = correct(current, { commandId, requestedAt, at });
      if (corrected === current) continue;
      await deps.breaks.save([corrected], session);
      if (current.status === 'open' && corrected.status === 'resolved')
        emit(breakResolved(corrected, { eventId }));
      const payment = (await deps.store.load([current.reference], session)).get(current.reference);
      if (!payment) continue;
      // Further differences of the payment are news again.
      const after = afterManualResolution(payment, current, corrected, { by: 'order', at });
      await deps.store.save([after], session);
    }
  };
}

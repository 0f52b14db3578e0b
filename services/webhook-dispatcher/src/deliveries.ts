import type { Clock } from '@pesewa/kernel';
import type { Messaging, Transaction } from '@pesewa/messaging';
import type { DeliveryState } from './domain/delivery.ts';
import type { DeliveryEvents } from './events.ts';
import type { DeliveryChange, DeliveryStore, NewDelivery } from './store.ts';

/** What came of a claimed delivery: its change, but for the state it is read in anew. */
export interface Settlement extends Omit<DeliveryChange, 'delivery' | 'atMs'> {
  readonly id: string;
  /** The claim it was taken with; one that has been replaced settles nothing. */
  readonly claim: string;
}

/** What the dispatcher does with deliveries. */
export interface Deliveries {
  /** Gives birth to deliveries within the consumer's transaction; those that exist stay as they are. */
  readonly bear: (deliveries: readonly NewDelivery[], transaction: Transaction) => Promise<void>;
  /** Stores what came of a claimed delivery; false where the claim has been replaced meanwhile. */
  readonly settle: (settlement: Settlement) => Promise<boolean>;
  /** Makes a delivery due now, whatever its state, with the same id and body; false where there is none. */
  readonly resend: (id: string) => Promise<boolean>;
}

/** Builds {@link Deliveries}. */
export function createDeliveries(deps: {
  readonly store: DeliveryStore;
  readonly events: DeliveryEvents;
  readonly messaging: Pick<Messaging, 'groupCommit'>;
  readonly clock: Clock;
  /** Hears of each delivery that has ended, once that is committed. */
  readonly ended: (state: Exclude<DeliveryState, 'pending'>) => void;
  /** Called when deliveries have become due. */
  readonly becameDue: () => void;
}): Deliveries {
  const { store, events } = deps;
  const settling = deps.messaging.groupCommit<Settlement, boolean>(
    'webhooks.outcome',
    async (settlements, transaction) => {
      const claimed = await store.findClaimed(settlements, transaction.session);
      const byId = new Map(claimed.map((delivery) => [delivery._id, delivery]));
      const atMs = deps.clock.nowMs();
      const changes = settlements.flatMap(({ id, claim: _claim, ...change }) => {
        const delivery = byId.get(id);
        return delivery === undefined ? [] : [{ ...change, delivery, atMs }];
      });
      await store.save(changes, transaction.session);
      for (const change of changes) {
        const event = events.happened(change);
        if (event) transaction.emit(event);
        const { state } = change;
        if (state !== 'pending') transaction.afterCommit(() => deps.ended(state));
      }
      return settlements.map(({ id, claim }) => byId.get(id)?.claim === claim);
    },
  );

  return {
    bear: async (deliveries, transaction) => {
      const born = await store.insert(deliveries, transaction.session);
      if (born > 0) transaction.afterCommit(deps.becameDue);
    },
    settle: settling.submit,
    resend: async (id) => {
      const found = await store.renew(id, deps.clock.nowMs());
      if (found) deps.becameDue();
      return found;
    },
  };
}

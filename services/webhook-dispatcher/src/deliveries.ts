import type { Clock } from '@pesewa/kernel';
import type { Messaging, Transaction } from '@pesewa/messaging';
import type { DeliveryState } from './domain/delivery.ts';
import { deliveryEventOf } from './events.ts';
import type { DeliveryChange, DeliveryStore, NewDelivery } from './store.ts';

/** The outcome of a claimed delivery: its change without the delivery's state, which is read again. */
export interface DeliveryOutcome extends Omit<DeliveryChange, 'delivery' | 'atMs'> {
  readonly id: string;
  /** The claim it was taken with; if it was replaced meanwhile, the outcome is dropped. */
  readonly claim: string;
}

/** The dispatcher's use cases. */
export interface Deliveries {
  /** Creates deliveries within the consumer's transaction; existing ones are not changed. */
  readonly create: (deliveries: readonly NewDelivery[], transaction: Transaction) => Promise<void>;
  /** Stores the outcome of a claimed delivery; false if the claim was replaced meanwhile. */
  readonly recordOutcome: (outcome: DeliveryOutcome) => Promise<boolean>;
  /** Makes a delivery due now, in whatever state, with the same id and body; false if it does not exist. */
  readonly resend: (id: string) => Promise<boolean>;
}

/** Builds {@link Deliveries}. */
export function createDeliveries(deps: {
  readonly store: DeliveryStore;
  readonly messaging: Pick<Messaging, 'groupCommit'>;
  readonly clock: Clock;
  /** Called for each delivery that has ended, after the commit. */
  readonly ended: (state: Exclude<DeliveryState, 'pending'>) => void;
  /** Called when deliveries have become due. */
  readonly becameDue: () => void;
}): Deliveries {
  const { store } = deps;
  const recording = deps.messaging.groupCommit<DeliveryOutcome, boolean>(
    'webhooks.outcome',
    async (outcomes, transaction) => {
      const claimed = await store.findClaimed(outcomes, transaction.session);
      const byId = new Map(claimed.map((delivery) => [delivery._id, delivery]));
      const atMs = deps.clock.nowMs();
      const changes = outcomes.flatMap(({ id, claim: _claim, ...change }) => {
        const delivery = byId.get(id);
        return delivery === undefined ? [] : [{ ...change, delivery, atMs }];
      });
      await store.save(changes, transaction.session);
      for (const change of changes) {
        const event = deliveryEventOf(change, deps.clock.nowMs());
        if (event) transaction.emit(event);
        const { state } = change;
        if (state !== 'pending') transaction.afterCommit(() => deps.ended(state));
      }
      return outcomes.map(({ id, claim }) => byId.get(id)?.claim === claim);
    },
  );

  return {
    create: async (deliveries, transaction) => {
      const born = await store.insert(deliveries, transaction.session);
      if (born > 0) transaction.afterCommit(deps.becameDue);
    },
    recordOutcome: recording.submit,
    resend: async (id) => {
      const found = await store.renew(id, deps.clock.nowMs());
      if (found) deps.becameDue();
      return found;
    },
  };
}

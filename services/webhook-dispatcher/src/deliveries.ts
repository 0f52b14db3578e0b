import type { Clock } from '@pesewa/kernel';
import type { BatchTransaction, ClaimLoop, Messaging, Transaction } from '@pesewa/messaging';
import type { DeliveryDocument } from './documents.ts';
import type { EndState } from './domain/delivery.ts';
import type { EndpointHealth } from './endpoint-health.ts';
import { deliveryEventOf } from './events.ts';
import { type DeliveryChange, type DeliveryStore, type NewDelivery, newDeliveryDocument } from './store.ts';

/** An outcome among several was of a claim that has been replaced. */
class ClaimReplacedError extends Error {
  override readonly name = 'ClaimReplacedError';
}

/** The dispatcher's use cases. */
export interface Deliveries {
  /** Creates deliveries within the consumer's transaction; existing ones are not changed. */
  readonly create: (
    deliveries: readonly NewDelivery[],
    transaction: Transaction & Pick<BatchTransaction, 'isRetry'>,
  ) => Promise<void>;
  /** Stores the outcome of a claimed delivery; false if the claim was replaced meanwhile. */
  readonly recordOutcome: (outcome: DeliveryChange) => Promise<boolean>;
  /** Makes a delivery due now, in whatever state, with the same id and body; false if it does not exist. */
  readonly resend: (id: string) => Promise<boolean>;
}

/** Builds {@link Deliveries}. */
export function createDeliveries(deps: {
  readonly store: DeliveryStore;
  readonly messaging: Pick<Messaging, 'groupCommit'>;
  readonly clock: Clock;
  readonly endpoints: Pick<EndpointHealth, 'record'>;
  /** Called for each delivery that has ended, after the commit. */
  readonly ended: (state: EndState) => void;
  /** Claims new deliveries for this process, one for each bulkhead that is named. */
  readonly claimOnWrite: ClaimLoop<DeliveryDocument>['claimOnWrite'];
  /** Called when deliveries have become due. */
  readonly becameDue: () => void;
}): Deliveries {
  const { store } = deps;
  const recording = deps.messaging.groupCommit<DeliveryChange, boolean>(
    'webhooks.outcome',
    async (changes, transaction) => {
      const atMs = deps.clock.nowMs();
      const saved = await store.save(changes, atMs, transaction.session);
      if (saved < changes.length) {
        // Each is then tried alone, which shows whether it is the one.
        if (changes.length > 1) throw new ClaimReplacedError('a claim was replaced');
        return [false];
      }
      for (const change of changes) {
        const event = deliveryEventOf(change, atMs);
        if (event) transaction.emit(event);
        const { state } = change;
        if (state !== 'pending' && state !== 'deferred') transaction.afterCommit(() => deps.ended(state));
      }
      await deps.endpoints.record(changes, atMs, transaction);
      return changes.map(() => true);
    },
  );

  return {
    create: async (deliveries, transaction) => {
      const { session, isRetry } = transaction;
      const ids = deliveries.map(({ _id }) => _id);
      const existing = isRetry ? await store.findExisting(ids, session) : [];
      // A batch may hold an event twice that was published again.
      const created = deliveries.filter(
        ({ _id }, index) => !existing.includes(_id) && ids.indexOf(_id) === index,
      );
      if (created.length === 0) return;
      const claim = deps.claimOnWrite(transaction, { keys: created.map(({ bulkhead }) => bulkhead) });
      const documents = created.map((one, index) =>
        newDeliveryDocument(one, claim.granted[index] ? claim.fields : undefined),
      );
      await store.insert(documents, session);
      claim.begin(documents.filter((_, index) => claim.granted[index]));
      if (claim.granted.includes(false)) transaction.afterCommit(deps.becameDue);
    },
    recordOutcome: recording.submit,
    resend: async (id) => {
      const found = await store.makeDueNow(id, deps.clock.nowMs());
      if (found) deps.becameDue();
      return found;
    },
  };
}

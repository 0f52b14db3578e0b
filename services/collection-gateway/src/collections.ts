import type { CollectionRefusal } from '@pesewa/contracts';
import type { Merchant } from '@pesewa/directory';
import { accept, type Clock, feeFor, type Ids, type Result, refuse } from '@pesewa/kernel';
import type { Messaging, Transaction } from '@pesewa/messaging';
import type { RailConnector } from '@pesewa/rails';
import {
  type CollectionCommand,
  type CollectionStateRefusal,
  collectionDecider,
  initiated,
} from './domain/collection.ts';
import { type CollectionForm, type CollectionOrder, readOperator, readOrder } from './domain/initiation.ts';
import type { CollectionEvents } from './events.ts';
import type { Collection, CollectionChange, CollectionStore } from './store.ts';

/** A command for one collection, and the event or request behind it. */
export interface CollectionOrderCommand {
  readonly reference: string;
  readonly command: CollectionCommand;
  readonly causationId: string | null;
}

/** What a command came to: the collection as it now stands, and why nothing changed where nothing did. */
export interface Applied {
  readonly collection: Collection;
  readonly refusal: CollectionStateRefusal | null;
}

/** A refused payin, with our reference of the earlier collection where there is one. */
export interface PayinRefusal {
  readonly reason: CollectionRefusal;
  readonly reference: string;
}

/** What the collection gateway does: accepts, shows, and moves collections. */
export interface Collections {
  /** Records a collection with its first attempt, once; any repeat of its reference is refused (design 4.2). */
  readonly accept: (merchant: Merchant, form: CollectionForm) => Promise<Result<Collection, PayinRefusal>>;
  readonly find: (merchantId: string, reference: string) => Promise<Collection | undefined>;
  /** Applies commands within a transaction: loads, decides in order, saves, emits. */
  readonly apply: (
    commands: readonly CollectionOrderCommand[],
    transaction: Transaction,
  ) => Promise<readonly (Applied | undefined)[]>;
  /** Commits what a call to a rail came to; nothing for a reference that is not ours. */
  readonly recordOutcome: (command: CollectionOrderCommand) => Promise<Applied | undefined>;
}

interface CollectionsDeps {
  readonly store: Omit<CollectionStore, 'collection'>;
  readonly events: CollectionEvents;
  readonly messaging: Pick<Messaging, 'groupCommit'>;
  readonly routeRail: (operatorCode: string) => RailConnector | undefined;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly ids: Ids;
  readonly refused: (refusal: CollectionStateRefusal, reference: string) => void;
}

/** Builds {@link Collections}. */
export function createCollections(deps: CollectionsDeps): Collections {
  const { store, messaging } = deps;
  const apply = createApply(deps);
  const accepting = openAcceptance(deps);
  const outcomes = messaging.groupCommit<CollectionOrderCommand, Applied | undefined>(
    'collections.outcome',
    apply,
  );

  return {
    accept: async (merchant, form) => {
      const { merchantReference } = form.content;
      const priced = price(merchant, form, deps.routeRail);
      if (!priced.ok) {
        // A duplicate is judged before operator and amount, so it must be looked for even where those refuse.
        const [earlier] = await store.findAccepted([{ merchantId: merchant.id, merchantReference }]);
        if (earlier) return refuse({ reason: 'DUPLICATE REFERENCE', reference: earlier.reference });
        return refuse({ reason: priced.refusal, reference: '' });
      }
      const { order, fee, railFee, rail } = priced.value;
      const nowMs = deps.clock.nowMs();
      const collection: Collection = {
        ...initiated({ order, railFee, nowMs }),
        reference: deps.ids.next('co'),
        merchantId: merchant.id,
        fee,
        rail,
        acceptedAtMs: nowMs,
      };
      const { reference } = await accepting.submit(collection);
      if (reference !== collection.reference) return refuse({ reason: 'DUPLICATE REFERENCE', reference });
      return accept(collection);
    },
    find: store.find,
    apply,
    recordOutcome: outcomes.submit,
  };
}

/** Group commit of new collections: each is answered by the one that holds its merchant's reference. */
function openAcceptance({ store, events, messaging }: CollectionsDeps) {
  const keyOf = ({ merchantId, order }: Collection) => `${merchantId}:${order.merchantReference}`;
  return messaging.groupCommit<Collection, Collection>(
    'collections.accept',
    async (collections, transaction, careful) => {
      const accepted = new Map<string, Collection>();
      if (careful) {
        const keys = collections.map(({ merchantId, order }) => ({
          merchantId,
          merchantReference: order.merchantReference,
        }));
        for (const earlier of await store.findAccepted(keys, transaction.session))
          accepted.set(keyOf(earlier), earlier);
      }
      const fresh: Collection[] = [];
      for (const collection of collections) {
        if (accepted.has(keyOf(collection))) continue;
        accepted.set(keyOf(collection), collection);
        fresh.push(collection);
      }
      if (fresh.length > 0) await store.insert(fresh, transaction.session);
      for (const collection of fresh) transaction.emit(events.initiated(collection));
      return collections.map((collection) => accepted.get(keyOf(collection)) ?? collection);
    },
  );
}

interface Priced {
  readonly order: CollectionOrder;
  readonly fee: bigint;
  readonly railFee: bigint;
  readonly rail: string;
}

/** Where an order goes and what it costs, or why it can't be taken: first the operator, then the amount (design 9). */
function price(
  merchant: Merchant,
  form: CollectionForm,
  routeRail: CollectionsDeps['routeRail'],
): Result<Priced, CollectionRefusal> {
  const operator = readOperator(form);
  if (!operator.ok) return operator;
  const rail = routeRail(operator.value.code);
  const wallet = merchant.wallets.find(({ currency }) => currency === operator.value.currency);
  if (!rail || !wallet) return refuse('OPERATOR NOT AVAILABLE');
  const order = readOrder(form, operator.value);
  if (!order.ok) return order;
  const { minor } = order.value.amount;
  const fee = feeFor(wallet.collectionFee, minor);
  // A collection credits its amount less the fee, which must not take from the wallet (design 5).
  if (fee > minor) return refuse('INVALID AMOUNT');
  return accept({
    order: order.value,
    fee,
    railFee: feeFor(rail.capabilities.fees.collection, minor),
    rail: rail.name,
  });
}

function createApply({ store, events, refused }: CollectionsDeps): Collections['apply'] {
  return async (commands, transaction) => {
    const references = [...new Set(commands.map(({ reference }) => reference))];
    const loaded = await store.findByReferences(references, transaction.session);
    const changes = new Map<string, CollectionChange>(
      loaded.map((collection) => [collection.reference, { before: collection, after: collection }]),
    );
    const applied = commands.map(({ reference, command, causationId }): Applied | undefined => {
      const change = changes.get(reference);
      if (!change) return undefined;
      const decision = collectionDecider.decide(command, change.after);
      if (!decision.ok) {
        refused(decision.refusal, reference);
        return { collection: change.after, refusal: decision.refusal };
      }
      let { after } = change;
      for (const happening of decision.value) {
        after = { ...after, ...collectionDecider.evolve(after, happening) };
        const event = events.happened(happening, after, causationId);
        if (event) transaction.emit(event);
      }
      changes.set(reference, { before: change.before, after });
      return { collection: after, refusal: null };
    });
    await store.save(
      [...changes.values()].filter(({ before, after }) => before !== after),
      transaction.session,
    );
    return applied;
  };
}

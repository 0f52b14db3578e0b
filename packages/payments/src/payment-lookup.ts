import { type IdPrefix, isId } from '@pesewa/kernel';
import { LATEST } from '@pesewa/messaging';
import type { Collection, Document, Filter, FindOptions } from 'mongodb';
import { NOT_REFUSED } from './refused-references.ts';

/** How many keys one read looks for. */
const KEYS_MAX = 200;

/**
 * Lets concurrent lookups share reads: one is in progress at a time, and what comes meanwhile shares the next. So
 * however many ask, they take one connection, and each is answered by a read that began after it asked.
 */
export function createSharedLookup<Key, Found>(
  readAll: (keys: readonly Key[]) => Promise<readonly Found[]>,
): (key: Key) => Promise<Found> {
  const waiting: { readonly key: Key; readonly done: PromiseWithResolvers<Found> }[] = [];
  let isReading = false;

  async function readWaiting(): Promise<void> {
    while (waiting.length > 0) {
      const some = waiting.splice(0, KEYS_MAX);
      try {
        const found = await readAll(some.map(({ key }) => key));
        for (const [index, { done }] of some.entries()) done.resolve(found[index] as Found);
      } catch (error) {
        for (const { done } of some) done.reject(error);
      }
    }
    isReading = false;
  }

  return (key) => {
    const done = Promise.withResolvers<Found>();
    waiting.push({ key, done });
    if (!isReading) {
      isReading = true;
      void readWaiting();
    }
    return done.promise;
  };
}

/** What a merchant asks for: its own reference, by its id, or else ours. */
interface LookupKey {
  readonly id: string;
  readonly merchantId: string;
  readonly reference: string;
}

/**
 * Opens the lookup of payments: by the usual reads, and where these find none by one that is certain. Lookups share the
 * certain ones, so that no merchant takes connections from payments by asking for what is not there.
 */
export function openPaymentLookup<Stored extends Document>(
  collection: Collection<Stored>,
  prefix: IdPrefix,
): (key: LookupKey) => Promise<Stored | undefined> {
  const byId = ({ id }: LookupKey) => ({ _id: id, ...NOT_REFUSED });
  const byOurs = ({ merchantId, reference }: LookupKey) => ({ reference, merchantId });
  const read = (filter: object, options?: FindOptions) =>
    collection.find<Stored>(filter as Filter<Stored>, options);
  const readOne = async (filter: object) => (await read(filter).limit(1).toArray())[0];
  const findCertain = createSharedLookup(async (keys: readonly LookupKey[]) => {
    const ours = keys.filter(({ reference }) => isId(prefix, reference));
    const found = await read({ $or: [...keys.map(byId), ...ours.map(byOurs)] }, LATEST).toArray();
    return keys.map(
      (key) => found.find(({ _id }) => _id === key.id) ?? found.find((document) => isNamed(document, key)),
    );
  });
  return async (key) => (await readOne(byId(key))) ?? (await readOne(byOurs(key))) ?? findCertain(key);
}

function isNamed(document: object, { merchantId, reference }: LookupKey): boolean {
  return (
    'reference' in document &&
    document.reference === reference &&
    'merchantId' in document &&
    document.merchantId === merchantId
  );
}

import type { Processor } from '@pesewa/rails';
import type { Db } from 'mongodb';

/** A rail's latest list of a country's processors. */
export interface RailListing {
  /** Three letters. */
  readonly country: string;
  readonly rail: string;
  readonly fetchedAt: Date;
  readonly processors: readonly Processor[];
}

/** The collection `processors`: a gateway that starts while a rail is down can serve the last known list. */
export type ListingStore = ReturnType<typeof openListingStore>;

/** Opens the store; the `_id` of a listing is `country:rail`. */
export function openListingStore(db: Db) {
  const collection = db.collection<RailListing & { readonly _id: string }>('processors');
  return {
    all: (): Promise<readonly RailListing[]> => collection.find({}, { projection: { _id: 0 } }).toArray(),
    save: async (listing: RailListing): Promise<void> => {
      const _id = `${listing.country}:${listing.rail}`;
      await collection.replaceOne({ _id }, listing, { upsert: true });
    },
  };
}

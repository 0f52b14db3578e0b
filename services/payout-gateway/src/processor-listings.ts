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

/** A listing as MongoDB holds it; `_id` is `country:rail`. */
interface ListingDocument extends RailListing {
  readonly _id: string;
}

/** The collection `processors`: a gateway that starts while a rail is down can serve the last known list. */
export interface ListingStore {
  readonly all: () => Promise<readonly RailListing[]>;
  readonly save: (listing: RailListing) => Promise<void>;
}

/** Opens the store. */
export function openListingStore(db: Db): ListingStore {
  const collection = db.collection<ListingDocument>('processors');
  return {
    all: () => collection.find({}, { projection: { _id: 0 } }).toArray(),
    save: async (listing) => {
      const _id = `${listing.country}:${listing.rail}`;
      await collection.replaceOne({ _id }, listing, { upsert: true });
    },
  };
}

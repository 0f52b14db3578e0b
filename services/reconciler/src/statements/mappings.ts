import type { StatementMapping } from '@pesewa/contracts';
import type { Db } from 'mongodb';
import { z } from 'zod';

/** The name of a mapping. */
export const mappingName = z.string().regex(/^[a-z][a-z0-9-]{0,39}$/, {
  error: 'must have 1 to 40 of a-z, 0-9 and -, and begin with a letter',
});

/** A stored mapping; `_id` is its name. */
export interface MappingDocument {
  readonly _id: string;
  readonly mapping: StatementMapping;
  readonly at: Date;
  readonly by: string;
}

/** The stored mappings. */
export type MappingStore = ReturnType<typeof openMappingStore>;

const MAPPINGS_MAX = 200;

/**
 * Opens the mappings. A statement stores the mapping that it was read by, so replacing a mapping changes no statement.
 */
export function openMappingStore(db: Db) {
  const collection = db.collection<MappingDocument>('statement_mappings');
  return {
    put: async ({ _id, ...replacement }: MappingDocument): Promise<void> => {
      await collection.replaceOne({ _id }, replacement, { upsert: true });
    },
    find: (name: string): Promise<MappingDocument | null> => collection.findOne({ _id: name }),
    list: (): Promise<readonly MappingDocument[]> =>
      collection.find().sort({ _id: 1 }).limit(MAPPINGS_MAX).toArray(),
  };
}

import { type MessagingService, services } from '@pesewa/contracts';
import { allCollections, type CollectionSchema } from './collections.ts';
import { ensureCollections } from './ensure-collections.ts';
import { openDatabase } from './mongo.ts';

/**
 * Builds what a service runs with the argument `prepare`: it creates the declared collections in its database. Gives a
 * line that reports so.
 */
export function prepareDatabase(service: MessagingService, own: readonly CollectionSchema[]) {
  return async (config: {
    readonly MONGODB_URL: string;
    readonly DATABASE_PREFIX: string;
  }): Promise<string> => {
    const declared = allCollections(own);
    const database = `${config.DATABASE_PREFIX}${services[service].messaging.database}`;
    await using opened = await openDatabase({
      url: config.MONGODB_URL,
      database,
      appName: 'pesewa-prepare',
    });
    await ensureCollections(opened.db, declared);
    const indexes = declared.flatMap((one) => one.indexes ?? []);
    return `the database ${database} is prepared: ${declared.length} collections, ${indexes.length} indexes`;
  };
}

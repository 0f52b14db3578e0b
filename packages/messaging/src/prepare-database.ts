import { type MessagingService, services } from '@pesewa/contracts';
import { allCollections, type CollectionSchema } from './collections.ts';
import { ensureCollections } from './ensure-collections.ts';
import { openDatabase } from './mongo.ts';

/** Builds what the argument `prepare` of a service does: its database gets what is declared. Gives a line that says so. */
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

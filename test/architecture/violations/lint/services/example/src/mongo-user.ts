// Nothing to report here: a store names the driver's types.
import type { Db, MongoClient } from 'mongodb';

export interface Handles {
  readonly db: Db;
  readonly client: MongoClient;
}

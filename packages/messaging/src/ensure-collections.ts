import { isDeepStrictEqual } from 'node:util';
import { type Db, type Document, MongoServerError } from 'mongodb';
import type { CollectionSchema, FoundCollection } from './collections.ts';

/** Creates collections with their bounds, validators and indexes; what exists already is not changed. */
export async function ensureCollections(db: Db, declared: readonly CollectionSchema[]): Promise<void> {
  const standing = await readOptions(db);
  await Promise.all(declared.map((schema) => ensure(db, schema, standing.get(schema.name))));
}

/** Reads which of these collections a database has, and with what settings. */
export async function readCollections(
  db: Db,
  declared: readonly CollectionSchema[],
): Promise<readonly FoundCollection[]> {
  const standing = await readOptions(db);
  const existing = declared.flatMap(({ name }) => {
    const options = standing.get(name);
    return options ? [{ name, options }] : [];
  });
  return Promise.all(
    existing.map(async (one) => ({ ...one, indexes: await db.collection(one.name).listIndexes().toArray() })),
  );
}

const NAMESPACE_EXISTS = 48;

async function ensure(db: Db, schema: CollectionSchema, standing: Document | undefined): Promise<void> {
  const { name, validator, capped, indexes = [] } = schema;
  if (standing) await change(db, schema, standing);
  else {
    const bounds = capped && { capped: true, size: capped.bytes, max: capped.documents };
    try {
      await db.createCollection(name, { ...bounds, ...(validator && { validator }) });
    } catch (error) {
      // Another replica that started at the same time has created it from the same declaration.
      if (!(error instanceof MongoServerError) || error.code !== NAMESPACE_EXISTS) throw error;
    }
  }
  if (indexes.length > 0) await db.collection(name).createIndexes([...indexes]);
}

async function change(
  db: Db,
  { name, validator, capped }: CollectionSchema,
  standing: Document,
): Promise<void> {
  if (validator && !isDeepStrictEqual(standing['validator'], validator))
    await db.command({ collMod: name, validator });
  if (!capped) return;
  if (standing['capped'] !== true)
    throw new Error(`${name} has no bounds: convert it to a capped collection, or drop it`);
  const { bytes, documents } = capped;
  if (Number(standing['size']) !== bytes || Number(standing['max']) !== documents)
    await db.command({ collMod: name, cappedSize: bytes, cappedMax: documents });
}

async function readOptions(db: Db): Promise<ReadonlyMap<string, Document>> {
  const found = await db.listCollections({}, { nameOnly: false }).toArray();
  return new Map(found.map(({ name, options }) => [name, { ...options }]));
}

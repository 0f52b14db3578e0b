import { isDeepStrictEqual } from 'node:util';
import type { StartProblem } from '@pesewa/kafka';
import { type Db, type Document, type IndexDescription, MongoServerError } from 'mongodb';

/** A collection that a service keeps, with the server's settings for it. */
export interface CollectionSchema {
  readonly name: string;
  readonly indexes?: readonly IndexDescription[];
  /** The rule that every document must match; the server refuses others. */
  readonly validator?: Document;
  /** Set if only the newest documents are kept, up to this size and number. */
  readonly capped?: { readonly bytes: number; readonly documents: number };
}

/** A collection as the server has it. */
export interface FoundCollection {
  readonly name: string;
  readonly options: Document;
  readonly indexes: readonly IndexDescription[];
}

/** The states in which a parked message may expire; one that still waits for an operator is kept. */
const decided = ['replayed', 'discarded'] as const;
/** Longer than any topic keeps an event: until then a discarded event may come again. */
const PARKED_KEPT_S = 400 * 86_400;

/** The collection of operators' actions. */
export const ACTIONS = 'operator_actions';
const ACTIONS_KEPT_S = 800 * 86_400;

/** The collections that messaging needs in every service's own database. */
const messagingDatabaseSchema: readonly CollectionSchema[] = [
  { name: 'outbox' },
  { name: 'consumer_offsets' },
  { name: 'leases' },
  { name: 'realignments' },
  {
    name: ACTIONS,
    indexes: [
      { key: { at: -1, _id: -1 } },
      { key: { operator: 1, at: -1, _id: -1 } },
      { key: { objects: 1, at: -1, _id: -1 } },
      { key: { at: 1 }, name: 'forget', expireAfterSeconds: ACTIONS_KEPT_S },
    ],
  },
  {
    name: 'parked',
    indexes: [
      { key: { parkedAt: -1, _id: -1 } },
      { key: { state: 1, topic: 1, parkedAt: -1, _id: -1 } },
      {
        key: { 'discard.status': 1, parkedAt: -1, _id: -1 },
        partialFilterExpression: { 'discard.status': 'proposed' },
      },
      ...decided.map((state) => ({
        key: { parkedAt: 1 },
        name: `forget_${state}`,
        expireAfterSeconds: PARKED_KEPT_S,
        partialFilterExpression: { state },
      })),
    ],
  },
];

/** All collections of a service's database: its own and those of messaging. */
export function databaseSchemaOf(own: readonly CollectionSchema[] = []): readonly CollectionSchema[] {
  return [...own, ...messagingDatabaseSchema];
}

/** What a database lacks of the declared collections, one problem for each thing; anything beyond them is ignored. */
export function schemaProblems(
  database: string,
  declared: readonly CollectionSchema[],
  found: readonly FoundCollection[],
): readonly StartProblem[] {
  const byName = new Map(found.map((collection) => [collection.name, collection]));
  const problem = (what: string) => ({ message: `MongoDB: ${database}.${what}`, remedy: PREPARE });
  return declared.flatMap((schema) => {
    const standing = byName.get(schema.name);
    if (!standing) return [problem(`${schema.name} does not exist`)];
    const { validator, capped } = schema;
    const isValidated =
      validator === undefined || isDeepStrictEqual(standing.options['validator'], validator);
    const isCapped = capped === undefined || standing.options['capped'] === true;
    return [
      ...(isValidated ? [] : [problem(`${schema.name} does not refuse what it must refuse`)]),
      ...(isCapped ? [] : [problem(`${schema.name} has no bounds`)]),
      ...indexProblems(schema, standing).map(problem),
    ];
  });
}

const PREPARE = 'run the service once with the argument `prepare`, by a user that may create indexes';

function indexProblems(
  { name, indexes = [] }: CollectionSchema,
  { indexes: standing }: FoundCollection,
): readonly string[] {
  return indexes.flatMap((declared) => {
    const fields = fieldsOf(declared);
    // Several indexes may have the same fields, each for a part of the records.
    const same = standing.filter((index) => isDeepStrictEqual(fieldsOf(index), fields));
    const shown = `${name}: the index ${fields.map(([field, way]) => `${field}:${String(way)}`).join(',')}`;
    if (same.length === 0) return [`${shown} is missing`];
    if (same.some((index) => isDeepStrictEqual(behaviourOf(declared), behaviourOf(index)))) return [];
    const isShared = declared.unique === true && same.every(({ unique }) => unique !== true);
    return [`${shown} is ${isShared ? 'not unique' : 'another one'}`];
  });
}

/** The fields of an index; their order counts. */
function fieldsOf({ key }: IndexDescription): readonly (readonly [string, unknown])[] {
  return (key instanceof Map ? [...key] : Object.entries(key)).map(([field, way]) => [field, Number(way)]);
}

/** The options in which two indexes of the same fields can differ. */
function behaviourOf(index: IndexDescription) {
  const { unique = false, partialFilterExpression = {}, expireAfterSeconds } = index;
  return {
    unique,
    partialFilterExpression,
    expireAfterSeconds: expireAfterSeconds === undefined ? undefined : Number(expireAfterSeconds),
  };
}

/** Creates collections with their bounds, validators and indexes; what exists already is not changed. */
export async function ensureDatabaseSchema(db: Db, declared: readonly CollectionSchema[]): Promise<void> {
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

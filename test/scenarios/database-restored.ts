import type { ServiceName } from '@pesewa/contracts';
import { exchange, postJson } from '@pesewa/stack';
import { eventually } from '@pesewa/testkit';
import { type MongoClient, ReadConcern } from 'mongodb';
import { expect } from 'vitest';
import { z } from 'zod';
import type { Scenario } from './scenario.ts';

/** The service that each database belongs to. */
export const ownerOf = {
  payouts: 'payout-gateway',
  collections: 'collection-gateway',
  ingress: 'webhook-ingress',
  reconciler: 'reconciler',
  ledger: 'ledger',
  webhooks: 'webhook-dispatcher',
} as const satisfies Readonly<Record<string, ServiceName>>;

/** The name of a database of the hub, without the installation's prefix. */
export type DatabaseName = keyof typeof ownerOf;

/** How long a realigned partition may take until it has started again and was read to its end. */
const GOES_ON_MS = 60_000;

const asStored = { promoteValues: false } as const;

/** Copies a database as a backup does: all collections as they are at one moment. */
export async function backUp(client: MongoClient, name: string): Promise<void> {
  const copy = client.db(backupOf(name));
  await copy.dropDatabase();
  await client.withSession({ snapshot: true }, async (session) => {
    // The session alone takes no snapshot if the client has another read concern.
    const db = client.db(name, { readConcern: new ReadConcern('snapshot') });
    for (const { name: coll, ...one } of await client.db(name).listCollections().toArray()) {
      // The server reads no snapshot of a capped collection.
      const isCapped = 'options' in one && one.options?.['capped'] === true;
      const found = isCapped
        ? client.db(name).collection(coll).find({}, asStored)
        : db.collection(coll).find({}, { ...asStored, session });
      const documents = await found.toArray();
      if (documents.length > 0) await copy.collection(coll).insertMany(documents);
    }
  });
}

/** Replaces the database by the copy: records that are not in it are gone, and indexes are as the service made them. */
async function putBack(client: MongoClient, name: string): Promise<void> {
  const db = client.db(name);
  const before = await db.listCollections().toArray();
  const made = await Promise.all(
    before.map(async (one) => ({ ...one, specs: await db.collection(one.name).indexes() })),
  );
  await db.dropDatabase();
  const isCapped = new Set<string>();
  for (const { name: coll, specs, ...one } of made) {
    // A collection keeps its options, such as a capped size; otherwise its service does not start.
    const options = 'options' in one ? one.options : undefined;
    await db.createCollection(coll, options);
    if (options?.['capped'] === true) isCapped.add(coll);
    const others = specs.filter(({ name: index }) => index !== '_id_').map(({ v: _v, ...index }) => index);
    if (others.length > 0) await db.collection(coll).createIndexes(others);
  }
  const backup = client.db(backupOf(name));
  for (const { name: coll } of await backup.listCollections({}, { nameOnly: true }).toArray()) {
    if (isCapped.has(coll)) {
      // The server cannot merge into a capped collection.
      const documents = await backup.collection(coll).find().toArray();
      if (documents.length > 0) await db.collection(coll).insertMany(documents);
      continue;
    }
    await backup
      .collection(coll)
      .aggregate([{ $merge: { into: { db: name, coll } } }])
      .toArray();
  }
}

const backupOf = (name: string) => `${name}_backup`;

/** Restores databases of a stack, and does what operators do afterwards. */
export interface Restoring {
  /** Restores the copy of a database while its service is down; returns the details of the service's readiness. */
  readonly restore: (database: DatabaseName) => Promise<Readonly<Record<string, string>>>;
  /** Restores the copy, follows the steps of docs/database-restored.md, and waits until all is read again. */
  readonly restoreAndRecover: (database: DatabaseName) => Promise<void>;
  /** Makes the reconciler compare the gateways' records with its working set. */
  readonly audit: () => Promise<void>;
}

/** Builds {@link Restoring}. */
export function createRestoring(scenario: Scenario, client: MongoClient): Restoring {
  const { stack, prefix } = scenario;
  const detailsOf = async (service: ServiceName) => {
    const { body } = await exchange(`${operationsOf(service)}/readyz`);
    return z.object({ details: z.record(z.string(), z.string()).default({}) }).parse(body).details;
  };
  const operationsOf = (service: ServiceName) => stack.runFile().operations[service] ?? '';
  const headers = { authorization: `Bearer ${stack.runFile().operatorToken}` };

  const restore: Restoring['restore'] = async (database) => {
    const service = ownerOf[database];
    const kept = stack.service(service);
    await kept.restart({}, () => putBack(client, `${prefix}_${database}`));
    await kept.ready();
    await untilJoined(() => detailsOf(service), service);
    return detailsOf(service);
  };
  /** Repairs the database of a stopped service. */
  const recover = async ({ runOnce }: ReturnType<typeof stack.service>) => {
    expect(await runOnce('recover', '--restored', '--dry-run')).toMatchObject({ code: 0 });
    // The backup may be of moments ago, when the service was running.
    await eventually(
      async () => expect(await runOnce('recover', '--restored')).toMatchObject({ code: 0 }),
      GOES_ON_MS,
    );
  };
  const untilReadAgain = async (service: ServiceName) => {
    const positions = z.object({
      items: z.array(z.object({ state: z.string(), lag: z.string().nullable() })),
    });
    await eventually(async () => {
      const { body } = await exchange(`${operationsOf(service)}/positions`, { headers });
      const { items } = positions.parse(body);
      expect(items.filter(({ state, lag }) => state === 'stopped' || lag !== '0')).toEqual([]);
      expect(await detailsOf(service)).toEqual({});
    }, GOES_ON_MS);
  };

  return {
    restore,
    restoreAndRecover: async (database) => {
      const service = ownerOf[database];
      const kept = stack.service(service);
      if (database === 'payouts')
        await kept.restart({}, async () => {
          await putBack(client, `${prefix}_${database}`);
          // It does not start before its database is repaired.
          expect(await kept.runOnce()).toMatchObject({ code: 1 });
          await recover(kept);
        });
      else {
        const details = await restore(database);
        expect(details[`partitions of ${service}`]).toContain('our database is at');
        await kept.restart({}, () => recover(kept));
      }
      await kept.ready();
      await untilReadAgain(service);
    },
    audit: async () => {
      const url = `${operationsOf('reconciler')}/coverage`;
      await postJson(url, '{}', headers);
      const count = z.coerce.number();
      const found = z.object({ status: z.string(), missing: count, ended: count });
      const kinds = z.object({ items: z.array(found) });
      await eventually(async () => {
        const { items } = kinds.parse((await exchange(url, { headers })).body);
        const over = { status: 'done', missing: 0, ended: 0 };
        expect(items).toEqual([over, over]);
      }, GOES_ON_MS);
    },
  };
}

/** Waits until the service has its partitions and has compared the position of each with Kafka. */
async function untilJoined(
  detailsOf: () => Promise<Readonly<Record<string, string>>>,
  service: ServiceName,
): Promise<void> {
  if (service === 'webhook-ingress') return;
  await eventually(async () => {
    const details = await detailsOf();
    expect(details).not.toHaveProperty(`consumer ${service}`);
    expect(details).toHaveProperty(`partitions of ${service}`);
  });
}

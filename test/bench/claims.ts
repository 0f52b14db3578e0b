import { waitUntil } from '@pesewa/infrastructure';
import { createIds, systemClock, systemRandom } from '@pesewa/kernel';
import { type Claimable, startClaimLoop } from '@pesewa/messaging';
import { createLogger } from '@pesewa/runtime';
import { type Collection, type CommandSucceededEvent, MongoClient } from 'mongodb';
import { alone, quantile, type Row } from './rows.ts';

/** The fields that are read here of a payment in the reconciler's working set. */
export interface OpenRecord extends Claimable {
  readonly watch?: string;
  readonly status: string;
  readonly endedAt?: Date;
  readonly callbacks?: readonly { readonly atMs: number }[];
}

const BATCH = 200;
const BATCHES = 100;
const LEASE_MS = 600_000;
const DEADLINE_MS = 120_000;
const RAIL = 'upstream';

/** Claims as the reconciler does, by the same loop and index, among all the records that are not due. */
export async function measureClaims(url: string, records: Collection<OpenRecord>): Promise<readonly Row[]> {
  await makeDue(records);
  const examined = await documentsExamined(records);
  await using client = await new MongoClient(url, { monitorCommands: true, useBigInt64: true }).connect();
  const batchesMs: number[] = [];
  const findsMs: number[] = [];
  let ownMs = 0;
  client.on('commandSucceeded', ({ commandName, duration }: CommandSucceededEvent) => {
    if (commandName !== 'find' && commandName !== 'update') return;
    // A batch begins with the search for due records.
    if (ownMs === 0) findsMs.push(duration);
    ownMs += Math.max(duration, Number.MIN_VALUE);
  });
  let claimed = 0;
  await using _loop = startClaimLoop({
    name: 'bench',
    collection: client.db(records.dbName).collection<OpenRecord>(records.collectionName),
    open: { watch: RAIL },
    leaseMs: LEASE_MS,
    workTimeoutMs: LEASE_MS / 2,
    batchMax: BATCH,
    concurrencyMax: BATCH,
    pauseMs: 10,
    clock: systemClock,
    ids: createIds(systemClock, systemRandom),
    logger: createLogger({ name: 'bench', level: 'warn' }),
    work: () => {
      claimed += 1;
      if (claimed % BATCH === 0) {
        batchesMs.push(ownMs);
        ownMs = 0;
      }
      return Promise.resolve();
    },
  });
  await waitUntil('the claims', DEADLINE_MS, () => {
    if (batchesMs.length < BATCHES) throw new Error(`${batchesMs.length} of ${BATCHES} batches`);
    return Promise.resolve();
  });
  const what = `a batch of ${BATCH}: found, leased and read; finding it examined ${examined} documents`;
  return [
    alone({ name: 'reconciler.claim.p50', value: quantile(batchesMs, 0.5), unit: 'ms', detail: what }),
    alone({
      name: 'reconciler.claim.find.p50',
      value: quantile(findsMs, 0.5),
      unit: 'ms',
      detail: 'of that, finding it',
    }),
    alone({ name: 'reconciler.claim.p99', value: quantile(batchesMs, 0.99), unit: 'ms', detail: what }),
  ];
}

/** Makes as many records due as are claimed. */
async function makeDue(records: Collection<OpenRecord>): Promise<void> {
  const chosen = await records
    .find({ watch: RAIL })
    .project<{ _id: string }>({ _id: 1 })
    .limit(BATCH * BATCHES)
    .toArray();
  const ids = chosen.map(({ _id }) => _id);
  await records.updateMany({ _id: { $in: ids } }, { $set: { dueAt: new Date(Date.now() - 1_000) } });
}

/** How many documents the search for due records reads: none, if the index suffices. */
async function documentsExamined(records: Collection<OpenRecord>): Promise<number> {
  const plan = await records
    .find({ watch: RAIL, dueAt: { $lte: new Date() } })
    .project({ _id: 1 })
    .sort({ dueAt: 1 })
    .limit(BATCH)
    .explain('executionStats');
  return Number((plan as { executionStats: { totalDocsExamined: number } }).executionStats.totalDocsExamined);
}

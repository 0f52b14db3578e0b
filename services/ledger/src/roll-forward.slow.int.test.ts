import { type Database, openDatabase } from '@pesewa/messaging';
import { prepareTestEnvironment } from '@pesewa/testkit';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type BatchLedger, openBatchLedger } from './batches.fixture.ts';
import type { OwnEvent } from './domain/own-events.ts';
import {
  BOOKS,
  collect,
  copyDatabase,
  fund,
  hold,
  openTicking,
  published,
  restoreDatabase,
  rollPartitionForward,
} from './forward.fixture.ts';
import { anyCuts, anyScenario, type Batch, cut, lawfulScenario } from './scenarios.fixture.ts';

let database: Database;
let ledger: BatchLedger;
let topic: OwnEvent[];

beforeAll(async () => {
  const config = await prepareTestEnvironment();
  const name = `${config.DATABASE_PREFIX}forward`;
  database = await openDatabase({ url: config.MONGODB_URL, database: name, appName: 'test' });
});

beforeEach(begin);

afterAll(async () => {
  await database.db.dropDatabase();
  await database[Symbol.asyncDispose]();
});

async function begin(): Promise<void> {
  await restoreDatabase(database, new Map());
  ledger = await openBatchLedger(database, openTicking(), { refundFee: true });
  topic = [];
}

/** Applies batches as the ledger does, and publishes their events. */
async function live(...batches: readonly Batch[]): Promise<void> {
  for (const { topic: from, instructions } of batches) {
    const { events } = await ledger.apply(instructions, { topic: from });
    topic.push(...events.filter((event) => event.topic === 'ledger').map(published));
  }
}

const books = () => copyDatabase(database, BOOKS);
/** Every page has its published hash. */
const asExpected = { warnings: [], emitted: [] };
/** One page has another hash. */
const otherwise = { warnings: ['a page differs from the one that was published'], emitted: [] };

const SEED = 45;

/** A course of instructions, and how much of it the backup has. */
const scenarios = [anyScenario, lawfulScenario].flatMap((scenario, index) =>
  fc
    .sample(fc.tuple(scenario, anyCuts, fc.nat({ max: 9 })), { seed: SEED + index, numRuns: 6 })
    .map(([instructions, sizes, tenths], number) => {
      const batches = cut(instructions, sizes);
      const known = Math.floor((batches.length * tenths) / 10);
      return { name: `${index}.${number}`, batches, known, isLawful: scenario === lawfulScenario };
    }),
);

describe('a ledger whose database is an older one', () => {
  it.each(scenarios)(
    'comes to the books that it had, to the byte (scenario $name)',
    async ({ batches, known, isLawful }) => {
      await live(...batches.slice(0, known));
      const backup = await copyDatabase(database);
      await live(...batches.slice(known));
      const truth = await books();
      await restoreDatabase(database, backup);
      expect(await rollPartitionForward(database, topic)).toEqual(asExpected);
      expect(await books()).toEqual(truth);
      // Published again, all of it is known. Instructions that were parked because earlier ones were missing would now
      // be booked.
      if (!isLawful) return;
      ledger = await openBatchLedger(database, openTicking(), { refundFee: true });
      for (const { topic: from, instructions } of batches) await ledger.apply(instructions, { topic: from });
      expect(await books()).toEqual(truth);
    },
  );

  it('goes on where it died, and comes to the same', async () => {
    await live(fund('cm-1', 1_000n));
    const backup = await copyDatabase(database);
    await live(hold('po-1'), collect('co-1', 50n), hold('po-2', 'po-3'), fund('cm-2', 5n), hold('po-4'));
    const truth = await books();
    for (let diesAt = 0; diesAt < 5; diesAt += 1) {
      await restoreDatabase(database, backup);
      await expect(rollPartitionForward(database, topic, { diesAt })).rejects.toThrow('died');
      expect(await books()).not.toEqual(truth);
      expect(await rollPartitionForward(database, topic)).toEqual(asExpected);
      expect(await books()).toEqual(truth);
    }
  });

  it('goes on where it died, though another chain was far ahead of what waits', async () => {
    await live(fund('cm-1', 1_000n));
    const backup = await copyDatabase(database);
    await live(hold('po-1'));
    const late = topic.splice(-2);
    await live(collect('co-1', 50n));
    // Each is a second later than the one before, which is more than the overlap of reading.
    for (let index = 0; index < 30; index += 1) await live(fund(`cm-other-${index}`, 1n, 'other'));
    topic.push(...late);
    const truth = await books();
    await restoreDatabase(database, backup);
    await expect(rollPartitionForward(database, topic, { diesAt: 50 })).rejects.toThrow('died');
    expect(await database.db.collection('postings').countDocuments()).toBeGreaterThan(20);
    expect(await rollPartitionForward(database, topic)).toEqual(asExpected);
    expect(await books()).toEqual(truth);
  });

  it('takes what came out of order, and twice, for what it is', async () => {
    await live(fund('cm-1', 1_000n));
    const backup = await copyDatabase(database);
    await live(hold('po-1'));
    const held = topic.splice(0);
    await live(collect('co-1', 50n), hold('po-2'));
    const truth = await books();
    await restoreDatabase(database, backup);
    // One replica's relay was late, and its successor sent the same events again.
    expect(await rollPartitionForward(database, [...topic.slice(0, 2), ...held, ...topic, ...held])).toEqual(
      asExpected,
    );
    expect(await books()).toEqual(truth);
  });

  it('books the last postings before an end, though their page was never published', async () => {
    await live(fund('cm-1', 1_000n));
    const backup = await copyDatabase(database);
    await live(hold('po-1', 'po-2'));
    topic = topic.filter(({ type }) => type !== 'pesewa.ledger.PageWritten').slice(0, -1);
    await restoreDatabase(database, backup);
    const { warnings, emitted } = await rollPartitionForward(database, topic);
    expect(warnings).toEqual(otherwise.warnings);
    const postings = await database.db.collection('postings').find().sort({ _id: 1 }).toArray();
    expect(postings.map(({ _id }) => String(_id))).toEqual(['cm-1/fund', 'po-1/hold']);
    // The page is published now, so a backup that is restored once more comes forward over it.
    topic.push(...emitted);
    ledger = await openBatchLedger(database, openTicking());
    await live(hold('po-1', 'po-2'), hold('po-3'));
    const truth = await books();
    await restoreDatabase(database, backup);
    expect(await rollPartitionForward(database, topic)).toEqual(asExpected);
    expect(await books()).toEqual(truth);
  });

  it('books a hold under another number if the entry before it was never published', async () => {
    await live(fund('cm-1', 1_000n));
    const backup = await copyDatabase(database);
    const publishedCount = topic.length;
    await live(collect('co-1', 50n));
    const lost = topic.splice(publishedCount);
    await live(hold('po-1'));
    await restoreDatabase(database, backup);
    expect(lost).toHaveLength(2);
    expect(await rollPartitionForward(database, topic)).toEqual(otherwise);
    ledger = await openBatchLedger(database, openTicking());
    await ledger.apply(collect('co-1', 50n).instructions, { topic: 'collections' });
    const found = await database.db.collection('wallets').findOne({});
    expect(found).toMatchObject({ available: 950n, held: 100n, sequence: 3n });
  });

  it('stops where its topic lacks a page, and goes on without it where people say so', async () => {
    await live(fund('cm-1', 1_000n));
    const backup = await copyDatabase(database);
    await live(hold('po-1'));
    const before = topic.length;
    await live(hold('po-2'));
    const lost = topic.slice(0, before - 2);
    await restoreDatabase(database, backup);
    const kept = [...lost, ...topic.slice(before)];
    const stopping = rollPartitionForward(database, kept);
    await expect(stopping).rejects.toThrow(
      /payouts\/0 is at page 0, and page 2 comes next; restore a younger backup/,
    );
    expect(await books()).toEqual(new Map([...backup].filter(([name]) => BOOKS.includes(name))));
    await rollPartitionForward(database, kept, { gaps: 'pass' });
    const found = await database.db.collection('wallets').findOne({});
    expect(found).toMatchObject({ available: 900n, held: 100n, sequence: 2n });
    // From then on nothing is missing.
    expect(await rollPartitionForward(database, kept)).toEqual(asExpected);
  });

  it('stops if money is missing for a published posting', async () => {
    await live(fund('cm-1', 90n));
    const backup = await copyDatabase(database);
    const publishedCount = topic.length;
    await live(collect('co-1', 50n));
    topic.splice(publishedCount);
    await live(hold('po-1'));
    await restoreDatabase(database, backup);
    await expect(rollPartitionForward(database, topic)).rejects.toThrow(
      "po-1/hold can't be booked as it was published",
    );
  });
});

import { type Database, openDatabase, PartitionStoppedError } from '@pesewa/messaging';
import { prepareTestEnvironment } from '@pesewa/testkit';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type BatchLedger, openBatchLedger } from './batches.fixture.ts';
import type { OwnEvent } from './domain/own-events.ts';
import { decidedEventOf } from './events.ts';
import {
  type Backup,
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
import type { Batch } from './scenarios.fixture.ts';

let database: Database;
let ledger: BatchLedger;
let backup: Backup;

beforeAll(async () => {
  const config = await prepareTestEnvironment();
  const name = `${config.DATABASE_PREFIX}strange`;
  database = await openDatabase({ url: config.MONGODB_URL, database: name, appName: 'test' });
});

/** Each test begins with money in a wallet, which the backup has. */
beforeEach(async () => {
  await restoreDatabase(database, new Map());
  await restart();
  await apply(fund('cm-1', 1_000n));
  backup = await copyDatabase(database);
});

afterAll(async () => {
  await database.db.dropDatabase();
  await database[Symbol.asyncDispose]();
});

async function restart(): Promise<void> {
  ledger = await openBatchLedger(database, openTicking());
}

/** Applies a batch as the ledger does; gives the published events. */
async function apply({ topic, instructions }: Batch): Promise<readonly OwnEvent[]> {
  const { events } = await ledger.apply(instructions, { topic });
  return events.filter((event) => event.topic === 'ledger').map(published);
}

/** Applies a batch, and restores the backup, which does not have it. */
async function applyAndRestore(batch: Batch): Promise<readonly OwnEvent[]> {
  const events = await apply(batch);
  await restoreDatabase(database, backup);
  await restart();
  return events;
}

async function expectStop(
  events: readonly OwnEvent[],
  reason: string | RegExp,
  options: { readonly isOlder?: boolean } = {},
): Promise<void> {
  const before = await copyDatabase(database);
  const stopping = rollPartitionForward(database, events, options);
  await expect(stopping).rejects.toBeInstanceOf(PartitionStoppedError);
  await expect(stopping).rejects.toThrow(reason);
  expect(await copyDatabase(database)).toEqual(before);
}

async function postingIds(): Promise<readonly string[]> {
  const postings = await database.db.collection('postings').find().sort({ _id: 1 }).toArray();
  return postings.map(({ _id }) => String(_id));
}

const withdraw = (reference: string): Batch => ({
  topic: 'ledgerCommands',
  instructions: [
    {
      kind: 'withdraw',
      causationId: reference,
      reference,
      merchantId: 'demo',
      currency: 'KES',
      amount: 5_000n,
    },
  ],
});

const rejected = published(
  decidedEventOf({
    commandId: 'cm-asked',
    kind: 'fund',
    target: 'demo',
    currency: 'KES',
    amount: 1n,
    requestedBy: 'maker',
    at: new Date(1_000),
    status: 'rejected',
    decidedBy: 'checker',
    decidedAt: new Date(Date.now() + 1_000_000),
    decisionReason: 'no',
  }),
);

it.each([
  ['a page', () => applyAndRestore(hold('po-1')), 'page 1 of payouts/0'],
  [
    'the last one that was published',
    async () => (await applyAndRestore(hold('po-1'))).slice(0, 1),
    'po-1/hold',
  ],
  ['a refusal', () => applyAndRestore(withdraw('cm-much')), 'the refusal of cm-much/withdraw'],
  ['a decision', async () => [rejected], 'the decision about cm-asked'],
])('books nothing of what it does not know, being no older one: %s', async (_name, happen, lacking) => {
  const events = await happen();
  await expectStop(events, `has ${lacking}, which our database lacks`, {
    isOlder: false,
  });
  await rollPartitionForward(database, events);
  // What the database knows already is skipped, whatever the events say.
  const after = await copyDatabase(database);
  expect(await rollPartitionForward(database, events, { isOlder: false })).toEqual({
    warnings: [],
    emitted: [],
  });
  expect(await copyDatabase(database)).toEqual(after);
});

const asOne = { warnings: [], emitted: [] };

it('stops where a page has the number of another, and lets it hide nothing', async () => {
  const events = await applyAndRestore(hold('po-1'));
  // Another page comes first.
  const others = await apply(hold('po-2'));
  await expectStop(events, 'has another page 1 of payouts/0, which our database lacks', { isOlder: false });
  const before = await copyDatabase(database, BOOKS);
  for (const all of [events, [...others, ...events], [...events, ...others]])
    await expect(rollPartitionForward(database, all)).rejects.toThrow(
      'page 1 of payouts/0 is another one in our database',
    );
  expect(await copyDatabase(database, BOOKS)).toEqual(before);
  // The same if both are new.
  await restoreDatabase(database, backup);
  await expect(rollPartitionForward(database, [...others, ...events])).rejects.toThrow(
    'is another one in our database',
  );
  expect(await postingIds()).toEqual(['cm-1/fund', 'po-2/hold']);
  await rollPartitionForward(database, events, { gaps: 'pass' });
  expect(await postingIds()).toEqual(['cm-1/fund', 'po-1/hold', 'po-2/hold']);
});

it('knows a page that had to come out otherwise by what it holds', async () => {
  await apply(collect('co-1', 50n));
  const events = await applyAndRestore(hold('po-1'));
  const { warnings } = await rollPartitionForward(database, events);
  expect(warnings).toHaveLength(1);
  expect(await rollPartitionForward(database, events, { isOlder: false })).toEqual(asOne);
});

it('takes nothing for a page that is missing while a published one waits', async () => {
  const [first, ...lost] = await apply(hold('po-1', 'po-2'));
  expect(lost).toHaveLength(2);
  const [second, page] = await applyAndRestore(hold('po-3'));
  const events = [first, second, page].filter((event) => event !== undefined);
  await expect(rollPartitionForward(database, events)).rejects.toThrow(
    'payouts/0 is at page 0, and page 2 comes next; restore a younger backup',
  );
  expect(await postingIds()).toEqual(['cm-1/fund']);
  await rollPartitionForward(database, events, { gaps: 'pass' });
  expect(await postingIds()).toEqual(['cm-1/fund', 'po-1/hold', 'po-3/hold']);
});

it('asks once whether what is missing may be left out, however quiet the partition is', async () => {
  const [, ...events] = await applyAndRestore(hold('po-1', 'po-2'));
  await expect(rollPartitionForward(database, events)).rejects.toThrow('page 1 of payouts/0 lacks po-1/hold');
  await rollPartitionForward(database, events, { gaps: 'pass' });
  expect(await rollPartitionForward(database, events, { isOlder: false })).toEqual(asOne);
  expect(await postingIds()).toEqual(['cm-1/fund', 'po-2/hold']);
  // The ledger's inputs may still have it.
  await apply(hold('po-1'));
  expect(await postingIds()).toEqual(['cm-1/fund', 'po-1/hold', 'po-2/hold']);
});

/** An event in which an older schema lacked a field. */
function lackingField(event: OwnEvent | undefined, field: string): OwnEvent {
  if (!event || !(field in event.payload)) throw new TypeError(`no event has its ${field}`);
  return { ...event, payload: { ...event.payload, [field]: '' } } as OwnEvent;
}

it.each([
  ['a hold', 'rail', () => applyAndRestore(hold('po-1')), "po-1/hold can't be booked as it was published"],
  [
    'an order',
    'commandId',
    () => applyAndRestore(fund('cm-2', 5n)),
    'page 2 of ledgerCommands/0 lacks cm-2/fund',
  ],
  [
    'a refusal',
    'order',
    () => applyAndRestore(withdraw('cm-much')),
    'the outcome of cm-much/withdraw is not reported in full',
  ],
  ['a decision', 'kind', async () => [rejected], 'the outcome of cm-asked is not reported in full'],
])('reads nothing into what is missing: %s without its %s', async (_name, field, happen, reason) => {
  const [event, ...more] = await happen();
  const events = [lackingField(event, field), ...more];
  const before = await copyDatabase(database, BOOKS);
  await expect(rollPartitionForward(database, events)).rejects.toThrow(
    `can't bring our database forward: ${reason}`,
  );
  expect(await copyDatabase(database, BOOKS)).toEqual(before);
  await rollPartitionForward(database, events, { gaps: 'pass' });
  expect(await copyDatabase(database, BOOKS)).toEqual(before);
  // People have decided it once and need not decide it again.
  expect(await rollPartitionForward(database, events, { isOlder: false })).toEqual(asOne);
});

it('recognises incomplete events whose content its database has', async () => {
  const [event, page] = await apply(hold('po-1'));
  if (!page) throw new TypeError('no page was published');
  expect(
    await rollPartitionForward(database, [lackingField(event, 'rail'), page], { isOlder: false }),
  ).toEqual(asOne);
});

it('writes no page of another partition', async () => {
  const [event, page] = await applyAndRestore(hold('po-1'));
  if (!event || page?.type !== 'pesewa.ledger.PageWritten') throw new TypeError('no page was published');
  const other: OwnEvent = { ...page, payload: { ...page.payload, chain: 'payouts/7' } };
  await expect(rollPartitionForward(database, [event, other])).rejects.toThrow(
    'page 1 of payouts/7 is of another partition',
  );
});

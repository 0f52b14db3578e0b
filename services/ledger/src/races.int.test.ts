import { type Database, openDatabase } from '@pesewa/messaging';
import { prepareTestEnvironment } from '@pesewa/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Applied, type BatchLedger, openBatchLedger } from './batches.fixture.ts';
import type { PostingDocument, WalletDocument } from './documents.ts';
import type { Instruction } from './domain/instructions.ts';

const ROUNDS = 10;

let database: Database;
let payouts: BatchLedger;
let commands: BatchLedger;

beforeAll(async () => {
  const config = await prepareTestEnvironment();
  const name = `${config.DATABASE_PREFIX}races`;
  database = await openDatabase({ url: config.MONGODB_URL, database: name, appName: 'test' });
  payouts = await openBatchLedger(database, () => Date.now());
  commands = await openBatchLedger(database, () => Date.now());
});

afterAll(async () => {
  await database.db.dropDatabase();
  await database[Symbol.asyncDispose]();
});

const ofWallet = (merchantId: string, reference: string) => ({
  causationId: `ev-${reference}`,
  reference,
  merchantId,
  currency: 'KES',
});

const fund = (merchantId: string, amount: bigint): Instruction => ({
  ...ofWallet(merchantId, `cm-fund-${merchantId}`),
  kind: 'fund',
  amount,
});

const withdraw = (merchantId: string, amount: bigint): Instruction => ({
  ...ofWallet(merchantId, `cm-${merchantId}`),
  kind: 'withdraw',
  amount,
});

const hold = (merchantId: string, amount: bigint): Instruction => ({
  ...ofWallet(merchantId, `po-${merchantId}`),
  kind: 'hold',
  amount,
  fee: 10n,
  rail: 'upstream',
});

const eventTypesOf = ({ events }: Applied) =>
  events
    .filter(({ topic, type }) => topic === 'ledger' && type !== 'pesewa.ledger.PageWritten')
    .map(({ type }) => type.replace('pesewa.ledger.', ''));

async function walletOf(merchantId: string) {
  return database.db.collection<WalletDocument>('wallets').findOne({ _id: `${merchantId}:KES` });
}

test('a payout and a withdrawal that race for the last unit: exactly one gets it, and a replay agrees', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const merchantId = `last-${round}`;
    await commands.apply([fund(merchantId, 1_010n)], { topic: 'ledgerCommands' });
    const ways = [
      () => payouts.apply([hold(merchantId, 1_000n)]),
      () => commands.apply([withdraw(merchantId, 1_010n)], { topic: 'ledgerCommands' }),
    ];
    const race = (round % 2 === 0 ? ways : ways.toReversed()).map((run) => run());
    const outcome = (await Promise.all(race)).flatMap(eventTypesOf).sort();
    expect([
      ['CommandRefused', 'HoldPlaced'],
      ['HoldRefused', 'WalletWithdrawn'],
    ]).toContainEqual(outcome);
    const wallet = await walletOf(merchantId);
    expect(wallet).toMatchObject({ available: 0n, sequence: 2n });
    await commands.apply([{ ...fund(merchantId, 9_000n), reference: `cm-more-${merchantId}` }], {
      topic: 'ledgerCommands',
    });
    const replayed = [
      await payouts.apply([hold(merchantId, 1_000n)]),
      await commands.apply([withdraw(merchantId, 1_010n)], { topic: 'ledgerCommands' }),
    ];
    expect(replayed.flatMap(eventTypesOf).sort()).toEqual(outcome);
    expect(await walletOf(merchantId)).toMatchObject({ available: 9_000n, sequence: 3n });
  }
});

test('whole batches that race for one wallet take all it has, and never more', async () => {
  await commands.apply([fund('crowd', 5_000n)], { topic: 'ledgerCommands' });
  const holds = Array.from({ length: 40 }, (_, index) => ({
    ...hold('crowd', 90n),
    reference: `po-crowd-${index}`,
  }));
  const withdrawals = Array.from({ length: 40 }, (_, index) => ({
    ...withdraw('crowd', 100n),
    reference: `cm-crowd-${index}`,
  }));
  const [held, withdrawn] = await Promise.all([
    payouts.apply(holds),
    commands.apply(withdrawals, { topic: 'ledgerCommands' }),
  ]);
  const taken = [...eventTypesOf(held), ...eventTypesOf(withdrawn)].filter(
    (type) => !type.endsWith('Refused'),
  );
  expect(taken).toHaveLength(50);
  expect((await walletOf('crowd'))?.available).toBe(0n);
  const postings = await database.db
    .collection<PostingDocument>('postings')
    .find({ wallet: 'crowd:KES' })
    .sort({ walletSequence: 1 })
    .toArray();
  expect(postings.map(({ walletSequence }) => Number(walletSequence))).toEqual(
    Array.from({ length: 51 }, (_, index) => index + 1),
  );
  expect(postings.map(({ availableAfter }) => Number(availableAfter))).toEqual(
    Array.from({ length: 51 }, (_, index) => 5_000 - index * 100),
  );
});

test('a refused order is remembered by the id of the posting that it does not get, with its reason', async () => {
  await commands.apply([withdraw('poor', 1n)], { topic: 'ledgerCommands' });
  const refused = await database.db.collection('refusals').find({ merchantId: 'poor' }).toArray();
  expect(refused).toEqual([
    {
      _id: 'cm-poor/withdraw',
      merchantId: 'poor',
      currency: 'KES',
      amount: 1n,
      reason: 'Insufficient funds',
      causationId: 'ev-cm-poor',
      sequence: 0n,
      at: expect.any(Date) as Date,
    },
  ]);
  expect(await walletOf('poor')).toBeNull();
});

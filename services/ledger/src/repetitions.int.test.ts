import { type Database, idOf, type OutgoingEvent, openDatabase } from '@pesewa/messaging';
import { prepareTestEnvironment } from '@pesewa/testkit';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Applied, type BatchLedger, openBatchLedger } from './batches.fixture.ts';
import type { Instruction } from './domain/instructions.ts';

let database: Database;
let ledger: BatchLedger;
let nowMs = 1_000_000;

beforeAll(async () => {
  const config = await prepareTestEnvironment();
  const name = `${config.DATABASE_PREFIX}repetitions`;
  database = await openDatabase({ url: config.MONGODB_URL, database: name, appName: 'test' });
});

beforeEach(async () => {
  await database.db.dropDatabase();
  ledger = await openBatchLedger(database, () => nowMs);
  await ledger.apply([fund('cm-1', 1_000n)]);
});

afterAll(async () => {
  await database.db.dropDatabase();
  await database[Symbol.asyncDispose]();
});

const wallet = { merchantId: 'demo', currency: 'KES' };

function fund(reference: string, amount: bigint): Instruction {
  return { ...wallet, kind: 'fund', causationId: reference, reference, amount };
}

/** Each by an event of its own: a repetition is the same payout in another event. */
function hold(reference: string, amount: bigint, round = 1): Instruction {
  const causationId = `ev-${reference}-${round}`;
  return { ...wallet, kind: 'hold', causationId, reference, amount, fee: 0n, rail: 'upstream' };
}

async function books() {
  const names = ['postings', 'wallets', 'refusals', 'pages', 'accounts'];
  return Promise.all(names.map((name) => database.db.collection(name).find().sort({ _id: 1 }).toArray()));
}

/** The published events with their ids. */
const eventsWithIds = ({ events }: Applied) => events.map((event) => ({ id: idOf(event), ...event }));

/** No money moves, and the earlier answers are published once more. */
async function expectAnswers(instructions: readonly Instruction[], answers: Applied): Promise<void> {
  const before = await books();
  const again = await ledger.apply(instructions);
  expect(again.parked).toEqual([]);
  const newBalances = ({ type }: OutgoingEvent) =>
    type !== 'pesewa.wallets.WalletBalanceChanged' && type !== PAGE;
  expect(eventsWithIds(again).filter(newBalances)).toEqual(eventsWithIds(answers).filter(newBalances));
  expect(await books()).toEqual(before);
}

/** An event that the ledger publishes only for itself, about what it has booked now. */
const PAGE = 'pesewa.ledger.PageWritten';

const typesOf = ({ events }: { readonly events: readonly { readonly type: string }[] }) =>
  events.filter(({ type }) => type !== PAGE).map(({ type }) => type.replace('pesewa.ledger.', ''));

test('a repeated hold changes nothing, and is answered again with the same event', async () => {
  const answers = await ledger.apply([hold('po-a', 400n)]);
  expect(typesOf(answers)).toEqual(['HoldPlaced', 'pesewa.wallets.WalletBalanceChanged']);
  expect(eventsWithIds(await ledger.apply([hold('po-a', 400n, 2)]))).toEqual(
    eventsWithIds(answers).filter(({ type }) => type !== PAGE),
  );
  await expectAnswers([hold('po-a', 400n, 2)], answers);
});

test('a repetition publishes its wallet’s newest balances as they were published with their own posting', async () => {
  const balancesIn = (applied: Applied) => eventsWithIds(applied).filter(({ topic }) => topic === 'wallets');
  await ledger.apply([hold('po-a', 400n)]);
  nowMs += 65_000;
  const newest = await ledger.apply([hold('po-b', 100n)]);
  nowMs += 65_000;
  expect(balancesIn(await ledger.apply([hold('po-a', 400n, 2)]))).toEqual(balancesIn(newest));
});

test('an instruction that comes twice in one batch is answered once', async () => {
  const both = await ledger.apply([hold('po-a', 400n), hold('po-a', 400n, 2)]);
  expect(typesOf(both)).toEqual(['HoldPlaced', 'pesewa.wallets.WalletBalanceChanged']);
});

test('every instruction of a payment is booked once, and answered each time it comes', async () => {
  const { kind: _, ...payout } = hold('po-a', 400n) as Extract<Instruction, { kind: 'hold' }>;
  const payment = { ...wallet, causationId: 'ev-co', reference: 'co-a', rail: 'upstream', railFee: 3n };
  const life: readonly (Instruction & { readonly causationId: string })[] = [
    { ...payout, kind: 'hold' },
    { ...payout, kind: 'capture', causationId: 'ev-capture', railFee: 2n },
    { ...payout, kind: 'refund', causationId: 'ev-refund' },
    { ...payment, kind: 'collect', received: 500n, fee: 20n },
    fund('cm-2', 50n),
    { ...fund('cm-3', 5_000n), kind: 'withdraw' } as Instruction,
  ];
  for (const instruction of life) {
    const answers = await ledger.apply([instruction]);
    await expectAnswers([instruction], answers);
    await expectAnswers([{ ...instruction, causationId: 'ev-again' }], answers);
  }
  const all = await ledger.apply(life);
  expect(typesOf(all)).toEqual([
    'HoldPlaced',
    'HoldCaptured',
    'PayoutRefunded',
    'CollectionCredited',
    'WalletFunded',
    'CommandRefused',
    'pesewa.wallets.WalletBalanceChanged',
  ]);
});

test('a failure without a hold asks for nothing, and is not answered', async () => {
  const { kind: _, rail: _rail, ...payout } = hold('po-a', 4_000n) as Extract<Instruction, { kind: 'hold' }>;
  await ledger.apply([hold('po-a', 4_000n)]);
  for (const reference of ['po-a', 'po-b'])
    expect(await ledger.apply([{ ...payout, reference, kind: 'release' }])).toEqual({
      events: [],
      parked: [],
    });
});

test('a repeated hold is not refused, though the wallet could not cover it now', async () => {
  const answers = await ledger.apply([hold('po-a', 900n)]);
  await expectAnswers([hold('po-a', 900n, 2)], answers);
});

test('a refused hold stays refused, though the wallet could bear it now', async () => {
  const refused = await ledger.apply([hold('po-a', 4_000n)]);
  expect(typesOf(refused)).toEqual(['HoldRefused']);
  await ledger.apply([fund('cm-2', 9_000n)]);
  await expectAnswers([hold('po-a', 4_000n, 2)], refused);
});

test('a repeated hold with an invalid amount is known, and not parked', async () => {
  const answers = await ledger.apply([hold('po-a', 400n)]);
  await expectAnswers([hold('po-a', 0n, 2)], answers);
});

test('new instructions in a batch are applied beside repeated ones', async () => {
  await ledger.apply([hold('po-a', 400n)]);
  const mixed = await ledger.apply([hold('po-b', 100n), hold('po-a', 400n, 2), hold('po-c', 5_000n)]);
  expect(typesOf(mixed)).toEqual([
    'HoldPlaced',
    'HoldPlaced',
    'HoldRefused',
    'pesewa.wallets.WalletBalanceChanged',
  ]);
  const [stored] = await database.db.collection('wallets').find().toArray();
  expect(stored).toMatchObject({ available: 500n, held: 500n, sequence: 3n });
});

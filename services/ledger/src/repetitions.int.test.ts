import { type Database, openDatabase } from '@pesewa/messaging';
import { prepareTestNames } from '@pesewa/testkit';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type ChunkLedger, openChunkLedger } from './chunks.fixture.ts';
import type { Instruction } from './domain/instructions.ts';

let database: Database;
let ledger: ChunkLedger;

beforeAll(async () => {
  const config = await prepareTestNames([]);
  const name = `${config.DATABASE_PREFIX}repetitions`;
  database = await openDatabase({ url: config.MONGODB_URL, database: name, appName: 'test' });
});

beforeEach(async () => {
  await database.db.dropDatabase();
  ledger = await openChunkLedger(database, () => 1_000_000);
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

/** Each told by an event of its own: a repetition is the same payout in another event. */
function hold(reference: string, amount: bigint, round = 1): Instruction {
  const causationId = `ev-${reference}-${round}`;
  return { ...wallet, kind: 'hold', causationId, reference, amount, fee: 0n, rail: 'upstream' };
}

async function books() {
  const names = ['entries', 'wallets', 'refusals', 'pages', 'accounts'];
  return Promise.all(names.map((name) => database.db.collection(name).find().sort({ _id: 1 }).toArray()));
}

async function expectNothing(instructions: readonly Instruction[]): Promise<void> {
  const before = await books();
  expect(await ledger.apply(instructions)).toEqual({ events: [], parked: [] });
  expect(await books()).toEqual(before);
}

const typesOf = ({ events }: { readonly events: readonly { readonly type: string }[] }) =>
  events.map(({ type }) => type.replace('pesewa.ledger.', ''));

test('a hold that is told again changes nothing and says nothing', async () => {
  await ledger.apply([hold('po-a', 400n)]);
  await expectNothing([hold('po-a', 400n, 2)]);
  await expectNothing([hold('po-a', 400n, 2), hold('po-a', 400n, 3)]);
});

test('a hold that is told again is not refused, though the wallet could not bear it now', async () => {
  await ledger.apply([hold('po-a', 900n)]);
  await expectNothing([hold('po-a', 900n, 2)]);
});

test('a refused hold stays refused, though the wallet could bear it now', async () => {
  const refused = await ledger.apply([hold('po-a', 4_000n)]);
  expect(typesOf(refused)).toEqual(['HoldRefused']);
  await ledger.apply([fund('cm-2', 9_000n)]);
  await expectNothing([hold('po-a', 4_000n, 2)]);
});

test('a hold that is told again with money that is none is known, not put aside', async () => {
  await ledger.apply([hold('po-a', 400n)]);
  await expectNothing([hold('po-a', 0n, 2)]);
});

test('what is new in a chunk is applied beside what is told again', async () => {
  await ledger.apply([hold('po-a', 400n)]);
  const mixed = await ledger.apply([hold('po-b', 100n), hold('po-a', 400n, 2), hold('po-c', 5_000n)]);
  expect(typesOf(mixed)).toEqual(['HoldPlaced', 'HoldRefused', 'pesewa.wallets.WalletBalanceChanged']);
  const [stored] = await database.db.collection('wallets').find().toArray();
  expect(stored).toMatchObject({ available: 500n, held: 500n, sequence: 3n });
});

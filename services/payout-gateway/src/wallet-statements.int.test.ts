import { systemClock } from '@pesewa/kernel';
import { prepareTestEnvironment } from '@pesewa/testkit';
import { type Db, MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { StatedPosting } from './domain/statement.ts';
import { openWalletStatements, type ReferencedLine, type WalletStatements } from './wallet-statements.ts';

const HOUR_MS = 3_600_000;
let client: MongoClient;
let dbs: { readonly ledger: Db; readonly payouts: Db; readonly collections: Db };
let statements: WalletStatements;
/** What each merchant's wallet has, as the ledger would count it. */
const wallets = new Map<string, { sequence: bigint; available: bigint; held: bigint }>();

/** Writes a posting as the ledger does; its entries go from and to the wallet's `available` and `held`, or elsewhere. */
async function post(
  hour: number,
  reference: string,
  entries: readonly (readonly [kind: string, debit: string, credit: string, amount: bigint])[],
  merchantId = 'demo',
): Promise<void> {
  const key = `${merchantId}:KES`;
  const wallet = wallets.get(key) ?? { sequence: 0n, available: 0n, held: 0n };
  wallets.set(key, wallet);
  const nameOf = (account: string) =>
    account === 'available' || account === 'held' ? `wallet:${key}:${account}` : account;
  for (const [, debit, credit, amount] of entries) {
    if (debit === 'available' || debit === 'held') wallet[debit] -= amount;
    if (credit === 'available' || credit === 'held') wallet[credit] += amount;
    if ([debit, credit].some((account) => account === 'available' || account === 'held'))
      wallet.sequence += 1n;
  }
  const kind = entries[0]?.[0] ?? '';
  await dbs.ledger.collection<StatedPosting & { readonly _id: string }>('postings').insertOne({
    _id: `${reference}/${kind}`,
    kind,
    reference,
    entries: entries.map(([name, debit, credit, amount]) => ({
      kind: name,
      debit: nameOf(debit),
      credit: nameOf(credit),
      amount,
    })),
    wallet: key,
    walletSequence: wallet.sequence,
    availableAfter: wallet.available,
    heldAfter: wallet.held,
    at: new Date(hour * HOUR_MS),
  });
}

async function payout(hour: number, reference: string, merchantId?: string): Promise<void> {
  await post(hour, reference, [['hold', 'available', 'held', 110n]], merchantId);
  const captured = [
    ['capture', 'held', 'float:upstream:KES', 100n],
    ['fee', 'held', 'feeIncome:KES', 10n],
    ['railCost', 'railCost:KES', 'float:upstream:KES', 5n],
  ] as const;
  await post(hour, reference, captured, merchantId);
}

beforeAll(async () => {
  const config = await prepareTestEnvironment();
  client = new MongoClient(config.MONGODB_URL, { useBigInt64: true });
  const open = (name: string) => client.db(`${config.DATABASE_PREFIX}statement-${name}`);
  dbs = { ledger: open('ledger'), payouts: open('payouts'), collections: open('collections') };
  statements = openWalletStatements({ ...dbs, clock: systemClock });
  await dbs.payouts.collection<{ _id: string; reference: string }>('payouts').insertMany([
    { _id: 'demo:order:1', reference: 'po-1' },
    { _id: 'rival:secret', reference: 'po-2' },
  ]);
  await dbs.collections
    .collection<{ _id: string; reference: string }>('collections')
    .insertOne({ _id: 'demo:basket-1', reference: 'co-1' });
  await post(1, 'cm-1', [['fund', 'treasury:KES', 'available', 1_000n]]);
  await post(1, 'cm-9', [['fund', 'treasury:KES', 'available', 7_777n]], 'rival');
  await payout(2, 'po-1');
  await payout(2, 'po-9', 'rival');
  await post(3, 'po-3', [['hold', 'available', 'held', 50n]]);
  await post(4, 'po-3', [['release', 'held', 'available', 50n]]);
  const collected = [
    ['collect', 'float:upstream:KES', 'available', 98n],
    ['fee', 'float:upstream:KES', 'feeIncome:KES', 2n],
  ] as const;
  await post(5, 'co-1', collected);
  // Its record belongs to another merchant: a fault of ours that must not show that merchant's reference.
  await payout(6, 'po-2');
  await post(7, 'po-4', [['hold', 'available', 'held', 30n]]);
});

afterAll(async () => {
  for (const db of Object.values(dbs)) await db.dropDatabase();
  await client.close();
});

const whole = { merchantId: 'demo', currency: 'KES', fromMs: undefined, toMs: undefined, after: undefined };
const read = async (query: Partial<Parameters<WalletStatements['read']>[0]> = {}) => {
  const found = await statements.read({ ...whole, limit: 100, ...query });
  if (!found) throw new Error('too slow');
  return found;
};
const brief = ({ type, merchantReference, amount, fee, bookedAfter }: ReferencedLine) => [
  type,
  merchantReference,
  amount,
  fee,
  bookedAfter,
];
const expected = [
  ['FUNDING', null, 1_000n, null, 1_000n],
  ['PAYOUT', 'order:1', -100n, null, 900n],
  ['PAYOUT_FEE', 'order:1', -10n, null, 890n],
  ['COLLECTION', 'basket-1', 98n, 2n, 988n],
  ['PAYOUT', null, -100n, null, 888n],
  ['PAYOUT_FEE', null, -10n, null, 878n],
];

test('shows every line of its wallet, with the merchant’s own references, and nothing of any other (contract 10.22)', async () => {
  const { opening, closing, lines } = await read();
  expect(lines.map(brief)).toEqual(expected);
  expect([opening, closing]).toEqual([
    { available: 0n, held: 0n },
    { available: 848n, held: 30n },
  ]);
});

test('begins with what the wallet had before the period, and ends with what it had after it', async () => {
  const { opening, closing, lines } = await read({ fromMs: 2 * HOUR_MS, toMs: 4 * HOUR_MS });
  expect(lines.map(brief)).toEqual(expected.slice(1, 3));
  expect([opening, closing]).toEqual([
    { available: 1_000n, held: 0n },
    { available: 840n, held: 50n },
  ]);
});

test('of a wallet without entries is empty', async () => {
  const nothing = { available: 0n, held: 0n };
  expect(await read({ merchantId: 'new' })).toEqual({ opening: nothing, closing: nothing, lines: [] });
});

test.each([1, 2, 3, 4, 5])(
  'has each line once in pages of %i, also where a page ends between a payout and its fee',
  async (limit) => {
    const found: ReferencedLine[] = [];
    for (;;) {
      const { lines } = await read({ limit, after: found.at(-1) });
      found.push(...lines);
      if (lines.length < limit) break;
    }
    expect(found.map(brief)).toEqual(expected);
  },
);

// The last test: it adds to the wallet.
test('goes on where it was whatever is booked meanwhile, and leads to its closing balance (contract 10.22)', async () => {
  const first = await read({ limit: 2 });
  await payout(8, 'po-5');
  const last = await read({ after: first.lines.at(-1) });
  const lines = [...first.lines, ...last.lines];
  expect(lines.map(brief).slice(0, expected.length)).toEqual(expected);
  expect(lines).toHaveLength(expected.length + 2);
  expect(lines.reduce((sum, { amount }) => sum + amount, 0n)).toBe(
    last.closing.available + last.closing.held,
  );
  expect(lines.at(-1)?.bookedAfter).toBe(last.closing.available + last.closing.held);
});

import { randomUUID } from 'node:crypto';
import { GENESIS, pageHash, pageId } from '@pesewa/contracts';
import { type Database, openDatabase } from '@pesewa/messaging';
import { prepareTestEnvironment } from '@pesewa/testkit';
import { type Collection, Double } from 'mongodb';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type BatchLedger, openBatchLedger } from './batches.fixture.ts';
import type { PageDocument, PostingDocument } from './documents.ts';
import type { Instruction } from './domain/instructions.ts';

const CHAIN = 'payouts/0';

let database: Database;
let ledger: BatchLedger;
let pages: Collection<PageDocument>;
let nowMs = 1_000_000;

beforeAll(async () => {
  const config = await prepareTestEnvironment();
  const name = `${config.DATABASE_PREFIX}pages`;
  database = await openDatabase({ url: config.MONGODB_URL, database: name, appName: 'test' });
  pages = database.db.collection<PageDocument>('pages');
});

beforeEach(async () => {
  await database.db.dropDatabase();
  nowMs = 1_000_000;
  ledger = await openAnother();
});

afterAll(async () => {
  await database.db.dropDatabase();
  await database[Symbol.asyncDispose]();
});

function openAnother(): Promise<BatchLedger> {
  return openBatchLedger(database, () => nowMs);
}

function fund(amount: bigint, merchantId = 'demo'): Instruction {
  const reference = `cm-${randomUUID()}`;
  return { kind: 'fund', causationId: reference, reference, merchantId, currency: 'KES', amount };
}

function chainOf(chain: string): Promise<PageDocument[]> {
  return pages.find({ chain }).sort({ _id: 1 }).toArray();
}

async function postingsOf(page: PageDocument): Promise<readonly PostingDocument[]> {
  const found = await database.db
    .collection<PostingDocument>('postings')
    .find({ _id: { $in: page.postings } })
    .toArray();
  const byId = new Map(found.map((posting) => [posting._id, posting]));
  return page.postings.flatMap((id) => byId.get(id) ?? []);
}

/** Expects a chain without gap or fork, in which every page has a correct hash. */
async function expectChain(chain: string, length: number): Promise<void> {
  const found = await chainOf(chain);
  expect(found.map(({ _id }) => _id)).toEqual(
    Array.from({ length }, (_, index) => pageId(chain, BigInt(index + 1))),
  );
  let previous = GENESIS;
  for (const page of found) {
    expect(Buffer.from(page.previous.value())).toEqual(Buffer.from(previous));
    const postings = await postingsOf(page);
    expect(postings).toHaveLength(page.postings.length);
    expect(postings.every(({ at }) => at.getTime() === page.at.getTime())).toBe(true);
    previous = pageHash({ chain, number: page.number, previous }, postings, page.accounts);
    expect(Buffer.from(page.hash.value())).toEqual(Buffer.from(previous));
  }
}

test('each batch that writes is a page, chained to the one before; one that writes nothing is none', async () => {
  const [first, second] = [fund(500n), fund(70n)];
  await ledger.apply([first]);
  await ledger.apply([first]);
  await ledger.apply([second, fund(1n)]);
  await ledger.apply([fund(5n)], { topic: 'collections', partition: 3 });
  await expectChain(CHAIN, 2);
  await expectChain('collections/3', 1);
});

test('a page has its movements on the shared accounts, and its chain’s totals by then', async () => {
  await ledger.apply([fund(500n), fund(20n)]);
  await ledger.apply([fund(7n)]);
  const other = await openAnother();
  await other.apply([fund(3n)]);
  const line = { account: 'treasury:KES', credits: 0n, creditsAfter: 0n };
  expect((await chainOf(CHAIN)).map(({ accounts }) => accounts)).toEqual([
    [{ ...line, debits: 520n, debitsAfter: 520n }],
    [{ ...line, debits: 7n, debitsAfter: 527n }],
    [{ ...line, debits: 3n, debitsAfter: 530n }],
  ]);
  const bucket = await database.db
    .collection<{ _id: string }>('accounts')
    .findOne({ _id: `treasury:KES#${CHAIN}` });
  expect(bucket).toMatchObject({ debits: 530n, credits: 0n });
});

test('a restarted process goes on where the chain ends', async () => {
  await ledger.apply([fund(500n)]);
  const restarted = await openAnother();
  await restarted.apply([fund(20n)]);
  await restarted.apply([fund(30n)]);
  await expectChain(CHAIN, 3);
});

test('a process with an outdated head reads it anew, and never forks the chain', async () => {
  const other = await openAnother();
  await ledger.apply([fund(1n)]);
  await other.apply([fund(2n)]);
  await ledger.apply([fund(3n)]);
  await other.apply([fund(4n)]);
  await expectChain(CHAIN, 4);
});

test('processes that write one chain at once leave one chain', async () => {
  const writers = await Promise.all([openAnother(), openAnother(), openAnother()]);
  await Promise.all(
    writers.map(async (writer, index) => {
      for (let round = 0; round < 5; round += 1) await writer.apply([fund(1n, `m${index}`)]);
    }),
  );
  await expectChain(CHAIN, 15);
});

test('a transaction that fails leaves no page, and no memory of one', async () => {
  await ledger.apply([fund(1n)]);
  const failing = ledger.apply([fund(2n)], {
    fail: () => {
      throw new Error('the power went');
    },
  });
  await expect(failing).rejects.toThrow('the power went');
  await expectChain(CHAIN, 1);
  await ledger.apply([fund(3n)]);
  await expectChain(CHAIN, 2);
  expect((await chainOf(CHAIN)).at(-1)?.accounts).toMatchObject([{ debitsAfter: 4n }]);
});

test('time never goes back: not along a chain, and not along a wallet that other chains write', async () => {
  await ledger.apply([fund(1n)]);
  nowMs -= 60_000;
  await ledger.apply([fund(2n, 'rival')]);
  await ledger.apply([fund(3n)], { topic: 'collections' });
  nowMs += 30_000;
  await ledger.apply([fund(4n, 'third')], { topic: 'ledgerCommands' });
  const at = async (chain: string) => (await chainOf(chain)).map((page) => page.at.getTime());
  expect(await at(CHAIN)).toEqual([1_000_000, 1_000_000]);
  expect(await at('collections/0')).toEqual([1_000_000]);
  expect(await at('ledgerCommands/0')).toEqual([970_000]);
});

test('the server itself refuses a page without postings, a posting without entries, and a balance that is no whole number', async () => {
  await ledger.apply([fund(1n)]);
  const [page] = await chainOf(CHAIN);
  if (!page) throw new Error('there is no page');
  await expect(pages.insertOne({ ...page, _id: 'x', postings: [] })).rejects.toThrow('validation');
  const line = { account: 'a', debits: 1n, credits: 0n, debitsAfter: -1n, creditsAfter: 0n };
  await expect(pages.insertOne({ ...page, _id: 'x', accounts: [line] })).rejects.toThrow('validation');
  const [posting] = await postingsOf(page);
  const entry = posting?.entries[0];
  if (!entry) throw new Error('there is no posting');
  const postings = database.db.collection<{ _id: string }>('postings');
  const wrong = [
    { availableAfter: -1n },
    { entries: [] },
    { entries: [entry, { ...entry, amount: 0n }] },
    { entries: [entry, { ...entry, amount: new Double(1) }] },
  ];
  for (const change of wrong) {
    await expect(postings.insertOne({ ...posting, _id: 'x', ...change })).rejects.toThrow('validation');
  }
});

import type { Invariant } from '@pesewa/audit';
import { GENESIS, pageHash, pageId } from '@pesewa/contracts';
import { Binary, Double } from 'mongodb';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type AuditedLedger, openAuditedLedger } from './audited.fixture.ts';
import type { Entry } from './domain/books.ts';
import {
  available,
  capture,
  collect,
  fund,
  fundFloat,
  held,
  hold,
  release,
} from './domain/posting.fixture.ts';

let books: AuditedLedger;

const payout = { reference: 'po-1', merchantId: 'demo', currency: 'KES', amount: 1_000n, fee: 10n };
const collected = { reference: 'co-1', merchantId: 'demo', currency: 'KES', amount: 500n, fee: 20n };
const wallet = 'demo:KES';
const unvalidated = { bypassDocumentValidation: true } as const;
const payoutsChain = 'payouts/0';

beforeAll(async () => {
  books = await openAuditedLedger(process.env['MONGODB_URL'] ?? '');
  const { amount, fee } = hold;
  const refund = { ...release, kind: 'refund', reference: 'po-3', amount, fee } as const;
  const order = { ...fund, amount: 90n };
  await books.tell(
    { ...fund, amount: 5_000n },
    { ...fund, reference: 'cm-2', currency: 'XOF', amount: 700n },
    { ...fundFloat, reference: 'cm-3', amount: 9_000n },
    hold,
    { ...hold, reference: 'po-2' },
    capture,
    { ...release, reference: 'po-2' },
    collect,
    { ...hold, reference: 'po-3' },
    { ...capture, reference: 'po-3' },
    refund,
    { ...hold, reference: 'po-4' },
    { ...hold, reference: 'po-5', amount: 9_000n },
    { ...order, kind: 'withdraw', reference: 'cm-4' },
    { ...order, kind: 'adjust', direction: 'debit', reference: 'cm-5' },
    { ...order, kind: 'suspense', direction: 'surplus', rail: 'upstream', reference: 'cm-6' },
  );
  const settled = { ...payout, step: 'ended' };
  await books.payouts.collection('payouts').insertMany([
    { ...settled, status: 'COMPLETED' },
    { ...settled, reference: 'po-2', status: 'FAILED' },
    { ...settled, reference: 'po-3', status: 'REVERSED' },
    { ...payout, reference: 'po-4', status: 'INITIALIZED', step: 'submitted' },
    { ...settled, reference: 'po-5', status: 'FAILED', amount: 9_000n },
    { ...payout, reference: 'po-6', status: 'INITIALIZED', step: 'accepted' },
  ]);
  await books.collections.collection('collections').insertMany([
    { ...collected, status: 'COMPLETED', step: 'ended' },
    { ...collected, reference: 'co-2', status: 'PENDING', step: 'awaitingOtp' },
    { ...collected, reference: 'co-3', status: 'FAILED', step: 'ended' },
  ]);
  await books.save();
});

afterEach(() => books.restore());

afterAll(async () => {
  await books[Symbol.asyncDispose]();
});

const entries = () => books.ledger.collection<{ _id: string }>('entries');
const pages = () => books.ledger.collection<{ _id: string }>('pages');
const wallets = () => books.ledger.collection<{ _id: string }>('wallets');
const buckets = () => books.ledger.collection<{ _id: string }>('accounts');
const payouts = () => books.payouts.collection('payouts');
const collections = () => books.collections.collection('collections');

const changeEntry = (_id: string, change: object) =>
  entries().updateOne({ _id }, { $set: change }, unvalidated);

/** Posts an entry that the wallet can bear, by the ledger's own store. */
async function postNext(entry: Pick<Entry, 'id' | 'kind' | 'reference' | 'amount' | 'debit' | 'credit'>) {
  const stored = await wallets().findOne<{ available: bigint; held: bigint; sequence: bigint }>({
    _id: wallet,
  });
  if (!stored) throw new Error('the wallet is gone');
  const change = (account: string) =>
    (entry.credit === account ? entry.amount : 0n) - (entry.debit === account ? entry.amount : 0n);
  const touched = {
    wallet,
    sequence: stored.sequence + 1n,
    available: stored.available + change(available),
    held: stored.held + change(held),
  };
  await books.post(payoutsChain, { ...entry, currency: 'KES', causationId: 'ev-planted', touched });
}

const holding = { debit: available, credit: held, kind: 'hold', amount: 20n } as const;
const releasing = { debit: held, credit: available, kind: 'release', amount: 1_010n } as const;

/** Adds a page to a chain of its own that names what stands elsewhere. */
async function pageAgain(id: string) {
  const entry = await entries().findOne({ _id: id });
  if (!entry || !('at' in entry)) throw new Error('the entry is gone');
  const chain = 'payouts/7';
  const place = { chain, number: 1n, previous: GENESIS };
  const hash = new Binary(pageHash(place, [entry as unknown as Parameters<typeof pageHash>[1][number]]));
  const page = { _id: pageId(chain, 1n), ...place, previous: new Binary(GENESIS), hash, at: entry.at };
  await pages().insertOne({ ...page, entries: [id], accounts: [] } as { _id: string });
}

/** What is planted, the rule that must be named, and the subject. */
const plants: readonly (readonly [string, Invariant, string, () => Promise<unknown>])[] = [
  ['an unknown account', 'L1', 'po-1/capture', () => changeEntry('po-1/capture', { credit: 'nowhere:KES' })],
  [
    'legs of another kind',
    'L1',
    'po-2/hold',
    () => changeEntry('po-2/hold', { debit: held, credit: available }),
  ],
  ['nothing moved', 'L1', 'po-1/fee', () => changeEntry('po-1/fee', { amount: 0n })],
  [
    'money from nowhere',
    'L2',
    'KES',
    () => buckets().updateOne({ _id: `float:upstream:KES#${payoutsChain}` }, { $inc: { debits: 1n } }),
  ],
  [
    'a wallet too rich',
    'L3',
    wallet,
    () => wallets().updateOne({ _id: wallet }, { $inc: { available: 1n } }),
  ],
  ['a wallet ahead', 'L3', wallet, () => wallets().updateOne({ _id: wallet }, { $inc: { sequence: 1n } })],
  ['a wallet lost', 'L3', wallet, () => wallets().deleteOne({ _id: wallet })],
  ['a number twice', 'L3', wallet, () => changeEntry('po-2/hold', { walletSequence: 2n })],
  [
    'a bucket changed',
    'L3',
    `feeIncome:KES#${payoutsChain}`,
    () => buckets().updateOne({ _id: `feeIncome:KES#${payoutsChain}` }, { $inc: { credits: 5n } }),
  ],
  [
    'a page that tells other totals',
    'L3',
    pageId(payoutsChain, 3n),
    () => pages().updateOne({ _id: pageId(payoutsChain, 3n) }, { $set: { 'accounts.0.debitsAfter': 1n } }),
  ],
  ['less funded than spent', 'L4', wallet, () => changeEntry('cm-1/fund', { amount: 10n })],
  [
    'a wallet below zero',
    'L4',
    wallet,
    () => wallets().updateOne({ _id: wallet }, { $set: { available: -5n } }, unvalidated),
  ],
  [
    'a second hold',
    'L5',
    'po-4/hold-2',
    () => postNext({ ...holding, id: 'po-4/hold-2', reference: 'po-4' }),
  ],
  [
    'a captured hold released',
    'L5',
    'po-1/release',
    () => postNext({ ...releasing, id: 'po-1/release', reference: 'po-1' }),
  ],
  ['held without holds', 'L5', wallet, () => wallets().updateOne({ _id: wallet }, { $inc: { held: 7n } })],
  ['a hold of no payout', 'L5', 'po-4/hold', () => payouts().deleteOne({ reference: 'po-4' })],
  [
    'a failed payout that still holds',
    'L5',
    'po-4',
    () => payouts().updateOne({ reference: 'po-4' }, { $set: { status: 'FAILED', step: 'ended' } }),
  ],
  [
    'a payout under way without a hold',
    'L5',
    'po-6',
    () => payouts().updateOne({ reference: 'po-6' }, { $set: { step: 'submitted' } }),
  ],
  ['an entry edited', 'L6', pageId(payoutsChain, 1n), () => changeEntry('po-1/hold', { causationId: 'x' })],
  ['an entry deleted', 'L6', pageId(payoutsChain, 1n), () => entries().deleteOne({ _id: 'po-1/hold' })],
  [
    'a hash broken',
    'L6',
    pageId(payoutsChain, 2n),
    () => pages().updateOne({ _id: pageId(payoutsChain, 2n) }, { $set: { hash: new Binary(GENESIS) } }),
  ],
  ['a page lost', 'L6', pageId(payoutsChain, 2n), () => pages().deleteOne({ _id: pageId(payoutsChain, 2n) })],
  [
    'the newest page lost',
    'L6',
    'cm-6/suspense',
    () => pages().deleteOne({ _id: pageId('ledgerCommands/0', 2n) }),
  ],
  ['an entry on two pages', 'L6', 'po-1/railCost', () => pageAgain('po-1/railCost')],
  [
    'an entry that stands on no page',
    'L6',
    'po-9/hold',
    async () => {
      const like = await entries().findOne({ _id: 'po-4/hold' });
      await entries().insertOne({ ...like, _id: 'po-9/hold' });
    },
  ],
  [
    'a posting repeated under another id',
    'L7',
    'po-3/release-2',
    () => postNext({ ...releasing, id: 'po-3/release-2', reference: 'po-3' }),
  ],
  ['a float for an amount', 'L8', 'po-1/hold', () => changeEntry('po-1/hold', { amount: new Double(1_010) })],
  [
    'a float for a balance',
    'L8',
    wallet,
    () => wallets().updateOne({ _id: wallet }, { $set: { held: new Double(1_010) } }, unvalidated),
  ],
  [
    'a float in a payout',
    'L8',
    'po-2',
    () => payouts().updateOne({ reference: 'po-2' }, { $set: { amount: new Double(1_000) } }),
  ],
  ['a currency without a scale', 'L8', 'po-1/hold', () => changeEntry('po-1/hold', { currency: 'QQQ' })],
  [
    'two currencies',
    'L9',
    'po-1/capture',
    () => changeEntry('po-1/capture', { credit: 'float:upstream:XOF' }),
  ],
  ['another currency than its legs', 'L9', 'po-1/fee', () => changeEntry('po-1/fee', { currency: 'XOF' })],
  [
    'a payout with another fee',
    'L10',
    'po-1',
    () => payouts().updateOne({ reference: 'po-1' }, { $set: { fee: 11n } }),
  ],
  [
    'a payout with another amount',
    'L10',
    'po-4',
    () => payouts().updateOne({ reference: 'po-4' }, { $set: { amount: 999n } }),
  ],
  ['less captured than held', 'L10', 'po-1/capture', () => changeEntry('po-1/capture', { amount: 990n })],
  [
    'a completed collection without a credit',
    'L11',
    'co-2',
    () => collections().updateOne({ reference: 'co-2' }, { $set: { status: 'COMPLETED' } }),
  ],
  [
    'a credit for a failed collection',
    'L11',
    'co-1',
    () => collections().updateOne({ reference: 'co-1' }, { $set: { status: 'FAILED' } }),
  ],
  [
    'a credit of another amount',
    'L11',
    'co-1',
    () => collections().updateOne({ reference: 'co-1' }, { $set: { amount: 501n } }),
  ],
  ['a credit for no collection', 'L11', 'co-1/collect', () => collections().deleteOne({ reference: 'co-1' })],
];

describe('the audit of a real database', () => {
  it('finds nothing in good books', async () => {
    const { violations, durationMs: _durationMs, ...counts } = await books.audit();
    expect(violations).toEqual([]);
    expect(counts).toEqual({
      pages: 7,
      entries: 22,
      wallets: 2,
      accounts: 6,
      openHolds: 1,
      payments: 9,
      violationCounts: {},
    });
  });

  it.each(plants)('names %s: %s of %s', async (_what, invariant, subject, plant) => {
    await plant();
    const { violations } = await books.audit();
    const named = violations.map((violation) => `${violation.invariant} ${violation.subject}`);
    expect(named).toContain(`${invariant} ${subject}`);
  });

  it('plants every rule of the ledger', () => {
    const planted = new Set(plants.map(([, invariant]) => invariant));
    expect(planted.size).toBe(11);
  });

  it('finds nothing in a ledger that goes on writing', async () => {
    let audits = 0;
    const auditing = (async () => {
      while (audits < 4) {
        expect((await books.audit()).violations).toEqual([]);
        audits += 1;
      }
    })();
    for (let index = 0; audits < 4; index += 1) {
      const reference = `po-live-${index}`;
      const live = { ...payout, reference, amount: 1n, fee: 0n };
      await payouts().insertOne({ ...live, status: 'INITIALIZED', step: 'accepted' });
      await books.tell({ ...hold, ...live }, { ...fund, reference: `cm-live-${index}`, amount: 5n });
      await payouts().updateOne({ reference }, { $set: { status: 'COMPLETED', step: 'ended' } });
      await books.tell({ ...capture, ...live });
    }
    await auditing;
  });
});

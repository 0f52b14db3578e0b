import { GENESIS, pageId } from '@pesewa/contracts';
import { Binary, Double } from 'mongodb';
import { available, float, held } from './domain/posting.fixture.ts';
import {
  buckets,
  changeEntry,
  changePosting,
  collections,
  type InjectedFault,
  pages,
  payouts,
  payoutsChain,
  postings,
  postNext,
  unvalidated,
  wallet,
  wallets,
} from './fault-injection.fixture.ts';

const holding = { debit: available, credit: held, kind: 'hold', amount: 20n } as const;
const releasing = { debit: held, credit: available, kind: 'release', amount: 1_010n } as const;

const funding = { debit: 'treasury:KES', credit: available, kind: 'fund', amount: 5n } as const;
const takingFee = { debit: float, credit: 'feeIncome:KES', kind: 'fee', amount: 20n } as const;
const costing = { debit: 'railCost:KES', credit: float, kind: 'railCost', amount: 3n } as const;
const ofCollection = { of: 'collect', reference: 'co-3' } as const;

const firstPage = `L6 ${pageId(payoutsChain, 1n)}`;

/** Single changes of stored records, and postings that nothing asked for. */
export const changes: readonly InjectedFault[] = [
  [
    'an unknown account',
    'L1',
    'po-1/capture',
    (books) => changeEntry(books, 'po-1/capture', { credit: 'nowhere:KES' }),
    firstPage,
  ],
  [
    'legs of another kind',
    'L1',
    'po-2/hold',
    (books) => changeEntry(books, 'po-2/hold', { debit: held, credit: available }),
    firstPage,
  ],
  [
    'an entry that its posting may not have',
    'L7',
    'po-6/hold',
    (books) =>
      postNext(books, { ...holding, reference: 'po-6' }, { ...funding, of: 'hold', reference: 'po-6' }),
  ],
  [
    'an entry twice in a posting',
    'L7',
    'co-3/collect',
    (books) => postNext(books, { ...takingFee, ...ofCollection }, { ...takingFee, ...ofCollection }),
  ],
  [
    'entries in another order',
    'L7',
    'co-3/collect',
    (books) => postNext(books, { ...costing, ...ofCollection }, { ...takingFee, ...ofCollection }),
  ],
  [
    'an entry taken out of its posting',
    'L6',
    pageId(payoutsChain, 1n),
    (books) =>
      postings(books).updateOne(
        { _id: 'po-1/capture' },
        { $pull: { entries: { kind: 'railCost' } } as object },
      ),
  ],
  [
    'a wallet that no entry of its posting touches',
    'L3',
    'po-1/hold',
    (books) => changePosting(books, 'po-1/hold', { wallet: 'rival:KES' }),
    firstPage,
  ],
  ['nothing moved', 'L1', 'po-1/fee', (books) => changeEntry(books, 'po-1/fee', { amount: 0n }), firstPage],
  [
    'money from nowhere',
    'L2',
    'KES',
    (books) =>
      buckets(books).updateOne({ _id: `float:upstream:KES#${payoutsChain}` }, { $inc: { debits: 1n } }),
    `L3 float:upstream:KES#${payoutsChain}`,
  ],
  [
    'a wallet too rich',
    'L3',
    wallet,
    (books) => wallets(books).updateOne({ _id: wallet }, { $inc: { available: 1n } }),
  ],
  [
    'a wallet ahead',
    'L3',
    wallet,
    (books) => wallets(books).updateOne({ _id: wallet }, { $inc: { sequence: 1n } }),
  ],
  ['a wallet lost', 'L3', wallet, (books) => wallets(books).deleteOne({ _id: wallet })],
  [
    'a number twice',
    'L3',
    wallet,
    (books) => changePosting(books, 'po-2/hold', { walletSequence: 2n }),
    firstPage,
  ],
  [
    'a bucket changed',
    'L3',
    `feeIncome:KES#${payoutsChain}`,
    (books) => buckets(books).updateOne({ _id: `feeIncome:KES#${payoutsChain}` }, { $inc: { credits: 5n } }),
  ],
  [
    'a page with other totals',
    'L3',
    pageId(payoutsChain, 3n),
    (books) =>
      pages(books).updateOne({ _id: pageId(payoutsChain, 3n) }, { $set: { 'accounts.0.debitsAfter': 1n } }),
    `L6 ${pageId(payoutsChain, 3n)}`,
  ],
  [
    'less funded than spent',
    'L4',
    wallet,
    (books) => changeEntry(books, 'cm-1/fund', { amount: 10n }),
    `L6 ${pageId('ledgerCommands/0', 1n)}`,
  ],
  [
    'a wallet below zero',
    'L4',
    wallet,
    (books) => wallets(books).updateOne({ _id: wallet }, { $set: { available: -5n } }, unvalidated),
  ],
  [
    'a second hold',
    'L5',
    'po-4/hold-2',
    (books) => postNext(books, { ...holding, id: 'po-4/hold-2', reference: 'po-4' }),
    'L7 po-4/hold-2',
  ],
  [
    'a captured hold released',
    'L5',
    'po-1/release',
    (books) => postNext(books, { ...releasing, id: 'po-1/release', reference: 'po-1' }),
  ],
  [
    'held without holds',
    'L5',
    wallet,
    (books) => wallets(books).updateOne({ _id: wallet }, { $inc: { held: 7n } }),
    `L3 ${wallet}`,
  ],
  ['a hold of no payout', 'L5', 'po-4/hold', (books) => payouts(books).deleteOne({ reference: 'po-4' })],
  [
    'a failed payout that still holds',
    'L5',
    'po-4',
    (books) => payouts(books).updateOne({ reference: 'po-4' }, { $set: { status: 'FAILED', step: 'ended' } }),
  ],
  [
    'a payout under way without a hold',
    'L5',
    'po-6',
    (books) => payouts(books).updateOne({ reference: 'po-6' }, { $set: { step: 'submitted' } }),
  ],
  [
    'a posting edited',
    'L6',
    pageId(payoutsChain, 1n),
    (books) => changePosting(books, 'po-1/hold', { causationId: 'x' }),
  ],
  [
    'a posting deleted',
    'L6',
    pageId(payoutsChain, 1n),
    (books) => postings(books).deleteOne({ _id: 'po-1/hold' }),
  ],
  [
    'a hash broken',
    'L6',
    pageId(payoutsChain, 2n),
    (books) =>
      pages(books).updateOne({ _id: pageId(payoutsChain, 2n) }, { $set: { hash: new Binary(GENESIS) } }),
  ],
  [
    'a page lost',
    'L6',
    pageId(payoutsChain, 2n),
    (books) => pages(books).deleteOne({ _id: pageId(payoutsChain, 2n) }),
  ],
  [
    'the newest page lost',
    'L6',
    'cm-6/suspense',
    (books) => pages(books).deleteOne({ _id: pageId('ledgerCommands/0', 2n) }),
    'L6 cm-4/withdraw',
  ],
  [
    'a posting that stands on no page',
    'L6',
    'po-9/hold',
    async (books) => {
      const like = await postings(books).findOne({ _id: 'po-4/hold' });
      await postings(books).insertOne({ ...like, _id: 'po-9/hold' });
    },
  ],
  [
    'a posting repeated under another id',
    'L7',
    'po-3/release-2',
    (books) => postNext(books, { ...releasing, id: 'po-3/release-2', reference: 'po-3' }),
  ],
  [
    'a float for an amount',
    'L8',
    'po-1/hold',
    (books) => changeEntry(books, 'po-1/hold', { amount: new Double(1_010) }),
  ],
  [
    'a float for a balance',
    'L8',
    wallet,
    (books) => wallets(books).updateOne({ _id: wallet }, { $set: { held: new Double(1_010) } }, unvalidated),
  ],
  [
    'a float in a payout',
    'L8',
    'po-2',
    (books) => payouts(books).updateOne({ reference: 'po-2' }, { $set: { amount: new Double(1_000) } }),
  ],
  [
    'a currency without a scale',
    'L8',
    'po-1/hold',
    (books) => changePosting(books, 'po-1/hold', { currency: 'QQQ' }),
    firstPage,
  ],
  [
    'two currencies',
    'L9',
    'po-1/capture',
    (books) => changeEntry(books, 'po-1/capture', { credit: 'float:upstream:XOF' }),
    firstPage,
  ],
  [
    'another currency than its legs',
    'L9',
    'po-1/fee',
    (books) => changePosting(books, 'po-1/capture', { currency: 'XOF' }),
    firstPage,
  ],
  [
    'a payout with another fee',
    'L10',
    'po-1',
    (books) => payouts(books).updateOne({ reference: 'po-1' }, { $set: { fee: 11n } }),
  ],
  [
    'a payout with another amount',
    'L10',
    'po-4',
    (books) => payouts(books).updateOne({ reference: 'po-4' }, { $set: { amount: 999n } }),
  ],
  [
    'less captured than held',
    'L10',
    'po-1/capture',
    (books) => changeEntry(books, 'po-1/capture', { amount: 990n }),
    firstPage,
  ],
  [
    'a completed collection without a credit',
    'L11',
    'co-2',
    (books) => collections(books).updateOne({ reference: 'co-2' }, { $set: { status: 'COMPLETED' } }),
  ],
  [
    'a credit for a failed collection',
    'L11',
    'co-1',
    (books) => collections(books).updateOne({ reference: 'co-1' }, { $set: { status: 'FAILED' } }),
  ],
  [
    'a credit of another amount',
    'L11',
    'co-1',
    (books) => collections(books).updateOne({ reference: 'co-1' }, { $set: { amount: 501n } }),
  ],
  [
    'a credit for no collection',
    'L11',
    'co-1/collect',
    (books) => collections(books).deleteOne({ reference: 'co-1' }),
  ],
];

import { pageId, postingText } from '@pesewa/contracts';
import type { AuditedLedger } from './audited.fixture.ts';
import type { PostingDocument } from './documents.ts';
import { available, float, held } from './domain/posting.fixture.ts';
import {
  changePage,
  changePosting,
  type InjectedFault,
  orders,
  pageAgain,
  pages,
  payouts,
  payoutsChain,
  postAt,
  postings,
  postNext,
  unvalidated,
  wallet,
  wallets,
} from './fault-injection.fixture.ts';

const feeIncome = 'feeIncome:KES';
const refunding = { kind: 'refund', debit: float, credit: available, amount: 1_000n } as const;
const refundingFee = { kind: 'refundFee', debit: feeIncome, credit: available, amount: 10n } as const;
const takingFee = { kind: 'fee', debit: float, credit: feeIncome, amount: 20n } as const;
const costing = { kind: 'railCost', debit: 'railCost:KES', credit: float, amount: 3n } as const;
const funding = { kind: 'fund', debit: 'treasury:KES', credit: available, amount: 100n } as const;
const holding = { kind: 'hold', debit: available, credit: held, amount: 1_010n } as const;

const reverse = (books: AuditedLedger, reference: string) =>
  payouts(books).updateOne({ reference }, { $set: { status: 'REVERSED' } });

const changeOrder = (books: AuditedLedger, _id: string, change: object) =>
  orders(books).updateOne({ _id }, { $set: change }, unvalidated);

const pageTwo = pageId(payoutsChain, 2n);
const TOMORROW_MS = 86_400_000;

const S = '\u001f';

async function findPosting(books: AuditedLedger, _id: string): Promise<PostingDocument> {
  const found = await books.ledger.collection<PostingDocument>('postings').findOne({ _id });
  if (!found) throw new Error('the posting is gone');
  return found;
}

/** Removes a posting, which may not touch a wallet, and puts its text into the last field of the one before it. */
async function hidePosting(books: AuditedLedger, page: string, keptId: string, hiddenId: string) {
  const [kept, hidden] = [await findPosting(books, keptId), await findPosting(books, hiddenId)];
  const last = kept.entries.at(-1);
  const text = postingText(hidden);
  // The hidden one's amount follows.
  const credit = [last?.credit, `${last?.amount}\n${text.length}`, text.slice(0, text.lastIndexOf(S))].join(
    S,
  );
  const entries = [...kept.entries.slice(0, -1), { ...last, credit, amount: hidden.entries.at(-1)?.amount }];
  await changePosting(books, keptId, { entries });
  await postings(books).deleteOne({ _id: hiddenId });
  await pages(books).updateOne({ _id: page }, { $pull: { postings: hiddenId } as object }, unvalidated);
}

/** Removes the last entry of a posting, and puts its text into the one before it. */
async function hideEntry(books: AuditedLedger, id: string) {
  const { entries } = await findPosting(books, id);
  const [before, last] = entries.slice(-2);
  const credit = [before?.credit, before?.amount, last?.kind, last?.debit, last?.credit].join(S);
  const hiding = [...entries.slice(0, -2), { ...before, credit, amount: last?.amount }];
  await changePosting(books, id, { entries: hiding });
}

/** Postings without any request, posted correctly, and orders that differ from what was applied. */
export const forgeries: readonly InjectedFault[] = [
  [
    'a refund of a payout that completed',
    'L5',
    'po-1',
    (books) => postNext(books, { ...refunding, reference: 'po-1' }),
  ],
  [
    'a refund of no payout',
    'L5',
    'po-9/refund',
    (books) => postNext(books, { ...refunding, reference: 'po-9' }),
  ],
  [
    'a refund of what was released',
    'L5',
    'po-2/refund',
    (books) => postNext(books, { ...refunding, reference: 'po-2' }),
  ],
  [
    'more refunded than captured',
    'L10',
    'po-1/refund',
    async (books) => {
      await reverse(books, 'po-1');
      await postNext(books, { ...refunding, amount: 1_001n, reference: 'po-1' });
    },
  ],
  [
    'a refund from another float',
    'L5',
    'po-1/refund',
    async (books) => {
      await reverse(books, 'po-1');
      await postNext(books, { ...refunding, debit: 'float:other:KES', reference: 'po-1' });
    },
  ],
  [
    'more of a fee refunded than taken',
    'L10',
    'po-1/refundFee',
    async (books) => {
      await reverse(books, 'po-1');
      const reference = 'po-1';
      await postNext(
        books,
        { ...refunding, reference },
        { ...refundingFee, amount: 11n, of: 'refund', reference },
      );
    },
  ],
  [
    'a fee refunded without its payout',
    'L7',
    'po-1/refund',
    (books) => postNext(books, { ...refundingFee, of: 'refund', reference: 'po-1' }),
  ],
  [
    'a fee of a collection that failed',
    'L11',
    'co-3',
    (books) => postNext(books, { ...takingFee, of: 'collect', reference: 'co-3' }),
  ],
  [
    'a fee of no collection',
    'L11',
    'co-9/collect',
    (books) => postNext(books, { ...takingFee, of: 'collect', reference: 'co-9' }),
  ],
  [
    "a collection's fee of a payout",
    'L11',
    'po-2/collect',
    (books) => postNext(books, { ...takingFee, of: 'collect', reference: 'po-2' }),
  ],
  [
    'a rail cost of nothing that was paid',
    'L7',
    'po-2/capture',
    (books) => postNext(books, { ...costing, of: 'capture', reference: 'po-2' }),
  ],
  [
    'money without an order',
    'L12',
    'cm-9/fund',
    (books) => postNext(books, { ...funding, reference: 'cm-9' }),
  ],
  [
    'an order that was only proposed',
    'L12',
    'cm-1/fund',
    (books) => changeOrder(books, 'cm-1', { status: 'proposed' }),
  ],
  [
    'an order approved by its maker',
    'L12',
    'cm-3/fundFloat',
    async (books) => {
      const order = await orders(books).findOne<{ requestedBy: string }>({ _id: 'cm-3' });
      await changeOrder(books, 'cm-3', { decidedBy: order?.requestedBy });
    },
  ],
  [
    'an order of another amount',
    'L12',
    'cm-4/withdraw',
    (books) => changeOrder(books, 'cm-4', { amount: 91n }),
  ],
  [
    'an order of another currency',
    'L12',
    'cm-2/fund',
    (books) => changeOrder(books, 'cm-2', { currency: 'KES' }),
  ],
  [
    'an order for another merchant',
    'L12',
    'cm-1/fund',
    (books) => changeOrder(books, 'cm-1', { target: 'rival' }),
  ],
  [
    'an order for another rail',
    'L12',
    'cm-3/fundFloat',
    (books) => changeOrder(books, 'cm-3', { target: 'other' }),
  ],
  [
    'an order of another direction',
    'L12',
    'cm-5/adjust',
    (books) => changeOrder(books, 'cm-5', { direction: 'credit' }),
  ],
  [
    'a booking of another direction',
    'L12',
    'cm-6/suspense',
    (books) => changeOrder(books, 'cm-6', { direction: 'shortage' }),
  ],
  [
    'an order of another kind',
    'L12',
    'cm-4/withdraw',
    (books) => changeOrder(books, 'cm-4', { kind: 'fund' }),
  ],
  [
    'an approved order that was never applied',
    'L12',
    'cm-8',
    async (books) => {
      const order = await orders(books).findOne({ _id: 'cm-1' });
      await orders(books).insertOne({ ...order, _id: 'cm-8' });
    },
  ],
];

/** Chains that were rewritten so that their hashes still match. */
export const rewritings: readonly InjectedFault[] = [
  [
    'a posting hidden in a field of another',
    'L6',
    pageId('ledgerCommands/0', 2n),
    (books) => hidePosting(books, pageId('ledgerCommands/0', 2n), 'cm-5/adjust', 'cm-6/suspense'),
  ],
  [
    'an entry hidden in a field of another',
    'L6',
    pageId('collections/0', 1n),
    (books) => hideEntry(books, 'co-1/collect'),
  ],
  [
    'a control character in a text',
    'L6',
    'po-6/hold',
    (books) => postNext(books, { ...holding, reference: 'po-6', causationId: 'ev\n6' }),
  ],
  [
    'a field that no hash covers',
    'L6',
    'po-1/hold',
    (books) => changePosting(books, 'po-1/hold', { note: 'paid twice' }),
  ],
  [
    'a field of an entry that no hash covers',
    'L6',
    'po-1/capture',
    (books) => changePosting(books, 'po-1/capture', { 'entries.1.note': 'paid twice' }),
  ],
  [
    'a posting without a list of entries',
    'L6',
    'po-1/hold',
    (books) => changePosting(books, 'po-1/hold', { entries: 'none' }),
    `L6 ${pageId(payoutsChain, 1n)}`,
  ],
  [
    'a field of a page that no hash covers',
    'L6',
    pageTwo,
    (books) => changePage(books, pageTwo, { note: 'paid twice' }),
  ],
  [
    'a posting on two pages evened out by a stray one',
    'L6',
    'cm-3/fundFloat',
    async (books) => {
      await pageAgain(books, 'cm-3/fundFloat', 'payouts/7');
      const like = await postings(books).findOne({ _id: 'cm-3/fundFloat' });
      await postings(books).insertOne({ ...like, _id: 'cm-7/fundFloat' });
    },
  ],
  [
    'a chain of a partition that is none',
    'L6',
    pageId('payouts/8', 1n),
    (books) => pageAgain(books, 'cm-3/fundFloat', 'payouts/8'),
  ],
  [
    'a page under an id that is none',
    'L6',
    'zzz',
    async (books) => {
      const page = await pages(books).findOne({ _id: pageTwo });
      await pages(books).insertOne({ ...page, _id: 'zzz' });
    },
  ],
  ...(
    [
      { chain: 'payouts/1' },
      { chain: 'aaa' },
      { number: 9n },
      { at: 'yesterday' },
      { at: new Date(0) },
      { hash: 'none' },
      { previous: 7n },
      { postings: 'none' },
      { postings: [5n] },
      { accounts: 'none' },
      { accounts: [null] },
    ] as const
  ).map(
    (change): InjectedFault => [
      `a page with another ${JSON.stringify(change, (_key, value: unknown) => (typeof value === 'bigint' ? Number(value) : value))}`,
      'L6',
      pageTwo,
      (books) => changePage(books, pageTwo, change),
    ],
  ),
  [
    'a page of tomorrow',
    'L6',
    pageId(payoutsChain, 5n),
    (books) => postAt(books, Date.now() + TOMORROW_MS, { ...holding, reference: 'po-6' }),
  ],
  [
    'a wallet of another time',
    'L3',
    wallet,
    (books) => wallets(books).updateOne({ _id: wallet }, { $set: { at: new Date() } }),
  ],
];

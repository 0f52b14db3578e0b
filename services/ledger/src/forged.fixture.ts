import type { AuditedLedger } from './audited.fixture.ts';
import { available, float } from './domain/posting.fixture.ts';
import { type InjectedFault, orders, payouts, postNext, unvalidated } from './fault-injection.fixture.ts';

const feeIncome = 'feeIncome:KES';
const refunding = { kind: 'refund', debit: float, credit: available, amount: 1_000n } as const;
const refundingFee = { kind: 'refundFee', debit: feeIncome, credit: available, amount: 10n } as const;
const takingFee = { kind: 'fee', debit: float, credit: feeIncome, amount: 20n } as const;
const costing = { kind: 'railCost', debit: 'railCost:KES', credit: float, amount: 3n } as const;
const funding = { kind: 'fund', debit: 'treasury:KES', credit: available, amount: 100n } as const;

const reverse = (books: AuditedLedger, reference: string) =>
  payouts(books).updateOne({ reference }, { $set: { status: 'REVERSED' } });

const changeOrder = (books: AuditedLedger, _id: string, change: object) =>
  orders(books).updateOne({ _id }, { $set: change }, unvalidated);

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
    'a refunded fee as a posting of its own',
    'L7',
    'po-1/refundFee',
    (books) => postNext(books, { ...refundingFee, reference: 'po-1' }),
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
    'a fee as a posting of its own',
    'L7',
    'co-9/fee',
    (books) => postNext(books, { ...takingFee, reference: 'co-9' }),
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
    'a rail cost as a posting of its own',
    'L7',
    'po-2/railCost',
    (books) => postNext(books, { ...costing, reference: 'po-2' }),
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

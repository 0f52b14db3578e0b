import { systemClock } from '@pesewa/kernel';
import { createLogger } from '@pesewa/runtime';
import { asOperator } from '@pesewa/testkit';
import { describe, expect, it } from 'vitest';
import { createApp } from './app.ts';
import type { PostingDocument } from './documents.ts';
import { anyTarget } from './orders.fixture.ts';

const posting: PostingDocument = {
  _id: 'po-1/hold',
  kind: 'hold',
  entries: [
    {
      kind: 'hold',
      debit: 'wallet:demo:KES:available',
      credit: 'wallet:demo:KES:held',
      amount: 101_050n,
    },
  ],
  currency: 'KES',
  reference: 'po-1',
  causationId: 'ev-1',
  wallet: 'demo:KES',
  walletSequence: 2n,
  at: new Date(0),
};

const refund: PostingDocument = {
  ...posting,
  _id: 'po-2/refund',
  kind: 'refund',
  entries: [
    { kind: 'refund', debit: 'float:upstream:KES', credit: 'wallet:demo:KES:available', amount: 1_000n },
    { kind: 'refundFee', debit: 'feeIncome:KES', credit: 'wallet:demo:KES:available', amount: 10n },
    { kind: 'railCost', debit: 'railCost:KES', credit: 'float:upstream:KES', amount: 5n },
  ],
  reference: 'po-2',
  walletSequence: 6n,
  availableAfter: 6_010n,
  heldAfter: 100n,
};

const shared = [
  { account: 'feeIncome:KES', debits: 1n, credits: 51n },
  { account: 'float:upstream:XOF', debits: 0n, credits: 5n },
  { account: 'railCost:KES', debits: 300n, credits: 0n },
  { account: 'suspense:KES', debits: 50n, credits: 250n },
];

function open() {
  const app = createApp({
    logger: createLogger({ name: 'test', level: 'silent' }),
    store: {
      findWallet: async (key) =>
        key === 'demo:KES'
          ? { merchantId: 'demo', currency: 'KES', available: 10_050n, held: 1n, sequence: 3n }
          : undefined,
      findPostings: async (reference, _after, limit) =>
        [posting, refund].some((one) => one.reference === reference)
          ? [posting, refund].filter((one) => one.reference === reference)
          : reference === 'po-many'
            ? Array.from({ length: limit }, () => ({ ...posting, _id: 'po-many/x' }))
            : [],
      findShared: async (prefix) => shared.filter(({ account }) => account.startsWith(prefix)),
      readAll: async () => ({ wallets: [{ currency: 'KES', available: 200n, held: 50n }], shared }),
    },
    statements: {
      ofWallet: () => Promise.reject(new Error('unused')),
      turnovers: async () => ({ turnovers: [], readAtMs: 0 }),
      ofShared: () => Promise.reject(new Error('unused')),
    },
    clock: systemClock,
    targets: anyTarget,
    commands: {
      propose: () => Promise.reject(new Error('unused')),
      decide: () => Promise.reject(new Error('unused')),
      find: () => Promise.reject(new Error('unused')),
      list: () => Promise.reject(new Error('unused')),
    },
  });
  const get = async (path: string) => {
    const answer = await asOperator(app).request(path);
    return [answer.status, await answer.json()];
  };
  return { get };
}

describe('the operator API', () => {
  it('shows a wallet in decimal text, and says where there is none', async () => {
    const { get } = open();
    const wallet = { merchantId: 'demo', currency: 'KES', available: '100.5', held: '0.01', sequence: 3 };
    expect(await get('/accounts/demo/KES')).toEqual([200, wallet]);
    expect(await get('/accounts/demo/GHS')).toMatchObject([404, { code: 'not_found' }]);
  });

  it('lists the entries of a reference, page by page', async () => {
    const { get } = open();
    expect(await get('/entries?reference=po-1')).toMatchObject([
      200,
      {
        items: [{ id: 'po-1/hold', amount: '1010.5', walletSequence: 2, at: '1970-01-01T00:00:00.000Z' }],
        next: null,
      },
    ]);
    expect(await get('/entries?reference=po-many')).toMatchObject([200, { next: 'po-many/x' }]);
    expect(await get('/entries?reference=po-0')).toEqual([200, { items: [], next: null }]);
  });

  it('shows what the wallet had after each entry of a posting, and nothing after those of our own accounts', async () => {
    const { get } = open();
    const [, { items }] = (await get('/entries?reference=po-2')) as [number, { items: PostingDocument[] }];
    expect(
      items.map(({ walletSequence, availableAfter, heldAfter }) => [
        walletSequence,
        availableAfter,
        heldAfter,
      ]),
    ).toEqual([
      [5, '60', '1'],
      [6, '60.1', '1'],
      [undefined, undefined, undefined],
    ]);
  });

  it('refuses to list entries without a reference or with the cursor of another', async () => {
    const { get } = open();
    expect(await get('/entries')).toMatchObject([400, { code: 'invalid' }]);
    expect(await get('/entries?reference=po-1&cursor=po-2/hold')).toMatchObject([400, { code: 'invalid' }]);
  });

  it('lists the floats, signed and in the digits of their currency', async () => {
    const { get } = open();
    const items = [{ rail: 'upstream', currency: 'XOF', balance: '-5' }];
    expect(await get('/floats')).toEqual([200, { items, next: null }]);
  });

  it('lists the shared accounts, each on its usual side', async () => {
    const { get } = open();
    const items = [
      { account: 'feeIncome:KES', currency: 'KES', balance: '0.5' },
      { account: 'float:upstream:XOF', currency: 'XOF', balance: '-5' },
      { account: 'railCost:KES', currency: 'KES', balance: '3' },
      { account: 'suspense:KES', currency: 'KES', balance: '2' },
    ];
    expect(await get('/accounts')).toEqual([200, { items, next: null }]);
  });
});

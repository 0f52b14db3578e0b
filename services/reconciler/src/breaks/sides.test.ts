import { expect, it } from 'vitest';
import { observe } from '../domain/observing.ts';
import { awaited, type Tracked } from '../domain/tracked.ts';
import { readSides, type SideSources } from './sides.ts';

const terms = {
  kind: 'payout',
  rail: 'upstream',
  merchantId: 'demo',
  currency: 'KES',
  country: 'KEN',
  amount: 10_000n,
  railFee: 50n,
} as const;
const ended: Tracked = { ...awaited('po-1', 0), terms, status: 'completed', charged: 50n };
const found = (field: 'amount' | 'fee' | 'status', amount: bigint | null) =>
  observe(
    {
      field,
      observer: 'statement',
      kind: 'statement.differs',
      reference: 'po-1',
      rail: 'upstream',
      currency: 'KES',
      amount,
      detail: 'it differs',
      at: new Date(0),
    },
    undefined,
  );
const row = { railReference: 'MP2', status: 'failed', amount: 11_250n, currency: 'KES' };
const asked: unknown[] = [];

/** What is stored of the payment, the wallet and the statement. */
const sources = (tracked: Tracked | undefined) =>
  ({
    store: { load: async () => new Map(tracked ? [['po-1', tracked]] : []) },
    wallets: {
      wallets: async () => [
        { _id: 'upstream:KES', currency: 'KES', latest: { float: 10_000n, railBalance: 8_750n } },
      ],
    },
    statementStore: {
      records: {
        find: (filter: unknown) => {
          asked.push(filter);
          const cursor = { sort: () => cursor, limit: () => cursor, toArray: async () => [record] };
          return cursor;
        },
      },
    },
  }) as unknown as SideSources;
const words = { otherReference: 'INV-7', statusWord: 'Échec' };
const record = { run: 'st-1', line: 17, row: { ...row, reference: null, ...words } };
const lines = [{ statement: 'st-1', line: 17, receipt: 'MP2', reference: 'INV-7', statusWord: 'Échec' }];

it.each([
  ['amount', 1_250n, { ours: '100', theirs: '112.5', lines, floatChange: '-12.5', waitsFor: null }],
  ['fee', -10n, { ours: '0.5', theirs: '0.4', lines, floatChange: '0.1', waitsFor: null }],
  ['status', null, { ours: 'completed', theirs: 'failed', lines, floatChange: null, waitsFor: null }],
] as const)(
  'a difference of %s has both sides, its lines and what it moves',
  async (field, amount, sides) => {
    expect(await readSides(sources(ended), found(field, amount))).toEqual(sides);
    expect(asked.at(-1)).toEqual({ breaks: `po-1/${field}` });
  },
);

it("the rail's amount of a reversal is what its line has", async () => {
  const { observations, ...one } = found('amount', 1_000n);
  const ofReversal = {
    ...one,
    observations: observations.map((said) => ({ ...said, ofReversal: true as const })),
  };
  expect(await readSides(sources({ ...ended, status: 'reversed' }), ofReversal)).toMatchObject({
    ours: '100',
    theirs: '90',
    floatChange: '-10',
  });
});

it('nothing is booked for a payment that is open, or that nobody knows', async () => {
  const open: Tracked = { ...ended, status: 'open' };
  expect(await readSides(sources(open), found('amount', 5n))).toMatchObject({
    floatChange: null,
    waitsFor: 'end',
  });
  expect(await readSides(sources(undefined), found('amount', 5n))).toMatchObject({
    ours: null,
    theirs: null,
  });
});

it('a drift has our float and the balance at the rail', async () => {
  const drift = { ...found('amount', -1_250n), field: 'balance', reference: 'upstream:KES' } as const;
  expect(await readSides(sources(undefined), drift)).toEqual({
    ours: '100',
    theirs: '87.5',
    lines: [],
    floatChange: '-12.5',
    waitsFor: null,
  });
});

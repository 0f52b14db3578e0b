import { describe, expect, it } from 'vitest';
import type { EntryKind, Snapshot } from './books.ts';
import type { FloatOrder, WalletOrder } from './instructions.ts';
import {
  available,
  brief,
  entriesIn,
  float,
  fund,
  fundFloat,
  given,
  ofNoBreak,
  policy,
} from './posting.fixture.ts';
import { foldInstructions } from './posting.ts';

const withdraw = { ...fund, kind: 'withdraw' } as const;
const withdrawFloat = { ...fundFloat, kind: 'withdrawFloat' } as const;
const credit = { ...fund, kind: 'adjust', direction: 'credit', ...ofNoBreak } as const;
const debit = { ...credit, direction: 'debit' } as const;
const surplus = { ...fundFloat, kind: 'suspense', direction: 'surplus', ...ofNoBreak } as const;
const shortage = { ...surplus, direction: 'shortage' } as const;

const treasury = 'treasury:KES';
const suspense = 'suspense:KES';
const FULL = 9_007_199_254_740_991n;

interface Line {
  readonly name: string;
  readonly given: Snapshot;
  readonly when: WalletOrder | FloatOrder;
  readonly entry?: readonly [EntryKind, string, string, bigint];
  /** The published fields in addition to the order's own id, currency and amount. */
  readonly published: Readonly<Record<string, unknown>>;
  /** Available, held and sequence afterwards; absent if the wallet stays unchanged. */
  readonly wallet?: readonly [bigint, bigint, bigint];
}

const table: readonly Line[] = [
  {
    name: 'funds a wallet from the treasury',
    given: given(1n, 5n),
    when: fund,
    entry: ['fund', treasury, available, 700n],
    published: { kind: 'walletFunded', merchantId: 'demo', sequence: 8n },
    wallet: [701n, 5n, 8n],
  },
  {
    name: 'funds a wallet up to the most that it can hold',
    given: given(FULL - 705n, 5n),
    when: fund,
    entry: ['fund', treasury, available, 700n],
    published: { kind: 'walletFunded', merchantId: 'demo', sequence: 8n },
    wallet: [FULL - 5n, 5n, 8n],
  },
  {
    name: 'refuses to fund a wallet with more than it can hold',
    given: given(FULL, 0n),
    when: fund,
    published: {
      kind: 'commandRefused',
      owner: 'demo',
      order: 'fund',
      reason: 'The wallet would hold too much',
      sequence: 7n,
    },
  },
  {
    name: 'refuses to fund a wallet that could not take back what is held',
    given: given(FULL - 704n, 5n),
    when: fund,
    published: {
      kind: 'commandRefused',
      owner: 'demo',
      order: 'fund',
      reason: 'The wallet would hold too much',
      sequence: 7n,
    },
  },
  {
    name: 'withdraws all that is available, and nothing of what is held',
    given: given(700n, 5n),
    when: withdraw,
    entry: ['withdraw', available, treasury, 700n],
    published: { kind: 'walletWithdrawn', merchantId: 'demo', sequence: 8n },
    wallet: [0n, 5n, 8n],
  },
  {
    name: 'refuses a withdrawal that is one unit short, whatever is held',
    given: given(699n, 5_000n),
    when: withdraw,
    published: {
      kind: 'commandRefused',
      owner: 'demo',
      order: 'withdraw',
      reason: 'Insufficient funds',
      sequence: 7n,
    },
  },
  {
    name: 'refuses a withdrawal from a wallet that nothing has touched',
    given: { wallets: new Map(), holds: new Map(), postings: new Map() },
    when: withdraw,
    published: {
      kind: 'commandRefused',
      owner: 'demo',
      order: 'withdraw',
      reason: 'Insufficient funds',
      sequence: 0n,
    },
  },
  {
    name: 'corrects a wallet upwards, against suspense',
    given: given(1n, 0n),
    when: credit,
    entry: ['adjust', suspense, available, 700n],
    published: { kind: 'walletAdjusted', merchantId: 'demo', direction: 'credit', sequence: 8n },
    wallet: [701n, 0n, 8n],
  },
  {
    name: 'corrects a wallet downwards, against suspense',
    given: given(701n, 0n),
    when: debit,
    entry: ['adjust', available, suspense, 700n],
    published: { kind: 'walletAdjusted', merchantId: 'demo', direction: 'debit', sequence: 8n },
    wallet: [1n, 0n, 8n],
  },
  {
    name: 'refuses to correct a wallet below zero',
    given: given(699n, 0n),
    when: debit,
    published: {
      kind: 'commandRefused',
      owner: 'demo',
      order: 'adjust',
      reason: 'Insufficient funds',
      sequence: 7n,
    },
  },
  {
    name: 'refuses to correct a wallet to more than it can hold',
    given: given(FULL - 699n, 0n),
    when: credit,
    published: {
      kind: 'commandRefused',
      owner: 'demo',
      order: 'adjust',
      reason: 'The wallet would hold too much',
      sequence: 7n,
    },
  },
  {
    name: 'funds a float from the treasury',
    given: given(1n, 0n),
    when: fundFloat,
    entry: ['fundFloat', float, treasury, 700n],
    published: { kind: 'floatFunded', rail: 'upstream', sequence: 0n },
  },
  {
    name: 'withdraws a float to the treasury',
    given: given(1n, 0n),
    when: withdrawFloat,
    entry: ['withdrawFloat', treasury, float, 700n],
    published: { kind: 'floatWithdrawn', rail: 'upstream', sequence: 0n },
  },
  {
    name: 'books a surplus of the rail to suspense',
    given: given(1n, 0n),
    when: surplus,
    entry: ['suspense', float, suspense, 700n],
    published: { kind: 'suspenseBooked', rail: 'upstream', direction: 'surplus', sequence: 0n },
  },
  {
    name: 'books a shortage of the rail from suspense',
    given: given(1n, 0n),
    when: shortage,
    entry: ['suspense', suspense, float, 700n],
    published: { kind: 'suspenseBooked', rail: 'upstream', direction: 'shortage', sequence: 0n },
  },
];

describe('an order', () => {
  it.each(table)('$name', ({ given: snapshot, when, entry, published, wallet }) => {
    const folded = foldInstructions(snapshot, [when], policy);
    const domainEvent = {
      causationId: 'cm-1',
      commandId: 'cm-1',
      currency: 'KES',
      amount: 700n,
      ...published,
      ...('direction' in published && ofNoBreak),
    };
    expect(folded.outcomes).toEqual([{ kind: 'posted', domainEvent }]);
    expect(
      entriesIn(folded).map(({ kind, debit: from, credit: to, amount }) => [kind, from, to, amount]),
    ).toEqual(entry ? [entry] : []);
    expect(folded.postings.map(({ id }) => id)).toEqual(entry ? [`cm-1/${when.kind}`] : []);
    expect(folded.refusals.map(({ id, reason }) => [id, reason])).toEqual(
      entry ? [] : [[`cm-1/${when.kind}`, published['reason']]],
    );
    const after = folded.wallets.get('demo:KES')?.after;
    expect(after && [after.available, after.held, after.sequence]).toEqual(wallet);
  });

  it.each(table)('$name: once, whether it comes again in the batch or later', ({ given: snapshot, when }) => {
    const again = foldInstructions(snapshot, [when, when], policy);
    expect(again.outcomes.map(brief)[1]).toBe('alreadyApplied');
    expect([...again.postings, ...again.refusals]).toHaveLength(1);
    const postings = new Map([[`cm-1/${when.kind}`, { entries: [] }]]);
    const rich = { ...given(5_000n, 0n), postings };
    const later = foldInstructions(rich, [when], policy);
    expect(later.outcomes.map(brief)).toEqual(['alreadyApplied']);
    expect([...later.postings, ...later.refusals]).toEqual([]);
  });

  it.each([
    ['amount out of range', { ...withdraw, amount: 0n }],
    ['amount out of range', { ...debit, amount: -1n }],
    ['amount out of range', { ...withdrawFloat, amount: FULL + 1n }],
    ['amount out of range', { ...shortage, amount: 0n }],
    ['not a currency', { ...fund, currency: 'ABC' }],
  ] as const)('is parked where it makes no sense: %s', (reason, when) => {
    const folded = foldInstructions(given(5_000n, 0n), [when], policy);
    expect(folded.outcomes.map(brief)).toEqual([`parked: ${reason}`]);
    expect([...folded.postings, ...folded.refusals]).toEqual([]);
  });

  it('is judged by what the earlier ones of its batch left, and one that is refused takes no other with it', () => {
    const orders = ['cm-1', 'cm-2', 'cm-3'].map((reference) => ({ ...withdraw, reference }));
    const last = { ...orders[2], amount: 300n } as typeof withdraw;
    const folded = foldInstructions(given(1_000n, 0n), [...orders.slice(0, 2), last], policy);
    expect(folded.outcomes.map(brief)).toEqual(['walletWithdrawn', 'commandRefused', 'walletWithdrawn']);
    expect(folded.wallets.get('demo:KES')?.after).toMatchObject({ available: 0n, sequence: 9n });
    expect(folded.postings.map(({ availableAfter }) => availableAfter)).toEqual([300n, 0n]);
  });
});

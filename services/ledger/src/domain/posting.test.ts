import { MINOR_UNITS_MAX } from '@pesewa/kernel';
import { describe, expect, it } from 'vitest';
import type { EntryKind, Snapshot } from './books.ts';
import type { Instruction } from './instructions.ts';
import {
  available,
  brief,
  capture,
  collect,
  entriesIn,
  float,
  given,
  held,
  hold,
  policy,
  refund,
  release,
} from './posting.fixture.ts';
import { foldInstructions } from './posting.ts';

interface Line {
  readonly name: string;
  readonly given: Snapshot;
  readonly when: Instruction;
  readonly outcome: string;
  readonly entries: readonly (readonly [EntryKind, string, string, bigint])[];
  /** Available, held and sequence afterwards; absent if the wallet stays unchanged. */
  readonly wallet?: readonly [bigint, bigint, bigint];
}

const [credited = { entries: [] }] = foldInstructions(given(0n, 0n), [collect], policy).postings;

const table: readonly Line[] = [
  {
    name: 'holds amount and fee',
    given: given(1_010n, 0n),
    when: hold,
    outcome: 'holdPlaced',
    entries: [['hold', available, held, 1_010n]],
    wallet: [0n, 1_010n, 8n],
  },
  {
    name: 'refuses a hold one unit short',
    given: given(1_009n, 0n),
    when: hold,
    outcome: 'holdRefused',
    entries: [],
  },
  {
    name: 'holds once',
    given: given(5_000n, 1_010n, 'open'),
    when: hold,
    outcome: 'alreadyApplied',
    entries: [],
  },
  {
    name: 'does not reconsider a refused hold',
    given: given(5_000n, 0n, 'refused'),
    when: hold,
    outcome: 'alreadyApplied',
    entries: [],
  },
  {
    name: 'captures with fee and rail cost',
    given: given(0n, 1_010n, 'open'),
    when: capture,
    outcome: 'holdCaptured',
    entries: [
      ['capture', held, float, 1_000n],
      ['fee', held, 'feeIncome:KES', 10n],
      ['railCost', 'railCost:KES', float, 5n],
    ],
    wallet: [0n, 0n, 9n],
  },
  {
    name: 'captures once',
    given: given(0n, 0n, 'captured'),
    when: capture,
    outcome: 'alreadyApplied',
    entries: [],
  },
  {
    name: 'captures nothing of a refund',
    given: given(0n, 0n, 'refunded'),
    when: capture,
    outcome: 'alreadyApplied',
    entries: [],
  },
  {
    name: 'parks a capture without a hold',
    given: given(0n, 0n),
    when: capture,
    outcome: 'parked: completed without a hold',
    entries: [],
  },
  {
    name: 'parks a capture of a released hold',
    given: given(0n, 0n, 'released'),
    when: capture,
    outcome: 'parked: completed, but its hold is released',
    entries: [],
  },
  {
    name: 'parks a capture of other money',
    given: given(0n, 1_010n, 'open'),
    when: { ...capture, amount: 999n },
    outcome: 'parked: completed with other money than was held',
    entries: [],
  },
  {
    name: 'releases what was held',
    given: given(5n, 1_010n, 'open'),
    when: release,
    outcome: 'holdReleased',
    entries: [['release', held, available, 1_010n]],
    wallet: [1_015n, 0n, 8n],
  },
  {
    name: 'releases nothing of a refused hold',
    given: given(5n, 0n, 'refused'),
    when: release,
    outcome: 'noEffect',
    entries: [],
  },
  {
    name: 'releases nothing where nothing was held',
    given: given(5n, 0n),
    when: release,
    outcome: 'noEffect',
    entries: [],
  },
  {
    name: 'releases once',
    given: given(5n, 0n, 'released'),
    when: release,
    outcome: 'alreadyApplied',
    entries: [],
  },
  {
    name: 'parks a release of captured money',
    given: given(5n, 0n, 'captured'),
    when: release,
    outcome: 'parked: failed, but its hold is captured',
    entries: [],
  },
  {
    name: 'refunds the amount and keeps the fee',
    given: given(0n, 0n, 'captured'),
    when: refund,
    outcome: 'payoutRefunded',
    entries: [['refund', float, available, 1_000n]],
    wallet: [1_000n, 0n, 8n],
  },
  {
    name: 'refunds once',
    given: given(0n, 0n, 'refunded'),
    when: refund,
    outcome: 'alreadyApplied',
    entries: [],
  },
  {
    name: 'parks a refund of what was not captured',
    given: given(0n, 1_010n, 'open'),
    when: refund,
    outcome: 'parked: reversed, but its hold is open',
    entries: [],
  },
  ...(
    [
      ['captured', capture, 'completed with other money than was held'],
      ['refunded', capture, 'completed with other money than was held'],
      ['released', release, 'failed with other money than was held'],
      ['refunded', refund, 'reversed with other money than was captured'],
    ] as const
  ).map(([status, first, reason]) => ({
    name: `parks a second ${first.kind} of other money than what is ${status}`,
    given: given(5n, 0n, status),
    when: { ...first, amount: 999n },
    outcome: `parked: ${reason}`,
    entries: [],
  })),
  {
    name: 'credits a collection less the fee',
    given: given(1n, 0n),
    when: collect,
    outcome: 'collectionCredited',
    entries: [
      ['collect', float, available, 480n],
      ['fee', float, 'feeIncome:KES', 20n],
      ['railCost', 'railCost:KES', float, 3n],
    ],
    wallet: [481n, 0n, 8n],
  },
  {
    name: 'credits a collection once',
    given: { ...given(1n, 0n), postings: new Map([['co-1/collect', credited]]) },
    when: collect,
    outcome: 'alreadyApplied',
    entries: [],
  },
  ...Object.entries({
    amount: { ...collect, received: 400n },
    'fee that takes all': { ...collect, fee: 500n },
    'fee of nothing': { ...collect, fee: 0n },
    wallet: { ...collect, merchantId: 'rival' },
    rail: { ...collect, rail: 'bank' },
  }).map(([what, when]) => ({
    name: `parks a credit that contradicts the first: another ${what}`,
    given: { ...given(1n, 0n), postings: new Map([['co-1/collect', credited]]) },
    when,
    outcome: 'parked: credited before with other money',
    entries: [],
  })),
  {
    name: 'posts the fee alone where it takes all',
    given: given(1n, 0n),
    when: { ...collect, fee: 500n, railFee: 0n },
    outcome: 'collectionCredited',
    entries: [['fee', float, 'feeIncome:KES', 500n]],
  },
  {
    name: 'parks a fee above the amount',
    given: given(1n, 0n),
    when: { ...collect, fee: 501n },
    outcome: 'parked: the fee exceeds the amount received',
    entries: [],
  },
  ...[
    { ...hold, amount: 0n },
    { ...hold, fee: -1n },
    { ...collect, received: 0n, fee: 0n },
    { ...collect, fee: -1n },
    { ...collect, railFee: -1n },
  ].map((when) => ({
    name: `parks a ${when.kind} of money that can't move`,
    given: given(5_000n, 0n),
    when,
    outcome: 'parked: amount or fee out of range',
    entries: [],
  })),
  {
    name: 'parks a credit that the wallet has no room for beside what it holds',
    given: given(MINOR_UNITS_MAX - 480n, 1n),
    when: collect,
    outcome: 'parked: the wallet would hold too much',
    entries: [],
  },
];

describe('foldInstructions', () => {
  it.each(table)('$name', ({ given: snapshot, when, outcome, entries, wallet }) => {
    const folded = foldInstructions(snapshot, [when], policy);
    expect(folded.outcomes.map(brief)).toEqual([outcome]);
    expect(entriesIn(folded).map(({ kind, debit, credit, amount }) => [kind, debit, credit, amount])).toEqual(
      entries,
    );
    const ids = entries.length > 0 ? [`${when.reference}/${when.kind}`] : [];
    expect(folded.postings.map(({ id }) => id)).toEqual(ids);
    const after = folded.wallets.get('demo:KES')?.after;
    expect(after && [after.available, after.held, after.sequence]).toEqual(wallet);
  });
});

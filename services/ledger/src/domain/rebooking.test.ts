import { MINOR_UNITS_MAX } from '@pesewa/kernel';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decidedEventOf, eventOf, orderOf, REASON_LOST } from '../events.ts';
import { published } from '../forward.fixture.ts';
import { anyScenario } from '../scenarios.fixture.ts';
import type { Snapshot } from './books.ts';
import type { Instruction } from './instructions.ts';
import { type AnsweredInstruction, hasAllFields, type ParsedEvent, readOwnEvent } from './own-events.ts';
import { given } from './posting.fixture.ts';
import { foldInstructions } from './posting.ts';
import { rebookPostings, rebookRefusals } from './rebooking.ts';

const SEED = 45;
const nothing: Snapshot = { wallets: new Map(), holds: new Map(), postings: new Map() };
const at = new Date(1_000);

type DecidedOrder = Parameters<typeof decidedEventOf>[0];
const money = { commandId: 'cm-1', currency: 'KES', amount: 700n } as const;
const decision = { requestedBy: 'ama', at, decidedBy: 'kofi', decidedAt: new Date(2_000) } as const;

const isOf =
  <Kind extends ParsedEvent['kind']>(kind: Kind) =>
  (news: ParsedEvent): news is Extract<ParsedEvent, { readonly kind: Kind }> =>
    news.kind === kind;

it('published events are enough to book again what was booked, and to refuse again what was refused', () => {
  const kinds = new Set<string>();
  fc.assert(
    fc.property(anyScenario, fc.boolean(), (scenario, refundFee) => {
      const { outcomes, ...folded } = foldInstructions(nothing, scenario, { refundFee });
      const answered = outcomes.flatMap((outcome) =>
        outcome.kind === 'posted' ? [readOwnEvent(published(eventOf(outcome.domainEvent, at)))] : [],
      );
      const postings = answered.filter(isOf('posting'));
      const repeated = rebookPostings(nothing, postings);
      expect(repeated.differing).toEqual([]);
      expect(new Set(repeated.shifts.values())).toEqual(new Set(repeated.shifts.size > 0 ? [0n] : []));
      const { postings: booked, wallets, accountDeltas } = repeated.folded;
      expect({ booked, wallets, accountDeltas }).toEqual({
        booked: folded.postings,
        wallets: folded.wallets,
        accountDeltas: folded.accountDeltas,
      });
      const refused = rebookRefusals(nothing, answered.filter(isOf('refusal')));
      expect(refused.refusals).toEqual(folded.refusals);
      const known = new Map(folded.refusals.map(({ id }) => [id, { entries: [] }]));
      const again = rebookRefusals({ ...nothing, postings: known }, answered.filter(isOf('refusal')));
      expect(again.refusals).toEqual([]);
      for (const { event } of answered.filter(
        (one) => isOf('posting')(one) || isOf('refusal')(one),
      ) as AnsweredInstruction[])
        kinds.add(event.type);
    }),
    { seed: SEED, numRuns: 100 },
  );
  expect(kinds.size).toBe(13);
});

it('a refused order of each kind is refused again', () => {
  const full = given(MINOR_UNITS_MAX, 0n);
  const empty = given(0n, 0n);
  const payload = { ...money, causationId: 'cm-1', reference: 'cm-1', merchantId: 'demo' } as const;
  for (const [kind, snapshot] of [
    ['fund', full],
    ['withdraw', empty],
    ['adjust', empty],
  ] as const) {
    const order = {
      ...payload,
      kind,
      ...(kind === 'adjust' && { direction: 'debit' as const }),
    } as Instruction;
    const { outcomes, refusals } = foldInstructions(snapshot, [order], { refundFee: false });
    const answered = outcomes.flatMap((outcome) =>
      outcome.kind === 'posted' ? [readOwnEvent(published(eventOf(outcome.domainEvent, at)))] : [],
    );
    expect(refusals).toHaveLength(1);
    expect(rebookRefusals(snapshot, answered.filter(isOf('refusal'))).refusals).toEqual(refusals);
  }
});

it.each<DecidedOrder>([
  { kind: 'fund', target: 'demo', ...money, ...decision, status: 'approved', reason: REASON_LOST },
  {
    kind: 'suspense',
    target: 'upstream',
    direction: 'shortage',
    breakId: 'upstream:KES/balance',
    ...money,
    ...decision,
    status: 'rejected',
    reason: REASON_LOST,
    decisionReason: REASON_LOST,
  },
])('the published decision about an order is enough to decide it again: $status', (order) => {
  const event = published(decidedEventOf(order));
  const read = readOwnEvent(event);
  expect(hasAllFields(event)).toBe(true);
  expect(read.kind === 'order' && orderOf(read.decided)).toEqual(order);
});

import { describe, expect, it } from 'vitest';
import { orderOf } from '../fixtures/orders.ts';
import { collectionDecider } from './collection.ts';
import type { CollectionRequest } from './initiation.ts';
import { type CollectionCommand, type CollectionFact, type CollectionState, initiated } from './state.ts';

const START_MS = 1_000_000;
const GRACE_MS = 30_000;
const feeSchedule = { fixedMinor: 0n, basisPoints: 150n, minimumMinor: 20n };
const otp = { kind: 'otp', otpLength: 6 } as const;

const fresh = (flow: CollectionRequest['flow'] = otp) =>
  initiated({ order: orderOf(flow), fee: 150n, feeSchedule, railFee: 100n }, START_MS);

/** The state after commands, all of which must be accepted. */
function given(commands: readonly CollectionCommand[], flow?: CollectionRequest['flow']): CollectionState {
  return commands.reduce((state, command) => {
    const decision = collectionDecider.decide(command, state);
    if (!decision.ok) throw new Error(`refused: ${decision.refusal}`);
    return decision.value.reduce(collectionDecider.evolve, state);
  }, fresh(flow));
}

const recorded = (outcome: 'acknowledged' | 'unknown'): CollectionCommand => ({
  kind: 'recordInitiation',
  attempt: 1,
  outcome: { kind: outcome },
});
const observe = (fact: Partial<CollectionFact>): CollectionCommand => ({
  kind: 'observe',
  resubmitGraceMs: GRACE_MS,
  fact: { status: 'completed', amount: null, fee: null, reason: 'EXPIRED', polledAtMs: START_MS, ...fact },
});
const afterGrace = { status: 'notFound', polledAtMs: START_MS + GRACE_MS } as const;
const refused = (refusal: string) => ({ ok: false, refusal });

describe('initiation', () => {
  it.each([
    [otp, 'awaitingOtp'],
    [{ kind: 'stkThenComplete' } as const, 'awaitingCompletion'],
    [{ kind: 'stk' } as const, 'awaitingCustomer'],
    [{ kind: 'link' } as const, 'awaitingCustomer'],
  ])('accepted, by flow %o, leads to %s', (flow, step) => {
    expect(given([recorded('acknowledged')], flow)).toMatchObject({ status: 'PENDING', step, version: 2n });
  });

  it('that is unclear fails nothing', () => {
    expect(given([recorded('unknown')])).toMatchObject({ status: 'PENDING', step: 'unknown' });
  });

  it('that was not sent is due again', () => {
    const command: CollectionCommand = {
      kind: 'recordInitiation',
      attempt: 1,
      outcome: { kind: 'notSent', retryAtMs: START_MS + 5 },
    };
    expect(given([command])).toMatchObject({ step: 'queued', dueAtMs: START_MS + 5, attempts: 1 });
  });

  it('by link that was certainly never sent fails: its link can’t reach the customer', () => {
    const command: CollectionCommand = {
      kind: 'recordInitiation',
      attempt: 1,
      outcome: { kind: 'notSent', retryAtMs: START_MS + 5 },
    };
    const link = { kind: 'link' } as const;
    expect(given([command], link)).toMatchObject({
      status: 'FAILED',
      failureReason: 'OPERATOR NOT AVAILABLE',
    });
    const unclear = { ...fresh(link), earlierUnclear: true };
    const decision = collectionDecider.decide(command, unclear);
    expect(decision).toMatchObject({ ok: true, value: [{ kind: 'requeued' }] });
  });

  it.each([
    [1, false, { status: 'FAILED', step: 'ended', failureReason: 'NO ACCOUNT' }],
    [2, false, { status: 'FAILED', step: 'ended', failureReason: 'NO ACCOUNT' }],
    [2, true, { status: 'PENDING', step: 'unknown', failureReason: null }],
  ])(
    'refused at attempt %i, an earlier one unclear: %s, leads to %o (P12)',
    (attempt, earlierUnclear, state) => {
      const command: CollectionCommand = {
        kind: 'recordInitiation',
        attempt,
        outcome: { kind: 'failed', reason: 'NO ACCOUNT' },
      };
      const before = { ...fresh(), attempts: attempt, earlierUnclear };
      const decision = collectionDecider.decide(command, before);
      if (!decision.ok) throw new Error(`refused: ${decision.refusal}`);
      expect(decision.value.reduce(collectionDecider.evolve, before)).toMatchObject(state);
    },
  );

  it('of an older attempt changes nothing', () => {
    const command: CollectionCommand = {
      kind: 'recordInitiation',
      attempt: 1,
      outcome: { kind: 'failed', reason: 'X' },
    };
    expect(collectionDecider.decide(command, { ...fresh(), attempts: 2 })).toEqual(
      refused('collection.stale_attempt'),
    );
  });
});

describe('facts', () => {
  it('complete with the scheduled rail fee if the rail reports none', () => {
    expect(given([observe({})])).toMatchObject({
      status: 'COMPLETED',
      step: 'ended',
      amountReceived: 10_000n,
      fee: 150n,
      railFee: 100n,
    });
  });

  it('complete with the rail’s own fee if it reports one', () => {
    expect(given([observe({ amount: 10_000n, fee: 77n })])).toMatchObject({
      status: 'COMPLETED',
      railFee: 77n,
    });
  });

  it('with another amount change nothing', () => {
    expect(collectionDecider.decide(observe({ amount: 9_999n }), fresh())).toEqual(
      refused('collection.amount_differs'),
    );
  });

  it('fail with their reason', () => {
    expect(given([observe({ status: 'failed' })])).toMatchObject({
      status: 'FAILED',
      failureReason: 'EXPIRED',
    });
  });

  it('with another amount after the end are a contradiction', () => {
    const completed = given([observe({})]);
    expect(collectionDecider.decide(observe({ amount: 10_000n }), completed)).toEqual(
      refused('collection.already_there'),
    );
    expect(collectionDecider.decide(observe({ amount: 9_999n }), completed)).toEqual(
      refused('collection.contradiction'),
    );
  });

  it.each([
    ['completed', 'failed', 'collection.contradiction'],
    ['completed', 'reversed', 'collection.contradiction'],
    ['completed', 'completed', 'collection.already_there'],
    ['failed', 'completed', 'collection.contradiction'],
  ] as const)('after the end (%s, then %s) change nothing', (first, second, refusal) => {
    expect(
      collectionDecider.decide(observe({ status: second }), given([observe({ status: first })])),
    ).toEqual(refused(refusal));
  });

  it.each([
    ['initiating', []],
    ['unknown', [recorded('unknown')]],
  ] as const)('of "not found" requeue one that is %s, a grace time after its attempt', (_step, commands) => {
    expect(given([...commands, observe(afterGrace)])).toMatchObject({
      step: 'queued',
      dueAtMs: afterGrace.polledAtMs,
    });
  });

  it('of "not found" within the grace time change nothing', () => {
    const early = observe({ status: 'notFound', polledAtMs: START_MS + GRACE_MS - 1 });
    expect(collectionDecider.decide(early, fresh())).toEqual(refused('collection.grace_not_over'));
  });

  it('of "not found" end one that is not sent any more as EXPIRED, where no attempt ever was unclear', () => {
    const never = { ...fresh(), step: 'abandoned' } as const;
    const fact = observe({ status: 'notFound' });
    expect(collectionDecider.decide(fact, never)).toEqual({
      ok: true,
      value: [{ kind: 'failed', reason: 'EXPIRED' }],
    });
    expect(collectionDecider.decide(fact, { ...never, earlierUnclear: true })).toEqual(
      refused('collection.contradiction'),
    );
  });

  it('of "not found" against an accepted one are a contradiction', () => {
    const awaiting = given([recorded('acknowledged')]);
    expect(collectionDecider.decide(observe(afterGrace), awaiting)).toEqual(
      refused('collection.contradiction'),
    );
  });
});

describe('a decided amount', () => {
  const decide = (amount: bigint, currency = 'GMD'): CollectionCommand => ({
    kind: 'decideAmount',
    decided: { amount, currency, railFee: 7n },
  });

  it.each([
    ['by its schedule', 9_000n, 135n],
    ['above what was asked', 20_000n, 300n],
    ['by the minimum', 1_000n, 20n],
    ['never more than was received', 19n, 19n],
  ])('completes a pending collection, the fee %s', (_name, amount, fee) => {
    expect(given([recorded('acknowledged'), decide(amount)])).toMatchObject({
      status: 'COMPLETED',
      step: 'ended',
      amountReceived: amount,
      fee,
      railFee: 7n,
    });
  });

  it.each([
    ['the same', [decide(9_000n)], decide(9_000n), 'collection.already_there'],
    ['another', [decide(9_000n)], decide(8_999n), 'collection.contradiction'],
    ['what was asked, too', [observe({})], decide(10_000n), 'collection.already_there'],
    ['of one that failed', [observe({ status: 'failed' })], decide(9_000n), 'collection.contradiction'],
    ['in another currency', [], decide(9_000n, 'GHS'), 'collection.currency_differs'],
  ] as const)('after the end changes nothing: %s', (_name, before, command, refusal) => {
    expect(collectionDecider.decide(command, given(before))).toEqual(refused(refusal));
  });
});

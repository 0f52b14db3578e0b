import { describe, expect, it } from 'vitest';
import {
  type CollectionCommand,
  type CollectionFact,
  type CollectionState,
  collectionDecider,
  initiated,
  OTP_ATTEMPTS_MAX,
  OTP_WINDOW_MS,
} from './collection.ts';
import type { CollectionOrder } from './initiation.ts';

const START_MS = 1_000_000;
const GRACE_MS = 30_000;
const otp = { kind: 'otp', otpLength: 6 } as const;

function order(flow: CollectionOrder['flow']): CollectionOrder {
  return {
    merchantReference: 'order-1',
    country: 'GM',
    operatorCode: 'GMQMO',
    transactionType: undefined,
    customerNumber: '2203001234',
    customerName: undefined,
    customerEmail: undefined,
    description: undefined,
    successUrl: undefined,
    errorUrl: undefined,
    cancelUrl: undefined,
    webhookUrl: undefined,
    amount: { minor: 10_000n, currency: 'GMD' },
    flow,
  };
}

const fresh = (flow: CollectionOrder['flow'] = otp) =>
  initiated({ order: order(flow), railFee: 100n, nowMs: START_MS });

/** The state after commands that must all be accepted. */
function given(commands: readonly CollectionCommand[], flow?: CollectionOrder['flow']): CollectionState {
  return commands.reduce((state, command) => {
    const decision = collectionDecider.decide(command, state);
    if (!decision.ok) throw new Error(`refused: ${decision.refusal}`);
    return decision.value.reduce(collectionDecider.evolve, state);
  }, fresh(flow));
}

const recorded = (outcome: 'accepted' | 'unknown'): CollectionCommand => ({
  kind: 'recordInitiation',
  attempt: 1,
  outcome: { kind: outcome },
});
const request: CollectionCommand = { kind: 'requestCompletion', nowMs: START_MS };
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
    expect(given([recorded('accepted')], flow)).toMatchObject({ status: 'PENDING', step, version: 2n });
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

describe('completion', () => {
  it('is passed on three times at most', () => {
    const tried = given([recorded('accepted'), ...Array.from({ length: OTP_ATTEMPTS_MAX }, () => request)]);
    expect(tried.completionAttempts).toBe(3);
    expect(collectionDecider.decide(request, tried)).toEqual(refused('collection.otp_attempts_exceeded'));
  });

  it('gives a try back that was not sent', () => {
    const tried = given([recorded('accepted'), request, { kind: 'recordCompletion', outcome: 'notSent' }]);
    expect(tried.completionAttempts).toBe(0);
  });

  it.each([
    [0, true],
    [1, false],
  ])('%i ms after five minutes is passed on: %s', (lateMs, passed) => {
    const late: CollectionCommand = { kind: 'requestCompletion', nowMs: START_MS + OTP_WINDOW_MS + lateMs };
    expect(collectionDecider.decide(late, given([recorded('accepted')])).ok).toBe(passed);
  });

  it('goes on where the initiation was unclear, since the customer may have an OTP', () => {
    expect(collectionDecider.decide(request, given([recorded('unknown')])).ok).toBe(true);
  });

  it('is not passed on again once the rail accepted one', () => {
    const completing = given([
      recorded('accepted'),
      request,
      { kind: 'recordCompletion', outcome: 'accepted' },
    ]);
    expect(completing.step).toBe('completing');
    expect(collectionDecider.decide(request, completing)).toEqual(refused('collection.completing'));
  });

  it.each(['stk', 'link'] as const)('is not required for %s', (kind) => {
    const awaiting = given([recorded('accepted')], { kind });
    expect(collectionDecider.decide(request, awaiting)).toEqual(
      refused('collection.completion_not_required'),
    );
  });

  it('comes too late for an ended collection', () => {
    expect(collectionDecider.decide(request, given([observe({ status: 'failed' })]))).toEqual(
      refused('collection.closed'),
    );
  });
});

describe('facts', () => {
  it('complete with the scheduled rail fee where the rail does not tell', () => {
    expect(given([observe({})])).toMatchObject({ status: 'COMPLETED', step: 'ended', railFee: 100n });
  });

  it("complete with the rail's own fee where it tells", () => {
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

  it('of "not found" against an accepted one are a contradiction', () => {
    const awaiting = given([recorded('accepted')]);
    expect(collectionDecider.decide(observe(afterGrace), awaiting)).toEqual(
      refused('collection.contradiction'),
    );
  });
});

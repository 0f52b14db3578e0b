import { describe, expect, it } from 'vitest';
import { catchUp, type OwnEvent, rebuildPayout } from './rebuilt-payout.ts';

const payment = {
  eventId: 'ev',
  reference: 'po-1',
  merchantReference: 'inv-1',
  merchantId: 'demo',
  currency: 'KES',
  rail: 'upstream',
};
const amounts = { amount: 10_000n, fee: 100n };
const traceparent = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-00`;

const accepted: OwnEvent = {
  type: 'pesewa.payouts.PayoutAccepted',
  version: 1n,
  causationId: '',
  traceparent,
  payload: {
    ...payment,
    ...amounts,
    occurredAt: 1_000n,
    country: 'KEN',
    channel: 'Mobile Money',
    bankCode: 'MPESA',
    batchReference: 'ba-1',
    contentCheck: 'q3Z',
  },
};
const submitted = (
  answer: 'acknowledged' | 'unknown',
  version: bigint,
  attempt = 1,
  refused = false,
): OwnEvent => ({
  type: 'pesewa.payouts.PayoutSubmitted',
  version,
  causationId: 'ev-hold',
  traceparent,
  payload: { ...payment, occurredAt: 2_000n, attempt, answer, refused },
});
const ended = (name: 'Failed' | 'Reversed', version: bigint): OwnEvent => ({
  type: `pesewa.payouts.Payout${name}`,
  version,
  causationId: 'ev-fact',
  traceparent,
  payload: { ...payment, ...amounts, occurredAt: 4_000n, statusReason: `${name} by the rail` },
});
const completed: OwnEvent = {
  type: 'pesewa.payouts.PayoutCompleted',
  version: 4n,
  causationId: 'ev-fact',
  traceparent,
  payload: { ...payment, ...amounts, occurredAt: 3_000n, railFee: 25n, statusReason: 'Successful' },
};

const remember = (...events: readonly OwnEvent[]) => rebuildPayout(events);

describe('a payout that was forgotten, as its events show it', () => {
  it('is what was accepted, but for whom it pays', () => {
    expect(remember(accepted)).toMatchObject({
      reference: 'po-1',
      merchantId: 'demo',
      order: {
        merchantReference: 'inv-1',
        country: 'KEN',
        channel: 'Mobile Money',
        amount: { minor: 10_000n, currency: 'KES' },
        beneficiary: { bankCode: 'MPESA' },
        sender: null,
      },
      contentHash: 'q3Z',
      fee: 100n,
      rail: 'upstream',
      batchReference: 'ba-1',
      acceptedAtMs: 1_000,
      traceparent,
      causedBy: null,
      recipientKnown: false,
    });
  });

  it.each<[string, readonly OwnEvent[], object]>([
    ['accepted', [], { step: 'awaitingHold', version: 1n }],
    ['taken on', [submitted('acknowledged', 4n, 2)], { step: 'submitted', version: 4n, attempts: 2 }],
    ['unclear', [submitted('unknown', 4n)], { step: 'unknown', version: 4n, attempts: 1 }],
    [
      'refused, after one that was unclear',
      [submitted('unknown', 6n, 2, true)],
      { step: 'unknown', version: 6n },
    ],
    [
      'completed',
      [submitted('acknowledged', 3n), completed],
      {
        status: 'COMPLETED',
        step: 'ended',
        version: 4n,
        railFee: 25n,
        causedBy: 'ev-fact',
      },
    ],
    [
      'failed',
      [ended('Failed', 2n)],
      { status: 'FAILED', step: 'ended', statusReason: 'Failed by the rail' },
    ],
    [
      'reversed',
      [completed, ended('Reversed', 5n)],
      { status: 'REVERSED', step: 'ended', version: 5n, railFee: 25n, statusReason: 'Reversed by the rail' },
    ],
  ])('stands where its last event left it: %s', (_name, later, expected) => {
    const payout = remember(accepted, ...later);
    expect(payout).toMatchObject(expected);
    expect(payout?.timeline).toHaveLength(later.length + 1);
  });

  it('is the same in whichever order and however often its events lie in the topic', () => {
    const all = [accepted, submitted('acknowledged', 3n), completed, ended('Reversed', 5n)];
    expect(remember(...all.toReversed(), ...all, accepted, completed)).toEqual(remember(...all));
  });

  it('is not made up from its end alone', () => {
    expect(remember(completed)).toBeUndefined();
  });

  it('comes to the same from any of its records, and nothing older changes it', () => {
    const all = [accepted, submitted('acknowledged', 3n), completed, ended('Reversed', 5n)];
    const last = remember(...all);
    if (!last) throw new TypeError('it was accepted');
    for (let known = 1; known <= all.length; known += 1) {
      const record = remember(...all.slice(0, known));
      expect(record && catchUp(record, all)).toEqual(last);
    }
    expect(catchUp(last, all)).toBe(last);
  });
});

import { describe, expect, it } from 'vitest';
import { absentPayment, evolve, type Payment, type PaymentEvent, type Terms, walletMove } from './payment.ts';
import { type Command, createPaymentRules, type PaymentRefusal } from './rules.ts';

const START_MS = 1_000_000;
const PLENTY = 1_000_000n;
const rules = createPaymentRules({
  callbackDelayMs: 500,
  customerDelayMs: 500,
  completionWindowMs: 300_000,
  callbackAttemptsMax: 3,
});

type Asked =
  | { type: 'submit'; terms: Terms }
  | { type: 'complete'; otp: string | undefined }
  | { type: 'pay' | 'cancel' | 'reverse' | 'proceed' }
  | { type: 'reportCallback'; result: 'delivered' | 'refused' | 'suppressed' };

const payout = (digits: string): Terms => ({
  kind: 'payout',
  reference: 'r1',
  ownReference: 'upo-1',
  amount: { minor: 10_000n, currency: 'KES' },
  feeMinor: 50n,
  digits,
  callbackUrl: 'http://client.example',
});
const collection = (digits: string, flow: Terms['flow']): Terms => ({
  ...payout(digits),
  kind: 'collection',
  flow,
});

/** A payment with its own clock; adds up its changes of the wallet. */
function simulate(balanceMinor = PLENTY) {
  let payment: Payment = absentPayment;
  let nowMs = START_MS;
  let moved = 0n;
  const run = (asked: Asked): readonly PaymentEvent[] | PaymentRefusal => {
    const command: Command = { ...asked, nowMs, balanceMinor };
    const decided = rules.decide(command, payment);
    if (!decided.ok) return decided.refusal;
    for (const event of decided.value) {
      payment = evolve(payment, event);
      if (payment.status !== 'ABSENT') moved += walletMove(payment.terms, event);
    }
    return decided.value;
  };
  /** Advances the time to the next step or callback and performs it; false when nothing is due any more. */
  const step = () => {
    const moveAtMs = rules.nextChangeAtMs(payment) ?? Infinity;
    const callback = rules.nextCallback(payment);
    const atMs = Math.min(moveAtMs, callback?.atMs ?? Infinity);
    if (atMs === Infinity) return undefined;
    nowMs = Math.max(nowMs, atMs);
    if (moveAtMs <= atMs) {
      run({ type: 'proceed' });
      return `${payment.status} ${nowMs - START_MS}`;
    }
    run({ type: 'reportCallback', result: 'delivered' });
    return `callback ${callback?.statement.status} ${callback?.statement.amountMinor} ${nowMs - START_MS}`;
  };
  const timeline = () => {
    const steps: string[] = [];
    for (let next = step(); next !== undefined; next = step()) steps.push(next);
    return steps;
  };
  return {
    run,
    timeline,
    wait: (durationMs: number) => (nowMs += durationMs),
    payment: () => payment,
    moved: () => moved,
  };
}

describe('a payout behaves as its magic digits say (contract 10.18)', () => {
  const usual = ['callback COMPLETED 10000 500'];
  it.each([
    ['4321', 'COMPLETED', usual],
    ['0001', 'FAILED', ['callback FAILED 10000 500']],
    ['0002', 'COMPLETED', []],
    ['0003', 'FAILED', []],
    ['0004', 'COMPLETED', usual],
    ['0005', 'COMPLETED', usual],
    ['0007', 'COMPLETED', usual],
    ['0008', 'PENDING', ['COMPLETED 10000']],
    [
      '0009',
      'COMPLETED',
      ['callback COMPLETED 10000 500', 'callback COMPLETED 10000 1000', 'callback COMPLETED 10000 1500'],
    ],
    ['0010', 'COMPLETED', ['callback COMPLETED 10000 0']],
    ['0011', 'COMPLETED', ['callback COMPLETED 10000 500', 'callback FAILED 10000 1000']],
    ['0012', 'COMPLETED', ['callback COMPLETED 10100 500']],
    ['0013', 'COMPLETED', usual],
    ['0014', 'COMPLETED', [...usual, 'REVERSED 2000', 'callback REVERSED 10000 2500']],
    ['0016', 'COMPLETED', usual],
    ['0017', 'PENDING', []],
  ])('%s is %s at once, and then goes on', (digits, status, steps) => {
    const { run, timeline, payment } = simulate();
    run({ type: 'submit', terms: payout(digits) });
    expect(payment().status).toBe(status);
    expect(timeline()).toEqual(steps);
  });

  it.each([
    ['0006', 1],
    ['0015', 2],
  ])('%s is not executed in the first %d attempts, then once', (digits, refused) => {
    const { run, payment, moved } = simulate();
    for (let attempt = 0; attempt < refused; attempt += 1) {
      run({ type: 'submit', terms: payout(digits) });
      expect(payment()).toEqual({ status: 'ABSENT', attempts: attempt + 1 });
    }
    run({ type: 'submit', terms: payout(digits) });
    expect(payment().status).toBe('COMPLETED');
    expect(run({ type: 'submit', terms: payout(digits) })).toBe('payment.duplicate');
    expect(moved()).toBe(-10_050n);
  });
});

describe('the wallet moves with what is executed, and with nothing else', () => {
  it.each([
    ['4321', -10_050n],
    ['0003', 0n],
    ['0008', -10_050n],
    ['0014', -50n],
    ['0017', 0n],
  ])('a payout to %s moves %d', (digits, expected) => {
    const { run, timeline, moved } = simulate();
    run({ type: 'submit', terms: payout(digits) });
    timeline();
    expect(moved()).toBe(expected);
  });

  it('a payout that is given back has moved the fee alone, however often that is asked', () => {
    const { run, timeline, moved } = simulate();
    run({ type: 'submit', terms: payout('4321') });
    expect(run({ type: 'reverse' })).toMatchObject([{ type: 'reversed' }]);
    expect(run({ type: 'reverse' })).toEqual([]);
    expect(timeline().map((step) => step.split(' ', 2).join(' '))).toEqual([
      'callback COMPLETED',
      'callback REVERSED',
    ]);
    expect(moved()).toBe(-50n);
  });

  it('a payout beyond the balance fails and moves nothing', () => {
    const { run, payment, moved } = simulate(10_049n);
    run({ type: 'submit', terms: payout('4321') });
    expect(payment()).toMatchObject({ status: 'FAILED', reason: 'Insufficient wallet balance' });
    expect(moved()).toBe(0n);
  });

  it('a collection adds what was paid less the fee', () => {
    const { run, timeline, moved } = simulate();
    run({ type: 'submit', terms: collection('4321', { kind: 'stk' }) });
    expect(timeline()).toEqual(['COMPLETED 500', 'callback COMPLETED 10000 500']);
    expect(moved()).toBe(9_950n);
  });
});

describe('a collection waits for its customer (contract 10.18)', () => {
  const otp = { kind: 'otp', otpLength: 4 } as const;

  it('ends with the right OTP, and its callback follows', () => {
    const { run, wait, timeline, payment } = simulate();
    run({ type: 'submit', terms: collection('4321', otp) });
    wait(60_000);
    expect(run({ type: 'complete', otp: '9999' })).toMatchObject([{ type: 'otpRefused' }]);
    run({ type: 'complete', otp: '1234' });
    expect(payment().status).toBe('COMPLETED');
    expect(timeline()).toEqual(['callback COMPLETED 10000 60500']);
  });

  it('fails at the third wrong OTP', () => {
    const { run, payment } = simulate();
    run({ type: 'submit', terms: collection('4321', otp) });
    for (const wrong of ['0000', '1111', '2222']) run({ type: 'complete', otp: wrong });
    expect(payment()).toMatchObject({ status: 'FAILED', reason: 'OTP ATTEMPTS EXCEEDED' });
    expect(run({ type: 'complete', otp: '1234' })).toBe('otp.exceeded');
  });

  it('fails after five minutes', () => {
    const { run, timeline } = simulate();
    run({ type: 'submit', terms: collection('4321', otp) });
    expect(timeline()).toEqual(['FAILED 300000', 'callback FAILED 10000 300000']);
    expect(run({ type: 'complete', otp: '1234' })).toBe('otp.expired');
  });

  it('is pending for ever with 0017, even after the right OTP', () => {
    const { run, timeline, payment } = simulate();
    run({ type: 'submit', terms: collection('0017', otp) });
    run({ type: 'complete', otp: '1234' });
    expect(timeline()).toEqual([]);
    expect(payment().status).toBe('PENDING');
  });

  it('needs no OTP after an STK push that is completed, and takes no completion where none is needed', () => {
    const pushed = simulate();
    pushed.run({ type: 'submit', terms: collection('4321', { kind: 'stkThenComplete' }) });
    pushed.run({ type: 'complete', otp: undefined });
    expect(pushed.payment().status).toBe('COMPLETED');
    const linked = simulate();
    linked.run({ type: 'submit', terms: collection('4321', { kind: 'link' }) });
    expect(linked.run({ type: 'complete', otp: undefined })).toBe('completion.not_required');
  });

  it('is not reversed by 0014', () => {
    const { run, timeline } = simulate();
    run({ type: 'submit', terms: collection('0014', { kind: 'stk' }) });
    expect(timeline()).toEqual(['COMPLETED 500', 'callback COMPLETED 10000 500']);
  });

  it('ends at its link by Pay or Cancel', () => {
    const paid = simulate();
    paid.run({ type: 'submit', terms: collection('4321', { kind: 'link' }) });
    paid.run({ type: 'pay' });
    expect(paid.payment().status).toBe('COMPLETED');
    const cancelled = simulate();
    cancelled.run({ type: 'submit', terms: collection('4321', { kind: 'link' }) });
    cancelled.run({ type: 'cancel' });
    expect(cancelled.payment()).toMatchObject({ status: 'FAILED', reason: 'CANCELLED BY CUSTOMER' });
    expect(cancelled.run({ type: 'pay' })).toBe('payment.closed');
  });
});

describe('callbacks', () => {
  it('are tried again with back-off, a bounded number of times', () => {
    const { run, payment } = simulate();
    run({ type: 'submit', terms: payout('4321') });
    const delays: (number | undefined)[] = [];
    for (let attempt = 0; attempt < 3; attempt += 1) {
      run({ type: 'reportCallback', result: 'refused' });
      delays.push(rules.nextCallback(payment())?.atMs);
    }
    expect(delays).toEqual([START_MS + 500, START_MS + 1_000, undefined]);
  });
});

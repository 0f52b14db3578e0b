import { describe, expect, it } from 'vitest';
import { dayLimitOf, payoutLimitRefusal } from './limits.ts';

const GHS = (minor: bigint) => ({ minor, currency: 'GHS' });

describe('the limit per payout', () => {
  const limits = { perPayoutMaxMinor: { GHS: 500n } };
  it('is named with the field and the amount', () => {
    expect(payoutLimitRefusal(limits, GHS(501n), 'beneficiaries.3.amount')).toEqual({
      code: 'overLimit',
      message: 'beneficiaries.3.amount is over your limit per payout of 5.00 GHS',
    });
  });
  it('takes what is just as large, and any amount where there is none in the currency', () => {
    expect(payoutLimitRefusal(limits, GHS(500n), 'amount')).toBeUndefined();
    expect(payoutLimitRefusal(limits, { minor: 501n, currency: 'NGN' }, 'amount')).toBeUndefined();
    expect(payoutLimitRefusal({}, GHS(501n), 'amount')).toBeUndefined();
  });
});

describe('the minimum per payout', () => {
  const limits = { perPayoutMinMinor: { GHS: 500n } };
  it('is named with the field and the amount', () => {
    expect(payoutLimitRefusal(limits, GHS(499n), 'amount')).toEqual({
      code: 'invalidAmount',
      message: 'amount is below your minimum per payout of 5.00 GHS',
    });
  });
  it('takes what is just as large, and any amount where there is none in the currency', () => {
    expect(payoutLimitRefusal(limits, GHS(500n), 'amount')).toBeUndefined();
    expect(payoutLimitRefusal(limits, { minor: 1n, currency: 'NGN' }, 'amount')).toBeUndefined();
  });
});

describe('the limit per day', () => {
  const merchant = { id: 'demo', limits: { perDayMaxMinor: { GHS: 10n } } };
  const endOfDay = new Date('2026-02-28T23:59:59.999Z');
  it('is one of the UTC day, merchant and currency', () => {
    expect(dayLimitOf(merchant, GHS(4n), endOfDay)).toMatchObject({ takes: 4n });
    expect(dayLimitOf(merchant, GHS(1n), endOfDay)?.id).toBe('demo:GHS:2026-02-28');
    expect(dayLimitOf(merchant, GHS(1n), new Date(endOfDay.getTime() + 1))?.id).toBe('demo:GHS:2026-03-01');
    expect(dayLimitOf(merchant, { minor: 1n, currency: 'NGN' }, endOfDay)).toBeUndefined();
  });
  it('is named with its amount', () => {
    expect(dayLimitOf(merchant, GHS(1n), endOfDay)?.refusal.message).toBe(
      'this would exceed your limit per day (UTC) of 0.10 GHS',
    );
  });
});

import { describe, expect, it } from 'vitest';
import { beneficiaryAccount, beneficiaryLimitsOf, dayLimitOf, payoutLimitRefusal } from './limits.ts';
import type { PayoutRequest } from './request.ts';

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

const NOW = new Date('2026-02-28T23:59:59.999Z');

const order = (accountNumber: string, changes: Partial<PayoutRequest> = {}, bankCode = 'GHMTN') =>
  ({
    channel: 'Mobile Money',
    country: 'GHA',
    amount: { minor: 700n, currency: 'GHS' },
    beneficiary: { accountName: 'Ama Mensah', accountNumber, bankCode },
    ...changes,
  }) as PayoutRequest;
const at = (now: Date) => ({ now, path: 'beneficiary.accountNumber', digest: () => 'digest' });
const bank = { channel: 'Bank Transfer', country: 'NGA' } as const;

describe('spellings of one account are counted as one', () => {
  it.each<[string, Partial<PayoutRequest>, readonly string[]]>([
    [
      'a number of Ghana',
      {},
      ['0240001234', '+233240001234', '00233 24 000 1234', '240001234', '233-240001234'],
    ],
    ['a number of Kenya', { country: 'KEN' }, ['0712345678', '+254712345678', '254 712 345 678']],
    ['a number of Cote d’Ivoire', { country: 'CIV' }, ['0712345678', '+225 07 12 34 56 78', '712345678']],
    ['a number of Nigeria', { country: 'NGA' }, ['08031234567', '+234 803 123 4567', '8031234567']],
    ['a number of Cameroon', { country: 'CMR' }, ['671234567', '+237671234567', '00237 6 71 23 45 67']],
    ['an account of a bank', bank, ['0012345678', '00 1234 5678', '12345678', '0-0123-45678']],
  ])('%s', (_name, changes, spellings) => {
    expect(new Set(spellings.map((spelling) => beneficiaryAccount(order(spelling, changes)))).size).toBe(1);
  });
  it('and no others', () => {
    const others = [
      order('0240001234'),
      order('0240001235'),
      order('0240001234', {}, 'GHVOD'),
      order('0240001234', { channel: 'Bank Transfer' }),
      ...['0112345678', '0512345678', '0712345678'].map((number) => order(number, { country: 'CIV' })),
      ...['08031234567', '09131234567'].map((number) => order(number, { country: 'NGA' })),
    ];
    expect(new Set(others.map(beneficiaryAccount)).size).toBe(others.length);
  });
});

describe('the limits of a beneficiary', () => {
  const limits = { perBeneficiaryPerDayMax: 3, perBeneficiaryPerDayMaxMinor: { GHS: 1_000n } };
  const of = (given: object, one = order('0240001234')) =>
    beneficiaryLimitsOf({ id: 'demo', limits: given }, one, at(NOW));
  it('count payouts and their amount within the UTC day, each with its refusal', () => {
    expect(of(limits)).toMatchObject([
      {
        max: 3n,
        takes: 1n,
        refusal: {
          code: 'overLimit',
          message:
            'beneficiary.accountNumber would exceed your limit per beneficiary and day (UTC) of 3 payouts',
        },
      },
      { max: 1_000n, takes: 700n, refusal: { message: expect.stringContaining('10.00 GHS') as string } },
    ]);
  });
  it('are kept without the number, and apart by merchant and day', () => {
    const [count] = of(limits);
    expect(count?.id).toBe('demo:beneficiary:digest:2026-02-28:count');
    const tomorrow = new Date(NOW.getTime() + 1);
    const [other] = beneficiaryLimitsOf({ id: 'rival', limits }, order('0240001234'), at(NOW));
    const [later] = beneficiaryLimitsOf({ id: 'demo', limits }, order('0240001234'), at(tomorrow));
    expect(new Set([count?.id, other?.id, later?.id]).size).toBe(3);
  });
  it('are none where none is set, in the currency', () => {
    expect(of({})).toEqual([]);
    expect(of({ perBeneficiaryPerDayMaxMinor: { NGN: 1n } })).toEqual([]);
  });
});

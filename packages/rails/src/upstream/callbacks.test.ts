import { describe, expect, it } from 'vitest';
import { partOf } from '../rail.ts';
import { answering, createRailFixture } from '../rails.fixture.ts';

describe('callbacks (contract 6)', () => {
  const { rail } = createRailFixture(answering(200, ''));
  const payoutBody =
    '{"data":{"transactionStatus":"COMPLETED","merchantReference":"po-1","transactionReference":"UP-1","amount":100.50,"feeAmount":0.5,"valueAmount":101,"statusReason":"Successful"}}';
  const collectionBody =
    '{"transaction_reference":"UP-2","transaction_status":"Transaction Failed","transaction_fee":0,"amount_received":0.00,"received_from":{},"merchant_reference":"co-1","status":"FAILED","channel":"MOBILE_MONEY","currency_code":"GHS","failure_reason":"EXPIRED"}';

  it('keeps the claimed amounts as they were written', () => {
    expect(rail.payouts.readCallback(payoutBody)).toEqual({
      ok: true,
      value: {
        reference: 'po-1',
        claimedStatus: 'COMPLETED',
        claimedAmount: '100.50',
        claimedCurrency: null,
        claimedFee: '0.5',
        claimedReason: 'Successful',
      },
    });
    expect(rail.collections.readCallback(collectionBody)).toEqual({
      ok: true,
      value: {
        reference: 'co-1',
        claimedStatus: 'FAILED',
        claimedAmount: '0.00',
        claimedCurrency: 'GHS',
        claimedFee: '0',
        claimedReason: 'EXPIRED',
      },
    });
  });

  it.each([
    ['no JSON', 'payout', '{'],
    ['the other kind', 'collection', payoutBody],
    ['a strange reference', 'payout', payoutBody.replace('po-1', '../po')],
    ['a strange status', 'payout', payoutBody.replace('COMPLETED', 'DONE')],
    ['an endless amount', 'payout', payoutBody.replace('100.50', '1'.repeat(41))],
    ['no fee', 'collection', collectionBody.replace('"transaction_fee":0,', '')],
  ] as const)('refuses %s', (_, kind, body) => {
    expect(partOf(rail, kind)?.readCallback(body)).toEqual({ ok: false, refusal: 'callback.malformed' });
  });

  it.each([
    ['"gh"', null],
    ['"GHSX"', null],
    ['"233240000000"', null],
    ['936', null],
    ['null', null],
    ['"XOF"', 'XOF'],
  ])('the currency of a collection that is written %s is %s', (code, claimedCurrency) => {
    const body = collectionBody.replace('"GHS"', code);
    expect(rail.collections.readCallback(body)).toMatchObject({
      ok: true,
      value: { claimedCurrency },
    });
  });

  it('a collection’s callback without a currency is heard all the same', () => {
    const body = collectionBody.replace('"currency_code":"GHS",', '');
    expect(rail.collections.readCallback(body)).toMatchObject({ value: { claimedCurrency: null } });
  });

  it('masks a reason, which may name the customer', () => {
    const payout =
      '{"data":{"transactionStatus":"FAILED","merchantReference":"po-1","transactionReference":"UP-1","amount":1,"feeAmount":0,"valueAmount":1,"statusReason":"no account 0123 4567 of ama@example.com"}}';
    const collection =
      '{"transaction_reference":"UP-2","transaction_status":"Transaction Failed","transaction_fee":0,"amount_received":0,"received_from":{},"merchant_reference":"co-1","status":"FAILED","channel":"MOBILE_MONEY","currency_code":"GHS","failure_reason":"233-241-234567 refused"}';
    expect(rail.payouts.readCallback(payout)).toMatchObject({
      value: { claimedReason: 'no account *** of ***' },
    });
    expect(rail.collections.readCallback(collection)).toMatchObject({
      value: { claimedReason: '*** refused' },
    });
  });
});

import { collectionWebhook, parseJson, payoutWebhook } from '@pesewa/contracts';
import { describe, expect, test } from 'vitest';
import { collectionBody, type EndedCollection, type EndedPayout, payoutBody } from './outgoing.ts';

const INITIATED_AT = BigInt(Date.UTC(2026, 2, 1, 23, 59, 58));
const ENDED_AT = BigInt(Date.UTC(2026, 2, 2, 0, 0, 3));
const payment = {
  eventId: 'ev-1',
  occurredAt: ENDED_AT,
  merchantReference: 'M-1',
  merchantId: 'demo',
  rail: 'upstream',
};

const payout = {
  ...payment,
  reference: 'po-1',
  currency: 'KES',
  amount: 9_007_199_254_740_991n,
  fee: 10n,
  statusReason: 'Successful',
};
const collection = {
  ...payment,
  reference: 'co-1',
  currency: 'GHS',
  initiatedAt: INITIATED_AT,
  webhookUrl: null,
};

describe('a payout’s body (contract 6.1)', () => {
  test.each<[EndedPayout, string]>([
    [{ type: 'pesewa.payouts.PayoutCompleted', payload: { ...payout, railFee: 5n } }, 'COMPLETED'],
    [
      { type: 'pesewa.payouts.PayoutFailed', payload: { ...payout, statusReason: 'No such account' } },
      'FAILED',
    ],
    [{ type: 'pesewa.payouts.PayoutReversed', payload: { ...payout, statusReason: 'Reversed' } }, 'REVERSED'],
  ])('$type', (event, transactionStatus) => {
    expect(payoutWebhook.parse(parseJson(payoutBody(event))).data).toEqual({
      transactionStatus,
      merchantReference: 'M-1',
      transactionReference: 'po-1',
      amount: '90071992547409.91',
      feeAmount: '0.1',
      valueAmount: '90071992547410.01',
      statusReason: event.payload.statusReason,
    });
  });

  test('amounts of a currency without minor units are whole', () => {
    const body = payoutBody({
      type: 'pesewa.payouts.PayoutFailed',
      payload: { ...payout, currency: 'XOF', amount: 5_000n, fee: 25n },
    });
    expect(body).toContain('"amount":5000,"feeAmount":25,"valueAmount":5025');
  });
});

describe('a collection’s body (contract 6.2)', () => {
  test('completed', () => {
    const body = collectionBody({
      type: 'pesewa.collections.CollectionCompleted',
      payload: { ...collection, amountReceived: 2_050n, fee: 21n, railFee: 7n },
    });
    expect(body).toBe(
      '{"transaction_reference":"co-1","transaction_status":"Funds Received","transaction_fee":0.21,' +
        '"amount_received":20.5,"initiated_date":"2026-03-01 23:59:58","current_status_date":"2026-03-02 00:00:03",' +
        '"received_from":{},"merchant_reference":"M-1","status":"COMPLETED","channel":"MOBILE_MONEY","currency_code":"GHS"}',
    );
    expect(collectionWebhook.parse(parseJson(body))).toMatchObject({
      amount_received: '20.5',
      transaction_fee: '0.21',
    });
  });

  test('failed: nothing received, no fee, and the reason', () => {
    const event: EndedCollection = {
      type: 'pesewa.collections.CollectionFailed',
      payload: { ...collection, failureReason: 'EXPIRED' },
    };
    expect(collectionWebhook.parse(parseJson(collectionBody(event)))).toMatchObject({
      transaction_status: 'Transaction Failed',
      status: 'FAILED',
      amount_received: '0',
      transaction_fee: '0',
      failure_reason: 'EXPIRED',
    });
  });
});

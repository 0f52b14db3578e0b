import { describe, expect, it } from 'vitest';
import { translateCallback } from './callbacks.ts';
import { reasonLine } from './text.ts';

describe('a foreign reason', () => {
  it.each([
    ['Insufficient wallet balance', 'Insufficient wallet balance'],
    ['refused with code 1234', 'refused with code 1234'],
    ['account 12345 is closed', 'account *** is closed'],
    ['no wallet for +254 712-345 678, sorry', 'no wallet for +***, sorry'],
    ['no wallet for (0712) 345\u00a0678', 'no wallet for (***'],
    ['call 0\u200b7\u200b1\u200b2\u200b3', 'call ***'],
    ['two\n1 2 3\n4 5 lines', 'two *** lines'],
    ['ask <ama.k+x@example.com>; now', 'ask *** now'],
    [`${'x'.repeat(137)} 0712345678`, `${'x'.repeat(137)} **`],
    [`${'x'.repeat(134)} ama@example.com`, `${'x'.repeat(134)} ***`],
    [' \u0000 ', undefined],
    [null, undefined],
  ])('%j becomes %j', (text, line) => {
    expect(reasonLine(text)).toBe(line);
  });

  it('of an unproven callback is masked, too', () => {
    const payout =
      '{"data":{"transactionStatus":"FAILED","merchantReference":"po-1","transactionReference":"UP-1","amount":1,"feeAmount":0,"valueAmount":1,"statusReason":"no account 0123 4567 of ama@example.com"}}';
    const collection =
      '{"transaction_reference":"UP-2","transaction_status":"Transaction Failed","transaction_fee":0,"amount_received":0,"received_from":{},"merchant_reference":"co-1","status":"FAILED","channel":"MOBILE_MONEY","currency_code":"GHS","failure_reason":"233-241-234567 refused"}';
    expect(translateCallback('payout', payout)).toMatchObject({
      value: { claimedReason: 'no account *** of ***' },
    });
    expect(translateCallback('collection', collection)).toMatchObject({
      value: { claimedReason: '*** refused' },
    });
  });
});

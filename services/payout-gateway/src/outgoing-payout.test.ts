import { describe, expect, it } from 'vitest';
import type { PayoutRequest } from './domain/request.ts';
import { outgoingPayout } from './submitter.ts';

const order: PayoutRequest = {
  merchantReference: 'inv-1',
  country: 'KEN',
  channel: 'Mobile Money',
  transactionType: '1',
  amount: { minor: 10_050n, currency: 'KES' },
  beneficiary: {
    accountName: 'A. Name',
    accountNumber: '254700000000',
    bankCode: 'MPESA',
    phoneNumber: undefined,
    accountType: undefined,
    identificationType: undefined,
    identificationNumber: undefined,
    nationalIdNumber: undefined,
    narration: undefined,
  },
  sender: {
    name: 'Demo',
    email: 'demo@example.com',
    phoneNumber: undefined,
    countryCode: undefined,
    currencyCode: undefined,
  },
};

describe('a payout on its way to a rail (contract 2.2)', () => {
  it('goes under our reference, its amount in minor units', () => {
    expect(outgoingPayout('po-1', order)).toMatchObject({
      reference: 'po-1',
      currency: 'KES',
      amount: 10_050n,
    });
  });

  it.each(['KES', 'XAF', 'GHS'])('names no place of a sender who names none (%s)', (currency) => {
    const { sender } = outgoingPayout('po-1', { ...order, amount: { minor: 10_050n, currency } });
    expect(sender).toEqual(order.sender);
  });

  it('does not send the rail the merchant’s reference', () => {
    expect(Object.values(outgoingPayout('po-1', order))).not.toContain('inv-1');
  });
});

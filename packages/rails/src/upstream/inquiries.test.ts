import { describe, expect, it } from 'vitest';
import { answering, createRailFixture } from '../rails.fixture.ts';

const answered = (responseData: unknown, change: object = {}) => ({
  isSuccessful: true,
  responseCode: '00',
  responseMessage: 'ok',
  responseData,
  ...change,
});
const unknown = { kind: 'unknown', why: expect.any(String) as string };

describe('balances (contract 4.4)', () => {
  const wallet = (balance: string, currencyCode: string) =>
    `{"balance":${balance},"countryCode":"KEN","countryAvatar":"","currencyCode":"${currencyCode}","currencyHtml":""}`;
  const list = (...wallets: string[]) =>
    `{"isSuccessful":true,"responseCode":"00","responseMessage":"ok","responseData":[${wallets.join(',')}]}`;

  it.each([
    [
      'exact and signed',
      200,
      list(wallet('90071992547409.91', 'KES'), wallet('-5', 'XOF')),
      {
        kind: 'answered',
        wallets: [
          { minor: 9_007_199_254_740_991n, currency: 'KES' },
          { minor: -5n, currency: 'XOF' },
        ],
      },
    ],
    ['no wallet', 200, list(), { kind: 'answered', wallets: [] }],
    ['an unknown currency', 200, list(wallet('1', 'ZZZ')), unknown],
    ['a balance too fine', 200, list(wallet('0.5', 'XOF')), unknown],
    ['a balance in quotes', 200, list(wallet('"1"', 'KES')), unknown],
    ['refused', 200, answered([], { isSuccessful: false }), unknown],
    ['HTTP 500', 500, list(), unknown],
  ])('%s', async (_, status, body, result) => {
    const { rail, requests } = createRailFixture(answering(status, body));
    expect(await rail.balances()).toEqual(result);
    expect(requests).toMatchObject([
      { method: 'POST', url: 'http://rail.test/transfer/api/v1/wallets/balance' },
    ]);
    expect(requests[0]).not.toHaveProperty('body');
  });
});

describe('processors and names (contract 4.5, 4.6)', () => {
  const processor = {
    code: 'MPESA',
    name: 'M-Pesa',
    shortName: 'mpesa',
    sortCode: '1',
    avatar: '#fff',
    currency: 'KES',
    country: 'KEN',
    active: true,
    blockTransaction: false,
  };
  const account = { accountName: 'A. Name', accountNumber: '1', bankCode: 'MPESA', sessionId: 's' };
  const query = { accountNumber: '1', bankCode: 'MPESA', currency: 'KES', country: 'KEN' };

  it('lists processors', async () => {
    const { rail, requests } = createRailFixture(answering(200, answered([processor])));
    expect(await rail.payouts.processors('KEN')).toEqual({ kind: 'answered', value: [processor] });
    expect(requests[0]?.url).toBe('http://rail.test/transfer/api/v1/banks?country=KEN');
  });

  const gap = (change: object) => ({ ...processor, ...change });

  it('leaves an incomplete record out of the list, and reports it', async () => {
    const list = [gap({ sortCode: null }), processor, null, gap({ active: 'yes' })];
    const { rail, warnings } = createRailFixture(answering(200, answered(list)));
    expect(await rail.payouts.processors('KEN')).toEqual({ kind: 'answered', value: [processor] });
    expect(warnings).toEqual([
      [expect.objectContaining({ country: 'KEN', records: 3 }), 'processors were left out of a list'],
    ]);
  });

  it('takes no list of gaps alone, nor what is no list', async () => {
    for (const data of [[gap({ code: null })], processor, null]) {
      const { rail } = createRailFixture(answering(200, answered(data)));
      expect(await rail.payouts.processors('KEN')).toEqual(unknown);
    }
  });

  it.each([
    [
      'found, without a code',
      200,
      { isSuccessful: true, responseMessage: 'ok', responseData: account },
      { kind: 'answered', value: account },
    ],
    [
      'no account',
      400,
      { isSuccessful: false, responseCode: '25', responseMessage: 'no' },
      { kind: 'answered', value: null },
    ],
    ['another refusal', 422, { isSuccessful: false, responseCode: '61', responseMessage: 'no' }, unknown],
    ['garbage', 200, '{', unknown],
  ])('%s', async (_, status, body, result) => {
    const { rail } = createRailFixture(answering(status, body));
    expect(await rail.payouts.enquireName(query)).toEqual(result);
  });
});

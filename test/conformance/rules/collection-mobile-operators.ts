import { describe, expect, it } from 'vitest';
import { collections, expectNothing, expectPending } from '../collections.ts';
import { type Changes, matching } from '../conformance.ts';
import { next, paths, payinBody, revised, withOtp } from './collection-requests.ts';

const nothingFurther = {
  otpIsRequired: false,
  lengthOfOtp: '0',
  paymentCompletionRequired: false,
  paymentCompletionUrl: '',
  redirectionRequired: false,
  redirectionUrl: '',
};
const completion = { paymentCompletionRequired: true, paymentCompletionUrl: paths.complete };
const anAddress = matching(/^https?:\/\/[^/]+\/./);
/** The answer of payin in each flow (contract 2.9 and 10.11). */
const flows = {
  link: {
    ...nothingFurther,
    paymentCompletionUrl: anAddress,
    redirectionRequired: true,
    redirectionUrl: anAddress,
  },
  stk: nothingFurther,
  stkThenComplete: { ...nothingFurther, ...completion },
  otp6: { ...nothingFurther, ...completion, otpIsRequired: true, lengthOfOtp: '6' },
  otp4: { ...nothingFurther, ...completion, otpIsRequired: true, lengthOfOtp: '4' },
} as const;

/** The contract's table, with each transactionType that determines the flow or is required. */
const table: readonly (readonly [string, string | undefined, keyof typeof flows])[] = [
  ['GMWAV', undefined, 'link'],
  ['GMAFR', undefined, 'stkThenComplete'],
  ['GMQMO', undefined, 'otp6'],
  ['GHMTN', '1', 'stk'],
  ['GHMTN', '2', 'otp6'],
  ['GHATL', '1', 'stk'],
  ['GHATL', '2', 'otp6'],
  ['GHVOD', '1', 'stk'],
  ['GHVOD', '2', 'otp6'],
  ['CIWAV', undefined, 'link'],
  ['CIMOO', undefined, 'stk'],
  ['CIMTN', undefined, 'stk'],
  ['CIORA', undefined, 'otp4'],
  ['KESAF', '1', 'stk'],
  ['KESAF', '2', 'stk'],
];
const mobileOperators = [...new Set(table.map(([operatorCode]) => operatorCode))];
const currencies: Readonly<Record<string, string>> = { GM: 'GMD', GH: 'GHS', CI: 'XOF', KE: 'KES' };

describe('contract 2.8, 2.9: what payin answers in the flow of each mobile operator', () => {
  it.concurrent.each(table)('%s with transactionType %s: %s', async (operatorCode, transactionType, flow) => {
    const reference = next('flow');
    const answer = await collections.payin(payinBody(reference, { transactionType }, operatorCode));
    const ours = expectPending(answer);
    expect(answer.next).toEqual(flows[flow]);
    expect(answer.next['paymentCompletionUrl']).toBe(
      flow === 'link' ? answer.next['redirectionUrl'] : flows[flow].paymentCompletionUrl,
    );
    expect(answer.description ?? '').toBe('');
    expect(ours).not.toBe(reference);
  });

  it.concurrent.each(['GMWAV', 'GMAFR', 'GMQMO', 'CIWAV', 'CIMOO', 'CIMTN', 'CIORA'])(
    '%s: a transactionType that is not required changes no flow',
    async (operatorCode) => {
      const flow = table.find(([code]) => code === operatorCode)?.[2] ?? 'stk';
      for (const transactionType of ['1', '2', '', null]) {
        const body = payinBody(next('type'), { transactionType }, operatorCode);
        expect((await collections.payin(body)).next).toEqual(flows[flow]);
      }
    },
  );

  it('a payment link leads to a page that knows the payment', async () => {
    const answer = await collections.payin(payinBody(next('link'), {}, 'CIWAV'));
    const page = await fetch(String(answer.next['redirectionUrl']));
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('100 XOF');
  });

  it('the code decides the flow: CIWAV has a link and takes no OTP, CIORA asks for four digits', async () => {
    const linked = payinBody(next('trap'), {}, 'CIWAV');
    expect((await collections.payin(linked)).next).toEqual(flows.link);
    expect(await collections.complete(withOtp(linked, '1234'))).toMatchObject({
      reason: 'COMPLETION NOT REQUIRED',
    });
    const swapped = revised(withOtp(linked, '1234'), { operatorCode: 'CIORA' });
    expect(await collections.complete(swapped)).toMatchObject({ reason: 'REQUEST MISMATCH' });
    const asked = payinBody(next('trap'), {}, 'CIORA');
    expect((await collections.payin(asked)).next).toEqual(flows.otp4);
    expectPending(await collections.complete(withOtp(asked, '1234')));
  });
});

describe('contract 10.10: OPERATOR NOT AVAILABLE for a mobile operator, country and currency that don’t fit', () => {
  it.concurrent.each(mobileOperators)(
    '%s: of 4 countries and 4 currencies, only its own',
    async (operatorCode) => {
      const home = operatorCode.slice(0, 2);
      const places = Object.keys(currencies).flatMap((country) =>
        Object.values(currencies).map((currency) => ({ country, currency })),
      );
      await Promise.all(
        places.map(async ({ country, currency }) => {
          const reference = next('matrix');
          const place = {
            transactionCountry: country,
            transactionCurrency: currency,
            'requestHeader.requestType': country === 'GM' ? 'B' : 'Collections',
            transactionType: country === 'GH' || country === 'KE' ? '1' : undefined,
          };
          const answer = await collections.payin(payinBody(reference, place, operatorCode));
          if (country === home && currency === currencies[home]) expectPending(answer);
          else await expectNothing(reference, answer, 'OPERATOR NOT AVAILABLE');
          expect(answer.status).toBe(200);
        }),
      );
    },
  );

  it.each<readonly [string, Changes]>([
    ['an unknown code', { operatorCode: 'GMXXX' }],
    ['a code in small letters', { operatorCode: 'gmqmo' }],
    ['a name that objects have', { operatorCode: '__proto__' }],
    ['a country that we don’t serve', { transactionCountry: 'NG' }],
    ['a currency that we don’t collect', { transactionCurrency: 'NGN' }],
    ['another country altogether', { transactionCountry: 'NG', transactionCurrency: 'NGN' }],
  ])('%s', async (_what, changes) => {
    const reference = next('nobody');
    await expectNothing(
      reference,
      await collections.payin(payinBody(reference, changes)),
      'OPERATOR NOT AVAILABLE',
    );
  });

  it('a merchant without a wallet in the currency', async () => {
    const key = await collections.addMerchant('one-wallet', { currencies: ['GHS'] });
    const refused = await collections.payin(payinBody(next('wallet')), { key });
    expect(refused).toMatchObject({ reason: 'OPERATOR NOT AVAILABLE' });
    expectPending(await collections.payin(payinBody(next('wallet'), {}, 'GHMTN'), { key }));
  });
});

describe.concurrent('contract 2.8: transactionCountry and its two fields', () => {
  it.each<readonly [string, string, Changes]>([
    ['requestHeader.requestType', 'GMQMO', { 'requestHeader.requestType': 'Collections' }],
    ['requestHeader.requestType', 'GHMTN', { 'requestHeader.requestType': 'B' }],
    ['requestHeader.requestType', 'CIMTN', { 'requestHeader.requestType': 'B' }],
    ['requestHeader.requestType', 'KESAF', { 'requestHeader.requestType': 'B' }],
    ['requestHeader.requestType', 'GMQMO', { 'requestHeader.requestType': 'b' }],
    ['requestHeader.requestType', 'KESAF', { 'requestHeader.requestType': 'collections' }],
    ['requestHeader.requestType', 'GHMTN', { 'requestHeader.requestType': 'GH-Collections' }],
    ...['GHMTN', 'GHATL', 'GHVOD', 'KESAF'].flatMap((operatorCode) =>
      [undefined, null, '', '0', '3', '4', '01', '12', 'x', 1, true, ['1'], { $gt: '' }].map(
        (transactionType) => ['transactionType', operatorCode, { transactionType }] as const,
      ),
    ),
    ...['GMQMO', 'CIMTN'].flatMap((operatorCode) =>
      ['0', '3', '01', 'x', 2, {}].map(
        (transactionType) => ['transactionType', operatorCode, { transactionType }] as const,
      ),
    ),
    ['transactionCountry', 'GMQMO', { transactionCountry: 'ZZ' }],
    ['transactionCountry', 'GMQMO', { transactionCountry: 'GMB' }],
    ['transactionCountry', 'GMQMO', { transactionCountry: 'Gambia' }],
    ['transactionCountry', 'GMQMO', { transactionCountry: 'G' }],
    ['transactionCurrency', 'GMQMO', { transactionCurrency: 'QQQ' }],
    ['transactionCurrency', 'GMQMO', { transactionCurrency: 'D' }],
    ['transactionCurrency', 'GMQMO', { transactionCurrency: 'dalasi' }],
  ])('INVALID REQUEST names %s: %s %j', async (field, operatorCode, changes) => {
    const reference = next('place');
    const answer = await collections.payin(payinBody(reference, changes, operatorCode));
    await expectNothing(reference, answer, 'INVALID REQUEST', field);
  });
});

import { describe, expect, it } from 'vitest';
import { becomes, collections, completions, expectPending } from '../collections.ts';
import { type Changes, number } from '../conformance.ts';
import { customerIn, next, paths, payinBody, revised, statusBody, withOtp } from './collection-requests.ts';

describe.concurrent('contract 4.8: complete-payin', () => {
  it.each([
    ['GMAFR', undefined, undefined],
    ['GMQMO', undefined, '123456'],
    ['GHMTN', '2', '123456'],
    ['GHATL', '2', '123456'],
    ['GHVOD', '2', '123456'],
    ['CIORA', undefined, '1234'],
  ])(
    '%s with transactionType %s: 09, and nothing further is asked',
    async (operatorCode, transactionType, otp) => {
      const reference = next('complete');
      const body = payinBody(reference, { transactionType }, operatorCode);
      const ours = expectPending(await collections.payin(body));
      const answer = await collections.complete(otp === undefined ? body : withOtp(body, otp));
      expect(expectPending(answer)).toBe(ours);
      expect(answer.next).toEqual({
        otpIsRequired: false,
        lengthOfOtp: '0',
        paymentCompletionRequired: false,
        paymentCompletionUrl: '',
        redirectionRequired: false,
        redirectionUrl: '',
      });
      await becomes(reference, '00');
      expect(await completions(ours)).toEqual(['accepted']);
      // A replay changes nothing.
      expect(await collections.complete(otp === undefined ? body : withOtp(body, otp))).toMatchObject({
        status: 200,
        reason: 'COLLECTION CLOSED',
        reference: ours,
      });
      expect(await completions(ours)).toEqual(['accepted']);
    },
  );

  it.each([
    ['GMWAV', undefined],
    ['CIWAV', undefined],
    ['GHMTN', '1'],
    ['GHATL', '1'],
    ['GHVOD', '1'],
    ['CIMOO', undefined],
    ['CIMTN', undefined],
    ['KESAF', '1'],
    ['KESAF', '2'],
  ])('%s with transactionType %s: COMPLETION NOT REQUIRED', async (operatorCode, transactionType) => {
    const country = operatorCode.slice(0, 2);
    const changes = { transactionType, customerNumber: customerIn(country, '0017') };
    const body = payinBody(next('needless'), changes, operatorCode);
    const ours = expectPending(await collections.payin(body));
    for (const text of [body, withOtp(body), withOtp(body, '1234')])
      expect(await collections.complete(text)).toMatchObject({
        status: 200,
        reason: 'COMPLETION NOT REQUIRED',
        reference: ours,
      });
    expect(await completions(ours)).toEqual([]);
  });

  it('one that has failed is COLLECTION CLOSED', async () => {
    const reference = next('failed');
    const body = payinBody(reference, { customerNumber: customerIn('GM', '0001') }, 'GMAFR');
    expectPending(await collections.payin(body));
    expectPending(await collections.complete(body));
    await becomes(reference, '06');
    expect(await collections.complete(body)).toMatchObject({ status: 200, reason: 'COLLECTION CLOSED' });
  });
});

describe.concurrent('contract 4.8: the same values as payin', () => {
  it.each<readonly [string, Changes]>([
    ['transactionAmount', { transactionAmount: number('101') }],
    ['transactionAmount', { transactionAmount: number('100.01') }],
    ['transactionAmount', { transactionAmount: number('0') }],
    ['transactionAmount', { transactionAmount: number('0.001') }],
    ['transactionCurrency', { transactionCurrency: 'GHS' }],
    [
      'transactionCountry',
      { transactionCountry: 'CI', 'requestHeader.requestType': 'Collections', otpCode: '123456' },
    ],
    ['operatorCode', { operatorCode: 'GMAFR', otpCode: undefined }],
    ['operatorCode', { operatorCode: 'GMWAV' }],
    ['operatorCode', { operatorCode: 'GMXXX' }],
    ['operatorCode', { operatorCode: 'CIORA', otpCode: '1234' }],
    ['transactionType', { transactionType: '1' }],
    ['customerNumber', { customerNumber: '2209990000' }],
    ['customerName', { customerName: 'Another' }],
    ['customerName', { customerName: '' }],
    ['customerEmail', { customerEmail: 'another@example.com' }],
    ['transactionDescription', { transactionDescription: 'Another' }],
    ['successUrl', { successUrl: 'https://shop.example.com/' }],
    ['errorUrl', { errorUrl: 'https://shop.example.com/' }],
    ['cancelUrl', { cancelUrl: 'https://shop.example.com/' }],
    ['webhookUrl', { webhookUrl: 'https://shop.example.com/' }],
  ])('another %s is REQUEST MISMATCH (%j)', async (_field, changes) => {
    const body = payinBody(next('differs'));
    const ours = expectPending(await collections.payin(body));
    const answer = await collections.complete(revised(withOtp(body), changes));
    expect(answer).toMatchObject({ status: 200, reason: 'REQUEST MISMATCH' });
    expect(await completions(ours)).toEqual([]);
    expectPending(await collections.complete(withOtp(body)));
  });

  it('another spelling of the same is no other', async () => {
    const respelled: readonly Changes[] = [
      { transactionAmount: number('1e2') },
      { transactionAmount: number('100.00') },
      { successUrl: undefined, errorUrl: null, webhookUrl: '  ' },
      { 'requestHeader.clientId': 'another' },
    ];
    for (const changes of respelled) {
      const body = payinBody(next('respelled'));
      expectPending(await collections.payin(body));
      expectPending(await collections.complete(revised(withOtp(body), changes)));
    }
  });
});

describe('contract 10.12: UNKNOWN REFERENCE', () => {
  it('in the same bytes for an unused one, another merchant’s, and our own', async () => {
    const reference = next('foreign');
    const body = payinBody(reference);
    const ours = expectPending(await collections.payin(body));
    const key = collections.rivalKey;
    const answers = [
      await collections.complete(withOtp(payinBody(next('nobody')))),
      await collections.complete(withOtp(body), { key }),
      await collections.complete(withOtp(revised(body, { transactionReference: ours })), { key }),
      await collections.complete(withOtp(revised(body, { transactionReference: ours }))),
      await collections.complete(withOtp(revised(body, { transactionReference: reference.toUpperCase() }))),
    ];
    for (const answer of answers)
      expect(answer).toMatchObject({ status: 200, reason: 'UNKNOWN REFERENCE', reference: '' });
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(await completions(ours)).toEqual([]);
  });

  it('a refused payin cannot be completed, and a completion makes no collection', async () => {
    const reference = next('before');
    const body = payinBody(reference);
    expect((await collections.payin(body, { module: null })).code).toBe('06');
    expect(await collections.complete(withOtp(body))).toMatchObject({ reason: 'UNKNOWN REFERENCE' });
    expect((await collections.check(reference)).code).toBe('25');
    const answer = await collections.call({
      method: 'POST',
      path: paths.complete,
      body: statusBody(reference),
    });
    expect(answer.status).toBe(400);
    expectPending(await collections.payin(body));
  });
});

import { describe, expect, it } from 'vitest';
import { collections, expectNothing, expectPending } from '../collections.ts';
import type { Changes } from '../conformance.ts';
import { customerIn, next, payinBody, withOtp, words } from './collection-requests.ts';

const required = [
  'customerNumber',
  'transactionReference',
  'transactionCurrency',
  'transactionCountry',
  'operatorCode',
  'requestHeader.requestType',
];
const optional = [
  'requestHeader.clientId',
  'customerName',
  'customerEmail',
  'transactionDescription',
  'successUrl',
  'errorUrl',
  'cancelUrl',
  'webhookUrl',
];
const notText = [
  7,
  0,
  true,
  false,
  {},
  [],
  ['x'],
  { $ne: '' },
  { $gt: '' },
  { $regex: '.*' },
  { $where: '1' },
];
const control = [
  '\u0000',
  '\r\n',
  '\n',
  '\t',
  '\u001b[31m',
  '\u007f',
  '\u0085',
  '\u2028',
  '\u202e',
  '\ufeff',
];

/** Expects a refusal that names the field, and that nothing was stored. */
async function expectInvalid(field: string, changes: Changes): Promise<void> {
  const reference = next('field');
  const answer = await collections.payin(payinBody(reference, changes));
  await expectNothing(reference, answer, 'INVALID REQUEST', field);
  expect(answer.status).toBe(400);
  expect(answer.reference).toBe('');
}

const expectTaken = async (changes: Changes): Promise<string> =>
  expectPending(await collections.payin(payinBody(next('field'), changes)));

describe.concurrent('contract 10.11: required fields of a collection', () => {
  it.each(required)('%s must be there, and text', async (field) => {
    for (const value of [undefined, null, '', '   ', ...notText])
      await expectInvalid(field, { [field]: value });
  });

  it('requestHeader must be an object', async () => {
    for (const value of [undefined, null, '', 'B', 7, []])
      await expectInvalid('requestHeader', { requestHeader: value });
  });

  it('names the first field that is wrong by its path', async () => {
    const answer = await collections.payin(payinBody(next('path'), { 'requestHeader.requestType': null }));
    expect(answer.description).toMatch(/^requestHeader\.requestType /);
  });
});

describe.concurrent('contract 10.11: optional fields of a collection', () => {
  it.each(optional)('%s may be left out, null or empty, but must be text', async (field) => {
    for (const value of [undefined, null, '', '   ']) await expectTaken({ [field]: value });
    for (const value of notText) await expectInvalid(field, { [field]: value });
  });

  it('nothing follows from clientId', async () => {
    await expectTaken({ 'requestHeader.clientId': 'any-client' });
  });

  it('all of them may be left out at once', async () => {
    await expectTaken(Object.fromEntries(optional.map((field) => [field, undefined])));
  });

  it('what begins with $ or a formula is a value like any other', async () => {
    for (const value of ['$ne', '{{7*7}}', '=1+1', '<script>', '%n%s', "'; drop", 'Ɔkraku Mensah', '🙂'])
      await expectTaken({ customerName: value, transactionDescription: value });
  });
});

describe.concurrent('contract 10.11: lengths and characters', () => {
  it.each([
    ['customerName', 140],
    ['transactionDescription', 140],
    ['customerEmail', 254],
    ['requestHeader.clientId', 100],
    ['successUrl', 2_048],
    ['errorUrl', 2_048],
    ['cancelUrl', 2_048],
    ['webhookUrl', 2_048],
  ])('%s has at most %i characters', async (field, max) => {
    const head = { customerEmail: 'a@', webhookUrl: 'https://shop.example.com/' }[field] ?? '';
    const start = field.endsWith('Url') ? 'https://shop.example.com/' : head;
    await expectTaken({ [field]: start.padEnd(max, 'x') });
    await expectInvalid(field, { [field]: start.padEnd(max + 1, 'x') });
  });

  it('transactionReference has 1 to 64 of the reference’s alphabet', async () => {
    for (const reference of [next('a').padEnd(64, 'x'), next('A.b_c:d-e'), `${Date.now()}`])
      expectPending(await collections.payin(payinBody(reference)));
    const tail = next('bad');
    const wrong = [
      tail.padEnd(65, 'x'),
      ...words('- . : _ $ ..%2f é').map((start) => `${start}${tail}`),
      ...['/', '\\', '?', '#', '$', ',', ';', 'é', '٣', ' ', '\u0000', '\n', '\u200b'].map(
        (end) => `${tail}${end}`,
      ),
      ` ${tail}`,
    ];
    for (const transactionReference of wrong) {
      const answer = await collections.payin(payinBody('x', { transactionReference }));
      expect(answer).toMatchObject({ status: 400, reason: 'INVALID REQUEST' });
      expect(answer.description).toContain('transactionReference');
    }
  });

  it.each([...optional, 'customerNumber', 'operatorCode', 'requestHeader.requestType'])(
    '%s has no control characters and no half ones',
    async (field) => {
      for (const character of [...control, '\ud800', '\udc00'])
        await expectInvalid(field, { [field]: `2203000${character}9999` });
    },
  );

  it('no answer repeats what was sent', async () => {
    const marked = { customerName: ['canary-name'], operatorCode: 'canary<script>' };
    for (const [field, value] of Object.entries(marked)) {
      const answer = await collections.payin(payinBody(next('echo'), { [field]: value }));
      expect(answer.text).not.toContain('canary');
    }
  });
});

describe('contract 2.8: customerNumber', () => {
  it.each(['', '+', '00'])('digits after %j are accepted', async (prefix) => {
    await expectTaken({ customerNumber: `${prefix}${customerIn('GM')}` });
  });

  it.each(['222333', '222333444555666'])('%s is accepted', async (customerNumber) => {
    await expectTaken({ customerNumber });
  });

  it.each([
    ...words(
      'x abc + ++2203001234 220+3001234 -2203001234 2203001234x tel:2203001234 22033 2203001234567890',
    ),
    ...words(
      "٢٢٠٣٠٠١٢٣٤ ２２０３００１２３４ 2203001234' 220,3001234 220;3001234 $ne 220-300-1234 (220)3001234",
    ),
    ' 2203001234',
    '2203001234 ',
    '220 300 1234',
  ])('%j is refused', async (customerNumber) => {
    await expectInvalid('customerNumber', { customerNumber });
  });
});

describe('P3: what a merchant has no say in', () => {
  it('further fields change nothing', async () => {
    const reference = next('mass');
    const injected = {
      status: 'COMPLETED',
      step: 'ended',
      fee: 0,
      transactionFee: 0,
      merchantId: 'rival',
      _id: 'injected',
      reference: 'injected',
      version: 99,
      rail: 'another',
      completionAttempts: -5,
      responseDetails: { responseCode: '00' },
      'requestHeader.merchantId': 'rival',
    };
    const ours = expectPending(await collections.payin(payinBody(reference, injected)));
    expect(ours).not.toBe('injected');
    expect((await collections.check(reference)).code).toBe('09');
    expect((await collections.check('injected')).code).toBe('25');
    expect((await collections.check(reference, { key: collections.rivalKey })).code).toBe('25');
  });

  it('an otpCode at payin completes nothing', async () => {
    const reference = next('early');
    const body = withOtp(payinBody(reference));
    const ours = expectPending(await collections.payin(body));
    expect((await collections.check(reference)).code).toBe('09');
    const journal = await collections.scenario.stack.simulator.journal(ours);
    expect(journal.map(({ operation }) => operation)).toEqual(['payin']);
    expectPending(await collections.complete(body));
  });
});

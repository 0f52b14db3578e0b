import { describe, expect, it } from 'vitest';
import {
  api,
  type Changes,
  expectAccepted,
  expectFound,
  expectRefused,
  number,
  singleBody,
} from '../conformance.ts';
import { processors } from '../shapes.ts';

let serial = 0;
const next = (): string => api.scenario.reference(`single-${(serial += 1)}`);

async function expectAcceptance(changes: Changes) {
  const reference = next();
  const record = expectAccepted(await api.submit(singleBody(reference, changes)));
  expect(record).toMatchObject({ merchantReference: reference, transactionStatus: 'INITIALIZED' });
  return record;
}

async function expectRefusal(changes: Changes, code: string, names = ''): Promise<void> {
  const reference = next();
  const answer = await api.submit(singleBody(reference, changes));
  await expectRefused(reference, answer, { code, names });
}

/** The complete fields that each place requires (contract 2.2). */
const kenya: Changes = {
  country: 'Kenya',
  currency: 'KES',
  transactionType: '1',
  'beneficiary.bankCode': '01',
  'sender.countryCode': 'KEN',
  'sender.currencyCode': 'KES',
};
const kenyaLowRisk: Changes = {
  ...kenya,
  transactionType: '2',
  channel: 'Mobile Money',
  'beneficiary.bankCode': 'KESAF',
  'beneficiary.phoneNumber': '254700000000',
};
const cameroon: Changes = {
  country: 'Cameroon',
  currency: 'XAF',
  transactionType: '3',
  'beneficiary.bankCode': 'CM10005',
  'sender.phoneNumber': '237600000000',
  'sender.countryCode': 'CMR',
  'sender.currencyCode': 'XAF',
};
const southAfrica: Changes = {
  country: 'South Africa',
  currency: 'ZAR',
  'beneficiary.bankCode': '632005',
  'beneficiary.accountType': 'savings',
  'beneficiary.identificationType': 'passport',
  'beneficiary.identificationNumber': 'A0000001',
};
const egypt: Changes = {
  country: 'Egypt',
  currency: 'EGP',
  'beneficiary.bankCode': '0002',
  'beneficiary.nationalIdNumber': '00000000000000',
};

const requiredTexts = [
  'country',
  'currency',
  'channel',
  'beneficiary.accountName',
  'beneficiary.accountNumber',
  'beneficiary.bankCode',
  'sender.name',
  'sender.email',
];
const optionalTexts = [
  'transactionType',
  'beneficiary.phoneNumber',
  'beneficiary.accountType',
  'beneficiary.identificationType',
  'beneficiary.identificationNumber',
  'beneficiary.nationalIdNumber',
  'beneficiary.narration',
  'sender.phoneNumber',
  'sender.countryCode',
  'sender.currencyCode',
];
const absences: readonly (readonly [string, unknown])[] = [
  ['left out', undefined],
  ['null', null],
  ['empty', ''],
];

describe('contract 2.2: required fields of a single payout', () => {
  it.each(requiredTexts)('%s must be there, and text', async (field) => {
    const wrong = [undefined, null, '', '   ', number('7'), true, [], ['x'], {}, { $ne: '' }, 'a\nb'];
    for (const value of wrong) await expectRefusal({ [field]: value }, '30', field);
  });

  it.each([
    ['left out', undefined],
    ['null', null],
    ['empty', ''],
    ['a number', number('7')],
    ['an object', { $gt: '' }],
    ['with a blank', 'a b'],
    ['with a slash', 'a/b'],
    ['of two dots', '..'],
    ['beginning with a hyphen', '-a'],
    ['not ASCII', 'réf'],
    ['of 65 characters', 'r'.repeat(65)],
  ])('transactionReference %s is refused (contract 10.3)', async (_what, value) => {
    const answer = await api.submit(singleBody('x', { transactionReference: value }));
    expect(answer).toMatchObject({ status: 400, code: '30' });
    expect(answer.message).toContain('transactionReference');
  });

  it('transactionReference takes the whole alphabet and 64 characters (contract 10.3)', async () => {
    const reference = `${next()}:A.b_c-0`.padEnd(64, '9');
    expectAccepted(await api.submit(singleBody(reference)));
    expect(expectFound(await api.lookUp(reference)).merchantReference).toBe(reference);
  });

  it.each(['beneficiary', 'sender'])('%s must be an object', async (field) => {
    for (const value of [undefined, null, '', 'text', number('1'), []])
      await expectRefusal({ [field]: value }, '30', field);
  });

  it.each(['', '[]', 'null', '"text"', '1', '{', '{"a":1,}', "{'a':1}", '\uFEFF{}', '['.repeat(200)])(
    'a body of %j is refused',
    async (body) => {
      expect(await api.submit(body)).toMatchObject({ status: 400, code: '30' });
    },
  );

  it('one key twice with different values is refused', async () => {
    const reference = next();
    const body = singleBody(reference).replace('"currency":"NGN"', '"currency":"NGN","currency":"GHS"');
    await expectRefused(reference, await api.submit(body), { code: '30' });
  });

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json; charset=utf-16',
  ])('Content-Type %s is refused (contract 4.1)', async (type) => {
    const reference = next();
    const path = '/api/v1/transactions/transfer/single';
    const body = singleBody(reference);
    const answer = await api.call({ method: 'POST', path, headers: ['content-type', type], body });
    await expectRefused(reference, answer, { code: '30', names: 'Content-Type' });
  });

  it('a body beyond its bound is refused', async () => {
    await expectRefusal({ padding: 'x'.repeat(100_000) }, '30');
  });
});

describe('contract 2.2: optional fields of a single payout', () => {
  it.each(optionalTexts)('%s left out, null or empty is one and the same', async (field) => {
    const reference = next();
    const ours = new Set<string>();
    for (const [, value] of absences)
      ours.add(
        expectAccepted(await api.submit(singleBody(reference, { [field]: value }))).transactionReference,
      );
    expect(ours.size).toBe(1);
  });

  it.each(optionalTexts)('%s must be text where it is there', async (field) => {
    for (const value of [number('1'), true, {}, ['x']]) await expectRefusal({ [field]: value }, '30', field);
  });

  it('a field that is ours to set changes nothing', async () => {
    const ours = {
      transactionStatus: 'COMPLETED',
      feeAmount: number('0'),
      merchantId: 'rival',
      _id: 'x',
    };
    expect(await expectAcceptance(ours)).toMatchObject({ transactionStatus: 'INITIALIZED' });
  });
});

describe('contract 2.2: what a place asks for', () => {
  it.each([
    ['KES high risk', kenya],
    ['KES low risk', kenyaLowRisk],
    ['XAF', cameroon],
    ['ZAF', southAfrica],
    ['EGP', egypt],
  ])('%s with everything it asks for is accepted', async (_what, fields) => {
    await expectAcceptance(fields);
  });

  it.each([
    ['KES', kenya, 'transactionType'],
    ['KES', kenya, 'sender.countryCode'],
    ['KES', kenya, 'sender.currencyCode'],
    ['low-risk KES', kenyaLowRisk, 'beneficiary.phoneNumber'],
    ['XAF', cameroon, 'transactionType'],
    ['XAF', cameroon, 'sender.phoneNumber'],
    ['XAF', cameroon, 'sender.countryCode'],
    ['XAF', cameroon, 'sender.currencyCode'],
    ['ZAF', southAfrica, 'beneficiary.accountType'],
    ['ZAF', southAfrica, 'beneficiary.identificationType'],
    ['ZAF', southAfrica, 'beneficiary.identificationNumber'],
    ['EGP', egypt, 'beneficiary.nationalIdNumber'],
  ])('%s asks for it: %#', async (_what, fields, field) => {
    for (const [, value] of absences) await expectRefusal({ ...fields, [field]: value }, '30', field);
  });

  it('elsewhere none of them is asked for', async () => {
    await expectAcceptance({});
    await expectAcceptance({ country: 'Ghana', currency: 'GHS', 'beneficiary.bankCode': 'GHMTN' });
    await expectAcceptance({ ...kenya, transactionType: '3' });
  });

  it.each(['0', '4', '01', '1.0', 'high', number('1')])('transactionType %j is refused', async (type) => {
    await expectRefusal({ ...kenya, transactionType: type }, '30', 'transactionType');
  });

  it.each(['sender.countryCode', 'sender.currencyCode'])(
    '%s must be one that exists (contract 10.5)',
    async (field) => {
      await expectRefusal({ ...kenya, [field]: 'QQQ' }, '30', field);
    },
  );
});

describe('contract 2.2: channel, country, currency, bankCode', () => {
  it.each(['Bank Transfer', 'Mobile Money'])('channel %s is one of the two', async (channel) => {
    await expectAcceptance({ channel });
  });

  it.each(['bank transfer', 'MOBILE MONEY', 'BankTransfer', 'Card'])(
    'channel %s is none',
    async (channel) => {
      await expectRefusal({ channel }, '30', 'channel');
    },
  );

  it('a country is a name or a code of two or three letters (contract 10.5)', async () => {
    const reference = next();
    const ours = new Set<string>();
    for (const country of ['Nigeria', 'NG', 'NGA'])
      ours.add(expectAccepted(await api.submit(singleBody(reference, { country }))).transactionReference);
    expect(ours.size).toBe(1);
  });

  it.each([
    ['country', 'Atlantis'],
    ['country', 'QQ'],
    ['country', 'QQQ'],
    ['currency', 'QQQ'],
    ['currency', 'NG'],
    ['currency', 'Naira'],
  ])('%s %s is none (contract 10.5: 30)', async (field, value) => {
    await expectRefusal({ [field]: value }, '30', field);
  });

  it.each([
    ['is unknown', '999999999'],
    ['another country has', '01'],
    ['looks like an operator of the database', '$044'],
  ])('contract 10.1: 92: a bankCode that %s', async (_what, bankCode) => {
    await expectRefusal({ 'beneficiary.bankCode': bankCode }, '92');
  });

  it.each([
    ['is inactive', 'inactive'],
    ['is blocked', 'blocked'],
  ])('contract 10.1: 92: a bankCode whose processor %s (contract 2.6)', async (_what, state) => {
    const banks = await api.call({ path: '/api/v1/banks?country=NGA' });
    const listed = processors.parse(banks.data);
    const found = listed.find((each) => (state === 'blocked' ? each.blockTransaction : !each.active));
    expect(found).toBeDefined();
    await expectRefusal({ 'beneficiary.bankCode': found?.code }, '92');
  });

  it('contract 10.1: 92: a country and a currency that no rail serves together', async () => {
    await expectRefusal({ country: 'Ghana', 'beneficiary.bankCode': 'GHMTN' }, '92');
  });
});

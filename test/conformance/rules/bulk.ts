import { parseJson } from '@pesewa/contracts';
import { eventually } from '@pesewa/testkit';
import { describe, expect, it } from 'vitest';
import {
  type ApiAnswer,
  api,
  bulkBody,
  type Changes,
  expectAccepted,
  expectFound,
  matching,
  number,
  singleBody,
} from '../conformance.ts';
import { webhook } from '../shapes.ts';

let serial = 0;
const next = (): string => api.scenario.reference(`bulk-${(serial += 1)}`);

/** Expects the accepted answer of a bulk payout, which has no data (contract 4.2). */
function expectTaken(answer: ApiAnswer): void {
  expect(answer).toMatchObject({ status: 200, code: '09', data: undefined });
  expect(answer.message).toMatch(/submitted/i);
}

/** Expects that a bulk payout is refused as a whole: none of its items exists afterwards (invariant P7). */
async function expectRefusal(
  changes: Changes,
  code: string,
  names: string | RegExp = '',
  itemCount = 3,
): Promise<void> {
  const reference = next();
  const answer = await api.submitBulk(bulkBody(reference, itemCount, changes));
  expect(answer).toMatchObject({ code, successful: false, data: undefined });
  expect(answer.message).toMatch(names);
  for (const item of [0, 1, 2]) expect((await api.lookUp(`${reference}.${item}`)).code).toBe('25');
}

/** Matches the name of an item in a message: `beneficiaries.1` or `beneficiaries[1]`. */
const named = (index: number, field = ''): RegExp =>
  new RegExp(`beneficiaries(?:\\.${index}|\\[${index}\\])(?!\\d)${field === '' ? '' : `.*${field}`}`);

describe('contract 2.3: required fields of a bulk payout', () => {
  it.each(['country', 'currency', 'channel', 'sender.name', 'sender.email'])(
    '%s must be there, and text',
    async (field) => {
      for (const value of [undefined, null, '', number('7'), {}, []])
        await expectRefusal({ [field]: value }, '30', field);
    },
  );

  it.each(['accountName', 'accountNumber', 'bankCode', 'transactionReference'])(
    'beneficiaries[].%s must be there, and text; the item is named',
    async (field) => {
      for (const value of [undefined, null, '', number('7'), {}])
        await expectRefusal({ [`beneficiaries.1.${field}`]: value }, '30', named(1, field));
    },
  );

  it('sender.phoneNumber must be there, and may be empty', async () => {
    await expectRefusal({ 'sender.phoneNumber': undefined }, '30', 'sender.phoneNumber');
    expectTaken(await api.submitBulk(bulkBody(next(), 1, { 'sender.phoneNumber': '' })));
    expectTaken(await api.submitBulk(bulkBody(next(), 1, { 'sender.phoneNumber': '2348000000000' })));
  });

  it.each([
    ['left out', undefined],
    ['null', null],
    ['empty', ''],
    ['with a slash', 'a/b'],
  ])('transactionReference %s is refused', async (_what, value) => {
    const answer = await api.submitBulk(bulkBody('x', 1, { transactionReference: value }));
    expect(answer).toMatchObject({ code: '30', successful: false });
    expect(answer.message).toContain('transactionReference');
  });

  it.each([
    ['totalAmount', undefined],
    ['totalAmount', null],
    ['totalAmount', '300'],
    ['beneficiaries', undefined],
    ['beneficiaries', null],
    ['beneficiaries', {}],
    ['beneficiaries', 'x'],
    ['sender', undefined],
    ['sender', []],
    ['transactionType', '7'],
    ['transactionType', number('1')],
  ])('%s as %j is refused', async (field, value) => {
    await expectRefusal({ [field]: value }, '30', field);
  });

  it('an item must be an object, its saveBeneficiary a boolean', async () => {
    await expectRefusal({ 'beneficiaries.1': null }, '30', named(1));
    await expectRefusal({ 'beneficiaries.1': 'x' }, '30', named(1));
    await expectRefusal({ 'beneficiaries.1.saveBeneficiary': 'yes' }, '30', named(1, 'saveBeneficiary'));
  });

  it('what the samples alone carry may be left out', async () => {
    const sampled = ['transactionType', 'beneficiaries.0.narration', 'beneficiaries.0.saveBeneficiary'];
    const without = Object.fromEntries(sampled.map((field) => [field, undefined]));
    expectTaken(await api.submitBulk(bulkBody(next(), 1, without)));
  });

  it('the rules of places apply to single payouts alone (contract 10.9)', async () => {
    const kenya = { country: 'Kenya', currency: 'KES', 'beneficiaries.0.bankCode': '01' };
    expectTaken(await api.submitBulk(bulkBody(next(), 1, { ...kenya, transactionType: undefined })));
  });

  it.each([
    ['country', 'Atlantis'],
    ['currency', 'QQQ'],
    ['channel', 'Card'],
  ])('%s %s is none', async (field, value) => {
    await expectRefusal({ [field]: value }, '30', field);
  });
});

describe('contract 2.3: amounts of a bulk payout', () => {
  it.each(['0', '-1', '0.001', '100.005', '1e309', '1e-400'])(
    'contract 10.9: 13: an item of %s, named',
    async (amount) => {
      await expectRefusal({ 'beneficiaries.1.amount': number(amount) }, '13', named(1));
    },
  );

  it.each([undefined, null, '', '100', true, {}])(
    'contract 10.9: 30: an item of %j is no number, named',
    async (amount) => {
      await expectRefusal({ 'beneficiaries.1.amount': amount }, '30', named(1, 'amount'));
    },
  );

  it('a negative item is not hidden by a positive one', async () => {
    const hidden = { 'beneficiaries.0.amount': number('300'), 'beneficiaries.1.amount': number('-100') };
    await expectRefusal(hidden, '13', named(1));
  });

  it.each(['300.01', '299.99', '0', '-300', '3000', '300.001', '1e309'])(
    'contract 10.9: 13: a totalAmount of %s for 300',
    async (total) => {
      await expectRefusal({ totalAmount: number(total) }, '13', 'totalAmount');
    },
  );

  it('totals are exact: 0.1 and 0.2 are 0.3, not what a float makes of it', async () => {
    const parts = { 'beneficiaries.0.amount': number('0.1'), 'beneficiaries.1.amount': number('0.2') };
    expectTaken(await api.submitBulk(bulkBody(next(), 2, { ...parts, totalAmount: number('0.30') })));
    const noise = number('0.30000000000000004');
    expect(await api.submitBulk(bulkBody(next(), 2, { ...parts, totalAmount: noise }))).toMatchObject({
      code: '13',
    });
  });
});

describe('invariant P7: all or nothing at acceptance', () => {
  it('the first bad item is the one that is named', async () => {
    const two = { 'beneficiaries.1.bankCode': '', 'beneficiaries.2.accountName': '' };
    await expectRefusal(two, '30', named(1, 'bankCode'));
  });

  it('contract 10.9: 92: an item with an unknown processor, named', async () => {
    await expectRefusal({ 'beneficiaries.2.bankCode': '999999999' }, '92', named(2));
  });

  it('no items are refused', async () => {
    await expectRefusal({ beneficiaries: [], totalAmount: number('0') }, '30', 'beneficiaries');
  });

  it('one reference twice is refused, the header’s included, and named', async () => {
    const reference = next();
    const twice = { 'beneficiaries.2.transactionReference': `${reference}.0` };
    const header = { 'beneficiaries.1.transactionReference': reference };
    const first = await api.submitBulk(bulkBody(reference, 3, twice));
    const second = await api.submitBulk(bulkBody(reference, 3, header));
    expect(first).toMatchObject({ code: '30', message: matching(named(2)) });
    expect(second).toMatchObject({ code: '30', message: matching(named(1)) });
    expect((await api.lookUp(`${reference}.0`)).code).toBe('25');
  });

  it('contract 10.9: 51: the sum is more than there is', async () => {
    const key = await api.addMerchant('poor', { funding: '250' });
    const reference = next();
    expect(await api.submitBulk(bulkBody(reference, 3), key)).toMatchObject({ status: 422, code: '51' });
    expect((await api.lookUp(`${reference}.0`, key)).code).toBe('25');
  });

  it('contract 10.9: 61: an item over the merchant’s limit, named', async () => {
    const limits = { requestsPerSecond: 1_000, perPayoutMaxMinor: { NGN: 50_000n } };
    const key = await api.addMerchant('limited', { limits });
    const reference = next();
    const over = { 'beneficiaries.1.amount': number('500.01'), totalAmount: number('700.01') };
    const answer = await api.submitBulk(bulkBody(reference, 3, over), key);
    expect(answer).toMatchObject({ status: 422, code: '61', message: matching(named(1)) });
    expect((await api.lookUp(`${reference}.0`, key)).code).toBe('25');
  });
});

describe('contract 4.2, invariant P5: one batch, once', () => {
  it('every item has its own record and its own webhook; the batch is no payout', async () => {
    const reference = next();
    const digits = { 'beneficiaries.1.accountNumber': '0123450001' };
    expectTaken(await api.submitBulk(bulkBody(reference, 3, digits)));
    expect(await api.lookUp(reference)).toMatchObject({ status: 400, code: '25' });
    const ends = ['COMPLETED', 'FAILED', 'COMPLETED'];
    for (const [index, status] of ends.entries()) {
      const item = `${reference}.${index}`;
      await api.scenario.payoutBecomes(item, status);
      const [body] = await eventually(async () => {
        const all = await api.scenario.stack.simulator.received('demo', item);
        expect(all).toHaveLength(1);
        return all.map((one) => one.body);
      });
      const { data } = webhook.parse(parseJson(body ?? ''));
      expect(data).toEqual(expectFound(await api.lookUp(item)));
      expect(data.merchantReference).toBe(item);
    }
  });

  it('the same again is the same, however its numbers and country are written', async () => {
    const reference = next();
    expectTaken(await api.submitBulk(bulkBody(reference, 3)));
    const before = expectFound(await api.lookUp(`${reference}.2`)).transactionReference;
    const respelled = {
      country: 'NG',
      totalAmount: number('3e2'),
      'beneficiaries.0.amount': number('100.00'),
    };
    expectTaken(await api.submitBulk(bulkBody(reference, 3, respelled)));
    expect(expectFound(await api.lookUp(`${reference}.2`)).transactionReference).toBe(before);
  });

  it('10 at once are one batch', async () => {
    const reference = next();
    const turns = Array.from({ length: 10 }, () => api.submitBulk(bulkBody(reference, 5)));
    const answers = await Promise.all(turns);
    for (const answer of answers) expectTaken(answer);
    const ours = await api.scenario.payoutBecomes(`${reference}.4`, 'COMPLETED');
    expect(await api.scenario.executions(ours)).toBe(1);
  });

  it.each([
    ['another amount', { 'beneficiaries.1.amount': number('101'), totalAmount: number('301') }],
    ['another account', { 'beneficiaries.1.accountNumber': '0123459998' }],
    ['another sender', { 'sender.name': 'Another' }],
    ['another item’s reference', { 'beneficiaries.1.transactionReference': 'a-new-one' }],
  ])('contract 10.9: 94: the same reference with %s', async (_what, changes) => {
    const reference = next();
    expectTaken(await api.submitBulk(bulkBody(reference, 3)));
    expect(await api.submitBulk(bulkBody(reference, 3, changes))).toMatchObject({ status: 409, code: '94' });
    expect(await api.submitBulk(bulkBody(reference, 2))).toMatchObject({ status: 409, code: '94' });
  });

  it('contract 10.9: 94: an item’s reference that was used before, named', async () => {
    const used = next();
    expectAccepted(await api.submit(singleBody(used)));
    await expectRefusal({ 'beneficiaries.1.transactionReference': used }, '94', named(1));
    const batch = next();
    expectTaken(await api.submitBulk(bulkBody(batch, 2)));
    await expectRefusal({ 'beneficiaries.2.transactionReference': `${batch}.1` }, '94', named(2));
    await expectRefusal({ 'beneficiaries.0.transactionReference': batch }, '94', named(0));
  });

  it('contract 10.9: 94: a single payout or a batch with a reference of a batch', async () => {
    const batch = next();
    expectTaken(await api.submitBulk(bulkBody(batch, 2)));
    expect(await api.submit(singleBody(batch))).toMatchObject({ status: 409, code: '94' });
    const other = { 'beneficiary.accountName': 'Another' };
    expect(await api.submit(singleBody(`${batch}.0`, other))).toMatchObject({ status: 409, code: '94' });
    expect(await api.submitBulk(bulkBody(`${batch}.1`, 2))).toMatchObject({ status: 409, code: '94' });
  });
});

describe('contract 10.9: 1 to 10,000 items', () => {
  it('10,001 are refused', async () => {
    await expectRefusal({}, '30', 'beneficiaries', 10_001);
  });
});

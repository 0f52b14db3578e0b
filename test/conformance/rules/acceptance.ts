import { parseJson } from '@pesewa/contracts';
import type { NewMerchant } from '@pesewa/directory';
import { eventually } from '@pesewa/testkit';
import { describe, expect, it } from 'vitest';
import {
  api,
  bulkBody,
  type Changes,
  expectAccepted,
  expectFound,
  expectRefused,
  matching,
  number,
  singleBody,
} from '../conformance.ts';
import { webhook } from '../shapes.ts';

let serial = 0;
const next = (): string => api.scenario.reference(`accept-${(serial += 1)}`);
const cameroonAsks: Changes = {
  transactionType: '1',
  'sender.phoneNumber': '237600000000',
  'sender.countryCode': 'CMR',
  'sender.currencyCode': 'XAF',
};
const ivoryCoast: Changes = { country: "Cote d'Ivoire", currency: 'XOF', 'beneficiary.bankCode': 'CIMTN' };

describe('contract 2.2: beneficiary.amount', () => {
  it('is judged by its value: 20, 20.00 and 2e1 are one (contract 10.4)', async () => {
    const reference = next();
    const ours = new Set<string>();
    for (const amount of ['20', '20.00', '2e1', '2E+1', '200e-1'])
      ours.add(
        expectAccepted(await api.submit(singleBody(reference, { 'beneficiary.amount': number(amount) })))
          .transactionReference,
      );
    expect(ours.size).toBe(1);
    expect(Number(expectFound(await api.lookUp(reference)).amount)).toBe(20);
  });

  it.each([
    ['0.01', {}],
    ['100.500', {}],
    ['100.0', ivoryCoast],
    ['1', ivoryCoast],
  ])('%s is accepted', async (amount, place) => {
    const body = singleBody(next(), { ...place, 'beneficiary.amount': number(amount) });
    expect(Number(expectAccepted(await api.submit(body)).amount)).toBe(Number(amount));
  });

  it('keeps every digit of 89000000000000.01, which a float takes for …02', async () => {
    const key = await api.addMerchant('rich', { funding: '90000000000000' });
    const reference = next();
    const body = singleBody(reference, { 'beneficiary.amount': number('89000000000000.01') });
    expect(expectAccepted(await api.submit(body, key)).amount).toBe('89000000000000.01');
    const found = expectFound(await api.lookUp(reference, key));
    expect(found).toMatchObject({ feeAmount: '890000000000', valueAmount: '89890000000000.01' });
  });

  it.each([
    ['0', {}],
    ['-0', {}],
    ['0.00', {}],
    ['-1', {}],
    ['-1e-1', {}],
    ['0.001', {}],
    ['100.005', {}],
    ['1e-400', {}],
    ['9007199254740993', {}],
    ['1e309', {}],
    ['1e400', {}],
    ['123456789012345678901234567890', {}],
    ['100.5', ivoryCoast],
    ['0.5', ivoryCoast],
    ['100.5', { country: 'Cameroon', currency: 'XAF', 'beneficiary.bankCode': 'CM10005', ...cameroonAsks }],
  ])('contract 10.4: 13: %s is no acceptable amount (%#)', async (amount, place) => {
    const reference = next();
    const answer = await api.submit(
      singleBody(reference, { ...place, 'beneficiary.amount': number(amount) }),
    );
    await expectRefused(reference, answer, { code: '13', names: 'beneficiary.amount' });
  });

  it.each([
    ['left out', undefined],
    ['null', null],
    ['empty', ''],
    ['quoted', '10'],
    ['true', true],
    ['a list', [number('10')]],
    ['an object', {}],
  ])('contract 10.4: 30: %s is no number', async (_what, amount) => {
    const reference = next();
    const answer = await api.submit(singleBody(reference, { 'beneficiary.amount': amount }));
    await expectRefused(reference, answer, { code: '30', names: 'beneficiary.amount' });
  });

  it.each(['NaN', 'Infinity', '+1', '01', '.5', '1.', '0x10', '1_000', '1,5', "'10'"])(
    'contract 10.4: 30: %s is no JSON',
    async (amount) => {
      const reference = next();
      const body = singleBody(reference).replace('"amount":100', `"amount":${amount}`);
      await expectRefused(reference, await api.submit(body), { code: '30' });
    },
  );
});

describe('contract 2.4, 4.1, 4.3: the record', () => {
  it('an accepted payout shows status, both references, amount and fee; its lookup value and reason', async () => {
    const reference = next();
    const record = expectAccepted(
      await api.submit(singleBody(reference, { 'beneficiary.amount': number('250.75') })),
    );
    const { transactionReference } = record;
    expect(transactionReference).not.toBe(reference);
    const numbers = { amount: '250.75', feeAmount: '2.51' };
    expect(record).toEqual({
      transactionStatus: 'INITIALIZED',
      merchantReference: reference,
      transactionReference,
      ...numbers,
    });
    const found = expectFound(await api.lookUp(reference));
    expect(found).toMatchObject({
      merchantReference: reference,
      transactionReference,
      ...numbers,
      valueAmount: '253.26',
    });
    expect(expectFound(await api.lookUp(transactionReference))).toMatchObject({
      merchantReference: reference,
    });
  });

  it('never says 25 after 09, from the first moment on (invariant P9)', async () => {
    const codes = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const reference = next();
        expectAccepted(await api.submit(singleBody(reference)));
        return (await api.lookUp(reference)).code;
      }),
    );
    expect(new Set(codes)).toEqual(new Set(['00']));
  });
});

describe('contract 3.1, 6.1: the outcome and its webhook', () => {
  const received = async (reference: string) =>
    (await api.scenario.stack.simulator.received('demo', reference)).map(({ body, headers }) => ({
      data: webhook.parse(parseJson(body)).data,
      headers,
    }));

  it.each([
    ['COMPLETED', '9999', ['COMPLETED'], /^Successful$/],
    ['FAILED', '0001', ['FAILED'], /./],
    ['REVERSED', '0014', ['COMPLETED', 'REVERSED'], /./],
  ])(
    '%s: lookup and webhook have the same seven fields (digits %s)',
    async (status, digits, statuses, reason) => {
      const reference = next();
      expectAccepted(
        await api.submit(singleBody(reference, { 'beneficiary.accountNumber': `012345${digits}` })),
      );
      await api.scenario.payoutBecomes(reference, status);
      const webhooks = await eventually(async () => {
        const all = await received(reference);
        expect(all.map(({ data }) => data.transactionStatus).toSorted()).toEqual(statuses.toSorted());
        return all;
      });
      const last = webhooks.find(({ data }) => data.transactionStatus === status);
      expect(last?.data).toEqual(expectFound(await api.lookUp(reference)));
      expect(last?.headers).toMatchObject({ 'content-type': matching(/^application\/json/) });
      expect(last?.data.statusReason).toMatch(reason);
    },
  );
});

describe('invariant P5: a reference is accepted once', () => {
  it('50 at once are one payout', async () => {
    const reference = next();
    const answers = await Promise.all(Array.from({ length: 50 }, () => api.submit(singleBody(reference))));
    const ours = answers.map((answer) => expectAccepted(answer).transactionReference);
    expect(new Set(ours).size).toBe(1);
    await api.scenario.payoutBecomes(reference, 'COMPLETED');
    expect(await api.scenario.executions(ours[0] ?? '')).toBe(1);
  });

  it('of 50 at once with two contents, one content is accepted and the other refused', async () => {
    const reference = next();
    const bodies = ['100', '101'].map((amount) =>
      singleBody(reference, { 'beneficiary.amount': number(amount) }),
    );
    const answers = await Promise.all(
      Array.from({ length: 50 }, async (_none, index) => {
        const { code } = await api.submit(bodies[index % 2] ?? '');
        return `${index % 2}:${code}`;
      }),
    );
    expect([
      ['0:09', '1:94'],
      ['0:94', '1:09'],
    ]).toContainEqual([...new Set(answers)].toSorted());
  });

  it('of a single payout and a bulk item at once, one is accepted', async () => {
    for (let round = 0; round < 5; round += 1) {
      const batch = next();
      const [single, bulk] = await Promise.all([
        api.submit(singleBody(`${batch}.0`, { 'beneficiary.accountName': 'Another' })),
        api.submitBulk(bulkBody(batch, 2)),
      ]);
      expect(new Set([single.code, bulk.code])).toEqual(new Set(['09', '94']));
    }
  });

  it('the same again has today’s state', async () => {
    const reference = next();
    expectAccepted(await api.submit(singleBody(reference)));
    await api.scenario.payoutBecomes(reference, 'COMPLETED');
    expect(expectAccepted(await api.submit(singleBody(reference))).transactionStatus).toBe('COMPLETED');
  });

  it.each([
    ['beneficiary.accountNumber', '0123459998'],
    ['beneficiary.accountName', 'Another'],
    ['beneficiary.bankCode', '058'],
    ['beneficiary.narration', 'Another'],
    ['sender.email', 'another@example.com'],
    ['channel', 'Mobile Money'],
    ['currency', 'GHS'],
    ['beneficiary.bankCode', 'nobody has it'],
  ])('contract 10.3: 94: another %s (%s) is other content, judged before routing', async (field, value) => {
    const reference = next();
    expectAccepted(await api.submit(singleBody(reference)));
    const answer = await api.submit(singleBody(reference, { [field]: value }));
    expect(answer).toMatchObject({ status: 409, code: '94', data: undefined });
  });

  it('a malformed body is 30 even for a reference that was used', async () => {
    const reference = next();
    expectAccepted(await api.submit(singleBody(reference)));
    const answer = await api.submit(singleBody(reference, { 'sender.name': '' }));
    expect(answer).toMatchObject({ code: '30' });
  });

  it('another merchant may use the same reference', async () => {
    const reference = next();
    const [mine, theirs] = [
      expectAccepted(await api.submit(singleBody(reference))),
      expectAccepted(await api.submit(singleBody(reference), api.rivalKey)),
    ];
    expect(theirs.transactionReference).not.toBe(mine.transactionReference);
  });
});

describe('contract 10.17: 61: the limits of a merchant', () => {
  const limited = (id: string, limits: Partial<NewMerchant['limits']>) =>
    api.addMerchant(id, { limits: { requestsPerSecond: 1_000, ...limits } });
  const pay = (amount: string, key: string) =>
    api.submit(singleBody(next(), { 'beneficiary.amount': number(amount) }), key);

  it('a payout of just the limit is accepted, of one minor unit more refused', async () => {
    const key = await limited('small-payouts', { perPayoutMaxMinor: { NGN: 50_000n } });
    expect(await pay('500', key)).toMatchObject({ code: '09' });
    expect(await pay('500.01', key)).toMatchObject({ status: 422, code: '61', data: undefined });
  });

  it('a day is full to the last unit, however many race for it', async () => {
    const key = await limited('small-days', { perDayMaxMinor: { NGN: 50_000n } });
    const answers = await Promise.all(Array.from({ length: 20 }, () => pay('100', key)));
    expect(answers.filter(({ code }) => code === '09')).toHaveLength(5);
    expect(answers.filter(({ code }) => code === '61')).toHaveLength(15);
  });
});

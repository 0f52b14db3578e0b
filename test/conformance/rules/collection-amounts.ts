import { describe, expect, it } from 'vitest';
import { collections, expectNothing, expectPending } from '../collections.ts';
import { number } from '../conformance.ts';
import { next, payinBody, words } from './collection-requests.ts';

const asked = (amount: unknown, operatorCode: string) => {
  const reference = next('amount');
  return { reference, body: payinBody(reference, { transactionAmount: amount }, operatorCode) };
};

describe.concurrent('contract 2.8: transactionAmount', () => {
  it.each([
    ['0.01', 'GMQMO', '0.01'],
    ['100.500', 'GMQMO', '100.5'],
    ['20.00', 'GMQMO', '20'],
    ['2e1', 'GMQMO', '20'],
    ['2E+1', 'GMQMO', '20'],
    ['200e-1', 'GMQMO', '20'],
    ['0.1e1', 'GHMTN', '1'],
    ['12.34', 'KESAF', '12.34'],
    ['5', 'CIORA', '5'],
    ['100', 'CIORA', '100'],
    ['105', 'CIORA', '105'],
    ['5.0', 'CIORA', '5'],
    ['1.05e2', 'CIORA', '105'],
    ['1e3', 'CIWAV', '1000'],
    // As a float this amount becomes …02.
    ['89000000000000.01', 'GMQMO', '89000000000000.01'],
    ['9007199254740990', 'CIORA', '9007199254740990'],
  ])('contract 10.4: %s by %s is accepted as %s', async (amount, operatorCode, exact) => {
    const { body } = asked(number(amount), operatorCode);
    const ours = expectPending(await collections.payin(body));
    const [entry] = await collections.scenario.stack.simulator.journal(ours);
    expect(entry).toMatchObject({ operation: 'payin', amount: exact });
  });

  it.each([
    ...words('0 -0 0.00 0e5 -1 -1e-1 -100 0.001 100.005 1.2345 1e-3 1e-400 1e309 1e400 1e21 1E+30'),
    ...words('9007199254740993 90071992547409.92 123456789012345678901234567890'),
    `1${'0'.repeat(400)}`,
    `0.${'0'.repeat(400)}1`,
  ])('contract 10.4: %s is no acceptable amount of GMD', async (amount) => {
    const { reference, body } = asked(number(amount), 'GMQMO');
    await expectNothing(reference, await collections.payin(body), 'INVALID AMOUNT');
  });

  it.each(['100.001', '0', '-5'])('contract 10.4: %s is none of GHS and KES either', async (amount) => {
    for (const operatorCode of ['GHVOD', 'KESAF']) {
      const { reference, body } = asked(number(amount), operatorCode);
      await expectNothing(reference, await collections.payin(body), 'INVALID AMOUNT');
    }
  });

  it.each([
    ...words('0 1 4 7 99 101 102 104 1002 5.5 0.5 100.5 5e-1 -5 -100'),
    ...words('9007199254740991 9007199254740995 1e21'),
  ])('contract 8: %s is none in Cote d’Ivoire: a multiple of five', async (amount) => {
    for (const operatorCode of ['CIWAV', 'CIMOO', 'CIMTN', 'CIORA']) {
      const { reference, body } = asked(number(amount), operatorCode);
      await expectNothing(reference, await collections.payin(body), 'INVALID AMOUNT');
    }
  });

  it('the step of Cote d’Ivoire applies to no other country', async () => {
    for (const operatorCode of ['GMQMO', 'GHMTN', 'KESAF'])
      expectPending(await collections.payin(asked(number('7'), operatorCode).body));
  });

  it.each([
    ['left out', undefined],
    ['null', null],
    ['empty', ''],
    ['a text', '10'],
    ['a text with spaces', ' 10 '],
    ['true', true],
    ['a list', [number('10')]],
    ['an object', {}],
    ['a condition', { $gt: 0 }],
  ])('contract 10.4: %s is no number', async (_what, amount) => {
    const { reference, body } = asked(amount, 'GMQMO');
    await expectNothing(reference, await collections.payin(body), 'INVALID REQUEST', 'transactionAmount');
  });

  it.each([
    'NaN',
    'Infinity',
    '-Infinity',
    '+1',
    '01',
    '-01',
    '.5',
    '1.',
    '0x10',
    '1_000',
    '1,5',
    '1e',
    "'10'",
  ])('contract 10.4: %s is no JSON', async (literal) => {
    const { reference, body } = asked(number('100'), 'GMQMO');
    const broken = body.replace('"transactionAmount":100', `"transactionAmount":${literal}`);
    await expectNothing(reference, await collections.payin(broken), 'INVALID REQUEST');
  });
});

describe('contract 10.7: an amount that does not cover its fee', () => {
  it('is refused, and one of just the fee is not', async () => {
    const collectionFee = { fixedMinor: 500n, basisPoints: 0n, minimumMinor: 0n };
    const key = await collections.addMerchant('dear', { collectionFee });
    const { body } = asked(number('4.99'), 'GMQMO');
    expect(await collections.payin(body, { key })).toMatchObject({ status: 200, reason: 'INVALID AMOUNT' });
    expectPending(await collections.payin(asked(number('5'), 'GMQMO').body, { key }));
  });
});

import { describe, expect, it } from 'vitest';
import { batchText, drive } from '../acceptance.fixture.ts';
import { canonicalBatch, readBatch } from './batch.ts';
import { canonicalContent } from './request.ts';

type Json = Readonly<Record<string, unknown>>;

const items = [
  ['item-0', 1.5],
  ['item-1', 2.25],
  ['item-2', 3],
] as const;
const body = JSON.parse(batchText('batch', items)) as Json & { readonly beneficiaries: readonly Json[] };
const read = (value: unknown) => drive(readBatch(typeof value === 'string' ? value : JSON.stringify(value)));
const messageOf = (value: unknown) => {
  const order = read(value);
  return order.ok ? 'accepted' : `${order.refusal.code}: ${order.refusal.message}`;
};
const withItem = (index: number, change: Json): Json => ({
  ...body,
  beneficiaries: body.beneficiaries.map((item, at) => (at === index ? { ...item, ...change } : item)),
});

it('reads the header and every item as an order of its own', () => {
  const order = read(body);
  expect(order).toMatchObject({
    ok: true,
    value: { terms: { merchantReference: 'batch', country: 'GHA', total: { minor: 675n, currency: 'GHS' } } },
  });
  const orders = order.ok ? order.value.items : [];
  expect(orders.map(({ merchantReference, amount }) => [merchantReference, amount.minor])).toEqual([
    ['item-0', 150n],
    ['item-1', 225n],
    ['item-2', 300n],
  ]);
});

describe('what is wrong is named, the first bad index with it (contract 2.3 and 10.9)', () => {
  it.each([
    ['no items', { ...body, beneficiaries: [] }, 'malformed: beneficiaries must have at least one item'],
    ['an object of items', { ...body, beneficiaries: {} }, 'malformed: beneficiaries must be an array'],
    ['no beneficiaries', { ...body, beneficiaries: undefined }, 'malformed: beneficiaries is required'],
    ['no object', [], 'malformed: the body must be an object'],
    ['no sender', { ...body, sender: undefined }, 'malformed: sender is required'],
    [
      'a sender without phoneNumber',
      { ...body, sender: { name: 'S', email: 's@example.com' } },
      'malformed: sender.phoneNumber is required',
    ],
    ['another type', { ...body, transactionType: '4' }, 'malformed: transactionType must be one of: 1, 2, 3'],
    [
      'a type that is a number',
      { ...body, transactionType: 2 },
      'malformed: transactionType must be a string',
    ],
    [
      'a total that is not the sum',
      { ...body, totalAmount: 6.76 },
      'invalidAmount: totalAmount must be the sum of the amounts, 6.75',
    ],
    [
      'a total with float noise',
      { ...body, totalAmount: 6.750000000000001 },
      'invalidAmount: totalAmount must have at most 2 decimals in GHS',
    ],
    [
      'an amount in quotes',
      withItem(1, { amount: '2' }),
      'malformed: beneficiaries.1.amount must be a number',
    ],
    [
      'a negative amount hidden by the sum',
      { ...withItem(2, { amount: -3 }), totalAmount: 0.75 },
      'invalidAmount: beneficiaries.2.amount must be greater than zero',
    ],
    [
      'no account',
      withItem(2, { accountNumber: ' ' }),
      'malformed: beneficiaries.2.accountNumber is required',
    ],
    [
      'an account with other letters',
      withItem(0, { accountNumber: '12;34' }),
      'malformed: beneficiaries.0.accountNumber must have only letters, digits, spaces, dots, slashes and hyphens, after at most one plus sign',
    ],
    [
      'saveBeneficiary in words',
      withItem(0, { saveBeneficiary: 'yes' }),
      'malformed: beneficiaries.0.saveBeneficiary must be true or false',
    ],
    [
      'an item that is none',
      { ...body, beneficiaries: ['item'] },
      'malformed: beneficiaries.0 must be an object',
    ],
    [
      'a reference twice',
      withItem(2, { transactionReference: 'item-0' }),
      'malformed: beneficiaries.2.transactionReference is used twice in this batch',
    ],
    [
      "the batch's own reference",
      withItem(1, { transactionReference: 'batch' }),
      'malformed: beneficiaries.1.transactionReference is used twice in this batch',
    ],
  ])('%s', (_what, value, message) => {
    expect(messageOf(value)).toBe(message);
  });

  it('too many items, one that is too large, and too much beside them', () => {
    const many = batchText(
      'batch',
      Array.from({ length: 10_001 }, (_, index) => [`i${index}`, 1] as const),
    );
    expect(messageOf(many)).toBe('malformed: beneficiaries must have at most 10000 items');
    const large = 'x'.repeat(20_000);
    expect(messageOf(withItem(1, { other: large }))).toBe(
      'malformed: beneficiaries.1 must have at most 16384 characters',
    );
    expect(messageOf({ ...body, other: large })).toBe(
      'malformed: the body must have at most 16384 characters beside its beneficiaries',
    );
  });

  it('the last of ten thousand', () => {
    const most = Array.from({ length: 10_000 }, (_, index) => [`i${index}`, 1] as const);
    const bad = batchText('batch', most).replace(/"i9999"/, '"-"');
    expect(messageOf(bad)).toContain('malformed: beneficiaries.9999.transactionReference must start');
  }, 30_000);
});

describe('a batch takes an item along with what it carries', () => {
  it('conditional fields are not required, and kept where given', () => {
    const kenyan = { ...withItem(0, { phoneNumber: '+254700000000' }), currency: 'KES', country: 'KE' };
    const order = read(kenyan);
    expect(order.ok && order.value.items[0]?.beneficiary.phoneNumber).toBe('+254700000000');
    expect(order.ok && order.value.items[1]?.beneficiary.phoneNumber).toBeUndefined();
  });
});

describe('canonical content', () => {
  const contentOf = (value: unknown) => {
    const order = read(value);
    if (!order.ok) throw new Error(order.refusal.message);
    return canonicalBatch(order.value.terms, order.value.items.map(canonicalContent));
  };
  it('is the same whatever the spelling', () => {
    const respelt = { ...body, country: 'gh', currency: 'ghs', extra: 1 };
    expect(contentOf(JSON.stringify(respelt).replace('"amount":3', '"amount":3.00'))).toBe(contentOf(body));
  });
  it.each([
    ['transactionReference', { ...body, transactionReference: 'other' }],
    ['country', { ...body, country: 'Togo' }],
    ['currency', { ...body, currency: 'NGN' }],
    ['channel', { ...body, channel: 'Bank Transfer' }],
    ['transactionType', { ...body, transactionType: '3' }],
    ['sender', { ...body, sender: { name: 'Other', phoneNumber: '', email: 'kofi@shop.example' } }],
    ['an item', withItem(1, { narration: 'bonus' })],
    ['the order of items', { ...body, beneficiaries: [...body.beneficiaries].reverse() }],
  ])('changes with %s', (_what, value) => {
    expect(contentOf(value)).not.toBe(contentOf(body));
  });
});

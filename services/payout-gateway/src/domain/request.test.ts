import { bulkPayoutItem, parseJson, singlePayoutRequest } from '@pesewa/contracts';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { canonicalContent, normaliseRequest } from './request.ts';

type Json = Readonly<Record<string, unknown>>;

/** A request with every field, although no condition requires them. */
const full = {
  transactionReference: 'order-1',
  country: 'Ghana',
  currency: 'GHS',
  channel: 'Mobile Money',
  transactionType: '1',
  beneficiary: {
    accountName: 'Ama Mensah',
    accountNumber: '0240000000',
    phoneNumber: '+233240000000',
    accountType: 'savings',
    identificationType: 'passport',
    identificationNumber: 'G1',
    nationalIdNumber: 'N1',
    bankCode: 'GHMTN',
    amount: 20,
    narration: 'salary',
  },
  sender: {
    name: 'Kofi Shop',
    phoneNumber: '+233300000000',
    email: 'kofi@shop.example',
    countryCode: 'GHA',
    currencyCode: 'GHS',
  },
};

/** The body with the field at this path set; `undefined` removes it. */
function withField(body: Json, path: string, value: unknown): Json {
  const [head = '', ...rest] = path.split('.');
  if (rest.length === 0) return { ...body, [head]: value };
  return { ...body, [head]: withField(body[head] as Json, rest.join('.'), value) };
}

const read = (body: unknown) => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return normaliseRequest(singlePayoutRequest.parse(parseJson(text)));
};
const refusalOf = (body: unknown) => {
  const order = read(body);
  return order.ok ? 'accepted' : order.refusal;
};
const contentOf = (body: unknown) => {
  const order = read(body);
  if (!order.ok) throw new Error(order.refusal.message);
  return canonicalContent(order.value);
};
const malformed = (message: string) => ({ code: 'malformed', message });

/** All paths of the schema to fields without subfields. */
function leavesOf(schema: z.ZodType, path: readonly string[] = []): readonly string[] {
  if (!(schema instanceof z.ZodObject)) return [path.join('.')];
  return Object.entries(schema.shape).flatMap(([name, field]) =>
    leavesOf(field as z.ZodType, [...path, name]),
  );
}

describe('conditional fields (contract 2.2), each violated alone', () => {
  const sender = { ...full.sender, countryCode: 'KEN', currencyCode: 'KES' };
  const kes = { ...full, country: 'KEN', currency: 'KES', transactionType: '2', sender };
  const xaf = { ...full, country: 'CMR', currency: 'XAF' };
  const zaf = { ...full, country: 'South Africa', currency: 'ZAR' };
  const egp = { ...full, country: 'Egypt', currency: 'EGP' };
  const cases = [
    ['transactionType', kes, 'a payout in KES or XAF'],
    ['sender.countryCode', kes, 'a payout in KES or XAF'],
    ['sender.currencyCode', kes, 'a payout in KES or XAF'],
    ['beneficiary.phoneNumber', kes, 'a low-risk KES payout'],
    ['transactionType', xaf, 'a payout in KES or XAF'],
    ['sender.countryCode', xaf, 'a payout in KES or XAF'],
    ['sender.currencyCode', xaf, 'a payout in KES or XAF'],
    ['sender.phoneNumber', xaf, 'a payout in XAF'],
    ['beneficiary.accountType', zaf, 'a payout to South Africa'],
    ['beneficiary.identificationType', zaf, 'a payout to South Africa'],
    ['beneficiary.identificationNumber', zaf, 'a payout to South Africa'],
    ['beneficiary.nationalIdNumber', egp, 'a payout in EGP'],
  ] as const;
  it.each(cases)('%s', (path, body, when) => {
    expect(refusalOf(body)).toBe('accepted');
    for (const absent of [undefined, null, '', '   ']) {
      expect(refusalOf(withField(body, path, absent))).toEqual(malformed(`${path} is required for ${when}`));
    }
  });
  it('none of them is required elsewhere', () => {
    const paths = new Set(cases.map(([path]) => path));
    const bare = [...paths].reduce<Json>((body, path) => withField(body, path, ''), full);
    expect(refusalOf(bare)).toBe('accepted');
  });
  it('a high-risk KES payout needs no phone number of the beneficiary', () => {
    expect(refusalOf(withField({ ...kes, transactionType: '1' }, 'beneficiary.phoneNumber', ''))).toBe(
      'accepted',
    );
  });
});

describe('places and amounts (contract 10.4)', () => {
  it.each([
    ['country', 'Atlantis', malformed('country must be a country name or an ISO 3166 code')],
    ['currency', 'ABC', malformed('currency must be an ISO 4217 code')],
    ['sender.countryCode', 'XXX', malformed('sender.countryCode must be a country name or an ISO 3166 code')],
    ['sender.currencyCode', 'ABC', malformed('sender.currencyCode must be an ISO 4217 code')],
  ])('an unknown %s is malformed', (path, value, refusal) => {
    expect(refusalOf(withField(full, path, value))).toEqual(refusal);
  });
  const unfit: Readonly<Record<string, readonly string[]>> = {
    'must be greater than zero': ['0', '-0', '-1', '-0.01'],
    'must have at most 2 decimals in GHS': ['0.001', '100.005', '1e-400', '1e-4000', `1.${'0'.repeat(60)}1`],
    'must be at most 90,071,992,547,409.91 GHS': ['1e309', '90071992547409.92', '9'.repeat(41), '1e4000'],
  };
  it.each(
    Object.entries(unfit).flatMap(([message, amounts]) => amounts.map((amount) => ({ amount, message }))),
  )('an amount of $amount $message', ({ amount, message }) => {
    expect(refusalOf(JSON.stringify(full).replace('"amount":20', `"amount":${amount}`))).toEqual({
      code: 'invalidAmount',
      message: `beneficiary.amount ${message}`,
    });
  });
});

describe('canonical content (contract 10.3)', () => {
  it('is the same whatever the spelling', () => {
    const respelt = JSON.stringify({
      ...full,
      country: ' gh ',
      currency: 'ghs',
      sender: { ...full.sender, countryCode: 'ghana', currencyCode: 'ghs' },
      feeAmount: 0,
      transactionStatus: 'COMPLETED',
      merchantId: 'rival',
    });
    for (const amount of ['20.00', '2e1', '200E-1', '20']) {
      const text = respelt.replace('"amount":20', `"amount":${amount}`);
      expect(contentOf(text)).toBe(contentOf(full));
    }
  });

  it('is the same for an optional field that is absent, null, empty or only spaces', () => {
    const optional = leavesOf(singlePayoutRequest).filter(
      (path) => singlePayoutRequest.safeParse(parseJson(JSON.stringify(withField(full, path, '')))).success,
    );
    expect(optional).toHaveLength(10);
    for (const path of optional) {
      const contents = [undefined, null, '', ' '].map((absent) => contentOf(withField(full, path, absent)));
      expect(new Set(contents).size, path).toBe(1);
    }
  });

  it('changes with every field of the schema', () => {
    const others: Json = {
      transactionReference: 'order-2',
      country: 'Togo',
      currency: 'NGN',
      channel: 'Bank Transfer',
      transactionType: '3',
      'beneficiary.amount': 20.01,
      'sender.email': 'ama@shop.example',
      'sender.countryCode': 'TGO',
      'sender.currencyCode': 'NGN',
    };
    const contents = leavesOf(singlePayoutRequest).map((path) =>
      contentOf(withField(full, path, others[path] ?? 'other')),
    );
    expect(contents).toHaveLength(20);
    expect(new Set([...contents, contentOf(full)]).size).toBe(21);
  });

  it("an item of a batch brings no field that a single payout's content leaves out", () => {
    const known = leavesOf(singlePayoutRequest).map((path) => path.replace('beneficiary.', ''));
    const unknown = leavesOf(bulkPayoutItem).filter((path) => !known.includes(path));
    expect(unknown).toEqual(['saveBeneficiary']);
  });
});

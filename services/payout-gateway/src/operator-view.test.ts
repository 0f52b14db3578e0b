import { addPaymentRoutes } from '@pesewa/payments';
import { createOperators, guardOperator } from '@pesewa/runtime';
import { Hono } from 'hono';
import { expect, it } from 'vitest';
import { payout } from './app.fixture.ts';
import type { PayoutRequest } from './domain/request.ts';
import { viewPayout } from './operator-view.ts';
import type { Payout } from './store.ts';

const TOKEN = 'operator-token-of-tests';

/** All personal fields of a payout, each with a distinct text. */
const personal = {
  accountName: 'Abena Mensah',
  accountNumber: '0551234987',
  phoneNumber: '+233209998887',
  identificationNumber: 'GHA-700700700-7',
  nationalIdNumber: 'NID424242',
  narration: 'rent of flat nineteen',
  name: 'Yaw Boateng',
  email: 'yaw@payer.example',
  senderPhone: '+233541112223',
};

const paid: Payout = {
  ...payout,
  order: {
    ...payout.order,
    beneficiary: { ...payout.order.beneficiary, ...personal },
    sender: {
      name: personal.name,
      email: personal.email,
      phoneNumber: personal.senderPhone,
    },
  } as unknown as PayoutRequest,
  status: 'FAILED',
  step: 'ended',
  version: 5n,
  attempts: 1,
  attemptedAtMs: 30,
  statusReason: 'Account 0551234987 of ABENA Mensah is closed',
  timeline: [
    { what: 'held', atMs: 20 },
    { what: 'failed', atMs: 40, attempt: { number: 1, claimedAtMs: 30 }, notKept: 7 },
  ],
};

const asked: unknown[] = [];
let merchants: readonly string[] = [];

async function get(path: string, token: string | undefined = TOKEN) {
  const operator = new Hono();
  addPaymentRoutes<Payout>(
    operator,
    {
      find: async (merchantId, reference) => {
        asked.push([merchantId, reference]);
        return merchantId === 'demo' && reference === 'order-1' ? paid : undefined;
      },
      findByReferences: async (references) => {
        asked.push(references);
        return references.includes('po-1') ? [paid] : [];
      },
      list: async (query) => {
        asked.push(query);
        return query.status === 'PENDING' ? undefined : [paid];
      },
    },
    {
      prefix: 'po',
      view: (payout) => viewPayout(payout),
      merchantIds: async (most) => merchants.slice(0, most),
    },
  );
  const app = guardOperator(operator, createOperators(TOKEN));
  const headers: Record<string, string> = token === '' ? {} : { authorization: `Bearer ${token}` };
  const response = await app.request(path, { headers });
  return { status: response.status, text: await response.text() };
}

it('shows where a payout stands and how it came there', async () => {
  const { status, text } = await get('/payments?reference=po-1');
  expect(status).toBe(200);
  expect(JSON.parse(text)).toEqual({
    kind: 'payout',
    reference: 'po-1',
    merchantId: 'demo',
    merchantReference: 'order-1',
    batchReference: null,
    rail: 'upstream',
    currency: 'KES',
    amount: '20.5',
    fee: '0.21',
    railFee: '0',
    amountReceived: null,
    status: 'FAILED',
    step: 'ended',
    version: 5,
    reason: 'Account *** *** *** *** is closed',
    acceptedAt: '1970-01-01T00:00:00.000Z',
    attempts: 1,
    attemptedAt: '1970-01-01T00:00:00.030Z',
    earlierUnclear: false,
    dueAt: null,
    steps: [
      { at: '1970-01-01T00:00:00.020Z', what: 'held', attempt: null, claimedAt: null, notKept: 0 },
      {
        at: '1970-01-01T00:00:00.040Z',
        what: 'failed',
        attempt: 1,
        claimedAt: '1970-01-01T00:00:00.030Z',
        notKept: 7,
      },
    ],
  });
});

it('names no person', async () => {
  const { text } = await get('/payments?reference=po-1');
  for (const secret of Object.values(personal))
    for (const word of secret.split(' ').filter(({ length }) => length > 4)) expect(text).not.toContain(word);
});

it("finds a payout by its merchant's reference, within that merchant alone", async () => {
  expect((await get('/payments?reference=order-1&merchant=demo')).status).toBe(200);
  expect((await get('/payments?reference=order-1&merchant=other')).status).toBe(404);
  expect((await get('/payments?reference=order-1')).status).toBe(404);
});

it.each([
  ['/payments', 400],
  ['/payments?reference=', 400],
  ['/payments?reference=../po-1', 400],
  [`/payments?reference=${'a'.repeat(65)}`, 400],
  ['/payments?reference=po-1&merchant=', 400],
  [`/payments?reference=po-1&merchant=${'m'.repeat(65)}`, 400],
  ['/payments?reference=po-9', 404],
  ['/payments?reference=ba-1', 404],
  ['/payments/po-1', 404],
])('answers %s with %i', async (path, status) => {
  expect((await get(path)).status).toBe(status);
});

it('finds no payment for a batch, whose reference is stored among the payouts', async () => {
  asked.length = 0;
  await get('/payments?reference=ba-1');
  expect(asked).toEqual([]);
});

it.each([
  ['', 401],
  ['a-foreign-token', 403],
])('answers the token %j with %i, and looks nothing up', async (token, status) => {
  asked.length = 0;
  expect((await get('/payments?reference=po-1', token)).status).toBe(status);
  expect(asked).toEqual([]);
});

it('lists payouts by merchant, status and time, without their steps, and names no person', async () => {
  asked.length = 0;
  const times = 'from=2026-01-02T00:00:00Z&to=2026-01-03T02:00:00%2B02:00';
  const { status, text } = await get(
    `/payments/list?merchant=demo&status=FAILED&${times}&after=po-9&limit=1`,
  );
  expect(status).toBe(200);
  const listed = {
    reference: 'po-1',
    merchantId: 'demo',
    merchantReference: 'order-1',
    rail: 'upstream',
    currency: 'KES',
    amount: '20.5',
    fee: '0.21',
    status: 'FAILED',
    step: 'ended',
    reason: 'Account *** *** *** *** is closed',
    acceptedAt: '1970-01-01T00:00:00.000Z',
  };
  expect(JSON.parse(text)).toEqual({ items: [listed], next: 'po-1' });
  const [fromMs, toMs] = [Date.UTC(2026, 0, 2), Date.UTC(2026, 0, 3)];
  const merchantId = 'demo';
  expect(asked).toMatchObject([{ merchantId, status: 'FAILED', fromMs, toMs, before: 'po-9', limit: 1 }]);
});

it('lists the payouts at a rail that have not ended', async () => {
  asked.length = 0;
  expect((await get('/payments/list?open=true&rail=upstream')).status).toBe(200);
  expect(asked).toMatchObject([{ status: 'INITIALIZED', rail: 'upstream' }]);
});

it('lists the payouts with a reference of their merchant, whoever that is', async () => {
  asked.length = 0;
  merchants = ['demo', 'other'];
  await get('/payments/list?merchantReference=order-1');
  await get('/payments/list?merchantReference=order-1&merchant=demo');
  expect(asked).toMatchObject([{ ids: ['demo:order-1', 'other:order-1'] }, { ids: ['demo:order-1'] }]);
  merchants = Array.from({ length: 1_001 }, (_, index) => `shop-${index}`);
  const { status, text } = await get('/payments/list?merchantReference=order-1');
  expect([status, JSON.parse(text)]).toEqual([
    400,
    { code: 'too_broad', message: 'merchant is required: there are more than 1000' },
  ]);
  expect(asked).toHaveLength(2);
});

it.each([
  ['open=true&status=FAILED', 'either open or status, and not both'],
  ['open=yes', 'open must be true, or left out'],
  ['status=PENDING', 'narrow from and to'],
  ['from=yesterday', 'from must be a time'],
  ['limit=501', 'limit must be a whole number from 1 to 500'],
])('says what is wrong with a list: %s', async (query, message) => {
  const { status, text } = await get(`/payments/list?${query}`);
  expect([status, text]).toEqual([400, expect.stringContaining(message)]);
});

it('lists the merchants’ references by ours, and looks only for payouts', async () => {
  asked.length = 0;
  const { status, text } = await get('/payments/references?references=po-1,po-9,co-1,ba-1');
  expect(status).toBe(200);
  expect(JSON.parse(text)).toEqual({
    items: [{ reference: paid.reference, merchantReference: paid.order.merchantReference }],
    next: null,
  });
  expect(asked).toEqual([['po-1', 'po-9']]);
});

it.each([
  ['', 'references is required'],
  ['?references=po-1,,po-2', 'references must be 1 to 100 references, separated by commas'],
  [
    `?references=${Array(101).fill('po-1').join()}`,
    'references must be 1 to 100 references, separated by commas',
  ],
])('refuses other references than that: %s', async (query, message) => {
  const { status, text } = await get(`/payments/references${query}`);
  expect([status, JSON.parse(text)]).toEqual([400, { code: 'invalid', message }]);
});

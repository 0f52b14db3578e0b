import { addPaymentRoutes } from '@pesewa/payments';
import { createOperators, guardOperator } from '@pesewa/runtime';
import { Hono } from 'hono';
import { expect, it } from 'vitest';
import { openGateway, payinBody } from './fixtures/gateway.ts';
import { viewCollection } from './operator-view.ts';
import type { Collection } from './store.ts';

const TOKEN = 'operator-token-of-tests';
const customer = { customerName: 'Awa Jallow', customerNumber: '2203001234', customerEmail: 'awa@c.example' };
const OTP = '739155';

/** A gateway in which a customer's first OTP is refused, and the operators' access to it. */
async function openOperator() {
  const gateway = openGateway();
  gateway.rail.script.completion = { kind: 'refused', reason: `INCORRECT OTP OF AWA 2203001234` };
  await gateway.send({ path: 'payin', body: payinBody(customer) });
  await gateway.send({ path: 'complete-payin', body: payinBody({ ...customer, otpCode: OTP }) });
  const [collection] = gateway.stored.values();
  const operator = new Hono();
  addPaymentRoutes<Collection>(
    operator,
    {
      find: gateway.collections.find,
      findByReferences: async (references) =>
        [...gateway.stored.values()].filter(({ reference }) => references.includes(reference)),
      list: async () => [...gateway.stored.values()],
    },
    { prefix: 'co', view: viewCollection, merchantIds: async () => [] },
  );
  const app = guardOperator(operator, createOperators(TOKEN));
  return {
    ...gateway,
    reference: collection?.reference ?? '',
    get: async (path: string, headers: Record<string, string> = { authorization: `Bearer ${TOKEN}` }) => {
      const response = await app.request(path, { headers });
      return { status: response.status, text: await response.text() };
    },
  };
}

it('shows a collection’s state, its attempt and its completions, and names no person', async () => {
  const { get, reference } = await openOperator();
  const { status, text } = await get(`/payments?reference=${reference}`);
  expect(status).toBe(200);
  expect(JSON.parse(text)).toMatchObject({
    kind: 'collection',
    reference,
    merchantReference: 'order-1',
    operatorCode: 'GMQMO',
    flow: 'otp',
    currency: 'GMD',
    amount: '100',
    fee: '1.5',
    amountReceived: null,
    status: 'PENDING',
    step: 'awaitingOtp',
    attempts: 1,
    completions: 1,
    completionClosed: false,
    steps: [
      { what: 'acknowledged by the rail', attempt: 1 },
      { what: 'completion 1 requested', attempt: 1 },
      { what: 'completion 1 refused by the rail', attempt: 1 },
    ],
  });
  for (const secret of [...Object.values(customer), OTP, 'Awa', 'Jallow']) expect(text).not.toContain(secret);
});

it('shows a rail’s reason without the customer', async () => {
  const { get, reference, stored } = await openOperator();
  for (const [key, collection] of stored)
    stored.set(key, { ...collection, failureReason: 'AWA JALLOW HAS NO MONEY' });
  const { text } = await get(`/payments?reference=${reference}`);
  expect(JSON.parse(text)).toMatchObject({ reason: '*** *** HAS NO MONEY' });
});

it.each([
  ['/payments', 400],
  ['/payments?reference=co%201', 400],
  ['/payments?reference=co-nobody', 404],
  ['/payments?reference=order-1&merchant=nobody', 404],
])('answers %s with %i', async (path, status) => {
  expect((await (await openOperator()).get(path)).status).toBe(status);
});

it('is for operators alone', async () => {
  const { get, reference } = await openOperator();
  const path = `/payments?reference=${reference}`;
  expect((await get(path, {})).status).toBe(401);
  expect((await get(path, { authorization: 'Bearer a-foreign-token' })).status).toBe(403);
});

import { collectionWebhook, parseJson } from '@pesewa/contracts';
import { type CollectionRequest, postJson } from '@pesewa/stack';
import { eventually } from '@pesewa/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openCompactScenario, type Scenario } from './scenario.ts';

let scenario: Scenario;

beforeAll(async () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  // No poll happens during these tests: payments end only by the rail's signed callbacks.
  scenario = await openCompactScenario(
    'proven',
    {
      'provider-simulator': { CALLBACK_SIGNING_SECRET: secret },
      reconciler: { FIRST_POLL_AFTER_MS: '3600000', POLL_BASE_MS: '3600000', POLL_CAP_MS: '3600000' },
    },
    { callbacks: 'proven', callbackSecrets: [secret] },
  );
});

afterAll(async () => {
  await scenario[Symbol.asyncDispose]();
});

const flows = {
  stk: { operatorCode: 'KESAF', currency: 'KES', country: 'KE', number: '25471234', otp: undefined },
  link: { operatorCode: 'CIWAV', currency: 'XOF', country: 'CI', number: '225070712', otp: undefined },
  otp: { operatorCode: 'GMQMO', currency: 'GMD', country: 'GM', number: '220346', otp: '123456' },
} as const;

function requestOf(flow: keyof typeof flows, digits: string): CollectionRequest {
  const { operatorCode, currency, country, number } = flows[flow];
  const reference = scenario.reference(`${flow}-${digits}`);
  return {
    reference,
    amount: '200',
    operatorCode,
    currency,
    country,
    customerNumber: `${number}${digits}`,
  };
}

/** How often the rail was polled for a payment, and how many callbacks it has sent. */
async function traffic(ours: string): Promise<{ readonly polls: number; readonly callbacks: number }> {
  const journal = await scenario.stack.simulator.journal(ours);
  const polled = journal.filter(({ operation }) => operation === 'lookup' || operation === 'check');
  return { polls: polled.length, callbacks: journal.filter(({ kind }) => kind === 'callback').length };
}

/**
 * Expects that the rail was asked at most once for each of its callbacks where they contradict each other, which they do
 * as long as none of them is applied; else never.
 */
async function expectPollsFor(ours: string, found: readonly string[]): Promise<void> {
  const { polls, callbacks } = await traffic(ours);
  expect(polls).toBeLessThanOrEqual(found.includes('payment.contradiction') ? callbacks : 0);
}

async function breaks(ours: string): Promise<readonly string[]> {
  return (await scenario.stack.operator.breaks(ours)).map(({ kind }) => String(kind));
}

/** Checks of each payment's end, repeated after the last payment has ended. */
const outcomes: (() => Promise<void>)[] = [];

async function expectOutcome(look: () => Promise<unknown>, expected: object): Promise<void> {
  const asExpected = async () => expect(await look()).toEqual(expected);
  outcomes.push(asExpected);
  await eventually(asExpected, 60_000).catch(() => undefined);
  await asExpected();
}

const paid = ['capture', 'fee', 'hold', 'railCost'];

describe('a payout over a proven rail ends by its signed callback, without a poll (ADR 6)', () => {
  it.each([
    ['9999', 'COMPLETED', paid, ['COMPLETED'], []],
    ['0001', 'FAILED', ['hold', 'release'], ['FAILED'], []],
    ['0004', 'COMPLETED', paid, ['COMPLETED'], []],
    ['0009', 'COMPLETED', paid, ['COMPLETED'], []],
    ['0010', 'COMPLETED', paid, ['COMPLETED'], []],
    ['0014', 'REVERSED', [...paid, 'refund'], ['COMPLETED', 'REVERSED'], []],
    ['0011', 'COMPLETED', paid, ['COMPLETED'], ['payment.contradiction']],
  ])('%s: %s', async (digits, status, entries, webhooks, found) => {
    const reference = scenario.reference(`payout-${digits}`);
    const accountNumber = `012345${digits}`;
    const { responseData } = await scenario.demo.requestPayout({ reference, amount: '200', accountNumber });
    const ours = responseData?.transactionReference ?? '';
    const look = async () => ({
      status: (await scenario.demo.lookUpPayout(reference)).responseData?.transactionStatus,
      entries: await scenario.entryKinds(ours),
      webhooks: await scenario.webhookStatuses(reference),
      breaks: await breaks(ours),
    });
    await expectOutcome(look, { status, entries: entries.toSorted(), webhooks, breaks: found });
    await expectPollsFor(ours, found);
  });
});

describe('a collection over a proven rail ends by its signed callback, without a poll (ADR 6)', () => {
  const credited = { entries: ['collect', 'fee', 'railCost'], webhooks: ['COMPLETED 200 3'], breaks: [] };
  const failed = { status: 'FAILED', entries: [], webhooks: ['FAILED 0 0'], breaks: [] };

  it.each([
    ['stk', '9999', { status: 'COMPLETED', ...credited }],
    ['link', '9999', { status: 'COMPLETED', ...credited }],
    ['otp', '9999', { status: 'COMPLETED', ...credited }],
    ['stk', '0001', failed],
    ['otp', '0001', failed],
    ['stk', '0005', { status: 'COMPLETED', ...credited }],
    ['stk', '0009', { status: 'COMPLETED', ...credited }],
    ['stk', '0010', { status: 'COMPLETED', ...credited }],
    ['otp', '0010', { status: 'COMPLETED', ...credited }],
    ['stk', '0011', { status: 'COMPLETED', ...credited, breaks: ['payment.contradiction'] }],
  ] as const)('%s %s', async (flow, digits, expected) => {
    const request = requestOf(flow, digits);
    const { transactionReference: ours } = await scenario.demo.initiateCollection(request);
    const { otp } = flows[flow];
    if (otp !== undefined) await scenario.demo.completeCollection(request, otp);
    await expectOutcome(() => lookAt(request, ours), expected);
    await expectPollsFor(ours, expected.breaks);
  });

  it('0012: its own word on another amount is for people, and the rail is asked', async () => {
    const request = requestOf('stk', '0012');
    const { transactionReference: ours } = await scenario.demo.initiateCollection(request);
    const pending = { status: 'PENDING', entries: [], webhooks: [], breaks: ['collection.amount_differs'] };
    await expectOutcome(() => lookAt(request, ours), pending);
    await eventually(async () => expect((await traffic(ours)).polls).toBeGreaterThan(0));
    expect(await lookAt(request, ours)).toEqual(pending);
  });

  it('0017: an unsigned callback proves nothing, and is not even a hint', async () => {
    const request = requestOf('stk', '0017');
    const { transactionReference: ours } = await scenario.demo.initiateCollection(request);
    const url = `${scenario.stack.runFile().ingressUrl}/rails/upstream/collections`;
    const forged = {
      merchant_reference: ours,
      status: 'COMPLETED',
      amount_received: 200,
      transaction_fee: 2,
    };
    expect((await postJson(url, JSON.stringify(forged))).status).toBe(401);
    const other = requestOf('link', '0001');
    await scenario.demo.initiateCollection(other);
    await eventually(async () =>
      expect((await scenario.demo.checkCollection(other)).responseMessage).toBe('FAILED'),
    );
    expect(await lookAt(request, ours)).toEqual({ status: 'PENDING', entries: [], webhooks: [], breaks: [] });
    expect((await traffic(ours)).polls).toBe(0);
  });
});

it('stays so when every callback has come', async () => {
  expect(outcomes.length).toBeGreaterThan(0);
  for (const asExpected of outcomes) await asExpected();
});

async function lookAt(request: CollectionRequest, ours: string) {
  const received = await scenario.stack.simulator.received(scenario.merchantId, request.reference);
  const webhooks = received.map(({ body }) => collectionWebhook.parse(parseJson(body)));
  return {
    status: (await scenario.demo.checkCollection(request)).responseMessage,
    entries: await scenario.entryKinds(ours),
    webhooks: webhooks.map((said) => `${said.status} ${said.amount_received} ${said.transaction_fee}`),
    breaks: await breaks(ours),
  };
}

it('the books hold from the first entry on (L1 to L12)', async () => {
  expect(await scenario.violations()).toEqual([]);
});

import { collectionWebhook, parseJson } from '@pesewa/contracts';
import { type CollectionRequest, exchange, postJson } from '@pesewa/stack';
import { eventually } from '@pesewa/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openCompactScenario, polledOnDemand, type Scenario } from './scenario.ts';

let scenario: Scenario;

beforeAll(async () => {
  // Only callbacks cause polls: if one came before the callback, the requested amount would count (ADR 23).
  scenario = await openCompactScenario('decisions', { reconciler: polledOnDemand });
});

afterAll(async () => {
  await scenario[Symbol.asyncDispose]();
});

/** A collection of 200 whose callback claims one unit more than the rail collected (0012). */
const kenya = (label: string): CollectionRequest => ({
  reference: scenario.reference(label),
  amount: '200',
  operatorCode: 'KESAF',
  currency: 'KES',
  country: 'KE',
  customerNumber: '254712340012',
});
const gambia = (label: string): CollectionRequest => ({
  ...kenya(label),
  operatorCode: 'GMWAV',
  currency: 'GMD',
  country: 'GM',
  customerNumber: '2203450012',
});

/** The collection as the merchant, the ledger, the rail and the operators see it. */
async function lookAt(request: CollectionRequest, ours: string) {
  const received = await scenario.stack.simulator.received(scenario.merchantId, request.reference);
  const webhooks = received.map(({ body }) => collectionWebhook.parse(parseJson(body)));
  const entries = await scenario.stack.operator.entries(ours);
  const breaks = await scenario.stack.operator.breaks(ours);
  return {
    status: (await scenario.demo.checkCollection(request)).responseMessage,
    entries: entries.map(({ kind, amount }) => `${String(kind)} ${String(amount)}`).toSorted(),
    webhooks: webhooks.map((said) => `${said.status} ${said.amount_received} ${said.transaction_fee}`),
    breaks: breaks.map((one) => `${String(one['kind'])} ${String(one['amount'])} ${String(one['status'])}`),
  };
}

const undecided = {
  status: 'PENDING',
  entries: [],
  webhooks: [],
  breaks: ['collection.amount_differs 1 open'],
} as const;

/** Initiates the collection and waits for its break; returns our reference. */
async function differs(request: CollectionRequest): Promise<string> {
  const { transactionReference: ours } = await scenario.demo.initiateCollection(request);
  await eventually(async () => expect(await lookAt(request, ours)).toEqual(undecided), 60_000);
  return ours;
}

type Operator = 'operator' | 'approver';

function bearer(by: Operator): Record<string, string> {
  const { operatorToken, approverToken } = scenario.stack.runFile();
  return { authorization: `Bearer ${by === 'operator' ? operatorToken : approverToken}` };
}

const decisionsUrl = () => `${scenario.stack.runFile().operations['reconciler'] ?? ''}/decisions`;

async function post(path: string, body: object, by: Operator) {
  const answer = await postJson(`${decisionsUrl()}${path}`, JSON.stringify(body), bearer(by));
  return { status: answer.status, body: answer.body as Readonly<Record<string, unknown>> };
}

async function propose(body: object, by: Operator = 'operator') {
  const proposed = await post('', body, by);
  expect(proposed).toMatchObject({ status: 202, body: { status: 'proposed', requestedBy: by } });
  return String(proposed.body['id']);
}

async function expectDecided(request: CollectionRequest, ours: string, expected: object): Promise<void> {
  const asDecided = async () => expect(await lookAt(request, ours)).toEqual(expected);
  await eventually(asDecided, 60_000).catch(() => undefined);
  await asDecided();
}

async function drift(currency: string) {
  await scenario.stack.operator.compare();
  return (await scenario.stack.operator.drift()).find((one) => one.currency === currency);
}

const available = async (currency: string): Promise<number> =>
  Number((await scenario.stack.operator.wallet(scenario.merchantId, currency)).available);

describe('ADR 23: what a customer paid is decided by two people', () => {
  it('one proposes, another approves: completed with the decided amount, once', async () => {
    const request = kenya('asked');
    const before = await available('KES');
    const ours = await differs(request);
    const id = await propose({ reference: ours, amount: '200.00', note: 'as on the statement' });

    const again = await post('', { reference: ours, amount: '201' }, 'approver');
    expect(again).toMatchObject({ status: 409, body: { code: 'undecided' } });
    const own = await post(`/${id}/approve`, {}, 'operator');
    expect(own).toMatchObject({ status: 403, body: { code: 'same_operator' } });
    const nobody = await exchange(`${decisionsUrl()}/${id}/approve`, { method: 'POST' });
    expect(nobody.status).toBe(401);
    expect(await lookAt(request, ours)).toEqual(undecided);

    const approved = await post(`/${id}/approve`, {}, 'approver');
    expect(approved).toMatchObject({
      status: 200,
      body: { requestedBy: 'operator', approvedBy: 'approver' },
    });
    await expectDecided(request, ours, {
      status: 'COMPLETED',
      entries: ['collect 197', 'fee 3', 'railCost 2'],
      webhooks: ['COMPLETED 200 3'],
      breaks: ['collection.amount_differs 1 resolved'],
    });
    expect((await available('KES')) - before).toBe(197);
    await eventually(async () => {
      const list = await exchange(`${decisionsUrl()}?reference=${ours}`, { headers: bearer('operator') });
      expect(list.body).toMatchObject({ items: [{ id, amount: '200', status: 'applied' }] });
    });
    const late = await post('', { reference: ours, amount: '201' }, 'operator');
    expect(late.status).toBe(409);
    await eventually(async () => expect(await drift('KES')).toMatchObject({ drift: '0', withinRange: true }));
  });

  it('the fee is that of the decided amount; approved by many at once, it completes once', async () => {
    const request = gambia('claimed');
    const before = await available('GMD');
    const ours = await differs(request);
    const id = await propose({ reference: ours, amount: '201' });
    const approvals = await Promise.all(
      Array.from({ length: 5 }, () => post(`/${id}/approve`, {}, 'approver')),
    );
    expect(approvals.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    // Our fee of 1.5 % of 201 is 3.015; the rail's fee of 1 % is 2.01.
    await expectDecided(request, ours, {
      status: 'COMPLETED',
      entries: ['collect 197.98', 'fee 3.02', 'railCost 2.01'],
      webhooks: ['COMPLETED 201 3.02'],
      breaks: ['collection.amount_differs 1 resolved'],
    });
    expect(Math.round(((await available('GMD')) - before) * 100)).toBe(19_798);
  });

  it('and where the decision was wrong, the wallet comparison shows by how much (ADR 28)', async () => {
    // The rail's wallet received 200 less 2, while our books now have 201 less 2.01.
    await eventually(async () =>
      expect(await drift('GMD')).toMatchObject({ drift: '-0.99', withinRange: false }),
    );
    expect(await drift('KES')).toMatchObject({ drift: '0', withinRange: true });
  });

  it('a rejected proposal leaves it pending, and another may be decided', async () => {
    const request = kenya('rejected');
    const ours = await differs(request);
    const slip = { reference: ours, amount: '2000' };
    expect(await post('', slip, 'operator')).toMatchObject({ status: 409, body: { code: 'far_beyond' } });
    const id = await propose({ ...slip, despite: 'the rail wrote it' });
    expect(await post(`/${id}/reject`, { reason: 'a zero too many' }, 'approver')).toMatchObject({
      status: 200,
      body: { status: 'rejected', rejectedBy: 'approver' },
    });
    expect((await post(`/${id}/approve`, {}, 'approver')).status).toBe(409);
    expect(await lookAt(request, ours)).toEqual(undecided);
    await scenario.stack.operator.decide({ reference: ours, amount: '200' });
    await expectDecided(request, ours, {
      status: 'COMPLETED',
      entries: ['collect 197', 'fee 3', 'railCost 2'],
      webhooks: ['COMPLETED 200 3'],
      breaks: ['collection.amount_differs 1 resolved'],
    });
  });

  it('decides nothing about a collection without such a break', async () => {
    const request = { ...kenya('agrees'), customerNumber: '254712349999' };
    const { transactionReference: ours } = await scenario.demo.initiateCollection(request);
    expect((await post('', { reference: ours, amount: '200' }, 'operator')).status).toBe(404);
  });
});

it('the books hold from the first entry on (L1 to L12)', async () => {
  expect(await scenario.violations()).toEqual([]);
});

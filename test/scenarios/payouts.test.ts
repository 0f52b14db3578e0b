import { verifyWebhook } from '@pesewa/signatures';
import { exchange } from '@pesewa/stack';
import { eventually } from '@pesewa/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openScenario, type Scenario } from './scenario.ts';

let scenario: Scenario;

beforeAll(async () => {
  // One reset opens the circuit.
  scenario = await openScenario('payouts', {}, { breakerFailures: 1 });
});

afterAll(async () => {
  await scenario[Symbol.asyncDispose]();
});

const capturedKinds = ['capture', 'fee', 'hold', 'railCost'];

async function pay(label: string, digits: string, amount = '100'): Promise<string> {
  const reference = scenario.reference(label);
  const answer = await scenario.demo.requestPayout({ reference, amount, accountNumber: `012345${digits}` });
  expect(answer).toMatchObject({ httpStatus: 200, isSuccessful: true, responseCode: '09' });
  expect(answer.responseData?.transactionStatus).toBe('INITIALIZED');
  return reference;
}

/** Expects that the rail paid the payout: one execution, one capture, one webhook. */
async function expectPaidOnce(reference: string): Promise<void> {
  const ours = await scenario.payoutBecomes(reference, 'COMPLETED');
  await eventually(async () => expect(await scenario.entryKinds(ours)).toEqual(capturedKinds));
  expect(await scenario.executions(ours)).toBe(1);
  await eventually(async () => expect(await scenario.webhookStatuses(reference)).toEqual(['COMPLETED']));
}

describe('a payout that the rail pays (X1, P12)', () => {
  it('completes, and the merchant gets one signed webhook (contract 6.1)', async () => {
    const reference = await pay('completes', '9999', '250.75');
    await expectPaidOnce(reference);
    const { responseData } = await scenario.demo.lookUpPayout(reference);
    expect(responseData).toMatchObject({
      amount: '250.75',
      feeAmount: '2.51',
      valueAmount: '253.26',
      statusReason: 'Successful',
    });
    const [webhook] = await scenario.stack.simulator.received(scenario.merchantId, reference);
    const secrets = scenario.stack.merchants
      .filter(({ id }) => id === 'demo')
      .map(({ webhookSecret }) => webhookSecret);
    const headers = Object.fromEntries(
      Object.entries(webhook?.headers ?? {}).map(([name, value]) => [name, String(value)]),
    );
    const verified = verifyWebhook({
      headers,
      body: webhook?.body ?? '',
      secrets,
      nowMs: Date.now(),
      toleranceSeconds: 300,
    });
    expect(verified.ok).toBe(true);
  });
});

describe('a batch whose items lack what contract 2.2 requires of single payouts', () => {
  it.each([
    ['KES', 'Kenya'],
    ['ZAR', 'South Africa'],
    ['XAF', 'Cameroon'],
    ['EGP', 'Egypt'],
  ])('completes in %s: the rail is asked for a batch, too', async (currency, country) => {
    const label = `bare-${currency}`;
    const requests = ['a', 'b'].map((item) => ({
      reference: scenario.reference(`${label}-${item}`),
      amount: '100',
      currency,
      country,
      accountNumber: '0123459999',
    }));
    const answer = await scenario.demo.requestBatch(scenario.reference(label), requests);
    expect(answer).toMatchObject({ httpStatus: 200, responseCode: '09' });
    for (const { reference } of requests) await expectPaidOnce(reference);
  });
});

describe('a payout beyond the wallet', () => {
  it('is refused at once, and not stored (contract 10.1)', async () => {
    const reference = scenario.reference('too-much');
    const answer = await scenario.demo.requestPayout({
      reference,
      amount: '5000000',
      accountNumber: '0123459999',
    });
    expect(answer).toMatchObject({ httpStatus: 422, isSuccessful: false, responseCode: '51' });
    expect(await scenario.demo.lookUpPayout(reference)).toMatchObject({ responseCode: '25' });
  });

  it('by another one that came with it: one is held and paid, the other fails and is never sent (L4)', async () => {
    const requests = ['first', 'second'].map((label) => ({
      reference: scenario.reference(`rivals-${label}`),
      amount: '600000',
      currency: 'GMD',
      country: 'Gambia',
      accountNumber: '0123459999',
    }));
    const answers = await Promise.all(requests.map((request) => scenario.demo.requestPayout(request)));
    expect(answers.map(({ responseCode }) => responseCode)).toEqual(['09', '09']);
    const ends = await eventually(async () => {
      const found = await Promise.all(requests.map(({ reference }) => scenario.demo.lookUpPayout(reference)));
      const records = found.flatMap(({ responseData }) => responseData ?? []);
      expect(records.map((record) => record.transactionStatus).toSorted()).toEqual(['COMPLETED', 'FAILED']);
      return records;
    });
    const refused = ends.find((record) => record.transactionStatus === 'FAILED')?.transactionReference ?? '';
    expect(await scenario.entryKinds(refused)).toEqual([]);
    expect(await scenario.stack.simulator.journal(refused)).toEqual([]);
  });
});

it('an outage of the rail makes payouts wait, and fails none (X5)', async () => {
  const { simulator } = scenario.stack;
  const opened = () => scenario.logLines('payout-gateway', 'rail circuit opened');
  const before = await opened();
  await simulator.setFaults({ outage: true });
  const references = [await pay('outage', '9999')];
  await eventually(async () => expect(await opened()).toBeGreaterThan(before), 60_000);
  for (let more = 0; more < 5; more += 1) references.push(await pay(`outage-open-${more}`, '9999'));
  const last = references.at(-1) ?? '';
  const ours = await scenario.payoutBecomes(last, 'INITIALIZED');
  await eventually(async () => expect(await scenario.entryKinds(ours)).toEqual(['hold']));
  for (const reference of references) await scenario.payoutBecomes(reference, 'INITIALIZED');
  expect(await simulator.journal(ours)).toEqual([]);
  await simulator.setFaults({ outage: null });
  for (const reference of references) await expectPaidOnce(reference);
});

it('the wallets of the rail agree with our float once all is quiet (R1, L13)', async () => {
  await eventually(async () => {
    await scenario.stack.operator.compare();
    const drifts = await scenario.stack.operator.drift();
    expect(drifts.length).toBe(8);
    expect(drifts.filter(({ drift }) => drift !== '0')).toEqual([]);
  }, 60_000);
});

it('operator APIs ask for the token', async () => {
  const url = `${scenario.stack.runFile().operations['ledger']}/accounts/demo/NGN`;
  expect((await exchange(url)).status).toBe(401);
  expect((await exchange(url, { headers: { authorization: 'Bearer wrong' } })).status).toBe(403);
});

it('the books hold from the first entry on (L1 to L12)', async () => {
  expect(await scenario.violations()).toEqual([]);
});

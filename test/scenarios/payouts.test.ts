import { verifyWebhook } from '@pesewa/signatures';
import { exchange, postJson } from '@pesewa/stack';
import { eventually } from '@pesewa/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openScenario, type Scenario } from './scenario.ts';

let scenario: Scenario;

beforeAll(async () => {
  scenario = await openScenario('payouts');
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

describe('a payout whose end is unknown', () => {
  it('stays open and holds its money (0017)', async () => {
    const before = await scenario.stack.operator.wallet('demo', 'GHS');
    const reference = scenario.reference('forever');
    const request = {
      reference,
      amount: '100',
      currency: 'GHS',
      country: 'Ghana',
      accountNumber: '0123450017',
    };
    await scenario.demo.requestPayout(request);
    const ours = await scenario.payoutBecomes(reference, 'INITIALIZED');
    await eventually(async () => {
      const polled = (await scenario.stack.simulator.journal(ours)).filter(
        ({ operation }) => operation === 'lookup',
      );
      expect(polled.length).toBeGreaterThan(2);
    });
    await scenario.payoutBecomes(reference, 'INITIALIZED');
    expect(await scenario.entryKinds(ours)).toEqual(['hold']);
    const after = await scenario.stack.operator.wallet('demo', 'GHS');
    expect(Number(before.available) - Number(after.available)).toBe(101);
    expect(after.held).toBe('101');
  });

  it.each(['COMPLETED', 'FAILED', 'REVERSED'])(
    'is moved by no forged callback that says %s (ADR 6)',
    async (status) => {
      const reference = await pay(`forged-${status}`, '0017');
      const ours = await scenario.payoutBecomes(reference, 'INITIALIZED');
      await eventually(async () => expect(await scenario.entryKinds(ours)).toEqual(['hold']));
      const forged = {
        data: {
          transactionStatus: status,
          merchantReference: ours,
          transactionReference: 'forged',
          amount: 100,
          feeAmount: 0,
          valueAmount: 100,
          statusReason: 'Successful',
        },
      };
      const { ingressUrl } = scenario.stack.runFile();
      const answer = await postJson(`${ingressUrl}/rails/upstream/payouts`, JSON.stringify(forged));
      expect(answer.status).toBe(200);
      await eventually(async () => expect(await scenario.stack.operator.breaks(ours)).toHaveLength(1));
      await scenario.payoutBecomes(reference, 'INITIALIZED');
      expect(await scenario.entryKinds(ours)).toEqual(['hold']);
      expect(await scenario.webhookStatuses(reference)).toEqual([]);
    },
  );
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

describe('the same reference (invariant P5)', () => {
  it('with the same content gives the same payout, whatever its spelling', async () => {
    const reference = scenario.reference('same');
    const first = await scenario.demo.requestPayout({ reference, amount: '50', accountNumber: '0123459999' });
    const second = await scenario.demo.requestPayout({
      reference,
      amount: '5.0e1',
      country: 'NG',
      accountNumber: '0123459999',
    });
    expect(second.responseCode).toBe('09');
    expect(second.responseData?.transactionReference).toBe(first.responseData?.transactionReference);
  });

  it('at once from many gives one payout', async () => {
    const request = { reference: scenario.reference('race'), amount: '50', accountNumber: '0123459999' };
    const answers = await Promise.all(Array.from({ length: 30 }, () => scenario.demo.requestPayout(request)));
    expect(new Set(answers.map(({ responseCode }) => responseCode))).toEqual(new Set(['09']));
    expect(new Set(answers.map(({ responseData }) => responseData?.transactionReference)).size).toBe(1);
    await expectPaidOnce(request.reference);
  });

  it('with other content is refused and changes nothing', async () => {
    const reference = await pay('conflict', '9999', '50');
    const answer = await scenario.demo.requestPayout({
      reference,
      amount: '51',
      accountNumber: '0123459999',
    });
    expect(answer).toMatchObject({ httpStatus: 409, isSuccessful: false, responseCode: '94' });
    await expectPaidOnce(reference);
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
  const references: string[] = [];
  // Payouts arrive until enough consecutive resets have opened the circuit, and a few more after that.
  await eventually(async () => {
    references.push(await pay(`outage-${references.length}`, '9999'));
    expect(await opened()).toBeGreaterThan(before);
  }, 60_000);
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

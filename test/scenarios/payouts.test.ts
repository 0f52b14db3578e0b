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

const settledKinds = ['capture', 'fee', 'hold', 'railCost'];

async function pay(label: string, digits: string, amount = '100'): Promise<string> {
  const reference = scenario.reference(label);
  const answer = await scenario.demo.requestPayout({ reference, amount, accountNumber: `012345${digits}` });
  expect(answer).toMatchObject({ httpStatus: 200, isSuccessful: true, responseCode: '09' });
  expect(answer.responseData?.transactionStatus).toBe('INITIALIZED');
  return reference;
}

/** The end of a payout that the rail paid: one execution, one capture, one webhook. */
async function expectPaidOnce(reference: string): Promise<void> {
  const ours = await scenario.payoutBecomes(reference, 'COMPLETED');
  await eventually(async () => expect(await scenario.entryKinds(ours)).toEqual(settledKinds));
  expect(await scenario.executions(ours)).toBe(1);
  await eventually(async () => expect(await scenario.webhookStatuses(reference)).toEqual(['COMPLETED']));
}

/** The end of a payout that the rail did not pay: no execution, the hold released, one webhook. */
async function expectReleased(reference: string): Promise<void> {
  const ours = await scenario.payoutBecomes(reference, 'FAILED');
  await eventually(async () => expect(await scenario.entryKinds(ours)).toEqual(['hold', 'release']));
  expect(await scenario.executions(ours)).toBe(0);
  await eventually(async () => expect(await scenario.webhookStatuses(reference)).toEqual(['FAILED']));
}

describe('a payout ends as the rail ended it (X1, P12)', () => {
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

  it('fails, and the hold is released (0001)', async () => {
    await expectReleased(await pay('fails', '0001'));
  });

  it('a lost callback of a success is settled by the reconciler (0002)', async () => {
    await expectPaidOnce(await pay('lost-success', '0002'));
  });

  it('a lost callback of a failure is settled by the reconciler (0003)', async () => {
    await expectReleased(await pay('lost-failure', '0003'));
  });

  it.each([
    ['answered with HTTP 500', '0004'],
    ['the connection reset', '0005'],
    ['never answered', '0007'],
  ])('executed, yet %s: COMPLETED with one execution (%s)', async (_what, digits) => {
    await expectPaidOnce(await pay(`unclear-${digits}`, digits));
  });

  it('not executed and reset: sent again with the same reference after the grace time (0006)', async () => {
    await expectPaidOnce(await pay('resubmitted', '0006'));
  });

  it('pending for a while without callback is waited for (0008)', async () => {
    await expectPaidOnce(await pay('slow', '0008'));
  });
});

describe('a payout that nobody can tell the end of', () => {
  it('stays open and holds its money (0017)', async () => {
    const before = await scenario.stack.operator.wallet('demo', 'ZAR');
    const reference = scenario.reference('forever');
    const wish = {
      reference,
      amount: '100',
      currency: 'ZAR',
      country: 'South Africa',
      accountNumber: '0123450017',
    };
    await scenario.demo.requestPayout(wish);
    const ours = await scenario.payoutBecomes(reference, 'INITIALIZED');
    await eventually(async () => {
      const polled = (await scenario.stack.simulator.journal(ours)).filter(
        ({ operation }) => operation === 'lookup',
      );
      expect(polled.length).toBeGreaterThan(2);
    });
    await scenario.payoutBecomes(reference, 'INITIALIZED');
    expect(await scenario.entryKinds(ours)).toEqual(['hold']);
    const after = await scenario.stack.operator.wallet('demo', 'ZAR');
    expect(Number(before.available) - Number(after.available)).toBe(101);
    expect(after.held).toBe('101');
  });

  it.each(['COMPLETED', 'FAILED', 'REVERSED'])(
    'is moved by no forged callback that says %s (design 6)',
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

describe('the same reference (design 4.2)', () => {
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
    const wish = { reference: scenario.reference('race'), amount: '50', accountNumber: '0123459999' };
    const answers = await Promise.all(Array.from({ length: 30 }, () => scenario.demo.requestPayout(wish)));
    expect(new Set(answers.map(({ responseCode }) => responseCode))).toEqual(new Set(['09']));
    expect(new Set(answers.map(({ responseData }) => responseData?.transactionReference)).size).toBe(1);
    await expectPaidOnce(wish.reference);
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

it('a payout beyond the wallet is never sent', async () => {
  const reference = await pay('too-much', '9999', '5000000');
  const ours = await scenario.payoutBecomes(reference, 'FAILED');
  expect(await scenario.entryKinds(ours)).toEqual([]);
  expect(await scenario.stack.simulator.journal(ours)).toEqual([]);
});

it('the wallets of the rail agree with our float once all is quiet (R1, L12)', async () => {
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

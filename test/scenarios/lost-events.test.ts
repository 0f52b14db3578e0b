import { collectionWebhook, parseJson } from '@pesewa/contracts';
import { eventually } from '@pesewa/testkit';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { flows } from './collection-scenarios.ts';
import { withShortSessions } from './crash-runner.ts';
import { type Loss, lose } from './lost-events.ts';
import { openScenario, type Scenario } from './scenario.ts';

const closers = new AsyncDisposableStack();
let scenario: Scenario;
let client: MongoClient;

/** How long a test waits until a lost event is found, published again and processed by every service. */
const DEADLINE_MS = 90_000;

const never = '0 0 1 1 *';

beforeAll(async () => {
  const reconciler = {
    COMPARISON_INTERVAL: never,
    COVERAGE_INTERVAL: never,
    CLOSE_INTERVAL: never,
    FIRST_POLL_AFTER_MS: '1000',
    POLL_CAP_MS: '2000',
    CALLBACK_LAG_MS: '2000',
    BOOKS_GRACE_MS: '1500',
    STEP_LIMIT_MS: '1500',
    STEP_PAUSE_MS: '300',
    // The crash of a process takes the time here: its partitions wait for another owner.
    REPUBLISH_REQUESTS_MAX: '20',
  };
  scenario = await openScenario(
    'lost',
    withShortSessions({ reconciler, ledger: { ORDERS_AGAIN_AFTER_MS: '2000' } }),
  );
  closers.use(scenario);
  client = closers.use(await MongoClient.connect(scenario.stack.runFile().mongodbUrl));
}, 180_000);

afterAll(async () => {
  await closers.disposeAsync();
});

const paid = ['capture', 'fee', 'hold', 'railCost'];
const gone = ['hold', 'release'];
const credited = ['collect', 'fee', 'railCost'];

/** A payout by the magic number of its account, its expected final state, and the event that is lost. */
interface PayoutRow extends Loss {
  readonly digits: string;
  readonly status: 'COMPLETED' | 'FAILED' | 'REVERSED';
  readonly entries: readonly string[];
  readonly webhooks: readonly string[];
}

const completes = { digits: '0002', status: 'COMPLETED', entries: paid, webhooks: ['COMPLETED'] } as const;
const fails = { digits: '0003', status: 'FAILED', entries: gone, webhooks: ['FAILED'] } as const;
const isReversed = {
  digits: '0014',
  status: 'REVERSED',
  entries: [...paid, 'refund'].toSorted(),
  webhooks: ['COMPLETED', 'REVERSED'],
} as const;

const payoutRows: readonly PayoutRow[] = [
  { service: 'reconciler', type: 'pesewa.rails.RailStatusObserved', ...completes },
  { service: 'payout-gateway', type: 'pesewa.payouts.PayoutAccepted', ...completes },
  { service: 'payout-gateway', type: 'pesewa.payouts.PayoutSubmitted', ...completes },
  { service: 'payout-gateway', type: 'pesewa.payouts.PayoutCompleted', ...completes },
  { service: 'payout-gateway', type: 'pesewa.payouts.PayoutFailed', ...fails },
  { service: 'payout-gateway', type: 'pesewa.payouts.PayoutReversed', ...isReversed },
  { service: 'ledger', type: 'pesewa.ledger.HoldPlaced', ...completes },
  { service: 'ledger', type: 'pesewa.ledger.HoldCaptured', ...completes },
  { service: 'ledger', type: 'pesewa.ledger.HoldReleased', ...fails },
  { service: 'ledger', type: 'pesewa.ledger.PayoutRefunded', ...isReversed },
  { service: 'webhook-ingress', type: 'pesewa.rails.CallbackReceived', ...completes, digits: '9999' },
];

describe('an event of a payout that is lost before it is sent is found and published again without an operator', () => {
  it.each(payoutRows)(
    '$type',
    async ({ digits, status, entries, webhooks, ...loss }) => {
      const reference = scenario.reference(`${loss.type.split('.').at(-1)}`);
      const request = { reference, amount: '100', accountNumber: `012345${digits}` };
      await lose(scenario, client, loss, () => scenario.demo.requestPayout(request));
      await eventually(async () => {
        const { responseData } = await scenario.demo.lookUpPayout(reference);
        expect(responseData?.transactionStatus).toBe(status);
        const ours = responseData?.transactionReference ?? '';
        expect(await scenario.entryKinds(ours)).toEqual(entries);
        expect(await scenario.webhookStatuses(reference)).toEqual(webhooks);
        await expectOrder(ours);
      }, DEADLINE_MS);
      const { responseData } = await scenario.demo.lookUpPayout(reference);
      expect(await scenario.executions(responseData?.transactionReference ?? '')).toBe(
        status === 'FAILED' ? 0 : 1,
      );
    },
    DEADLINE_MS + 60_000,
  );
});

const collectionRows = [
  { type: 'pesewa.collections.CollectionInitiated', digits: '0002', code: '00', entries: credited },
  { type: 'pesewa.collections.CollectionCompleted', digits: '0002', code: '00', entries: credited },
  { type: 'pesewa.collections.CollectionFailed', digits: '0003', code: '06', entries: [] },
] as const;

describe('an event of a collection that is lost is, too', () => {
  it.each(collectionRows)(
    '$type',
    async ({ type, digits, code, entries }) => {
      const { operatorCode, country, currency, number } = flows.stk;
      const reference = scenario.reference(`${type.split('.').at(-1)}`);
      const customerNumber = `${number}${digits}`;
      const request = { reference, amount: '200', operatorCode, country, currency, customerNumber };
      const loss = { service: 'collection-gateway', type } as const;
      await lose(scenario, client, loss, () => scenario.demo.initiateCollection(request));
      await eventually(async () => {
        expect(await scenario.demo.checkCollection(request)).toMatchObject({ responseCode: code });
        const [webhook, ...others] = await scenario.stack.simulator.received(scenario.merchantId, reference);
        expect(others).toEqual([]);
        const ours = collectionWebhook.parse(parseJson(webhook?.body ?? '')).transaction_reference;
        expect(await scenario.entryKinds(ours)).toEqual(entries);
        expect(await scenario.executions(ours)).toBe(code === '00' ? 1 : 0);
        await expectOrder(ours);
      }, DEADLINE_MS);
    },
    DEADLINE_MS + 60_000,
  );
});

describe('what operators order is done, though it is lost', () => {
  // In this order, because an order is answered once more at the end of its row.
  it.each([
    { type: 'pesewa.ledger.WalletFunded', name: 'answered' },
    { type: 'pesewa.ledger.FundWallet', name: 'asked' },
  ])(
    '$type',
    async ({ type, name }) => {
      const { operator } = scenario.stack;
      const commandId = scenario.reference(`order-${name}`);
      const order = { commandId, merchantId: scenario.merchantId, currency: 'GHS', amount: '10' };
      await lose(scenario, client, { service: 'ledger', type }, () => operator.fundWallet(order));
      await eventually(() => operator.untilApplied([commandId]), DEADLINE_MS);
      expect(await scenario.entryKinds(commandId)).toEqual(['fund']);
      const orders = client.db(`${scenario.prefix}_ledger`).collection('commands');
      // The request is published once more and answered again: a service that missed the first answer gets the second.
      await eventually(async () => expect(await orders.countDocuments({ again: true })).toBe(0), DEADLINE_MS);
    },
    DEADLINE_MS + 60_000,
  );
});

/** Expects that every service has the payment as ended, that it has no break and that no step of it is followed. */
async function expectOrder(reference: string): Promise<void> {
  const reconciler = client.db(`${scenario.prefix}_reconciler`);
  const polls = reconciler.collection<{ _id: string; status: string }>('polls');
  const row = await polls.findOne({ _id: reference });
  expect(row?.status).toMatch(/completed|failed|reversed/);
  expect(row).not.toHaveProperty('booksDueAt');
  expect(await reconciler.collection('steps').countDocuments({ reference })).toBe(0);
  expect(await scenario.stack.operator.breaks(reference)).toEqual([]);
}

describe('afterwards', () => {
  it('the books are in order, and nothing is held', async () => {
    expect(await scenario.violations()).toEqual([]);
    expect(await scenario.stack.operator.wallet(scenario.merchantId, 'NGN')).toMatchObject({ held: '0' });
  });
});

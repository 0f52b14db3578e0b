import { eventually } from '@pesewa/testkit';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { flows } from './collection-scenarios.ts';
import { withShortSessions } from './crash-runner.ts';
import { backUp, createRestoring, type DatabaseName, type Restoring } from './database-restored.ts';
import { openScenario, type Scenario } from './scenario.ts';

const closers = new AsyncDisposableStack();
let scenario: Scenario;
let client: MongoClient;
let restoring: Restoring;

const never = '0 0 1 1 *';
const DEADLINE_MS = 60_000;
/** The timeout of each test: a stopped partition waits a while before its service checks it again. */
const TEST_MS = 240_000;

beforeAll(async () => {
  const reconciler = {
    COMPARISON_INTERVAL: never,
    COVERAGE_INTERVAL: never,
    STEP_LIMIT_MS: '3000',
    CLOSE_INTERVAL: never,
    FIRST_POLL_AFTER_MS: '1000',
    POLL_CAP_MS: '2000',
    // A slow machine polls more often than this before a test is over, and what is stuck is not what it is about.
    POLLS_BEFORE_BREAK: '1000',
    BOOKS_GRACE_MS: '1500',
  };
  scenario = await openScenario('restored', withShortSessions({ reconciler }));
  closers.use(scenario);
  client = closers.use(await MongoClient.connect(scenario.stack.runFile().mongodbUrl));
  restoring = createRestoring(scenario, client);
}, 180_000);

afterAll(() => closers.disposeAsync());

interface Paid {
  readonly reference: string;
  readonly ours: string;
}

/** Makes a payout with a magic number as account, and waits until it has the status. */
async function pay(name: string, digits: string, status: string): Promise<Paid> {
  const reference = scenario.reference(name);
  await scenario.demo.requestPayout({ reference, amount: '100', accountNumber: `012345${digits}` });
  return { reference, ours: await scenario.payoutBecomes(reference, status) };
}

function collectionOf(name: string, digits = '9999') {
  const { operatorCode, country, currency, number } = flows.stk;
  const reference = scenario.reference(name);
  return { reference, amount: '200', operatorCode, country, currency, customerNumber: `${number}${digits}` };
}

type CollectionRequestBody = ReturnType<typeof collectionOf>;

/** Initiates a collection; `ends` waits for its end. */
async function collect(name: string, digits?: string): Promise<CollectionRequestBody> {
  const request = collectionOf(name, digits);
  expect(await scenario.demo.initiateCollection(request)).toMatchObject({
    responseDetails: { responseCode: '09' },
  });
  return request;
}

const ends = (request: CollectionRequestBody, code: string) =>
  eventually(async () => {
    expect(await scenario.demo.checkCollection(request)).toMatchObject({ responseCode: code });
  }, DEADLINE_MS);

/** Our reference of a collection. */
async function oursOf({ reference }: CollectionRequestBody): Promise<string> {
  const collections = client.db(`${scenario.prefix}_collections`).collection('collections');
  const record = await collections.findOne({ 'order.merchantReference': reference });
  return String(record?.['reference']);
}

/** Copies the database in its present state, as the backup that the test restores later. */
const backUpNow = (name: DatabaseName) => backUp(client, `${scenario.prefix}_${name}`);

/** Expects that a payout ended once, for its rail and for its merchant, and has no break. */
async function expectEndedOnce({ reference, ours }: Paid, status: 'COMPLETED' | 'FAILED'): Promise<void> {
  await scenario.payoutBecomes(reference, status);
  expect(await scenario.executions(ours)).toBe(status === 'COMPLETED' ? 1 : 0);
  await eventually(async () => {
    const received = await scenario.stack.simulator.received(scenario.merchantId, reference);
    expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(new Set(await scenario.webhookStatuses(reference))).toEqual(new Set([status]));
    const booked = status === 'COMPLETED' ? ['capture', 'fee', 'hold', 'railCost'] : ['hold', 'release'];
    expect(await scenario.entryKinds(ours)).toEqual(booked);
    expect(await scenario.stack.operator.breaks(ours)).toEqual([]);
  }, DEADLINE_MS);
}

/** Our references of payments that moved money and that their gateway has forgotten. */
const forgotten = new Set<string>();

/** Expects that the audit reports exactly the forgotten payments, and that the books agree with the rail's wallets. */
async function expectOrder(): Promise<void> {
  const found = await scenario.violations();
  expect(found.filter(({ message }) => !message.startsWith('is of no payment among'))).toEqual([]);
  expect(new Set(found.map(({ subject }) => subject.split('/')[0]))).toEqual(forgotten);
  await eventually(async () => {
    await scenario.stack.operator.compare();
    const drifts = await scenario.stack.operator.drift();
    expect(drifts.length).toBeGreaterThan(0);
    expect(drifts.filter(({ drift }) => Number(drift) !== 0)).toEqual([]);
  }, DEADLINE_MS);
}

it(
  'ingress: nothing is to be realigned, and payments end by callbacks and polls as before',
  async () => {
    await backUpNow('ingress');
    const before = await pay('ingress-since', '9999', 'COMPLETED');
    expect(await restoring.restore('ingress')).toEqual({});
    await expectEndedOnce(before, 'COMPLETED');
    await expectEndedOnce(await pay('ingress-after', '9999', 'COMPLETED'), 'COMPLETED');
    await expectOrder();
  },
  TEST_MS,
);

it(
  'webhooks: each end since the backup is delivered again, under the id that it had',
  async () => {
    await backUpNow('webhooks');
    const completed = await pay('webhooks-completed', '0002', 'COMPLETED');
    const failed = await pay('webhooks-failed', '0003', 'FAILED');
    await expectEndedOnce(completed, 'COMPLETED');
    await expectEndedOnce(failed, 'FAILED');
    await restoring.restoreAndRecover('webhooks');
    await eventually(async () => {
      expect(await scenario.webhookStatuses(completed.reference)).toEqual(['COMPLETED', 'COMPLETED']);
      expect(await scenario.webhookStatuses(failed.reference)).toEqual(['FAILED', 'FAILED']);
    }, DEADLINE_MS);
    await expectEndedOnce(completed, 'COMPLETED');
    await expectEndedOnce(failed, 'FAILED');
    await expectOrder();
  },
  TEST_MS,
);

it(
  'reconciler: it watches the same payments again, and does not poll those that have ended',
  async () => {
    const open = await pay('reconciler-open', '0017', 'INITIALIZED');
    await backUpNow('reconciler');
    const completed = await pay('reconciler-completed', '0002', 'COMPLETED');
    const failed = await pay('reconciler-failed', '0003', 'FAILED');
    const opened = await pay('reconciler-opened', '0017', 'INITIALIZED');
    await expectEndedOnce(completed, 'COMPLETED');
    await restoring.restoreAndRecover('reconciler');
    await restoring.audit();
    await expectEndedOnce(completed, 'COMPLETED');
    await expectEndedOnce(failed, 'FAILED');
    const polls = client
      .db(`${scenario.prefix}_reconciler`)
      .collection<{ _id: string; status: string }>('polls');
    for (const { ours } of [open, opened])
      expect(await polls.findOne({ _id: ours })).toMatchObject({ status: 'open' });
    await expectOrder();
  },
  TEST_MS,
);

it(
  'ledger: it comes forward by its own events, and books once more what it had not published',
  async () => {
    const { operator } = scenario.stack;
    const open = await pay('ledger-open', '0017', 'INITIALIZED');
    await backUpNow('ledger');
    const completed = await pay('ledger-completed', '0002', 'COMPLETED');
    const failed = await pay('ledger-failed', '0003', 'FAILED');
    const collected = await collect('ledger-collected');
    await ends(collected, '00');
    await expectEndedOnce(completed, 'COMPLETED');
    await expectEndedOnce(failed, 'FAILED');
    const order = await operator.fundWallet({
      commandId: scenario.reference('ledger-order'),
      merchantId: scenario.merchantId,
      currency: 'NGN',
      amount: '10',
    });
    await operator.untilApplied([order]);
    const walletsOf = () =>
      Promise.all(['NGN', 'KES'].map((currency) => operator.wallet(scenario.merchantId, currency)));
    const before = await walletsOf();
    await restoring.restoreAndRecover('ledger');
    await expectEndedOnce(completed, 'COMPLETED');
    await expectEndedOnce(failed, 'FAILED');
    expect(await walletsOf()).toEqual(before);
    await operator.untilApplied([order]);
    expect(await scenario.entryKinds(order)).toEqual(['fund']);
    const ledger = client.db(`${scenario.prefix}_ledger`);
    expect(await ledger.collection('coming_forward').countDocuments()).toBe(0);
    expect(await scenario.entryKinds(open.ours)).toEqual(['hold']);
    await expectOrder();
  },
  TEST_MS,
);

it(
  'collections: what the backup knows ends once, and what it does not know is forgotten',
  async () => {
    const underWay = await collect('collections-under-way', '0008');
    await backUpNow('collections');
    const since = await collect('collections-since');
    await ends(since, '00');
    forgotten.add(await oursOf(since));
    await ends(underWay, '00');
    const open = await collect('collections-open', '0017');
    const openOurs = await oursOf(open);
    await restoring.restoreAndRecover('collections');
    await ends(underWay, '00');
    await restoring.audit();
    await expectOrder();
    // This is the limit of recovery: their references are free again, and payments open at the rail get a break.
    await collect('collections-since');
    await ends(since, '00');
    await eventually(async () => expect(await breaksOf(openOurs)).toContain('coverage.behind'), DEADLINE_MS);
    await expectOrder();
  },
  TEST_MS,
);

it(
  'payouts: nothing is sent again, neither what ended since the backup nor what was accepted since, even if its merchant does',
  async () => {
    const underWay = await pay('payouts-under-way', '0008', 'INITIALIZED');
    const stays = await pay('payouts-stays', '0017', 'INITIALIZED');
    await backUpNow('payouts');
    const since = await pay('payouts-since', '9999', 'COMPLETED');
    const refused = await pay('payouts-refused', '0003', 'FAILED');
    const open = await pay('payouts-open', '0017', 'INITIALIZED');
    const late = await pay('payouts-late', '0008', 'INITIALIZED');
    await expectEndedOnce(underWay, 'COMPLETED');
    const submissions = await submissionsOf(since, refused, open, late);
    await restoring.restoreAndRecover('payouts');
    await expectEndedOnce(underWay, 'COMPLETED');
    expect(await scenario.executions(stays.ours)).toBe(0);
    await scenario.payoutBecomes(stays.reference, 'INITIALIZED');
    // Payouts accepted since are back, and the merchant gets their state whatever it sends under their references.
    for (const [{ reference, ours }, digits, status] of [
      [since, '9999', 'COMPLETED'],
      [refused, '0003', 'FAILED'],
      [open, '0017', 'INITIALIZED'],
      [late, '0008', 'COMPLETED'],
    ] as const) {
      const again = { reference, amount: '100', accountNumber: `012345${digits}` };
      expect(await scenario.demo.requestPayout(again)).toMatchObject({
        responseCode: '09',
        responseData: { transactionReference: ours },
      });
      expect(await scenario.payoutBecomes(reference, status)).toBe(ours);
    }
    const other = { reference: since.reference, amount: '100', accountNumber: '0123450002' };
    expect(await scenario.demo.requestPayout(other)).toMatchObject({ responseCode: '94' });
    await restoring.audit();
    await expectEndedOnce(since, 'COMPLETED');
    await expectEndedOnce(refused, 'FAILED');
    await expectEndedOnce(late, 'COMPLETED');
    expect(await submissionsOf(since, refused, open, late)).toEqual(submissions);
    expect(await scenario.entryKinds(open.ours)).toEqual(['hold']);
    expect(await breaksOf(open.ours)).toEqual([]);
    await expectEndedOnce(await pay('payouts-after', '9999', 'COMPLETED'), 'COMPLETED');
    await expectOrder();
  },
  TEST_MS,
);

/** How often the rail was asked to submit each of the payouts. */
const submissionsOf = (...payouts: readonly Paid[]) =>
  Promise.all(
    payouts.map(async ({ ours }) => {
      const journal = await scenario.stack.simulator.journal(ours);
      return journal.filter(({ kind, operation }) => kind === 'request' && operation === 'payout').length;
    }),
  );

/** The kinds of the open breaks of a payment, by our reference. */
async function breaksOf(ours: string): Promise<readonly string[]> {
  const breaks = await scenario.stack.operator.breaks(ours);
  return breaks.filter(({ status }) => status !== 'resolved').map(({ kind }) => String(kind));
}

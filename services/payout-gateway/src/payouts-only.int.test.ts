import { createDirectoryAdmin } from '@pesewa/directory';
import { systemClock } from '@pesewa/kernel';
import { type OutgoingEvent, openDatabase, openMessagingAs } from '@pesewa/messaging';
import { upstreamRail } from '@pesewa/rails';
import { parseConfig } from '@pesewa/runtime';
import { eventually, openPayoutsOnlyRail, openTestScope, prepareTestEnvironment } from '@pesewa/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ask } from './app.fixture.ts';
import { composeGateway } from './compose.ts';
import { settings } from './config.ts';
import { openLedger } from './restored.fixture.ts';

const KEY = 'the-public-key-of-demo';
const headers = { 'x-api-key': Buffer.from(KEY).toString('base64') };
const rail = openPayoutsOnlyRail('alone', systemClock);
const closers = new AsyncDisposableStack();
let gateway: Awaited<ReturnType<typeof openGateway>>;

beforeAll(async () => {
  gateway = await openGateway();
});
afterAll(() => closers.disposeAsync());

/** The whole gateway over the rail, the ledger's answers, a merchant with money, and what publishes facts. */
async function openGateway() {
  const names = await prepareTestEnvironment();
  const read = parseConfig(settings, {
    ...process.env,
    OPERATOR_TOKEN: 'a-token-of-these-tests',
    // The gateway is composed over the test's rail; the setting only has to be there.
    RAILS: JSON.stringify([upstreamRail({ name: 'unused', url: 'http://127.0.0.1:1', publicKey: 'key' })]),
    SUBMIT_PAUSE_MS: '50',
  });
  const databases = async (database: string) =>
    closers.use(
      await openDatabase({
        url: names.MONGODB_URL,
        database: `${names.DATABASE_PREFIX}${database}`,
        appName: 'test',
      }),
    ).db;
  const fee = { fixedMinor: 0n, basisPoints: 100n, minimumMinor: 0n };
  const wallets = [{ currency: 'GHS', country: 'GHA', payoutFee: fee, collectionFee: fee }] as const;
  const limits = { requestsPerSecond: 100 };
  const merchant = { id: 'demo', name: 'Demo', publicKey: KEY, wallets, limits };
  expect(await createDirectoryAdmin(await databases('directory')).createMerchant(merchant)).toMatchObject({
    ok: true,
  });
  const funds = { available: 1_000_000n, held: 0n, sequence: 1n };
  const payouts = await databases('payouts');
  await payouts.collection<{ _id: string }>('wallets').insertOne({ _id: 'demo:GHS', ...funds });
  const openScope = () => closers.use(openTestScope(names));
  await openLedger(openScope());
  const facts = await openMessagingAs(openScope(), {
    service: 'reconciler',
    database: 'reconciler',
    produces: ['payoutFacts'],
  });
  const scope = openScope();
  const app = await composeGateway(
    { ...scope, config: { ...read, ...names, KAFKA_BROKERS: [...names.KAFKA_BROKERS] } },
    rail.rails,
  );
  scope.health.setServing(true);
  const publishing = facts.groupCommit<OutgoingEvent, void>('test.publish', async (events, { emit }) => {
    for (const event of events) emit(event);
    return events.map(() => undefined);
  });
  return { app, publish: (event: OutgoingEvent) => publishing.submit(event) };
}

it('pays through a rail that has payouts and nothing else', async () => {
  const { app, publish } = gateway;
  const body = {
    transactionReference: 'order-1',
    country: 'Ghana',
    currency: 'GHS',
    channel: 'Mobile Money',
    sender: { name: 'Kofi Shop', phoneNumber: '', email: 'kofi@shop.example' },
    beneficiary: {
      accountName: 'Ama Mensah',
      accountNumber: '0240000000',
      bankCode: 'GHMTN',
      amount: 100.5,
    },
  };
  const accepted = await ask(app, 'POST', '/api/v1/transactions/transfer/single', { body, headers });
  expect(accepted).toMatchObject({ status: 200, body: { responseCode: '09' } });
  await eventually(() => expect(rail.payments.size).toBe(1));
  const [reference = ''] = rail.payments.keys();
  expect(rail.payments.get(reference)).toMatchObject({ amount: '100.5', state: 'waiting' });

  await publish({
    topic: 'payoutFacts',
    key: reference,
    version: 0n,
    causationId: null,
    type: 'pesewa.rails.RailStatusObserved',
    payload: {
      occurredAt: BigInt(systemClock.nowMs()),
      rail: 'alone',
      reference,
      status: 'completed',
      amount: 10_050n,
      fee: 50n,
      reason: null,
      source: 'poll',
      polledAt: BigInt(systemClock.nowMs()),
    },
  });
  await eventually(async () => {
    const found = await ask(app, 'GET', '/api/v1/transactions/order-1/query', { headers });
    expect(found.body.responseData).toMatchObject({ transactionStatus: 'COMPLETED' });
  });
  expect(rail.requests.filter((request) => request === 'POST /payments')).toHaveLength(1);
});

it('says that the rail can name no holder of an account', async () => {
  const body = { accountNumber: '0240000000', bankCode: 'GHMTN', currency: 'GHS', country: 'GHA' };
  const answer = await ask(gateway.app, 'POST', '/api/v1/transactions/name-enquiry', { body, headers });
  expect(answer.body).toMatchObject({ isSuccessful: false, responseCode: '91' });
});

import {
  breakChanges,
  breakOperations,
  changeOperations,
  closeOperations,
  decisionOperations,
  orderOperations,
  parkedOperations,
  pauseOperations,
  proposalOperations,
} from '@pesewa/contracts';
import { postJson } from '@pesewa/stack';
import { createTestKafka, eventually, topicNameOf } from '@pesewa/testkit';
import { expect } from 'vitest';
import { type ConsoleScenario, chooseStatement, type Person } from './console-scenario.ts';

/** Markup, a way out of an attribute, templates, and letters that run from right to left. */
export const hostile =
  '<script>alert(1)</script>"\'><img src=x onerror=alert(2)>{{7*7}}${7*7} \u05d0\u05d1\u200f';

/** The same with a sign that reverses what follows, which only what rails write may have. */
const hostileOfRail = `${hostile} \u202etxt`;

/** What hostile text stands on; `…Page` are paths of pages. */
export interface HostileWorld {
  /** The payout that its rail never ends, our reference. */
  readonly stuck: string;
  readonly breakId: string;
  /** What the operator proposed, and nobody has decided, by the kind in paths. */
  readonly proposals: Readonly<Record<'orders' | 'decisions' | 'settings', string>>;
  readonly close: string;
  readonly delivery: string;
  readonly statementPage: string;
  readonly parkedPage: string;
  readonly partitionPage: string;
  readonly sandboxPage: string;
}

/** Writes hostile text wherever people and rails can write. */
export async function makeHostileWorld(scenario: ConsoleScenario, person: Person): Promise<HostileWorld> {
  const { call, stack } = scenario;
  const { ours: stuck, breakId } = await scenario.payForEver('hostile');
  const { reference, ours: paid } = await scenario.pay('heard', '9999');
  await createMerchant(scenario);
  const orders = await proposeOrders(scenario);
  const settings = await call('ledger', changeOperations.limits, {
    parameters: { merchantId: 'demo' },
    body: { requestsPerSecond: 77, reason: hostile },
  });
  await call('collection-gateway', pauseOperations.pause, {
    body: { scope: 'merchant', name: 'rival', reason: hostile },
  });
  await writeOnBreak(scenario, breakId);
  const decision = await call('reconciler', decisionOperations.propose, {
    body: { reference: stuck, outcome: 'failed', note: hostile },
  });
  await sendCallbacks(scenario, stuck);
  const parked = await parkMessage(scenario);
  // The page offers the rails whose wallets were compared.
  await stack.operator.compare();
  await scenario.payoutBecomes(reference, 'COMPLETED');
  const close = await call('reconciler', closeOperations.open, {
    body: { date: new Date(Date.now() - 172_800_000).toISOString().slice(0, 10) },
  });
  const delivery = await eventually(async () => {
    const found = await stack.operator.deliveries(paid);
    expect(found).toHaveLength(1);
    return found[0]?.id ?? '';
  });
  return {
    stuck,
    breakId,
    proposals: { orders, decisions: decision.id, settings: settings.id },
    close: close.id,
    delivery,
    ...parked,
    statementPage: await sendStatement(person, paid),
    sandboxPage: await payInSandbox(person),
  };
}

async function createMerchant({ call }: ConsoleScenario): Promise<void> {
  const fee = { percent: '1' };
  const body = {
    merchantId: 'evil',
    name: hostile,
    reason: hostile,
    wallets: [{ currency: 'KES', country: 'KEN', payoutFee: fee, collectionFee: fee }],
    limits: { requestsPerSecond: 1 },
  };
  await call('ledger', changeOperations.create, { body });
}

/** An order that waits, and one that was rejected; gives the first. */
async function proposeOrders({ call }: ConsoleScenario): Promise<string> {
  const order = { merchantId: 'demo', currency: 'KES', amount: '1', reason: hostile };
  const rejected = await call('ledger', proposalOperations.fund, { body: order });
  const { commandId } = rejected;
  await call('ledger', orderOperations.reject, { parameters: { commandId }, body: { reason: hostile } });
  return (await call('ledger', proposalOperations.fund, { body: order })).commandId;
}

async function writeOnBreak({ call }: ConsoleScenario, id: string): Promise<void> {
  const parameters = { id };
  await call('reconciler', breakChanges.notes, { parameters, body: { text: hostile } });
  await call('reconciler', breakChanges.explain, { parameters, body: { explanation: hostile } });
  const found = await call('reconciler', breakOperations.show, { parameters });
  expect(found.explanation).toBe(hostile);
}

/** A callback that claims a hostile status of a payout, and one that can't be read, from a hostile address. */
async function sendCallbacks({ stack }: ConsoleScenario, ours: string): Promise<void> {
  const url = `${stack.runFile().ingressUrl}/rails/upstream/payouts`;
  const data = {
    transactionStatus: hostileOfRail,
    merchantReference: ours,
    amount: 100,
    feeAmount: 1,
    statusReason: hostileOfRail,
  };
  const headers = { 'x-forwarded-for': hostile.replaceAll(/[^ -~]/g, '') };
  await postJson(url, JSON.stringify({ data }), headers);
  await postJson(url, hostileOfRail, headers);
}

type ParkedPages = Pick<HostileWorld, 'parkedPage' | 'partitionPage'>;

/** Publishes a message that nobody can read; gives where one who parked it shows it. */
async function parkMessage(scenario: ConsoleScenario): Promise<ParkedPages> {
  const { kafkaBrokers } = scenario.stack.runFile();
  const topic = topicNameOf({ TOPIC_PREFIX: `${scenario.prefix}.` }, 'payouts');
  const producer = createTestKafka({ KAFKA_BROKERS: kafkaBrokers }).producer();
  await producer.connect();
  const headers = { 'ce-type': hostileOfRail, [hostile.slice(0, 30)]: hostileOfRail };
  await producer.send({ topic, messages: [{ key: hostileOfRail, value: hostileOfRail, headers }] });
  await producer.disconnect();
  const parked = await eventually(async () => {
    const { items } = await scenario.call('reconciler', parkedOperations.list, {});
    expect(items.length).toBeGreaterThan(0);
    return items[0]?.id ?? '';
  });
  return {
    parkedPage: `/webhooks/parked/${encodeURIComponent(parked)}`,
    partitionPage: `/rails/consumers/reconciler/${topic}/0`,
  };
}

/** Sends a statement through the page; gives the path of its own. */
async function sendStatement(person: Person, paid: string): Promise<string> {
  const at = new Date().toISOString();
  await chooseStatement(person, 'NGN', [
    [paid, hostileOfRail, '99', at],
    [hostileOfRail, hostileOfRail, '5', at],
    ['never-asked-for', hostileOfRail, hostileOfRail, at],
  ]);
  await person.press('Read and match its first lines, and keep nothing');
  await person.sees('Nothing was kept, and no break was opened.');
  await person.press('Send the file and match it');
  await person.arrivesAt(/^Statement of upstream: done/);
  return new URL(person.page.url()).pathname;
}

async function payInSandbox(person: Person): Promise<string> {
  await person.page.goto('/sandbox');
  await person.press(/^9999/);
  await person.arrivesAt(/^Sandbox payment sandbox/);
  await person.sees(/verified/);
  return new URL(person.page.url()).pathname;
}

import {
  collectionBody,
  type EventCause,
  type EventType,
  eventCauses,
  eventIdentities,
  eventIdOf,
  mayLackCause,
  payoutBody,
  type TopicName,
  topics,
} from '@pesewa/contracts';
import { type CollectionRequest, postJson } from '@pesewa/stack';
import { eventually, type ReadMessage } from '@pesewa/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openCompactScenario, type Scenario } from './scenario.ts';

let scenario: Scenario;

beforeAll(async () => {
  scenario = await openCompactScenario('origins');
});

afterAll(async () => {
  await scenario[Symbol.asyncDispose]();
});

const traceparentOf = (digit: string) => `00-${digit.repeat(32)}-${digit.repeat(16)}-01`;

/** Every message of every topic, by its event id; a message that was sent twice occurs once. */
async function everything(): Promise<ReadonlyMap<string, ReadMessage>> {
  const names = Object.keys(topics) as TopicName[];
  const messages = await Promise.all(names.map(scenario.readTopic));
  return new Map(messages.flat().map((message) => [message.headers['event-id'] ?? '', message]));
}

/** The error in the origin that a message names; undefined if there is none. */
function flawOf(id: string, message: ReadMessage, all: ReadonlyMap<string, ReadMessage>): string | undefined {
  const type = message.type as EventType;
  const { payload, headers } = message;
  const { 'causation-id': causationId, 'aggregate-version': version = '0', traceparent = '' } = headers;
  const given = eventIdentities[type] === 'own';
  if (payload['eventId'] !== id || (!given && eventIdOf({ type, payload, version: BigInt(version) }) !== id))
    return `${type} is not named after what it says`;
  if (!/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/.test(traceparent)) return `${type} has no trace`;
  if (causationId === undefined) return mayLackCause(type) ? undefined : `${type} has no cause`;
  const cause = all.get(causationId)?.type ?? 'nothing that there is';
  const causes: readonly EventCause[] = eventCauses[type];
  return causes.includes(cause as EventCause) ? undefined : `${type} is caused by ${cause}`;
}

async function pay(name: string, digits: string, digit: string): Promise<string> {
  const { transferUrl } = scenario.stack.runFile();
  const [merchant] = scenario.stack.merchants;
  const reference = scenario.reference(name);
  const body = payoutBody({ reference, amount: '100', accountNumber: `012345${digits}` });
  const answer = await postJson(`${transferUrl}/api/v1/transactions/transfer/single`, body, {
    'x-api-key': Buffer.from(merchant?.publicKey ?? '').toString('base64'),
    traceparent: traceparentOf(digit),
  });
  expect(answer.status).toBe(200);
  return reference;
}

async function collect(name: string, digit: string): Promise<void> {
  const { collectionsUrl } = scenario.stack.runFile();
  const [merchant] = scenario.stack.merchants;
  const request: CollectionRequest = {
    reference: scenario.reference(name),
    amount: '1500',
    operatorCode: 'CIMTN',
    currency: 'XOF',
    country: 'CI',
    customerNumber: '2250700009999',
  };
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const answer = await postJson(`${collectionsUrl}/collection/v1/payin`, collectionBody(request), {
    'x-module': base64(`${request.amount}${request.reference}${request.customerNumber}`),
    'x-business': base64(merchant?.publicKey ?? ''),
    'x-app': 'api',
    traceparent: traceparentOf(digit),
  });
  expect(answer.status).toBe(200);
  await eventually(
    async () => expect((await scenario.demo.checkCollection(request)).responseMessage).toBe('COMPLETED'),
    60_000,
  );
}

it('every event has an id from its content, names its cause, and belongs to the trace of its payment', async () => {
  const paid = await pay('paid', '9999', '1');
  const silent = await pay('silent', '0002', '2');
  const failed = await pay('failed', '0001', '3');
  await collect('collected', '4');
  for (const reference of [paid, silent]) await scenario.payoutBecomes(reference, 'COMPLETED');
  await scenario.payoutBecomes(failed, 'FAILED');
  const messages = await eventually(async () => {
    const now = await everything();
    const delivered = [...now.values()].filter(({ type }) => type === 'pesewa.webhooks.WebhookDelivered');
    expect(delivered).toHaveLength(4);
    return now;
  }, 60_000);

  expect([...messages].map(([id, message]) => flawOf(id, message, messages)).filter(Boolean)).toEqual([]);

  for (const digit of ['1', '2', '3', '4']) {
    const ofTrace = [...messages.values()].filter(
      ({ headers }) => headers['traceparent'] === traceparentOf(digit),
    );
    const ours = ofTrace.find(({ payload }) => 'merchantReference' in payload)?.payload['reference'];
    const about = [...messages.values()].filter(
      ({ payload, type }) => payload['reference'] === ours && type !== 'pesewa.rails.CallbackReceived',
    );
    expect(about.length).toBeGreaterThan(3);
    expect(ofTrace).toEqual(expect.arrayContaining(about));
    expect(ofTrace.map(({ type }) => type)).toEqual(
      expect.arrayContaining([
        'pesewa.wallets.WalletBalanceChanged',
        'pesewa.webhooks.WebhookDelivered',
        'pesewa.rails.RailStatusObserved',
      ]),
    );
  }
});

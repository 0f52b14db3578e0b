import { createHash } from 'node:crypto';
import { walletKeyOf } from '@pesewa/contracts';
import { createOperators, guardOperator } from '@pesewa/runtime';
import {
  createTestKafka,
  createTopicReader,
  eventually,
  openTestScope,
  prepareTestEnvironment,
  type TestConfig,
  topicNameOf,
} from '@pesewa/testkit';
import { beforeAll, expect, it } from 'vitest';
import { handleTopic, type OutgoingEvent, openMessagingAs, outboxOf } from '../index.ts';
import { FUNDED } from '../sender.fixture.ts';

let config: TestConfig;

beforeAll(async () => {
  config = await prepareTestEnvironment(['publisher', 'keeper', 'rower', 'looker']);
});

function funded(eventId: string, merchantId: string): OutgoingEvent {
  return {
    topic: 'ledger',
    key: walletKeyOf(merchantId, 'KES'),
    type: 'pesewa.ledger.WalletFunded',
    version: 1n,
    causationId: null,
    payload: {
      eventId,
      occurredAt: 1n,
      merchantId,
      currency: 'KES',
      amount: 9_007_199_254_740_993n,
      commandId: '',
    },
  };
}

async function openPublisher(scope: ReturnType<typeof openTestScope>) {
  const publisher = await openMessagingAs(scope, {
    service: 'publisher',
    database: 'publisher',
    produces: ['ledger'],
  });
  const publishing = publisher.groupCommit<OutgoingEvent, undefined>(
    'test.publish',
    async (events, { emit }) => {
      for (const event of events) emit(event);
      return Promise.resolve(events.map(() => undefined));
    },
  );
  // Sent one after the other, because the test checks their order.
  return async (merchantId: string, ids: readonly string[]) => {
    for (const id of ids) await publishing.submit(funded(id, merchantId));
  };
}

const hashOf = (name: string) => Uint8Array.from(createHash('sha256').update(`token-of-${name}`).digest());

/** A service whose handler accepts what the test lets it accept. It stores a document per effect and emits an event. */
async function openService(group: string, merchantId: string, more: Partial<TestConfig> = {}) {
  const scope = openTestScope({ ...config, ...more });
  const messaging = await openMessagingAs(scope, { service: group, database: group, produces: ['webhooks'] });
  const effects = messaging.db.collection<{ _id: string; times: number }>('effects');
  await messaging.db.createCollection('effects').catch(() => undefined);
  const unfit = new Map<string, 'parks' | 'throws'>();
  const handler = handleTopic('ledger', FUNDED, async (events, { session, park, emit }) => {
    for (const [index, { payload, eventId }] of events.entries()) {
      if (payload.merchantId !== merchantId) continue;
      if (unfit.get(eventId) === 'throws') throw new TypeError('not this one');
      await effects.updateOne({ _id: eventId }, { $inc: { times: 1 } }, { upsert: true, session });
      if (unfit.get(eventId) === 'parks') park(index, 'an unlucky amount');
      const { occurredAt } = payload;
      const delivery = { deliveryId: eventId, merchantId, reference: 'r', attempts: 1, occurredAt };
      emit({
        topic: 'webhooks',
        key: merchantId,
        type: 'pesewa.webhooks.WebhookDelivered',
        version: 1n,
        causationId: eventId,
        payload: { ...delivery, eventId: `${eventId}-reported` },
      });
    }
  });
  const named = ['ama', 'kofi'].map((name) => ({ name, role: 'approver' as const, tokenHash: hashOf(name) }));
  const call = async (method: 'GET' | 'POST', path: string, as = 'ama', body?: object) => {
    const app = guardOperator(scope.operator, createOperators('the-token-of-nobody', named));
    const headers = { authorization: `Bearer token-of-${as}`, 'content-type': 'application/json' };
    const answer = await app.request(path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  const listed = async (search = '') => {
    const { body } = await call('GET', `/parked${search}`);
    return body['items'] as readonly Record<string, unknown>[];
  };
  const start = () => messaging.consume([handler]);
  const appliedIds = async () => {
    const found = await effects.find().toArray();
    return found.map(({ _id, times }) => (times === 1 ? _id : `${_id}, ${times} times`)).toSorted();
  };
  return { scope, messaging, unfit, call, listed, start, appliedIds };
}

const pathOf = ({ id }: Readonly<Record<string, unknown>>, rest = '') =>
  `/parked/${encodeURIComponent(String(id))}${rest}`;

/** What names the proposal to discard a message. */
async function seenOf({ call }: Awaited<ReturnType<typeof openService>>, one: Record<string, unknown>) {
  const { body } = await call('GET', pathOf(one));
  return { requestedAt: (body['discard'] as { readonly requestedAt: string }).requestedAt };
}

it('keeps what it parks, and an operator replays it once what was wrong is fixed', async () => {
  await using publishers = openTestScope(config);
  const publish = await openPublisher(publishers);
  const service = await openService('keeper', 'kept');
  await using _scope = service.scope;
  service.unfit.set('k-1', 'throws').set('k-2', 'parks');
  await service.start();
  await publish('kept', ['k-1', 'k-2', 'k-3']);
  // Writes that a handler made for a message before it parked it are kept: the rest of the batch was decided with them.
  await eventually(async () => expect(await service.appliedIds()).toContain('k-3'));
  // Nothing waits any more, before the consumer or in the outbox, but for people.
  await eventually(async () =>
    expect((await service.call('GET', '/health')).body).toMatchObject({
      outbox: { oldestAt: null },
      keepsUp: true,
      parked: { count: 2, isCut: false },
    }),
  );
  const items = await service.listed('?state=parked');
  expect(items).toMatchObject([
    { eventId: 'k-2', reason: 'an unlucky amount', state: 'parked', key: 'kept:KES' },
    { eventId: 'k-1', reason: 'the handler failed: TypeError', eventType: 'pesewa.ledger.WalletFunded' },
  ]);
  const one = items[1] ?? {};
  expect(one['id']).toBe(
    `keeper/${topicNameOf(config, 'ledger')}/${String(one['partition'])}/${String(one['offset'])}`,
  );
  const shown = await service.call('GET', pathOf(one));
  expect(shown.body).toMatchObject({
    headers: { 'event-id': 'k-1', 'event-type': 'pesewa.ledger.WalletFunded', 'aggregate-version': '1' },
    payload: { merchantId: 'kept', amount: '9007199254740993' },
  });

  const failed = await service.call('POST', pathOf(one, '/replay'));
  expect(failed).toMatchObject({ status: 409, body: { code: 'replay_failed' } });
  expect(failed.body['message']).toContain('the handler failed: TypeError');
  expect((await service.call('GET', pathOf(one))).body).toMatchObject({
    state: 'parked',
    lastReplay: { by: 'ama', failure: 'the handler failed: TypeError' },
  });

  service.unfit.clear();
  const replays = await Promise.all([
    service.call('POST', pathOf(one, '/replay'), 'kofi'),
    service.call('POST', pathOf(one, '/replay'), 'kofi'),
  ]);
  expect(replays.map(({ status }) => status)).toEqual([200, 200]);
  expect(await service.call('POST', pathOf(one, '/replay'))).toMatchObject({
    status: 200,
    body: { state: 'replayed', lastReplay: { by: 'kofi', failure: null } },
  });
  expect(await service.appliedIds()).toEqual(['k-1', 'k-2', 'k-3']);
  await eventually(async () => expect(await outboxOf(service.messaging.db).countDocuments()).toBe(0));
  const published = await (await createTopicReader(config))(topicNameOf(config, 'webhooks'));
  expect(published.filter(({ headers }) => headers['causation-id'] === 'k-1')).toHaveLength(1);
  expect(await service.scope.metrics.getSingleMetricAsString('messages_parked')).toContain(
    `messages_parked{topic="${topicNameOf(config, 'ledger')}"} 1`,
  );
});

it('commits nothing of a replay that its handler wants parked again', async () => {
  await using publishers = openTestScope(config);
  const publish = await openPublisher(publishers);
  const service = await openService('rower', 'again');
  await using _scope = service.scope;
  service.unfit.set('a-1', 'throws');
  await service.start();
  await publish('again', ['a-1', 'a-2']);
  await eventually(async () => expect(await service.appliedIds()).toEqual(['a-2']));
  const [one = {}] = await service.listed();
  // A copy of the message, parked like the first one.
  await publish('again', ['a-1']);
  await eventually(async () => expect(await service.listed()).toHaveLength(2));
  service.unfit.set('a-1', 'parks');
  expect((await service.call('POST', pathOf(one, '/replay'))).body).toEqual({
    code: 'replay_failed',
    message: 'the message stays parked: an unlucky amount',
  });
  expect(await service.appliedIds()).toEqual(['a-2']);

  const reason = { reason: 'funded by hand instead' };
  expect(await service.call('POST', pathOf(one, '/discard'), 'ama', {})).toMatchObject({ status: 400 });
  expect(await service.call('POST', pathOf(one, '/discard'), 'ama', reason)).toMatchObject({
    status: 202,
    body: { state: 'parked', discard: { status: 'proposed', requestedBy: 'ama' } },
  });
  const seen = await seenOf(service, one);
  expect(await service.listed('?proposed=true')).toMatchObject([{ id: one['id'] }]);
  expect(await service.listed(`?proposed=true&topic=another`)).toEqual([]);
  const rejection = { ...seen, reason: 'it can be replayed' };
  expect(await service.call('POST', pathOf(one, '/discard/reject'), 'ama', seen)).toMatchObject({
    status: 400,
    body: { message: 'reason is required' },
  });
  expect(await service.call('POST', pathOf(one, '/discard/reject'), 'ama', rejection)).toMatchObject({
    body: { discard: { status: 'rejected', decidedBy: 'ama', rejectedFor: 'it can be replayed' } },
  });
  expect(await service.listed('?proposed=true')).toEqual([]);
  await service.call('POST', pathOf(one, '/discard'), 'ama', reason);
  expect(await service.call('POST', pathOf(one, '/discard/approve'), 'kofi', seen)).toMatchObject({
    status: 409,
    body: { code: 'changed' },
  });
  const anew = await seenOf(service, one);
  expect(await service.call('POST', pathOf(one, '/discard/approve'), 'ama', anew)).toMatchObject({
    status: 403,
    body: { code: 'same_operator' },
  });
  expect(await service.call('POST', pathOf(one, '/discard/approve'), 'kofi', anew)).toMatchObject({
    status: 200,
    body: { state: 'discarded', discard: { ...reason, requestedBy: 'ama', decidedBy: 'kofi' } },
  });
  expect(await service.listed('?state=parked')).toEqual([]);
  service.unfit.clear();
  expect(await service.call('POST', pathOf(one, '/replay'))).toMatchObject({
    status: 409,
    body: { code: 'closed' },
  });
  // Publishing the events again does not undo what two operators decided.
  await publish('again', ['a-1', 'a-3']);
  await eventually(async () => expect(await service.appliedIds()).toContain('a-3'));
  expect(await service.appliedIds()).toEqual(['a-2', 'a-3']);
  expect(await service.listed('?state=discarded')).toHaveLength(2);
  expect((await service.call('GET', '/parked/none')).status).toBe(404);
  expect((await service.call('GET', '/parked?state=lost')).status).toBe(400);
  expect((await service.call('GET', '/parked', 'nobody')).status).toBe(403);
});

it('shows the bytes of an unreadable message, keeps it through a replay, and discards no other copy with it', async () => {
  const service = await openService('looker', 'nobody');
  await using _scope = service.scope;
  const producer = createTestKafka(config).producer();
  await producer.connect();
  const headers = { 'event-type': 'pesewa.ledger.WalletFunded', 'event-id': 'poison' };
  const messages = [{ key: walletKeyOf('nobody', 'KES'), value: 'not avro at all', headers }];
  await producer.send({ topic: topicNameOf(config, 'ledger'), messages });
  await producer.disconnect();
  await service.start();
  await eventually(async () => expect(await service.listed()).toHaveLength(1));
  const [one = {}] = await service.listed(`?topic=${topicNameOf(config, 'ledger')}`);
  const { body } = await service.call('GET', pathOf(one));
  expect(body).toMatchObject({ reason: 'not in the registry wire format', payload: null, valueBytes: 15 });
  expect(Buffer.from(String(body['base64']), 'base64').toString()).toBe('not avro at all');
  expect(await service.call('POST', pathOf(one, '/replay'))).toMatchObject({
    status: 409,
    body: { message: 'the message stays parked: not in the registry wire format' },
  });

  await service.call('POST', pathOf(one, '/discard'), 'ama', { reason: 'its writer is unknown' });
  const approval = await seenOf(service, one);
  expect(await service.call('POST', pathOf(one, '/discard/approve'), 'kofi', approval)).toMatchObject({
    status: 200,
    body: { state: 'discarded' },
  });
  await using publishers = openTestScope(config);
  const publish = await openPublisher(publishers);
  await publish('nobody', ['poison', 'n-2']);
  await eventually(async () => expect(await service.appliedIds()).toContain('n-2'));
  expect(await service.appliedIds()).toEqual(['n-2', 'poison']);
});

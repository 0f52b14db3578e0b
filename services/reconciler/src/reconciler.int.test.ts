import {
  createKafka,
  createTopics,
  handleTopic,
  type Messaging,
  type OutgoingEvent,
  openMessaging,
  registerSchemas,
} from '@pesewa/messaging';
import { createLogger, parseConfig } from '@pesewa/runtime';
import { waitUntil } from '@pesewa/stack';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { composeReconciler } from './compose.ts';
import { settings } from './config.ts';
import {
  accepted,
  amounts,
  callback,
  completed,
  envelope,
  failed,
  ids,
  initiated,
  ledger,
  payoutFailed,
  submitted,
} from './fixtures/owners.ts';
import { directRail, railSettings } from './fixtures/rail.ts';
import { createReplay } from './fixtures/replay.ts';
import { openScope, type Running } from './fixtures/scope.ts';
import type { PollDocument } from './store.ts';

type Config = z.output<typeof settings>;

const DEADLINE_MS = 15_000;
const SETTLE_MS = 700;
const prefix = `rec${process.pid}`;
const config: Config = parseConfig(settings, {
  ...process.env,
  OPERATOR_TOKEN: 'a token of these tests',
  RAILS: JSON.stringify([railSettings]),
  DATABASE_PREFIX: `${prefix}_`,
  TOPIC_PREFIX: `${prefix}.`,
  FIRST_POLL_AFTER_MS: '50',
  POLL_BASE_MS: '100',
  POLL_CAP_MS: '400',
  POLL_PAUSE_MS: '50',
  CALLBACK_SETTLE_MS: String(SETTLE_MS),
  COMPARISON_INTERVAL: '0 0 1 1 *',
  COMPARISON_SETTLE_MS: '50',
  NOT_FOUND_GRACE_MS: '300',
});
const logger = createLogger({ name: 'test', level: process.env['LOG_LEVEL'] ?? 'silent' });
const kafkaLog: Parameters<typeof createKafka>[0]['log'] = (level, message, fields) =>
  logger[level](fields, message);

const rail = directRail(config.RAILS);
const { answers, asked } = rail;

async function startReconciler(): Promise<Running> {
  const running = openScope(config, logger);
  await composeReconciler(running.scope, rail.rails);
  return running;
}

/** Everyone else: publishes what the owners would, and keeps what the reconciler says. */
const heard: { readonly type: string; readonly payload: Record<string, unknown> }[] = [];
const others = openScope(config, logger);
let messaging: Messaging;
let publishing: { readonly submit: (events: readonly OutgoingEvent[]) => Promise<void> };
let reconciler: Running;

const about = (reference: string, type?: string) =>
  heard.filter(
    ({ payload, ...event }) =>
      payload['reference'] === reference && (type === undefined || event.type.endsWith(`.${type}`)),
  );
const until = (what: string, met: () => boolean | Promise<boolean>) =>
  waitUntil(what, DEADLINE_MS, async () => {
    if (!(await met())) throw new Error('not yet');
  });
const publish = (...events: readonly OutgoingEvent[]) => publishing.submit(events);
const operator = async (path: string, init?: RequestInit) => {
  const response = await reconciler.operator.request(path, init);
  return (await response.json()) as { readonly items: readonly Record<string, unknown>[] };
};
const breaksOf = async (reference: string) =>
  (await operator(`/breaks?reference=${reference}`)).items.map(({ kind }) => kind);
const polls = () => messaging.database('reconciler').collection<PollDocument>('polls');
const rowOf = async (reference: string) => polls().findOne({ _id: reference });

beforeAll(async () => {
  const consumerGroups = ['reconciler', 'observer'];
  const shared = { topicPrefix: config.TOPIC_PREFIX, consumerGroups };
  const kafka = createKafka({ brokers: config.KAFKA_BROKERS, clientId: 'setup', log: kafkaLog });
  await Promise.all([
    createTopics({ ...shared, kafka }),
    registerSchemas({ ...shared, registryUrl: config.SCHEMA_REGISTRY_URL }),
  ]);
  messaging = await openMessaging(others.scope, {
    service: 'observer',
    database: 'observer',
    produces: ['payouts', 'collections', 'railNotices', 'ledger'],
  });
  publishing = messaging.groupCommit<readonly OutgoingEvent[], void>(
    'test.publish',
    async (groups, { emit }) => {
      for (const event of groups.flat()) emit(event);
      return groups.map(() => undefined);
    },
  );
  const hear = async (events: readonly { readonly type: string; readonly payload: object }[]) =>
    void heard.push(...events.map(({ type, payload }) => ({ type, payload: { ...payload } })));
  reconciler = await startReconciler();
  await messaging.consume([
    handleTopic('railNotices', ['pesewa.rails.RailStatusObserved'], hear),
    handleTopic(
      'reconciliation',
      [
        'pesewa.reconciliation.StuckSettled',
        'pesewa.reconciliation.BreakOpened',
        'pesewa.reconciliation.BreakResolved',
        'pesewa.reconciliation.DriftMeasured',
      ],
      hear,
    ),
  ]);
});

afterAll(async () => {
  await reconciler.close();
  await messaging.database('reconciler').dropDatabase();
  await messaging.db.dropDatabase();
  await others.close();
});

describe('the reconciler on real daemons', () => {
  it('settles a payout whose callback never comes', async () => {
    const reference = ids.next('po');
    answers.set(reference, { kind: 'completed', amount: 10_000n, fee: 50n, reason: 'Successful' });
    await publish(accepted(reference));
    await until('the fact', () => about(reference, 'RailStatusObserved').length > 0);
    const [fact] = about(reference, 'RailStatusObserved');
    expect(fact?.payload).toMatchObject({
      status: 'completed',
      amount: 10_000n,
      fee: 50n,
      source: 'poll',
      kind: 'payout',
    });
    await publish(completed(reference));
    await until('the end', () => about(reference, 'StuckSettled').length > 0);
    expect(await rowOf(reference)).toMatchObject({ status: 'completed' });
    expect(await rowOf(reference)).not.toHaveProperty('open');
    expect(await breaksOf(reference)).toEqual([]);
  });

  it('asks at once after a hint, even one that comes before the payment itself', async () => {
    const reference = ids.next('po');
    answers.set(reference, { kind: 'failed', reason: 'Declined' });
    await publish(callback(reference, 'FAILED'));
    await until('the hint', async () => (await rowOf(reference)) !== null);
    expect(asked).not.toContain(reference);
    await publish(accepted(reference));
    await until('the fact', () => about(reference, 'RailStatusObserved').length > 0);
    expect(about(reference, 'RailStatusObserved')[0]?.payload).toMatchObject({
      status: 'failed',
      reason: 'Declined',
    });
  });

  it('passes a reversal on after the end, once', async () => {
    const reference = ids.next('po');
    answers.set(reference, { kind: 'reversed', amount: 10_000n, fee: 50n, reason: 'Reversed' });
    await publish(accepted(reference), completed(reference));
    await until('the end', async () => (await rowOf(reference))?.status === 'completed');
    await publish(callback(reference, 'REVERSED'));
    await until('the fact', () =>
      about(reference, 'RailStatusObserved').some(({ payload }) => payload['status'] === 'reversed'),
    );
    expect(await breaksOf(reference)).toEqual([]);
  });

  it('opens one break for forged callbacks and moves nothing', async () => {
    const [open, ended] = [ids.next('po'), ids.next('po')];
    answers.set(ended, { kind: 'completed', amount: 10_000n, fee: 50n, reason: null });
    await publish(accepted(open), accepted(ended), completed(ended));
    await until(
      'the payouts',
      async () => (await polls().countDocuments({ _id: { $in: [open, ended] } })) === 2,
    );
    const before = about(ended, 'RailStatusObserved').length;
    await publish(callback(open, 'COMPLETED'), callback(ended, 'FAILED'), callback(ended, 'FAILED', '7'));
    await until('the breaks', () =>
      [open, ended].every((reference) => about(reference, 'BreakOpened').length > 0),
    );
    const polled = (await rowOf(open))?.polls ?? 0;
    await until('more polls', async () => ((await rowOf(open))?.polls ?? 0) > polled + 2);
    expect(await breaksOf(open)).toEqual(['callback.denied']);
    expect(await breaksOf(ended)).toEqual(['callback.denied']);
    expect(about(open, 'BreakOpened')).toHaveLength(1);
    expect(about(open, 'RailStatusObserved')).toEqual([]);
    expect(about(ended, 'RailStatusObserved')).toHaveLength(before);
  });

  it('opens one break where the rail does not find what it took on, and takes its later word (design 4.3)', async () => {
    const [lost, unclear, refused] = [ids.next('po'), ids.next('po'), ids.next('po')];
    for (const reference of [lost, unclear, refused]) answers.set(reference, { kind: 'notFound' });
    await publish(accepted(lost), submitted(lost, 'accepted'));
    await publish(accepted(unclear), submitted(unclear, 'unknown'));
    await publish(accepted(refused), submitted(refused, 'unknown', { refused: true }));
    await until('the breaks', () => [lost, refused].every((one) => about(one, 'BreakOpened').length > 0));
    const polled = (await rowOf(lost))?.polls ?? 0;
    await until('more polls', async () => ((await rowOf(lost))?.polls ?? 0) > polled + 3);
    expect(await breaksOf(lost)).toEqual(['payout.not_found']);
    expect(await breaksOf(refused)).toEqual(['payout.refused_again']);
    expect(await breaksOf(unclear)).toEqual([]);
    expect(about(lost, 'BreakOpened')).toHaveLength(1);
    expect(about(lost, 'BreakOpened')[0]?.payload).toMatchObject({ amount: 10_000n, currency: 'KES' });
    expect(await rowOf(lost)).toMatchObject({ status: 'open' });
    const facts = about(lost, 'RailStatusObserved').map(({ payload }) => payload['status']);
    expect(new Set(facts)).toEqual(new Set(['notFound']));
    answers.set(lost, { kind: 'completed', amount: 10_000n, fee: 50n, reason: null });
    await until('the end', () => about(lost, 'RailStatusObserved').at(-1)?.payload['status'] === 'completed');
    expect(await breaksOf(lost)).toEqual(['payout.not_found']);
  });

  it('opens one break where the rail contradicts an end, and moves nothing (design 4.5, P13)', async () => {
    const [hinted, raced] = [ids.next('po'), ids.next('po')];
    const paid = { kind: 'completed', amount: 10_000n, fee: 50n, reason: null } as const;
    await publish(accepted(hinted), payoutFailed(hinted));
    await until('the end', async () => (await rowOf(hinted))?.status === 'failed');
    answers.set(hinted, paid);
    await publish(callback(hinted, 'COMPLETED'), callback(hinted, 'COMPLETED', '100.00'));
    // Here the rail told an end before the owner went by another one: nobody sends a callback.
    answers.set(raced, paid);
    await publish(accepted(raced));
    await until('the fact', () => about(raced, 'RailStatusObserved').length > 0);
    await publish(payoutFailed(raced));
    for (const reference of [hinted, raced]) {
      await until('the break', () => about(reference, 'BreakOpened').length > 0);
      const { polls: before = 0 } = (await rowOf(reference)) ?? {};
      await publish(callback(reference, 'COMPLETED', '100.000'));
      await until('another poll', async () => ((await rowOf(reference))?.polls ?? 0) > before);
      expect(await breaksOf(reference)).toEqual(['payment.contradiction']);
      expect(about(reference, 'BreakOpened')).toHaveLength(1);
      expect(await rowOf(reference)).toMatchObject({ status: 'failed' });
    }
    expect(about(hinted, 'RailStatusObserved')).toEqual([]);
  });

  it('keeps a collection pending whose callback claims another amount', async () => {
    const [right, wrong] = [ids.next('co'), ids.next('co')];
    for (const reference of [right, wrong])
      answers.set(reference, { kind: 'completed', amount: null, fee: null, reason: null });
    await publish(
      callback(right, 'COMPLETED', '100.00', 'collection'),
      callback(wrong, 'COMPLETED', '101', 'collection'),
    );
    await until(
      'the hints',
      async () => (await polls().countDocuments({ _id: { $in: [right, wrong] } })) === 2,
    );
    await publish(initiated(right), initiated(wrong));
    await until('a fact and a break', () => about(right).length > 0 && about(wrong).length > 0);
    expect(about(right)[0]?.payload).toMatchObject({ status: 'completed', amount: 10_000n, fee: 50n });
    expect(about(wrong).map(({ type }) => type)).toEqual(['pesewa.reconciliation.BreakOpened']);
    expect(about(wrong)[0]?.payload).toMatchObject({ kind: 'collection.amount_differs', amount: 100n });
  });

  it('measures the drift of a wallet, and closes its break once it is back in range', async () => {
    const reference = ids.next('po');
    const wallet = { merchantId: 'demo', currency: 'GHS', rail: 'upstream' };
    await publish(
      ledger({
        type: 'pesewa.ledger.FloatFunded',
        payload: { ...envelope(), rail: 'upstream', currency: 'GHS', amount: 1_000_000n },
      }),
      ledger({
        type: 'pesewa.ledger.HoldCaptured',
        payload: { ...envelope(), ...wallet, reference, ...amounts, railCost: 50n },
      }),
    );
    await until('the posting', async () => (await rowOf(reference))?.posted === true);
    rail.holds(989_900n);
    expect((await operator('/compare', { method: 'POST' })).items).toMatchObject([
      {
        rail: 'upstream',
        currency: 'GHS',
        railBalance: '9899',
        float: '9899.5',
        drift: '-0.5',
        withinRange: false,
      },
    ]);
    await operator('/compare', { method: 'POST' });
    expect(await breaksOf('upstream:GHS')).toEqual(['wallet.drift']);
    rail.holds(989_950n);
    await operator('/compare', { method: 'POST' });
    expect((await operator('/drift')).items).toMatchObject([{ drift: '0', withinRange: true }]);
    expect((await operator('/breaks?reference=upstream:GHS')).items).toMatchObject([{ status: 'resolved' }]);
    await until('the events', () => heard.some(({ type }) => type.endsWith('.BreakResolved')));
  });

  it('changes nothing and asks nobody when every topic is replayed', async () => {
    const database = messaging.database('reconciler');
    const state = async () => ({
      polls: await polls().find().sort({ _id: 1 }).toArray(),
      breaks: await database.collection('breaks').find().sort({ _id: 1 }).toArray(),
      floats: await database.collection('floats').find().sort({ _id: 1 }).toArray(),
    });
    for (const { _id, terms } of await polls().find({ open: true }).toArray()) {
      await publish(terms?.kind === 'collection' ? failed(_id) : completed(_id));
    }
    await until(
      'an end of every poll',
      async () => (await polls().countDocuments({ $or: [{ open: true }, { watch: true }] })) === 0,
    );
    await reconciler.close();
    const [before, calls] = [await state(), asked.length];
    expect(before.polls.length).toBeGreaterThan(5);
    expect(before.breaks.length).toBeGreaterThan(2);
    const replay = createReplay({ config, kafkaLog, database });
    await replay.rewind();
    reconciler = await startReconciler();
    const ends = await replay.ends();
    await until('the replay', () => replay.isAppliedTo(ends));
    expect(await state()).toEqual(before);
    expect(asked).toHaveLength(calls);
  });
});

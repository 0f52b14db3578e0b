import { walletKeyOf } from '@pesewa/contracts';
import {
  eventually,
  openBreakableDaemons,
  openTestScope,
  prepareTestEnvironment,
  type TestConfig,
  type TestScope,
} from '@pesewa/testkit';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { handleTopic, type OutgoingEvent, openMessagingAs, outboxOf } from '../index.ts';
import { FUNDED } from '../sender.fixture.ts';

const MINUTE_MS = 60_000;
const BOUND_BYTES = 100_000;
/** Far below the bound, so that most of the waiting events are read again from the outbox. */
const MEMORY_BYTES = 5_000;

let cluster: Awaited<ReturnType<typeof openBreakableDaemons>>;
let config: TestConfig;

beforeAll(async () => {
  cluster = await openBreakableDaemons();
  const names = await prepareTestEnvironment((name) => cluster.env[name]);
  config = { ...names, OUTBOX_WAITING_BYTES_MAX: BOUND_BYTES };
}, 120_000);

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
});

/** Applied events by wallet, in the order of their commits. */
type Applied = Map<string, bigint[]>;

/** One process of a service that accepts requests and consumes its own events. */
async function openProcess(
  name: string,
  applied: Applied,
  gate: () => Promise<void> | void = () => undefined,
) {
  const scope: TestScope = openTestScope(config);
  const messaging = await openMessagingAs(scope, {
    service: 'away',
    database: 'away',
    produces: ['ledger'],
    bytesWaitingMax: MEMORY_BYTES,
  });
  await messaging.db.createCollection('outbox').catch(() => undefined);
  await messaging.consume([
    handleTopic('ledger', FUNDED, async (events, { afterCommit }) => {
      afterCommit(() => {
        for (const { payload } of events)
          applied.set(payload.merchantId, [...(applied.get(payload.merchantId) ?? []), payload.amount]);
      });
      await gate();
    }),
  ]);
  scope.health.setServing(true);
  const commit = messaging.groupCommit<OutgoingEvent, null>('test.away', async (events, { emit }) => {
    for (const event of events) emit(event);
    return events.map(() => null);
  });
  const sent = new Map<string, bigint[]>();
  /** Accepts an event for each of three wallets, unless the bound refuses it. */
  const accept = async (): Promise<boolean> => {
    if (!messaging.acceptsWork()) return false;
    for (const wallet of ['a', 'b', 'c']) {
      const merchantId = `${name}-${wallet}`;
      const amounts = sent.get(merchantId) ?? [];
      const amount = BigInt(amounts.length + 1);
      sent.set(merchantId, [...amounts, amount]);
      await commit.submit({
        topic: 'ledger',
        key: walletKeyOf(merchantId, 'KES'),
        type: 'pesewa.ledger.WalletFunded',
        version: amount,
        causationId: null,
        payload: {
          occurredAt: 1n,
          merchantId,
          currency: 'KES',
          amount,
          commandId: `${merchantId}-${amount}`,
        },
      });
    }
    return true;
  };
  /** The liveness checks that fail if nothing happens for so long. */
  const livenessAfter = async (ms: number) => {
    const nowMs = performance.now();
    const clock = vi.spyOn(performance, 'now').mockReturnValue(nowMs + ms);
    const { failures } = await scope.health.liveness();
    clock.mockRestore();
    return failures;
  };
  const expectWell = async () => {
    expect((await scope.health.readiness()).failures).toEqual({});
    expect(await livenessAfter(4 * MINUTE_MS)).toEqual({});
  };
  return { scope, messaging, sent, accept, expectWell, livenessAfter };
}

it('Kafka away: what is accepted waits up to the bound, processes start and stay well, and all of it drains in order', async () => {
  const applied: Applied = new Map();
  const [broker] = cluster.brokers;
  if (!broker) throw new Error('no broker');
  const first = await openProcess('first', applied);
  await first.accept();
  await eventually(() => expect(applied).toEqual(first.sent));

  await broker.kill();
  for (let round = 0; round < 20; round += 1) expect(await first.accept()).toBe(true);
  await first.expectWell();
  // It gives up looking for its cluster long before its silence would make the process look stalled.
  await eventually(async () => {
    await first.expectWell();
    expect((await first.scope.health.readiness()).details['consumer away']).toMatch(/not joined/);
  });
  // The process ends and leaves its accepted events to others.
  await first.scope[Symbol.asyncDispose]();

  const second = await openProcess('second', applied);
  const waiting = outboxOf(second.messaging.db);
  await second.expectWell();
  expect(await waiting.countDocuments()).toBeGreaterThanOrEqual(60);
  await eventually(async () => {
    expect(await second.accept()).toBe(false);
  });
  await second.expectWell();
  expect((await second.scope.health.readiness()).details['outbox']).toMatch(/full/);
  // Work that follows from accepted requests goes on: the bound applies only to requests from outside.
  const third = await openProcess('third', applied);
  await third.expectWell();

  await broker.start();
  await eventually(async () => expect(await waiting.countDocuments()).toBe(0), 60_000);
  const all = new Map([...first.sent, ...second.sent]);
  await eventually(() => expect(applied).toEqual(all));
  await eventually(async () => expect(await second.accept()).toBe(true));
  await eventually(() => expect(applied).toEqual(new Map([...first.sent, ...second.sent])));
  await Promise.all([second, third].map(({ scope }) => scope[Symbol.asyncDispose]()));
}, 180_000);

it('a process whose work stands still is not taken for one whose Kafka is away', async () => {
  const applied: Applied = new Map();
  const gate = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  const process = await openProcess('stuck', applied, () => {
    reached.resolve();
    return gate.promise;
  });
  await process.expectWell();
  await process.accept();
  await reached.promise;
  expect(await process.livenessAfter(0)).toEqual({});
  expect(await process.livenessAfter(2 * MINUTE_MS)).toEqual({ 'consumer away': 'stalled' });
  gate.resolve();
  await eventually(async () => expect(await process.livenessAfter(2 * MINUTE_MS)).toEqual({}));
  await process.scope[Symbol.asyncDispose]();
}, 60_000);

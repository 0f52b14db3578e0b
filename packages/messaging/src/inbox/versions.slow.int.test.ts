import { type AvroRecord, topics } from '@pesewa/contracts';
import { eventually, openTestScope, prepareTestEnvironment, type TestConfig } from '@pesewa/testkit';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import * as present from '../index.ts';
import { FUNDED, funded, openSender, outboxIsEmpty } from '../sender.fixture.ts';

const AUDITED = 'pesewa.ledger.WalletAudited';

let config: TestConfig;
let next: typeof present;

/**
 * The messaging of a later version, in which an event of the ledger has one more field and the topic one more record.
 */
async function loadNextVersion(): Promise<typeof present> {
  vi.resetModules();
  const contracts = await import('@pesewa/contracts');
  const before: readonly AvroRecord[] = contracts.topics.ledger.events;
  const note = { name: 'note', type: ['null', 'string'], default: null } as const;
  const events = before.map((event) =>
    event.name === 'WalletFunded' ? { ...event, fields: [...event.fields, note] } : event,
  );
  const audited = before.find(({ name }) => name === 'WalletFunded');
  if (!audited) throw new Error('the ledger has no event for fundings');
  Object.assign(contracts.topics.ledger, { events: [...events, { ...audited, name: 'WalletAudited' }] });
  return import('../index.ts');
}

beforeAll(async () => {
  config = { ...(await prepareTestEnvironment()), CONSUMER_SESSION_TIMEOUT_MS: 60_000 };
  next = await loadNextVersion();
  const { SCHEMA_REGISTRY_URL: registryUrl, TOPIC_PREFIX: topicPrefix } = config;
  await next.registerSchemas({ registryUrl, topicPrefix });
});

/** What a later version sends: a funding with a note, or an event of a type that this version does not know. */
function sentByNext(merchantId: string, amount: bigint, type?: typeof AUDITED): present.OutgoingEvent {
  const event = funded(merchantId, amount);
  const payload = { ...event.payload, ...(type === undefined && { note: 'thanks' }) };
  return { ...event, ...(type !== undefined && { type }), payload } as present.OutgoingEvent;
}

/** A replica of a group, of this version or the next one; `applied` collects the applied events by merchant. */
async function openReplica(version: typeof present, group: string, applied: Map<string, unknown[]>) {
  const scope = openTestScope(config);
  const messaging = await version.openMessagingAs(scope, { service: group, database: group, produces: [] });
  const handled = version === next ? { ...FUNDED, [AUDITED]: 'handled' } : FUNDED;
  const handler = version.handleTopic('ledger', handled, (events, { afterCommit }) => {
    afterCommit(() => {
      for (const { type, payload } of events) {
        const of = applied.get(payload.merchantId) ?? [];
        applied.set(payload.merchantId, of);
        of.push(type === FUNDED_TYPE ? payload.amount : type);
      }
    });
    return Promise.resolve();
  });
  await messaging.consume([handler]);
  const joined = async () =>
    expect((await scope.health.readiness()).details).not.toHaveProperty(`consumer ${group}`);
  await eventually(joined);
  return {
    /** How many partitions wait for another version, each with its reason. */
    waits: async () => {
      const { details } = await scope.health.readiness();
      return details[`partitions of ${group}`]?.match(/does not know the type \S+Audited/g)?.length ?? 0;
    },
    [Symbol.asyncDispose]: () => scope[Symbol.asyncDispose](),
  };
}

const FUNDED_TYPE = 'pesewa.ledger.WalletFunded';

describe('a producer of the next version', () => {
  it('adds a field: a replica of this version ignores it, and goes on', async () => {
    await using scope = openTestScope(config);
    const sender = await openSender(scope, 'sender', next.openMessagingAs);
    await sender.commit.submit(sentByNext('field', 1n));
    await sender.commit.submit(sentByNext('field', 2n));
    await outboxIsEmpty(sender.messaging);
    const applied = new Map<string, unknown[]>();
    await using _old = await openReplica(present, 'reader', applied);
    await eventually(() => expect(applied.get('field')).toEqual([1n, 2n]));
  });

  it('sends a new type: a replica that knows it applies it as soon as one that does not has left', async () => {
    const merchants = Array.from({ length: 8 * topics.ledger.partitions }, (_, at) => `type-${at}`);
    const applied = new Map<string, unknown[]>();
    await using old = await openReplica(present, 'rollout', applied);
    await using scope = openTestScope(config);
    const sender = await openSender(scope, 'sender', next.openMessagingAs);
    await Promise.all(
      merchants.map(async (merchant) => {
        await sender.commit.submit(sentByNext(merchant, 1n));
        await sender.commit.submit(sentByNext(merchant, 2n, AUDITED));
        await sender.commit.submit(sentByNext(merchant, 3n));
      }),
    );
    await eventually(async () => expect(await old.waits()).toBe(topics.ledger.partitions));
    // No event of an unknown type is dropped, and nothing behind it is applied.
    for (const merchant of merchants) expect([[], [1n]]).toContainEqual(applied.get(merchant) ?? []);

    await using _new = await openReplica(next, 'rollout', applied);
    const done = () => merchants.filter((merchant) => applied.get(merchant)?.length === 3).length;
    // The new replica consumes its partitions; those that the old one kept wait until it ends.
    await eventually(async () => {
      expect(await old.waits()).toBe(topics.ledger.partitions / 2);
      expect(done()).toBeGreaterThan(0);
    });
    expect(done()).toBeLessThan(merchants.length);
    await old[Symbol.asyncDispose]();
    const leftMs = performance.now();
    await eventually(() => expect(done()).toBe(merchants.length));
    // It left its group explicitly: a session takes a minute to run out.
    expect(performance.now() - leftMs).toBeLessThan(20_000);
    for (const merchant of merchants) expect(applied.get(merchant)).toEqual([1n, AUDITED, 3n]);
  });
});

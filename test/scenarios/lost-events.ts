import type { ServiceName } from '@pesewa/contracts';
import { eventually } from '@pesewa/testkit';
import type { Binary, MongoClient } from 'mongodb';
import { expect } from 'vitest';
import type { Scenario } from './scenario.ts';

/** An event that is lost: its service and its type. */
export interface Loss {
  readonly service: ServiceName;
  readonly type: string;
}

const databases: Partial<Record<ServiceName, string>> = {
  'payout-gateway': 'payouts',
  'collection-gateway': 'collections',
  'webhook-ingress': 'ingress',
  'webhook-dispatcher': 'webhooks',
};

const DEADLINE_MS = 60_000;

/**
 * Loses an event for good: freezes its process between the commit and the send, deletes its outbox record and kills the
 * process, so that no copy is left. Other records of the same outbox are lost with it.
 */
export async function lose(
  scenario: Scenario,
  client: MongoClient,
  { service, type }: Loss,
  happen: () => Promise<unknown>,
): Promise<void> {
  const kept = scenario.stack.service(service);
  const line = 'crash point relay.before-send';
  const before = await scenario.logLines(service, line);
  await kept.ready();
  await scenario.arm(service, `relay.before-send:1:freeze:${type}`);
  const asked = happen();
  // A request to the frozen process gets no answer; the scenario goes on without one.
  asked.catch(() => undefined);
  await eventually(async () => {
    expect(await scenario.logLines(service, line)).toBe(before + 1);
  }, DEADLINE_MS);
  const database = client.db(`${scenario.prefix}_${databases[service] ?? service}`);
  const outbox = database.collection<{ readonly packed: Binary }>('outbox');
  const lost = (await outbox.find().toArray()).map(({ packed }) =>
    Buffer.from(packed.buffer).toString('latin1'),
  );
  expect(lost.join('\n'), 'what is lost').toContain(type);
  await outbox.deleteMany({});
  process.kill(kept.pid(), 'SIGKILL');
  await eventually(() => kept.ready(), DEADLINE_MS);
}

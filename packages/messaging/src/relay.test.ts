import { createLogger } from '@pesewa/runtime';
import type { Kafka } from 'kafkajs';
import { expect, it } from 'vitest';
import { type Bundle, bundleId, commitSource, type Outbox } from './bundle.ts';
import { openRelay } from './relay.ts';

const MIB = Buffer.alloc(1_024 * 1_024);

function bundle(source: string, sequence: number): Bundle {
  const messages = [{ topic: 't', key: 'k', body: MIB }];
  return { _id: bundleId(source, sequence), messages, createdAt: new Date(0) };
}

it('leaves out only what the sweeper sends when memory is full; a partition waits for its own', async () => {
  const gate = Promise.withResolvers<void>();
  const producer = {
    connect: () => Promise.resolve(),
    disconnect: () => Promise.resolve(),
    sendBatch: () => gate.promise,
  };
  await using relay = await openRelay({
    kafka: { producer: () => producer } as unknown as Kafka,
    outbox: { deleteMany: () => Promise.resolve() } as unknown as Outbox,
    logger: createLogger({ name: 'test', level: 'silent' }),
    crashPoint: () => undefined,
  });
  const commits = Array.from({ length: 80 }, (_, index) => bundle(commitSource('test', 'me'), index));
  const sends = commits.map((commit) => relay.send(commit));
  const held = commits.filter(({ _id }) => relay.holds(_id)).length;
  expect(held).toBeGreaterThan(0);
  expect(held).toBeLessThan(commits.length);
  const own = bundle('group/topic/0', 1);
  const sent = relay.send(own);
  expect(relay.holds(own._id)).toBe(true);
  gate.resolve();
  await Promise.all([...sends, sent]);
});

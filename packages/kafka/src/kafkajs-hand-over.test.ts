import { createRequire } from 'node:module';
import { expect, it, onTestFinished, vi } from 'vitest';
import './kafkajs.ts';

const require = createRequire(import.meta.url);

interface Group {
  joinAndSync(): Promise<void>;
  leave(): Promise<void>;
  heartbeat(pause: { readonly interval: number }): Promise<void>;
}

const GroupClass = require('kafkajs/src/consumer/consumerGroup') as new (options: object) => Group;

const RunnerClass = require('kafkajs/src/consumer/runner') as new (
  options: object,
) => { start(): Promise<void> };
const { createErrorFromCode } = require('kafkajs/src/protocol/error') as {
  readonly createErrorFromCode: (code: number) => Error;
};
const COORDINATOR_LOADS = 14;
const REBALANCE_IN_PROGRESS = 27;

const nothing = () => undefined;
const quiet = { info: nothing, debug: nothing, warn: nothing, namespace: () => quiet };

/** A group member whose coordinator records the requests; its hand-over lasts until `letGo` is called. */
function openMember() {
  const asked: string[] = [];
  let begun = Promise.withResolvers<void>();
  let held = Promise.withResolvers<void>();
  const coordinator = {
    joinGroup: async () => {
      asked.push('join');
      return { generationId: 1, leaderId: 'another', memberId: 'me', members: [], groupProtocol: 'p' };
    },
    syncGroup: async () => ({ memberAssignment: Buffer.alloc(0) }),
    leaveGroup: async () => void asked.push('leave'),
  };
  const group = new GroupClass({
    groupId: 'g',
    topics: [],
    topicConfigurations: {},
    retry: { retries: 0 },
    logger: quiet,
    instrumentationEmitter: { emit: nothing },
    cluster: { findGroupCoordinator: async () => coordinator, committedOffsets: () => ({}) },
    assigners: [
      {
        protocol: () => ({ name: 'p', metadata: Buffer.alloc(0) }),
        beforeHandOver: async () => {
          asked.push('hand over');
          begun.resolve();
          await held.promise;
        },
      },
    ],
  });
  return {
    group,
    asked,
    /** Resolves when a hand-over has begun and everything that does not wait for it has run. */
    begun: async () => {
      await begun.promise;
      await new Promise((resolve) => setImmediate(resolve));
    },
    letGo: () => {
      held.resolve();
      begun = Promise.withResolvers();
      held = Promise.withResolvers();
    },
  };
}

it('a member has handed over before it joins its group; joins at once share one, and a later one is another', async () => {
  const { group, asked, begun, letGo } = openMember();
  for (const round of [1, 2]) {
    const joins = Promise.all([group.joinAndSync(), group.joinAndSync(), group.joinAndSync()]);
    await begun();
    expect(asked, `round ${round}`).toEqual(['hand over']);
    letGo();
    await joins;
    expect(asked.splice(0), `round ${round}`).toEqual(['hand over', 'join']);
  }
});

it('a member has handed over before it leaves its group', async () => {
  const { group, asked, begun, letGo } = openMember();
  const joined = group.joinAndSync();
  await begun();
  letGo();
  await joined;
  asked.length = 0;
  const left = group.leave();
  await begun();
  expect(asked).toEqual(['hand over']);
  letGo();
  await left;
  expect(asked).toEqual(['hand over', 'leave']);
});

it('a member goes on with its heartbeats though the wall clock is set back', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 3_600_000 });
  onTestFinished(() => void vi.useRealTimers());
  const { group } = openMember();
  const heartbeat = vi.fn<() => Promise<void>>();
  Object.assign(group, { memberId: 'me', coordinator: { heartbeat } });
  vi.setSystemTime(0);
  await group.heartbeat({ interval: 3_000 });
  expect(heartbeat).not.toHaveBeenCalled();
  vi.setSystemTime(3_000);
  await group.heartbeat({ interval: 3_000 });
  expect(heartbeat).toHaveBeenCalledTimes(1);
});

it('a member whose hand-over failed may join once it succeeds', async () => {
  const failing = vi.fn<() => Promise<void>>().mockRejectedValueOnce(new Error('not yet'));
  const { group, asked } = openMember();
  Object.assign(group, { assigners: [{ beforeHandOver: failing, protocol: () => ({}) }] });
  await expect(group.joinAndSync()).rejects.toThrow('not yet');
  expect(asked).toEqual([]);
  await group.joinAndSync();
  expect(asked).toEqual(['join']);
});

it('a member that can not join again has ended: it goes on with nothing in its hands no longer than that', async () => {
  const { group, asked, begun, letGo } = openMember();
  const fetches = [createErrorFromCode(REBALANCE_IN_PROGRESS)];
  const crashed = Promise.withResolvers<Error>();
  Object.assign(group, {
    connect: async () => undefined,
    getNodeIds: () => [1],
    fetch: async () => {
      const error = fetches.shift();
      if (error) throw error;
      crashed.reject(new Error('it fetches without having joined'));
      return new Promise(() => undefined);
    },
  });
  const runner = new RunnerClass({
    logger: quiet,
    consumerGroup: group,
    instrumentationEmitter: { emit: nothing },
    retry: { retries: 5, initialRetryTime: 1 },
    concurrency: 1,
    onCrash: crashed.resolve,
  });
  const started = runner.start();
  await begun();
  letGo();
  await started;
  Object.assign(group, {
    cluster: {
      findGroupCoordinator: async () => {
        throw createErrorFromCode(COORDINATOR_LOADS);
      },
    },
  });
  await begun();
  letGo();
  expect((await crashed.promise).message).toContain('loading');
  expect(asked).toEqual(['hand over', 'join', 'hand over']);
});

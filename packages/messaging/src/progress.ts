import { type TopicName, topics } from '@pesewa/contracts';
import type { KafkaOptions, Positions } from '@pesewa/kafka';
import { type Clock, withDeadline } from '@pesewa/kernel';
import type { Db } from 'mongodb';
import { createCatchingUp } from './catching-up.ts';
import type { Messaging } from './messaging.ts';
import { offsetsOf } from './offsets.ts';

/** Finds out from Kafka where topics end and how far services have applied them, within a time limit. */
export function openProgress(
  clock: Clock,
  positions: Positions,
  parts: {
    readonly db: Db;
    readonly topicPrefix: string;
    readonly kafka: KafkaOptions;
    readonly group: string;
  },
): Pick<Messaging, 'caughtUp' | 'ends' | 'hasApplied'> {
  const { db, topicPrefix, kafka, group } = parts;
  const untilApplied = createCatchingUp({ positions, offsets: offsetsOf(db), group, clock });
  const prefixed = (names: readonly TopicName[]) => names.map((name) => topicPrefix + topics[name].name);
  const inTime = <Value>(answer: Promise<Value>, timeoutMs: number): Promise<Value | undefined> =>
    withDeadline(answer, timeoutMs, clock).catch((error: unknown) => {
      kafka.log('warn', 'how far the topics go is not known', { err: error });
      return undefined;
    });
  return {
    caughtUp: async (names, timeoutMs) =>
      (await inTime(untilApplied(prefixed(names), timeoutMs), timeoutMs)) ?? false,
    ends: (names, timeoutMs) => inTime(positions.ends(prefixed(names)), timeoutMs),
    hasApplied: (service, ends, timeoutMs) =>
      inTime(positions.isPast(topicPrefix + service, ends), timeoutMs),
  };
}

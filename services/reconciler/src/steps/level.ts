import type { TopicName } from '@pesewa/contracts';
import type { Clock } from '@pesewa/kernel';
import type { Messaging, TopicEnd } from '@pesewa/messaging';
import type { OnItsWay, Sender, Waiting } from '../on-its-way.ts';

/** A part of our messages' way: out of outboxes into topics, and through a service that applies them. */
export interface Hop {
  readonly from: readonly Sender[];
  readonly topics: readonly TopicName[];
  readonly by: string;
}

/** The dependencies of finding the level. */
export interface LevelDeps {
  readonly messaging: Pick<Messaging, 'ends' | 'hasApplied'>;
  readonly onItsWay: OnItsWay;
  readonly clock: Pick<Clock, 'nowMs'>;
}

/** The state of a check: what must leave the outboxes of a hop, and then be applied. */
interface Mark {
  readonly atMs: number;
  readonly hop: number;
  readonly waiting: readonly Waiting[];
  readonly ends?: readonly TopicEnd[];
}

const KAFKA_TIMEOUT_MS = 5_000;

/**
 * Distinguishes late from lost: gives a time such that everything that was on its way then, in an outbox or in Kafka,
 * has arrived, hop by hop; undefined while it has not, or if that is unknown. A stopped service delays every answer and
 * loses none (ADR 27), and so does Kafka while it is away.
 */
export function createLevel(
  { messaging, onItsWay, clock }: LevelDeps,
  hops: readonly Hop[],
): () => Promise<number | undefined> {
  let mark: Mark | undefined;
  const begin = async (atMs: number, hop: number): Promise<Mark | undefined> => {
    const waiting = await onItsWay.waiting(hops[hop]?.from ?? []);
    return waiting && { atMs, hop, waiting };
  };
  /**
   * The mark once Kafka has the hop's messages; the same mark while some are in an outbox, undefined if that is
   * unknown.
   */
  const leave = async (current: Mark): Promise<Mark | undefined> => {
    const hasLeft = await onItsWay.hasLeft(current.waiting);
    if (hasLeft !== true) return hasLeft === false ? current : undefined;
    const ends = await messaging.ends(hops[current.hop]?.topics ?? [], KAFKA_TIMEOUT_MS);
    return ends && { ...current, ends };
  };
  return async () => {
    mark ??= await begin(clock.nowMs(), 0);
    while (mark) {
      if (!mark.ends) mark = await leave(mark);
      const ends = mark?.ends;
      if (!mark || !ends) return undefined;
      const { atMs, hop }: Mark = mark;
      const isPast = await messaging.hasApplied(hops[hop]?.by ?? '', ends, KAFKA_TIMEOUT_MS);
      if (isPast === undefined) mark = undefined;
      if (isPast !== true) return undefined;
      mark = undefined;
      if (hop + 1 === hops.length) return atMs;
      mark = await begin(atMs, hop + 1);
    }
    return undefined;
  };
}

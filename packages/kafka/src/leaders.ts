import type { Clock } from '@pesewa/kernel';
import type { KafkaLog } from './client.ts';

/** The leader of a partition; a negative broker id means that it has none. */
export interface Leader {
  readonly topic: string;
  readonly partition: number;
  readonly broker: number;
}

const PAUSE_MS = { first: 50, last: 2_000 } as const;

/** Follows the leaders of partitions by Kafka's answers; `learned` is called after every one. */
export function createLeaders(options: {
  readonly ask: (topics: readonly string[]) => Promise<readonly Leader[]>;
  readonly topics: () => readonly string[];
  readonly waiting: () => readonly { readonly id: string }[];
  readonly learned: () => void;
  readonly clock: Clock;
  readonly log: KafkaLog;
  readonly closing: AbortSignal;
}) {
  const { clock, closing, log } = options;
  const known = new Map<string, number>();
  let refreshing: Promise<void> | undefined;

  /** The broker that leads a partition; undefined if none is known. */
  const of = ({ id }: { readonly id: string }): number | undefined => {
    const broker = known.get(id) ?? -1;
    return broker < 0 ? undefined : broker;
  };

  async function learn(): Promise<void> {
    for (let pauseMs: number = PAUSE_MS.first; !closing.aborted; pauseMs *= 2) {
      try {
        for (const { topic, partition, broker } of await options.ask(options.topics()))
          known.set(`${topic}/${partition}`, broker);
        if (options.waiting().every((queue) => of(queue) !== undefined)) return;
      } catch (error) {
        if (pauseMs === PAUSE_MS.first)
          log('warn', 'Kafka does not say who leads its partitions', { err: error });
      }
      await clock.sleep(Math.min(pauseMs, PAUSE_MS.last), closing);
      // Partitions with a leader must not wait for those without.
      options.learned();
    }
  }

  return {
    of,
    /** Asks Kafka until every queued partition has a leader; concurrent callers share the answer. */
    refresh: (): Promise<void> => {
      refreshing ??= learn().finally(() => {
        refreshing = undefined;
        options.learned();
      });
      return refreshing;
    },
  };
}

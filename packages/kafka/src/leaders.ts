import type { Clock } from '@pesewa/kernel';
import type { KafkaLog } from './client.ts';

/** The broker that leads a partition; below zero it has no leader. */
export interface Leader {
  readonly topic: string;
  readonly partition: number;
  readonly broker: number;
}

/** Who leads what, as Kafka said last. */
export interface Leaders {
  /** The broker that leads a partition; nothing where none is known. */
  readonly of: (lane: { readonly id: string }) => number | undefined;
  /** Asks Kafka until every partition that is waited for has a leader; those that ask meanwhile share the answer. */
  readonly refresh: () => Promise<void>;
}

const PAUSE_MS = { first: 50, last: 2_000 } as const;

/** Builds {@link Leaders}; `learned` is called whenever Kafka has said something. */
export function createLeaders(options: {
  readonly ask: (topics: readonly string[]) => Promise<readonly Leader[]>;
  readonly topics: () => readonly string[];
  readonly waiting: () => readonly { readonly id: string }[];
  readonly learned: () => void;
  readonly clock: Clock;
  readonly log: KafkaLog;
  readonly closing: AbortSignal;
}): Leaders {
  const { clock, closing, log } = options;
  const known = new Map<string, number>();
  let refreshing: Promise<void> | undefined;

  const of = ({ id }: { readonly id: string }): number | undefined => {
    const broker = known.get(id) ?? -1;
    return broker < 0 ? undefined : broker;
  };

  async function learn(): Promise<void> {
    for (let pauseMs: number = PAUSE_MS.first; !closing.aborted; pauseMs *= 2) {
      try {
        for (const { topic, partition, broker } of await options.ask(options.topics()))
          known.set(`${topic}/${partition}`, broker);
        if (options.waiting().every((lane) => of(lane) !== undefined)) return;
      } catch (error) {
        if (pauseMs === PAUSE_MS.first)
          log('warn', 'Kafka does not say who leads its partitions', { err: error });
      }
      await clock.sleep(Math.min(pauseMs, PAUSE_MS.last), closing);
      // Those that have a leader are not to wait for those that have none.
      options.learned();
    }
  }

  return {
    of,
    refresh: () => {
      refreshing ??= learn().finally(() => {
        refreshing = undefined;
        options.learned();
      });
      return refreshing;
    },
  };
}

import { type Clock, withDeadline } from '@pesewa/kernel';
import { type Messaging, outboxOf } from '@pesewa/messaging';
import type { Logger } from '@pesewa/runtime';

/** The services that may have messages on their way, by the names of their databases. */
export type Sender = 'payouts' | 'collections' | 'ingress' | 'ledger' | 'reconciler';

/** The entries that waited in one outbox at one time. */
export interface Waiting {
  readonly of: Sender;
  readonly outboxRecords: readonly string[];
}

/**
 * Messages that services have committed and Kafka does not have yet, read from their outboxes: only ids, whether the
 * services run or not.
 *
 * They are identified by id rather than by age, so that no service's clock has to agree with ours.
 */
export type OnItsWay = ReturnType<typeof createOnItsWay>;

const READ_TIMEOUT_MS = 1_000;
/** If more waits, Kafka has been away, and the caller must wait until it is back. */
const OUTBOX_RECORDS_MAX = 10_000;

/** Builds {@link OnItsWay}: one read for each outbox. */
export function createOnItsWay(deps: {
  readonly messaging: Pick<Messaging, 'database'>;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly logger: Logger;
}) {
  const { messaging, clock, logger } = deps;
  const outbox = (of: Sender) => outboxOf(messaging.database(of));
  const inTime = <Value>(answer: Promise<Value>): Promise<Value | undefined> =>
    withDeadline(answer, READ_TIMEOUT_MS, clock).catch((error: unknown) => {
      logger.warn({ err: error }, 'what waits for Kafka is not known');
      return undefined;
    });
  const read = async (of: Sender): Promise<Waiting> => {
    const found = await outbox(of)
      .find({}, { maxTimeMS: READ_TIMEOUT_MS })
      .project<{ readonly _id: string }>({ _id: 1 })
      // The index of ids alone, so that the content of outbox records is not read.
      .hint({ _id: 1 })
      .limit(OUTBOX_RECORDS_MAX + 1)
      .toArray();
    return { of, outboxRecords: found.map(({ _id }) => _id) };
  };
  const hasLeft = async ({ of, outboxRecords }: Waiting): Promise<boolean> => {
    if (outboxRecords.length === 0) return true;
    const left = await outbox(of).findOne(
      { _id: { $in: [...outboxRecords] } },
      { projection: { _id: 1 }, maxTimeMS: READ_TIMEOUT_MS },
    );
    return left === null;
  };
  return {
    /** What waits now; undefined if the database does not answer in time, or if too much waits. */
    waiting: async (of: readonly Sender[]): Promise<readonly Waiting[] | undefined> => {
      const found = await inTime(Promise.all(of.map(read)));
      return found?.some(({ outboxRecords }) => outboxRecords.length > OUTBOX_RECORDS_MAX)
        ? undefined
        : found;
    },
    /** Whether Kafka has everything that waited; undefined if the database does not answer in time. */
    hasLeft: async (waiting: readonly Waiting[]): Promise<boolean | undefined> => {
      const left = await inTime(Promise.all(waiting.map(hasLeft)));
      return left?.every((one) => one);
    },
  };
}

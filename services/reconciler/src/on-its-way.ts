import { type Clock, withDeadline } from '@pesewa/kernel';
import { type Messaging, outboxOf } from '@pesewa/messaging';
import type { Logger } from '@pesewa/runtime';

/** The services that may have messages on their way, by the names of their databases. */
export type Sender = 'payouts' | 'collections' | 'ingress' | 'ledger' | 'reconciler';

/** Whether Kafka has all that waited in an outbox; undefined if the database does not answer in time. */
type HasLeft = () => Promise<boolean | undefined>;

/**
 * Marks the messages that a service has committed and Kafka does not have yet, in its outbox, whether it runs or not;
 * undefined if the database does not answer in time, or if too much waits.
 *
 * They are identified by id rather than by age, so that no service's clock has to agree with ours.
 */
export type MarkWaiting = (of: Sender) => Promise<HasLeft | undefined>;

const READ_TIMEOUT_MS = 1_000;
/** If more waits, Kafka has been away, and the caller must wait until it is back. */
const OUTBOX_RECORDS_MAX = 10_000;

/** Builds {@link MarkWaiting}: one read for each outbox. */
export function createMarkWaiting(deps: {
  readonly messaging: Pick<Messaging, 'database'>;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly logger: Logger;
}): MarkWaiting {
  const inTime = <Value>(answer: Promise<Value>): Promise<Value | undefined> =>
    withDeadline(answer, READ_TIMEOUT_MS, deps.clock).catch((error: unknown) => {
      deps.logger.warn({ err: error }, 'what waits for Kafka is not known');
      return undefined;
    });
  return async (of) => {
    const outbox = outboxOf(deps.messaging.database(of));
    const records = outbox
      .find({}, { maxTimeMS: READ_TIMEOUT_MS })
      .project<{ readonly _id: string }>({ _id: 1 })
      // The index of ids alone, so that the content of outbox records is not read.
      .hint({ _id: 1 })
      .limit(OUTBOX_RECORDS_MAX + 1);
    const ids = (await inTime(records.toArray()))?.map(({ _id }) => _id);
    if (!ids || ids.length > OUTBOX_RECORDS_MAX) return undefined;
    const options = { projection: { _id: 1 }, maxTimeMS: READ_TIMEOUT_MS } as const;
    return async () =>
      ids.length === 0 ||
      inTime(outbox.findOne({ _id: { $in: ids } }, options).then((found) => found === null));
  };
}

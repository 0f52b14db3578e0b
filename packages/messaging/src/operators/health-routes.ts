import { healthOperations, type WaitingView } from '@pesewa/contracts';
import { sharedReading, withDeadline } from '@pesewa/kernel';
import { answer, type ServiceScope, serveOperations } from '@pesewa/runtime';
import type { Collection, Db, Document, Filter } from 'mongodb';
import { type Outbox, oldestOf } from '../outbox/outbox.ts';

/** Within it the consumer applies what waits for it, or it does not keep up. */
const KEEPS_UP_MS = 1_000;
/** People wait for it, and for other services beside it. */
const READ_TIMEOUT_MS = 2_000;
/** Where counting ends: a page that shows itself anew asks again and again. */
const COUNT_MAX = 1_000;

/** How many documents wait for people, counted by an index up to a limit. */
export async function countWaiting<Row extends Document>(collection: Collection<Row>, filter: Filter<Row>) {
  const limits = { limit: COUNT_MAX + 1, maxTimeMS: READ_TIMEOUT_MS };
  const found = await collection.countDocuments(filter, limits);
  return { count: Math.min(found, COUNT_MAX), isCut: found > COUNT_MAX };
}

/** What reads the things that wait for people at a service. */
export type WaitingReads = {
  readonly [Name in keyof WaitingView]: () => Promise<NonNullable<WaitingView[Name]>>;
};

/**
 * Adds the route of a service's health; `keepsUp` tells whether its consumer applies within a time what waits now. Gives
 * what adds to it what waits there for people.
 */
export function addHealthRoutes(
  { operator, health, logger, clock }: Pick<ServiceScope<object>, 'operator' | 'health' | 'logger' | 'clock'>,
  sources: {
    readonly db: Db;
    readonly outbox: Outbox;
    readonly keepsUp: (timeoutMs: number) => Promise<boolean>;
  },
): (reads: WaitingReads) => void {
  // The driver's own limits don't bound how long it looks for a server, and what one source does not say hides no other.
  const orUnknown = <Value>(what: string, read: Promise<Value>): Promise<Value | null> =>
    withDeadline(read, READ_TIMEOUT_MS, clock).catch((error: unknown) => {
      logger.warn({ err: error, what }, 'a part of the health is not known');
      return null;
    });
  const readMessages = sharedReading(clock, () =>
    Promise.all([
      orUnknown(
        'outbox',
        oldestOf(sources.outbox, READ_TIMEOUT_MS).then((at) => ({ oldestAt: at?.toISOString() ?? null })),
      ),
      orUnknown('consumer', sources.keepsUp(KEEPS_UP_MS)),
      orUnknown('parked', countWaiting(sources.db.collection('parked'), { state: 'parked' })),
    ]),
  );
  const waitingReads: WaitingReads = {};
  const readWaiting = async (): Promise<WaitingView> => {
    const all = Object.entries(waitingReads) as [string, () => Promise<unknown>][];
    const found = all.map(
      async ([name, read]) => [name, await orUnknown(name, Promise.resolve().then(read))] as const,
    );
    return Object.fromEntries(await Promise.all(found));
  };
  const show = async () => {
    const [{ failures, details }, [outbox, keepsUp, parked], waiting] = await Promise.all([
      health.readiness(),
      readMessages(),
      readWaiting(),
    ]);
    return answer(200, { problems: { ...details, ...failures }, outbox, keepsUp, parked, waiting });
  };
  serveOperations(operator, healthOperations, { show });
  return (reads) => void Object.assign(waitingReads, reads);
}

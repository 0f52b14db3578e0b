import { topics } from '@pesewa/contracts';
import { type Clock, withDeadline } from '@pesewa/kernel';
import { CLOCK_SKEW_MAX_MS, type Loop, type Messaging, RECOVER, startLoop } from '@pesewa/messaging';
import type { Logger } from '@pesewa/runtime';
import type { OwnEvent } from './domain/rebuilt-payout.ts';
import type { Marks } from './marks.ts';
import type { PayoutStore } from './store.ts';

/** The dependencies of {@link lackingEvents}. */
interface LackingDeps {
  readonly messaging: Pick<Messaging, 'since'>;
  readonly store: Pick<PayoutStore, 'newestAcceptedMs' | 'findVersions'>;
  readonly marks: Pick<Marks, 'findLeftOut' | 'untilMajorityIsKnown'>;
}

/**
 * The clock by which a payout was accepted, the database's and Kafka's may each be wrong, and a transaction takes time.
 */
const OVERLAP_MS = 3 * CLOCK_SKEW_MAX_MS + 15_000;
/** A database that was current more recently than this is not a backup: restoring one takes longer. */
const BACKUP_AGE_MIN_MS = 30_000;
const LOOK_PAUSE_MS = 1_000;
const WAIT_MS = 5_000;

/** The time from which the service's own topic has what its database may lack. */
export const readFromMs = async (store: Pick<PayoutStore, 'newestAcceptedMs'>): Promise<number> =>
  ((await store.newestAcceptedMs()) ?? OVERLAP_MS) - OVERLAP_MS;

/**
 * The events of this service from a time on that its database lacks, in the order of each partition, many at once. Each
 * was committed before it was published, so if there is one, the database is an older one (ADR 45).
 */
export async function* lackingEvents(
  { messaging, store, marks }: LackingDeps,
  sinceMs: number,
): AsyncGenerator<readonly OwnEvent[]> {
  await marks.untilMajorityIsKnown();
  for (let partition = 0; partition < topics.payouts.partitions; partition += 1)
    for await (const events of messaging.since('payouts', partition, sinceMs)) {
      const versions = await store.findVersions(referencesOf(events));
      const lacking = events.filter(
        ({ payload, version }) => (versions.get(payload.reference) ?? 0n) < version,
      );
      if (lacking.length === 0) continue;
      const leftOut = await marks.findLeftOut(referencesOf(lacking));
      const left = lacking.filter(({ payload }) => !leftOut.has(payload.reference));
      if (left.length > 0) yield left;
    }
}

const referencesOf = (events: readonly OwnEvent[]) => [
  ...new Set(events.map(({ payload }) => payload.reference)),
];

/**
 * Refuses to go on with an older database: it would accept payouts again that it has forgotten, and send those again
 * that were sent since. Then it notes for as long as it runs that the database is current.
 *
 * It waits for Kafka, except if a process has noted that a moment ago.
 */
export async function requireCurrentDatabase(
  deps: LackingDeps & {
    readonly messaging: Pick<Messaging, 'positions'>;
    readonly marks: Marks;
    readonly clock: Clock;
    readonly logger: Logger;
  },
): Promise<Loop> {
  const { marks, clock, logger } = deps;
  const isInUse = await marks.isCurrentSince(BACKUP_AGE_MIN_MS);
  const look = async () => {
    try {
      const found = whyOlder(deps, isInUse);
      return { reason: await (isInUse ? withDeadline(found, WAIT_MS, clock) : found) };
    } catch (error) {
      logger.warn({ err: error }, 'whether the database was restored from a backup is not known yet');
      return isInUse ? {} : undefined;
    }
  };
  let found = await look();
  for (; !found; found = await look()) await clock.sleep(LOOK_PAUSE_MS);
  if (found.reason !== undefined)
    throw new Error(`the database may be an older one: ${found.reason}; ${RECOVER}`);
  return startLoop({
    name: 'mark of a current database',
    pauseMs: LOOK_PAUSE_MS,
    clock,
    logger,
    round: async () => {
      await marks.setCurrent();
      return false;
    },
  });
}

/** What shows that the database is an older one, or came without its topics; the latter not while it is in use. */
const SIGNS: ReadonlySet<string> = new Set(['restored', 'lost', 'recreated']);

/** Why the database must be an older one; undefined if there is no sign of it. */
async function whyOlder(
  deps: LackingDeps & { readonly messaging: Pick<Messaging, 'positions'> },
  isInUse: boolean,
): Promise<string | undefined> {
  for (const { id, position } of await deps.messaging.positions.list())
    if (position.kind === 'stopped' && SIGNS.has(position.mismatch))
      if (!isInUse || position.mismatch !== 'recreated') return `${id}: ${position.reason}`;
  for await (const [lacking] of lackingEvents(deps, await readFromMs(deps.store)))
    if (lacking)
      return `it lacks version ${lacking.version} of ${lacking.payload.reference}, which was published`;
  return undefined;
}

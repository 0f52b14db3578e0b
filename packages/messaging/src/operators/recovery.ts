import type { MessagingService } from '@pesewa/contracts';
import type { Clock } from '@pesewa/kernel';
import type { RecoverOptions, ServiceScope } from '@pesewa/runtime';
import { leasesOf, RECOVERY } from '../claims/lease.ts';
import type { PositionMismatch } from '../inbox/position.ts';
import { type Messaging, type MessagingConfig, type MessagingTuning, openMessaging } from '../messaging.ts';
import { ALIVE_LEASES, SILENT_FOR_GOOD_MS } from '../outbox/sweeper.ts';
import type { PartitionPosition } from './service-positions.ts';

/** What the repair of a database works with. */
export interface Recovery extends RecoverOptions {
  readonly messaging: Messaging;
  readonly clock: Clock;
  /** Keeps the service stopped until the repair has ended; to be called before anything is written, more than once too. */
  readonly begin: () => Promise<void>;
}

const NO_SIGN =
  'Kafka shows nothing of an older database: if it was restored from a backup, recover it with --restored; if not, it needs no repair';

/**
 * Repairs the database of a stopped service, then realigns its stopped partitions so that each message that Kafka has is
 * applied; gives a line that reports it (ADR 45). Partitions that Kafka has removed messages of are left to people. The
 * service does not start before it is done. Interrupted, it is begun again; a dry run only reports.
 *
 * @throws Error if nothing shows an older database and nobody says that it was restored: to repair it could book what
 *   somebody else wrote to our topics, and not to doubt its payments could send them again
 */
export async function recoverDatabase(
  scope: ServiceScope<MessagingConfig>,
  options: RecoverOptions & MessagingTuning & { readonly service: MessagingService },
  repair: (recovery: Recovery) => Promise<void>,
): Promise<string> {
  const { isDryRun, passesGaps, isRestored, report, ...tuning } = options;
  const { clock } = scope;
  const messaging = await openMessaging(scope, { ...tuning, isRecovering: true });
  const leases = leasesOf(messaging.db);
  const isContinued = (await leases.findOne({ _id: RECOVERY })) !== null;
  const before = await messaging.positions.list();
  const stopped = stoppedOf(before);
  for (const { place, gone } of stopped.filter((one) => one.gone > 0n))
    report(`${place}: Kafka no longer has ${gone} messages that this database may not have applied`);
  const unread = stopped.find(({ mismatch, gone }) => !LEFT_TO_PEOPLE.has(mismatch) && gone > 0n);
  if (unread && !isDryRun && !passesGaps)
    throw new Error(
      `${unread.place} is to be read from its start, and Kafka no longer has its first messages: restore a more recent backup, or go on without them by --pass-gaps`,
    );
  if (!isRestored && !isContinued && !showsOlderDatabase(before)) {
    if (!isDryRun) throw new Error(NO_SIGN);
    report(NO_SIGN);
  }
  let hasBegun = false;
  const begin = async () => {
    if (!hasBegun) await lock(messaging, clock);
    hasBegun = true;
  };
  await repair({ isDryRun, passesGaps, isRestored, report, messaging, clock, begin });
  const again = stopped.filter(({ isReadAgain }) => isReadAgain);
  if (isDryRun) return `nothing was changed; ${again.length} partitions would be read again`;
  await begin();
  for (const { topic, partition, place } of again) {
    const by = { reason: 'the database was recovered', by: 'recover', isRepaired: true };
    const realigned = await messaging.positions.realign({ topic, partition, ...by });
    if (!realigned.ok) throw new Error(`${place} can't be realigned: ${realigned.refusal}`);
  }
  // Whoever slept through the repair ends by that when it wakes.
  await leases.deleteMany({ _id: ALIVE_LEASES, owner: { $ne: messaging.owner } });
  await leases.deleteOne({ _id: RECOVERY, owner: messaging.owner });
  return `recovered; ${again.length} partitions are read again once the service starts`;
}

/** If messages are gone, these partitions still stop at the first of them, until people realign each. */
const LEFT_TO_PEOPLE: ReadonlySet<PositionMismatch> = new Set(['restored', 'messages removed']);

/**
 * The partitions that are stopped, whether a repair lets them go on, and how many of the messages that are to be applied
 * Kafka no longer has.
 */
export function stoppedOf(positions: readonly Pick<PartitionPosition, 'stored' | 'bounds' | 'position'>[]) {
  return positions.flatMap(({ position, stored, bounds: { topic, partition, topicId, low } }) => {
    if (position.kind !== 'stopped' || position.mismatch === 'added') return [];
    const next = stored?.topicId === topicId ? stored.next : 0n;
    const gone = next < low ? low - next : 0n;
    const { mismatch } = position;
    const isReadAgain = mismatch !== 'messages removed';
    return [{ topic, partition, place: `${topic}/${partition}`, mismatch, gone, isReadAgain }];
  });
}

/**
 * Whether Kafka shows that a database may be an older one: a partition was committed further than the database knows,
 * whatever else does not fit; its topic is another one, of which a commit proves nothing; or Kafka knows nothing of the
 * group. It does not show a backup that is younger than the last commit.
 */
export function showsOlderDatabase(
  positions: readonly Pick<PartitionPosition, 'stored' | 'bounds'>[],
): boolean {
  const isSign = positions.some(
    ({ stored, bounds: { committed = 0n, topicId } }) =>
      committed > (stored?.next ?? 0n) || (stored?.topicId ?? topicId) !== topicId,
  );
  return isSign || (positions.length > 0 && positions.every(({ bounds }) => bounds.committed === undefined));
}

/**
 * Locks the database for a repair. A process of the service looks for the lock after each sign of life, and ends if it
 * is there: so none can be running unseen once the pause is over. Of two repairs, the later one has the lock.
 */
async function lock({ db, owner }: Messaging, clock: Pick<Clock, 'sleep'>): Promise<void> {
  const leases = leasesOf(db);
  const refuseAnother = async () => {
    const others = { _id: ALIVE_LEASES, owner: { $ne: owner }, $expr: { $gt: ['$until', '$$NOW'] } };
    const alive = await leases.findOne(others);
    if (alive)
      throw new Error(`${alive.owner} is running: stop the service, wait some seconds, and run this again`);
  };
  await refuseAnother();
  const own = { $set: { owner }, $currentDate: { until: true } } as const;
  const { upsertedCount } = await leases.updateOne({ _id: RECOVERY }, own, { upsert: true });
  await clock.sleep(SILENT_FOR_GOOD_MS);
  try {
    await refuseAnother();
  } catch (error) {
    // A lock that was there may be of a repair that has written.
    if (upsertedCount > 0) await leases.deleteOne({ _id: RECOVERY, owner });
    throw error;
  }
}

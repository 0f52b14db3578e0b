import type { MessagingService } from '@pesewa/contracts';
import type { RecoverOptions, ServiceScope } from '@pesewa/runtime';
import { leasesOf } from '../claims/lease.ts';
import { type Messaging, type MessagingConfig, type MessagingTuning, openMessaging } from '../messaging.ts';
import { lockForRecovery, unlockAfterRecovery } from './recovery-lock.ts';
import { isRestored } from './service-positions.ts';

/** What the repair of a database works with. */
export interface Recovery extends RecoverOptions {
  readonly messaging: Messaging;
  /**
   * Whether there is a sign that the database is an older one, or no way to rule it out: a partition was committed to
   * Kafka further than the database knows, or Kafka knows nothing of the whole group.
   */
  readonly mayBeRestored: boolean;
  /** Throws the error after it has let the service start again: for a repair that has written nothing. */
  readonly refuse: (error: Error) => Promise<never>;
}

/**
 * Repairs the database of a stopped service, then realigns its restored partitions to where the database stands; gives
 * a line that reports it (ADR 45). The service does not start before it is done. Interrupted, it is begun again; a dry
 * run only reports.
 */
export async function recoverDatabase(
  scope: ServiceScope<MessagingConfig>,
  options: RecoverOptions & MessagingTuning & { readonly service: MessagingService },
  repair: (recovery: Recovery) => Promise<void>,
): Promise<string> {
  const { isDryRun, passesGaps, report, ...tuning } = options;
  const messaging = await openMessaging(scope, { ...tuning, isRecovering: true });
  const leases = leasesOf(messaging.db);
  const before = await messaging.positions.list();
  const isInterrupted = !isDryRun && (await lockForRecovery(leases, messaging.owner));
  const restored = before.filter(isRestored);
  // Operators who realigned a partition first have accepted what Kafka knows.
  const isRealigned = before.some(({ stored }) => (stored?.acceptedCommitted ?? 0n) > (stored?.next ?? 0n));
  const isForgotten = before.every(({ bounds }) => bounds.committed === undefined);
  const refuse = async (error: Error) => {
    if (!isDryRun && !isInterrupted) await unlockAfterRecovery(leases);
    throw error;
  };
  const mayBeRestored = isForgotten || isRealigned || restored.length > 0;
  await repair({ isDryRun, passesGaps, report, messaging, mayBeRestored, refuse });
  if (isDryRun) return `nothing was changed; ${restored.length} partitions would be read again`;
  for (const { bounds } of restored) {
    const { topic, partition } = bounds;
    const to = { to: 'stored', reason: 'the database was recovered', by: 'recover' } as const;
    const realigned = await messaging.positions.realign({ topic, partition, ...to });
    if (!realigned.ok) throw new Error(`${topic}/${partition} can't be realigned: ${realigned.refusal}`);
  }
  await unlockAfterRecovery(leases);
  return `recovered; ${restored.length} partitions are read again once the service starts`;
}

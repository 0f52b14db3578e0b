import { healthOperations } from '@pesewa/contracts';
import { withDeadline } from '@pesewa/kernel';
import { answer, type ServiceScope, serveOperations } from '@pesewa/runtime';
import type { Db } from 'mongodb';
import { openParkedStore } from '../inbox/parked-store.ts';
import { type Outbox, oldestOf } from '../outbox/outbox.ts';

/** Within it the consumer applies what waits for it, or it does not keep up. */
const KEEPS_UP_MS = 1_000;
/** For so long after it kept up, the brokers are not asked again, however many people look. */
const ASKED_AGAIN_AFTER_MS = 5_000;
/** People wait for it, and for other services beside it. */
const READ_TIMEOUT_MS = 2_000;
const PARKED_MAX = 100;

/** Adds the route of a service's health; `keepsUp` tells whether its consumer applies within a time what waits now. */
export function addHealthRoutes(
  { operator, health, logger, clock }: Pick<ServiceScope<object>, 'operator' | 'health' | 'logger' | 'clock'>,
  sources: {
    readonly db: Db;
    readonly outbox: Outbox;
    readonly keepsUp: (timeoutMs: number) => Promise<boolean>;
  },
): void {
  // The driver's own limits don't bound how long it looks for a server, and what one source does not say hides no other.
  const orUnknown = <Value>(what: string, read: Promise<Value>): Promise<Value | null> =>
    withDeadline(read, READ_TIMEOUT_MS, clock).catch((error: unknown) => {
      logger.warn({ err: error, what }, 'a part of the health is not known');
      return null;
    });
  let keptUpAtMs = Number.NEGATIVE_INFINITY;
  const keepsUp = async () => {
    if (Math.abs(clock.nowMs() - keptUpAtMs) < ASKED_AGAIN_AFTER_MS) return true;
    const isLevel = await sources.keepsUp(KEEPS_UP_MS);
    if (isLevel) keptUpAtMs = clock.nowMs();
    return isLevel;
  };
  const show = async () => {
    const [{ failures, details }, outbox, isLevel, parked] = await Promise.all([
      health.readiness(),
      orUnknown(
        'outbox',
        oldestOf(sources.outbox, READ_TIMEOUT_MS).then((at) => ({ oldestAt: at?.toISOString() ?? null })),
      ),
      orUnknown('consumer', keepsUp()),
      orUnknown('parked', openParkedStore(sources.db).countUpTo(PARKED_MAX + 1, READ_TIMEOUT_MS)),
    ]);
    return answer(200, {
      problems: { ...details, ...failures },
      outbox,
      keepsUp: isLevel,
      parked: parked === null ? null : { count: Math.min(parked, PARKED_MAX), isCut: parked > PARKED_MAX },
    });
  };
  serveOperations(operator, healthOperations, { show });
}

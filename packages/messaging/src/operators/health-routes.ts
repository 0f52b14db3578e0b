import { healthOperations } from '@pesewa/contracts';
import { answer, type ServiceScope, serveOperations } from '@pesewa/runtime';
import type { Db } from 'mongodb';
import { openParkedStore } from '../inbox/parked-store.ts';
import { type Outbox, oldestOf } from '../outbox/outbox.ts';

/** People wait for it, and for other services beside it. */
const READ_TIMEOUT_MS = 1_000;
const PARKED_MAX = 100;

/** Adds the route of a service's health; `keepsUp` tells whether its consumer applies within a time what waits now. */
export function addHealthRoutes(
  { operator, health }: Pick<ServiceScope<object>, 'operator' | 'health'>,
  sources: {
    readonly db: Db;
    readonly outbox: Outbox;
    readonly keepsUp: (timeoutMs: number) => Promise<boolean>;
  },
): void {
  const show = async () => {
    const [{ failures, details }, oldestAt, keepsUp, parked] = await Promise.all([
      health.readiness(),
      oldestOf(sources.outbox, READ_TIMEOUT_MS),
      sources.keepsUp(READ_TIMEOUT_MS),
      openParkedStore(sources.db).countUpTo(PARKED_MAX + 1, READ_TIMEOUT_MS),
    ]);
    return answer(200, {
      problems: { ...details, ...failures },
      outboxOldestAt: oldestAt?.toISOString() ?? null,
      keepsUp,
      parked: { count: Math.min(parked, PARKED_MAX), isCut: parked > PARKED_MAX },
    });
  };
  serveOperations(operator, healthOperations, { show });
}

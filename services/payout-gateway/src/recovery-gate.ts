import type { Clock } from '@pesewa/kernel';
import type { Messaging, Recovery } from '@pesewa/messaging';
import type { Health, Logger } from '@pesewa/runtime';

const LOOK_PAUSE_MS = 1_000;
const KAFKA_TIMEOUT_MS = 5_000;

/**
 * Keeps payouts from being sent or ended by the records of a restored database until it has caught up: a payout that is
 * due by an older record may have been paid or refused since (ADR 45). It opens at once if there is no sign of a
 * restored database.
 */
export function createRecoveryGate(deps: {
  readonly messaging: Pick<Messaging, 'recovery' | 'ends' | 'hasApplied' | 'caughtUp'>;
  readonly health: Pick<Health, 'addDetail'>;
  readonly clock: Clock;
  readonly logger: Logger;
}) {
  const { messaging, clock, logger } = deps;
  let isOpen = false;
  let found: Recovery | undefined;
  /** Where this service's published events ended, as read after its database had been realigned. */
  let published: Awaited<ReturnType<Messaging['ends']>>;
  deps.health.addDetail('submission', () =>
    isOpen
      ? undefined
      : 'no payout is sent before it is known whether the database was restored, and read again',
  );

  async function hasCaughtUp(): Promise<boolean> {
    const before = found;
    found = await messaging.recovery();
    if (found === 'current') return true;
    if (found !== before)
      logger.warn({ found }, 'the database may be an older one: no payout is sent until it has caught up');
    if (found === 'older') published = undefined;
    else published ??= await messaging.ends(['payouts'], KAFKA_TIMEOUT_MS);
    // First the ledger must have applied all those events, then all its answers must be applied here.
    if (!published || !(await messaging.hasApplied('ledger', published, KAFKA_TIMEOUT_MS))) return false;
    return messaging.caughtUp(['ledger'], KAFKA_TIMEOUT_MS);
  }

  return {
    /** Whether the database is current, so that its records may be acted on. */
    isOpen: () => isOpen,
    /** Checks repeatedly until they may be; call it once, after the topics are consumed. */
    watch: (opened: () => void): AsyncDisposable => {
      const closing = new AbortController();
      const running = (async () => {
        while (!closing.signal.aborted && !isOpen) {
          isOpen = await hasCaughtUp().catch((error: unknown) => {
            logger.debug({ err: error }, 'whether the database was restored is not known yet');
            return false;
          });
          if (!isOpen) await clock.sleep(LOOK_PAUSE_MS, closing.signal);
        }
        if (!isOpen) return;
        if (found !== 'current') logger.info('the database has caught up: payouts are sent again');
        opened();
      })();
      return {
        [Symbol.asyncDispose]: async () => {
          closing.abort();
          await running;
        },
      };
    },
  };
}

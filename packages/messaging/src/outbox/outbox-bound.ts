import type { Clock } from '@pesewa/kernel';
import type { Health, Logger } from '@pesewa/runtime';
import { Gauge, type Registry } from 'prom-client';
import { documentBytes } from '../database/mongo.ts';
import { startLoop } from '../loop.ts';
import type { Outbox } from './outbox.ts';
import type { Relay } from './relay.ts';

const CHECK_PAUSE_MS = 1_000;
/** An outbox record that has waited less than this is still on its way, and the outbox is not even read. */
const WAITS_LONG_MS = 3_000;
/** Work is accepted again below this share of the bound, so that the answer does not alternate. */
const RESUME_BELOW_SHARE = 0.8;

/**
 * Limits how many bytes of a service's events may wait for Kafka before it accepts no more work from outside.
 *
 * Checks the bound while an outbox record of this process has waited for seconds, and costs nothing otherwise. Work accepted
 * within those seconds, and events that follow from work accepted before, come on top of the bound.
 */
export function openOutboxBound(options: {
  readonly outbox: Outbox;
  readonly relay: Pick<Relay, 'oldestPendingSinceMs'>;
  readonly bytesMax: number;
  readonly health: Health;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly logger: Logger;
}) {
  const { outbox, relay, bytesMax, health, registry, clock, logger } = options;
  let isFull = false;
  const gauge = new Gauge({
    name: 'outbox_full',
    help: '1 while so many events wait for Kafka that no new work is accepted, 0 otherwise.',
    registers: [registry],
  });
  health.addDetail('outbox', () =>
    isFull ? 'full: so much waits for Kafka that nothing is taken on from outside' : undefined,
  );

  const loop = startLoop({
    name: 'outbox bound',
    pauseMs: CHECK_PAUSE_MS,
    clock,
    logger,
    round: async () => {
      const sinceMs = relay.oldestPendingSinceMs();
      const waitsLong = sinceMs !== undefined && clock.nowMs() - sinceMs > WAITS_LONG_MS;
      // Of all outbox records, of this process and others.
      const bytes = waitsLong ? await documentBytes(outbox) : 0;
      const wasFull = isFull;
      isFull = bytes > (wasFull ? bytesMax * RESUME_BELOW_SHARE : bytesMax);
      gauge.set(isFull ? 1 : 0);
      if (isFull && !wasFull) logger.error({ bytes, bytesMax }, 'too much waits for Kafka: work is refused');
      if (wasFull && !isFull) logger.info({ bytes, bytesMax }, 'work is accepted again');
      return false;
    },
  });
  return {
    /** False once too much waits, until a good part of it has been sent. */
    acceptsWork: () => !isFull,
    [Symbol.asyncDispose]: () => loop[Symbol.asyncDispose](),
  };
}

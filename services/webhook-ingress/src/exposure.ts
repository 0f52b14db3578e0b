import type { RailSettings } from '@pesewa/rails';
import type { Logger } from '@pesewa/runtime';
import { Gauge, type Registry } from 'prom-client';

/**
 * Says which rails nothing authenticates the callbacks of, neither a list of addresses nor a secret: in a gauge, and in
 * production in the log.
 */
export function noteUnauthenticatedRails(options: {
  readonly rails: readonly Pick<RailSettings, 'name' | 'callbackAddresses' | 'callbackSecrets'>[];
  readonly isProduction: boolean;
  readonly logger: Pick<Logger, 'warn'>;
  readonly registry: Registry;
}): void {
  const gauge = new Gauge({
    name: 'rail_callbacks_unauthenticated',
    help: '1 where neither addresses nor secrets are set for the callbacks of a rail.',
    labelNames: ['rail'],
    registers: [options.registry],
  });
  for (const { name: rail, callbackAddresses, callbackSecrets } of options.rails) {
    const isOpen = callbackAddresses.length === 0 && callbackSecrets.length === 0;
    gauge.set({ rail }, isOpen ? 1 : 0);
    if (isOpen && options.isProduction)
      options.logger.warn(
        { rail },
        'anyone may bring callbacks of this rail: set its callbackAddresses or callbackSecrets',
      );
  }
}

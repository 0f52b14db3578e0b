import type { RailSettings } from '@pesewa/rails';
import type { Logger } from '@pesewa/runtime';
import { Gauge, type Registry } from 'prom-client';

/** How an operator makes a rail's callbacks authenticated. */
export const REMEDY = 'set its callbackAddresses or callbackSecrets';

type CallbackSettings = Pick<RailSettings, 'name' | 'callbackAddresses' | 'callbackSecrets'>;

const isUnauthenticated = ({ callbackAddresses, callbackSecrets }: CallbackSettings): boolean =>
  callbackAddresses.length === 0 && callbackSecrets.length === 0;

/**
 * The names of rails whose callbacks are refused in production: they are not authenticated, and no setting permits
 * that.
 */
export function refusedRails(settings: {
  readonly RAILS: readonly CallbackSettings[];
  readonly ALLOW_INSECURE: readonly string[];
  readonly NODE_ENV: string;
}): readonly string[] {
  if (settings.NODE_ENV !== 'production' || settings.ALLOW_INSECURE.includes('callbacks')) return [];
  return settings.RAILS.filter(isUnauthenticated).map(({ name }) => name);
}

/**
 * Reports the rails whose callbacks are authenticated neither by a list of addresses nor by a secret: in a gauge, and
 * in production also in the log.
 */
export function reportUnauthenticatedRails(options: {
  readonly rails: readonly CallbackSettings[];
  readonly isProduction: boolean;
  readonly logger: Pick<Logger, 'warn'>;
  readonly registry: Registry;
}): void {
  const gauge = new Gauge({
    name: 'rail_callbacks_unauthenticated',
    help: '1 if neither addresses nor secrets are set for the callbacks of a rail.',
    labelNames: ['rail'],
    registers: [options.registry],
  });
  for (const one of options.rails) {
    const { name: rail } = one;
    gauge.set({ rail }, isUnauthenticated(one) ? 1 : 0);
    if (isUnauthenticated(one) && options.isProduction)
      options.logger.warn({ rail }, `anyone may bring callbacks of this rail: ${REMEDY}`);
  }
}

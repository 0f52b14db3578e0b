import type { Clock } from '@pesewa/kernel';
import type { Logger } from '@pesewa/runtime';
import type { z } from 'zod';
import type { Guard } from './guard.ts';
import type { Rail } from './rail.ts';
import type { CommonSettings } from './settings.ts';

/** What a connector is given for a rail: the network within the rail's limits, the clock and the log. */
export interface ConnectorDependencies {
  readonly guard: Guard;
  readonly clock: Clock;
  readonly logger?: Pick<Logger, 'warn'> | undefined;
}

/** What a connector makes of a rail's settings; the rest of a {@link Rail} is the same for every connector. */
export type RailFunctions = Pick<Rail, 'payouts' | 'collections' | 'balances' | 'verifyCallback'>;

/** The settings of one rail, with the way to connect to it. */
export type RailSettings = CommonSettings & {
  readonly pollsPerSecondMax: number;
  readonly pollConcurrencyMax: number;
  readonly connect: (dependencies: ConnectorDependencies) => RailFunctions;
};

/** The schema of the entries of `RAILS` that name this connector. */
export type ConnectorDefinition = z.core.$ZodTypeDiscriminable & z.ZodType<RailSettings>;

/** Defines a connector by the settings of its rails, which `connector` distinguishes, and the way to connect to one. */
export function defineConnector<Settings extends CommonSettings>(definition: {
  readonly settings: z.core.$ZodTypeDiscriminable & z.ZodType<Settings>;
  readonly connect: (rail: ConnectorDependencies & { readonly settings: Settings }) => RailFunctions;
}): ConnectorDefinition {
  return definition.settings
    .refine(({ callbacks, callbackSecrets }) => callbacks === 'hint' || callbackSecrets.length > 0, {
      path: ['callbackSecrets'],
      error: 'is required where callbacks are proven',
    })
    .refine(({ pollsPerSecondMax, requestsPerSecondMax: most }) => (pollsPerSecondMax ?? 0) <= most, {
      path: ['pollsPerSecondMax'],
      error: 'is more than requestsPerSecondMax',
    })
    .refine(({ pollConcurrencyMax, concurrencyMax: most }) => (pollConcurrencyMax ?? 0) <= most, {
      path: ['pollConcurrencyMax'],
      error: 'is more than concurrencyMax',
    })
    .transform((settings) => ({
      ...settings,
      pollsPerSecondMax: settings.pollsPerSecondMax ?? Math.max(1, settings.requestsPerSecondMax / 2),
      pollConcurrencyMax: settings.pollConcurrencyMax ?? Math.ceil(settings.concurrencyMax / 2),
      connect: (dependencies: ConnectorDependencies) => definition.connect({ ...dependencies, settings }),
    }));
}

import { proxySettings } from '@pesewa/addresses';
import { type MessagingService, services } from '@pesewa/contracts';
import {
  portSettings,
  publicPortSettings,
  secret,
  serviceSettings,
  wholeNumberSetting,
} from '@pesewa/runtime';
import { z } from 'zod';
import { clientSettings } from './issuer.ts';
import { sandboxSetting } from './sandbox.ts';
import { sessionKeysSetting } from './sealing.ts';

const ports = portSettings(services.console);

const address = (service: MessagingService) =>
  z
    .url()
    .default(`http://127.0.0.1:${services[service].operationsPort}`)
    .transform((url) => url.replace(/\/+$/, ''))
    .describe(`the address of ${service}'s operations port`);

const zone = z
  .string()
  .default('UTC')
  .refine(isZone, { error: 'must be the name of a time zone, such as Africa/Nairobi' })
  .describe('the time zone in which the pages show times');

function isZone(name: string): boolean {
  try {
    return Boolean(new Intl.DateTimeFormat('en-GB', { timeZone: name }));
  } catch {
    return false;
  }
}

/** The settings of the console. */
export const settings = serviceSettings
  .extend({
    PORT: ports.PORT.describe('port of the pages'),
    OPERATIONS_PORT: ports.OPERATIONS_PORT.describe('port of health and metrics'),
    ...publicPortSettings,
    ...proxySettings.shape,
    LEDGER_URL: address('ledger'),
    RECONCILER_URL: address('reconciler'),
    PAYOUT_GATEWAY_URL: address('payout-gateway'),
    COLLECTION_GATEWAY_URL: address('collection-gateway'),
    WEBHOOK_INGRESS_URL: address('webhook-ingress'),
    WEBHOOK_DISPATCHER_URL: address('webhook-dispatcher'),
    PUBLIC_ORIGIN: z
      .url()
      .optional()
      .transform((url) => (url === undefined ? undefined : new URL(url).origin))
      .describe('the origin by which browsers reach the pages, such as https://console.example.com'),
    SESSION_KEYS: sessionKeysSetting
      .describe(
        'keys of 32 bytes in base64, separated by commas: the first seals sign-ins, all open them; in development one is made',
      )
      .meta(secret),
    SESSION_IDLE_MINUTES: wholeNumberSetting({ min: 1, max: 120 })
      .default(30)
      .describe('minutes without a click after which a sign-in ends'),
    SESSION_HOURS: wholeNumberSetting({ min: 1, max: 24 })
      .default(8)
      .describe('hours after which a sign-in ends in any case'),
    ...clientSettings,
    TIME_ZONE: zone,
    SANDBOX: sandboxSetting
      .optional()
      .describe(
        'JSON of a development stack, never in production: transferUrl, collectionsUrl, simulatorUrl and merchant (id, publicKey, webhookSecret)',
      )
      .meta(secret),
  })
  .superRefine((config, context) => {
    const { OIDC_CLIENT_ID: id, OIDC_CLIENT_SECRET: ownSecret, OPERATORS_ISSUER: issuer } = config;
    if ((id ?? ownSecret) !== undefined && (!id || !ownSecret || !issuer)) {
      const message = 'goes together with OIDC_CLIENT_SECRET and OPERATORS_ISSUER';
      context.addIssue({ code: 'custom', path: ['OIDC_CLIENT_ID'], message });
    }
    if (config.NODE_ENV !== 'production') return;
    for (const name of ['SESSION_KEYS', 'PUBLIC_ORIGIN'] as const)
      if (config[name] === undefined)
        context.addIssue({ code: 'custom', path: [name], message: 'is required in production' });
    if (config.SANDBOX !== undefined)
      context.addIssue({ code: 'custom', path: ['SANDBOX'], message: 'is refused in production' });
  });

/** The environment of this process; no other file reads it. */
export const environment = process.env;

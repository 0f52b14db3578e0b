import { refuseOriginsInProduction, webhookAddressSettings } from '@pesewa/addresses';
import { services } from '@pesewa/contracts';
import { messagingSettings, portSettings, serviceSettings, wholeNumberSetting } from '@pesewa/runtime';
import { z } from 'zod';

/** The settings of the ledger. */
export const settings = serviceSettings
  .extend(messagingSettings.shape)
  .extend({
    ...webhookAddressSettings.shape,
    ...portSettings(services.ledger),
    REFUND_FEE: z
      .enum(['true', 'false'])
      .default('false')
      .transform((text) => text === 'true')
      .describe('whether a reversed payout gives the merchant our fee back'),
    RAIL_NAMES: z
      .string()
      .default('')
      .transform((text) => (text === '' ? [] : text.split(',').map((name) => name.trim())))
      .describe('rails that orders may name, separated by commas; empty allows any'),
    ORDERS_AGAIN_AFTER_MS: wholeNumberSetting({ min: 100, max: 86_400_000 })
      .default(60_000)
      .describe('how long after its approval an order is published again'),
    BATCH_MESSAGES_MAX: wholeNumberSetting({ min: 1, max: 1_000 })
      .default(1_000)
      .describe('messages that share one transaction'),
  })
  .superRefine(refuseOriginsInProduction);

/** The environment of this process; read nowhere else. */
export const environment = process.env;

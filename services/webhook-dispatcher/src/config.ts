import { refuseOriginsInProduction, webhookAddressSettings } from '@pesewa/addresses';
import { services, WEBHOOK_KEEP_DAYS_MIN } from '@pesewa/contracts';
import { DAY_MS } from '@pesewa/kernel';
import {
  durationMsSetting,
  messagingSettings,
  portSettings,
  serviceSettings,
  wholeNumberSetting,
} from '@pesewa/runtime';
import { z } from 'zod';
import { retryDelaysMs } from './domain/delivery.ts';

const list = (text: string) =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

const endpointMs = wholeNumberSetting({ min: 60_000, max: 30 * DAY_MS });

const delayMs = z
  .string()
  .regex(/^\d{1,9}$/, { error: 'must be whole milliseconds' })
  .transform(Number);

/** The settings of webhook-dispatcher. */
export const settings = serviceSettings
  .extend(messagingSettings.shape)
  .extend(webhookAddressSettings.shape)
  .extend({
    ...portSettings(services['webhook-dispatcher']),
    RETRY_DELAYS_MS: z
      .string()
      .transform(list)
      .pipe(z.array(delayMs).min(1))
      .default([...retryDelaysMs])
      .describe('pauses after failed attempts, separated by commas'),
    DELIVERY_DEADLINE_MS: wholeNumberSetting({ min: 100, max: 60_000 })
      .default(10_000)
      .describe('deadline of a whole attempt'),
    DELIVERY_CONCURRENCY_MAX: wholeNumberSetting({ min: 1, max: 1_000 })
      .default(512)
      .describe('deliveries in progress or waiting at once, per process'),
    DELIVERY_CONCURRENCY_PER_ENDPOINT_MAX: wholeNumberSetting({ min: 1, max: 1_000 })
      .default(16)
      .describe('attempts at once per merchant and endpoint'),
    DELIVERY_CONCURRENCY_PER_MERCHANT_MAX: wholeNumberSetting({ min: 1, max: 1_000 })
      .default(128)
      .describe('deliveries in progress or waiting at once, per merchant'),
    DELIVERY_PAUSE_MS: durationMsSetting
      .default(500)
      .describe('longest pause between searches for due deliveries'),
    ENDPOINT_WARN_AFTER_MS: endpointMs
      .default(DAY_MS)
      .describe('how long without success until a failing endpoint is warned of'),
    ENDPOINT_DISABLE_AFTER_MS: endpointMs
      .default(5 * DAY_MS)
      .describe('how long without success until it is disabled; longer than until it is warned of'),
    DELIVERY_KEEP_DAYS: wholeNumberSetting({ min: WEBHOOK_KEEP_DAYS_MIN, max: 3_650 })
      .default(90)
      .describe('how long an ended delivery is kept'),
  })
  .superRefine(refuseOriginsInProduction)
  .refine((config) => config.ENDPOINT_DISABLE_AFTER_MS > config.ENDPOINT_WARN_AFTER_MS, {
    path: ['ENDPOINT_DISABLE_AFTER_MS'],
    error: 'must be longer than ENDPOINT_WARN_AFTER_MS',
  });

/** The environment of this process; no other file reads it. */
export const environment = process.env;

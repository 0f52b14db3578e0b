import { refuseOriginsInProduction, webhookAddressSettings } from '@pesewa/addresses';
import { services, WEBHOOK_KEEP_DAYS_MIN } from '@pesewa/contracts';
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
      .describe('pauses after the first, second, … failed attempt, by commas'),
    DELIVERY_DEADLINE_MS: wholeNumberSetting({ min: 100, max: 60_000 })
      .default(10_000)
      .describe('one deadline over a whole attempt'),
    DELIVERY_CONCURRENCY_MAX: wholeNumberSetting({ min: 1, max: 1_000 })
      .default(512)
      .describe('deliveries in hand at once in this process, waiting ones included'),
    DELIVERY_CONCURRENCY_PER_ENDPOINT_MAX: wholeNumberSetting({ min: 1, max: 1_000 })
      .default(16)
      .describe('attempts at once per merchant and endpoint'),
    DELIVERY_PAUSE_MS: durationMsSetting
      .default(500)
      .describe('pause between looks for due deliveries when nothing wakes us'),
    DELIVERY_KEEP_DAYS: wholeNumberSetting({ min: WEBHOOK_KEEP_DAYS_MIN, max: 3_650 })
      .default(90)
      .describe('how long a delivery that has ended can be listed and resent, and each attempt be looked at'),
  })
  .superRefine(refuseOriginsInProduction);

/** The environment of this process; no other file reads it. */
export const environment = process.env;

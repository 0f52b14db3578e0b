import { railSettings } from '@pesewa/rails';
import { durationMsSetting, messagingSettings, serviceSettings, wholeNumberSetting } from '@pesewa/runtime';
import { validate } from 'node-cron';
import { z } from 'zod';

/** The settings of the reconciler. */
export const settings = serviceSettings.extend(messagingSettings.shape).extend({
  PORT: serviceSettings.shape.PORT.default(4040),
  OPERATIONS_PORT: serviceSettings.shape.OPERATIONS_PORT.default(4041),
  RAILS: railSettings.describe('the rails and how to reach them (JSON)'),
  FIRST_POLL_AFTER_MS: durationMsSetting
    .default(30_000)
    .describe('the first poll comes so long after the rail was asked'),
  POLL_BASE_MS: wholeNumberSetting({ min: 100, max: 86_400_000 })
    .default(30_000)
    .describe('pause after the first poll; it doubles from poll to poll'),
  POLL_CAP_MS: wholeNumberSetting({ min: 100, max: 86_400_000 })
    .default(900_000)
    .describe('longest pause between polls'),
  POLL_CONCURRENCY_MAX: wholeNumberSetting({ min: 1, max: 1_000 })
    .default(64)
    .describe('polls under way at once'),
  POLL_PAUSE_MS: wholeNumberSetting({ min: 10, max: 60_000 })
    .default(500)
    .describe('pause between looks for due payments when nothing wakes us'),
  POLLS_BEFORE_BREAK: wholeNumberSetting({ min: 1, max: 10_000 })
    .default(20)
    .describe('polls without an end after which people are called'),
  CALLBACK_SETTLE_MS: durationMsSetting
    .default(60_000)
    .describe("how long a rail's lookup may lag behind a callback"),
  NOT_FOUND_GRACE_MS: durationMsSetting
    .default(30_000)
    .describe('how long after a rail took a payment on its NOT FOUND is not believed yet'),
  UNKNOWN_REFERENCE_GRACE_MS: durationMsSetting
    .default(600_000)
    .describe('how long a callback may speak of a payment that nobody knows before people see it'),
  UNKNOWN_REFERENCES_OPEN_MAX: wholeNumberSetting({ min: 0, max: 1_000_000 })
    .default(1_000)
    .describe('how many such references are shown as breaks at once, per rail; more are counted only'),
  UNKNOWN_REFERENCE_KEEP_DAYS: wholeNumberSetting({ min: 1, max: 3_650 })
    .default(30)
    .describe('after how long such a reference is forgotten and its break closed'),
  COMPARISON_INTERVAL: z
    .string()
    .default('*/15 * * * *')
    .refine(validate, { error: 'must be a cron expression of five or six fields' })
    .describe('cron expression of the wallet comparison'),
  COMPARISON_SETTLE_MS: durationMsSetting
    .default(2_000)
    .describe('pause before a drift out of range is measured again'),
});

/** The environment of this process; read nowhere else. */
export const environment = process.env;

import { services } from '@pesewa/contracts';
import { parseAmount } from '@pesewa/kernel';
import { railSettings } from '@pesewa/rails';
import {
  durationMsSetting,
  messagingSettings,
  portSettings,
  secret,
  serviceSettings,
  wholeNumberSetting,
} from '@pesewa/runtime';
import { validate } from 'node-cron';
import { z } from 'zod';

const cronSetting = (byDefault: string) =>
  z
    .string()
    .default(byDefault)
    .refine(validate, { error: 'must be a cron expression of five or six fields' });

const amountsSetting = z
  .string()
  .default('')
  .transform((text, context): ReadonlyMap<string, bigint> => {
    const entries = text === '' ? [] : text.split(',').map((entry) => entry.trim().split(':'));
    const amounts = entries.map(([currency = '', amount = ''], place) => {
      const parsed = parseAmount(amount, currency);
      const message = `entry ${place + 1} must be CURRENCY:amount, such as KES:250000.00`;
      if (!parsed.ok) context.addIssue({ code: 'custom', message });
      return [currency, parsed.ok ? parsed.value.minor : 0n] as const;
    });
    return new Map(amounts);
  });

/** The settings of the reconciler. */
export const settings = serviceSettings.extend(messagingSettings.shape).extend({
  ...portSettings(services.reconciler),
  RAILS: railSettings.describe('the rails and how to reach them (JSON)').meta(secret),
  FIRST_POLL_AFTER_MS: durationMsSetting
    .default(30_000)
    .describe("from a payment's start, or a later request to its rail, until the first poll"),
  POLL_BASE_MS: wholeNumberSetting({ min: 100, max: 86_400_000 })
    .default(30_000)
    .describe('pause after the first poll; it doubles with each poll'),
  POLL_CAP_MS: wholeNumberSetting({ min: 100, max: 86_400_000 })
    .default(900_000)
    .describe('longest pause between polls'),
  POLL_PAUSE_MS: wholeNumberSetting({ min: 10, max: 60_000 })
    .default(500)
    .describe('longest pause between searches for due payments'),
  POLLS_BEFORE_BREAK: wholeNumberSetting({ min: 1, max: 10_000 })
    .default(20)
    .describe('polls without an end before a break opens'),
  CALLBACK_LAG_MS: durationMsSetting
    .default(60_000)
    .describe("how long a rail's lookup may lag behind a callback"),
  NOT_FOUND_GRACE_MS: durationMsSetting
    .default(30_000)
    .describe('how long after a rail acknowledged a payment its NOT FOUND does not count'),
  UNKNOWN_REFERENCE_KEEP_DAYS: wholeNumberSetting({ min: 1, max: 3_650 })
    .default(30)
    .describe('how long until a reference that only callbacks name is forgotten'),
  PAYMENT_KEEP_DAYS: wholeNumberSetting({ min: 400, max: 3_650 })
    .default(800)
    .describe('how long an ended payment without open work or a break stays in the working set'),
  COVERAGE_INTERVAL: cronSetting('30 2 * * *').describe(
    "cron expression of the audit of all open payments against the gateways' records",
  ),
  STEP_LIMIT_MS: wholeNumberSetting({ min: 100, max: 86_400_000 })
    .default(60_000)
    .describe('how long our own steps may take: answer to a hold, opening here, webhook'),
  STEP_PAUSE_MS: wholeNumberSetting({ min: 10, max: 3_600_000 })
    .default(5_000)
    .describe('pause between searches for longer steps'),
  REPUBLISH_REQUESTS_MAX: wholeNumberSetting({ min: 1, max: 100 })
    .default(3)
    .describe(
      'how often the owner republishes such a payment, with pauses that double, before a break opens',
    ),
  BOOKS_GRACE_MS: durationMsSetting
    .default(60_000)
    .describe(
      "how long the ledger may lag behind a payment's end, a payment behind a proven callback, and both behind the first request to republish; by default a break opens after eight such times",
    ),
  BREAKS_RESOLVED_ALONE_UP_TO: amountsSetting.describe(
    'amounts above which an approver must approve `resolve`, as `KES:250000.00,GHS:20000` (other currencies: one suffices)',
  ),
  CLOSE_INTERVAL: cronSetting('0 3 * * *').describe(
    'cron expression of the close of yesterday and each missed day',
  ),
  CLOSE_LAG_MS: durationMsSetting
    .default(600_000)
    .describe('how long after its end a day can be closed, because events may be late'),
  CLOSE_POLLS_PER_SECOND: wholeNumberSetting({ min: 1, max: 100_000 })
    .default(20)
    .describe("how often closes may ask a rail, over all replicas; at most half of the rail's own rate"),
  CLOSE_TRIES_MAX: wholeNumberSetting({ min: 2, max: 1_000 })
    .default(12)
    .describe('unclear answers after which a payment is unclear in its close'),
  CLOSE_KEEP_DAYS: wholeNumberSetting({ min: 35, max: 3_650 })
    .default(400)
    .describe('how long closes and their records are kept'),
  COMPARISON_INTERVAL: cronSetting('*/15 * * * *').describe('cron expression of the wallet comparison'),
  COMPARISON_PAUSE_MS: durationMsSetting
    .default(2_000)
    .describe('pause before a drift out of range is measured again'),
  COMPARISON_UNEXPLAINED_MAX_MS: durationMsSetting
    .default(3_600_000)
    .describe('how long a drift within range may be unexplained before a break opens'),
  STATEMENT_BYTES_MAX: wholeNumberSetting({ min: 1_024, max: 100_000_000_000 })
    .default(1_000_000_000)
    .describe("maximum size of a rail's statement"),
  STATEMENT_LINES_MAX: wholeNumberSetting({ min: 1, max: 100_000_000 })
    .default(5_000_000)
    .describe('maximum number of its lines'),
  STATEMENT_BREAKS_MAX: wholeNumberSetting({ min: 0, max: 100_000 })
    .default(1_000)
    .describe('breaks that one statement opens at most; its results have all findings'),
  STATEMENT_KEEP_DAYS: wholeNumberSetting({ min: 1, max: 3_650 })
    .default(90)
    .describe('how long a statement and its results are kept'),
});

/** The environment of this process; no other file reads it. */
export const environment = process.env;

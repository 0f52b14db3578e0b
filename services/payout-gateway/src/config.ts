import { proxySettings } from '@pesewa/addresses';
import { services } from '@pesewa/contracts';
import { railSettings } from '@pesewa/rails';
import {
  durationMsSetting,
  messagingSettings,
  portSettings,
  publicPortSettings,
  secret,
  serviceSettings,
  wholeNumberSetting,
} from '@pesewa/runtime';
import { z } from 'zod';

/** The settings of payout-gateway. */
export const settings = serviceSettings.extend(messagingSettings.shape).extend({
  ...portSettings(services['payout-gateway']),
  ...publicPortSettings,
  ...proxySettings.shape,
  PUBLIC_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('address for merchants, used in links to images; by default `http://127.0.0.1:<PORT>`'),
  PROCESSORS_TTL_MS: durationMsSetting
    .default(300_000)
    .describe('age at which a list of processors is renewed in the background'),
  RAILS: railSettings.describe('the rails and how to reach them (JSON)').meta(secret),
  RESUBMIT_GRACE_MS: durationMsSetting
    .default(30_000)
    .describe("how long after an attempt a rail's NOT FOUND does not count"),
  SUBMIT_CONCURRENCY_MAX: wholeNumberSetting({ min: 1, max: 1_000 })
    .default(64)
    .describe('payouts under submission at once, per rail and queue (single, batch)'),
  SUBMIT_PAUSE_MS: durationMsSetting.default(500).describe('longest pause between searches for due payouts'),
  PERSONAL_DATA_KEEP_DAYS: wholeNumberSetting({ min: 30, max: 3_650 })
    .default(400)
    .describe("how long after acceptance an ended payment keeps people's names, numbers and accounts"),
});

/** The environment of this process; no other file reads it. */
export const environment = process.env;

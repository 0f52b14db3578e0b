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
import { REMEDY, refusedRails } from './callback-authentication.ts';

const keepDaysSetting = wholeNumberSetting({ min: 1, max: 3_650 });

const everySetting = serviceSettings.extend(messagingSettings.shape).extend({
  ...portSettings(services['webhook-ingress']),
  ...publicPortSettings,
  RAILS: railSettings.describe('the rails and how to reach them (JSON); their names are paths').meta(secret),
  STORE_TIMEOUT_MS: durationMsSetting
    .default(8_000)
    .describe('how long storing a callback may take before it is answered 503'),
  REPASS_AFTER_MS: durationMsSetting
    .default(60_000)
    .describe('how long after it was passed on a repeated callback is passed on again'),
  ...proxySettings.shape,
  REQUEST_TIMEOUT_MS: wholeNumberSetting({ min: 100, max: 120_000 })
    .default(15_000)
    .describe('how long a whole request may take to arrive; checked every 5 s'),
  CALLBACK_KEEP_DAYS: keepDaysSetting
    .default(400)
    .describe('how long a callback is kept; a new value applies to later callbacks'),
  UNVERIFIED_CALLBACK_KEEP_DAYS: keepDaysSetting
    .default(30)
    .describe('the same for unverified callbacks: without a verified signature or a listed address'),
  CALLBACK_BODY_KEEP_DAYS: keepDaysSetting
    .default(90)
    .describe("how long a callback's body, headers and sender are kept; failed ones keep them"),
  UNVERIFIED_CALLBACKS_PER_SECOND_MAX: wholeNumberSetting({ min: 1, max: 1_000_000 })
    .default(50)
    .describe('unverified callbacks that are taken a second, per rail and replica'),
  UNVERIFIED_CALLBACK_BYTES_MAX: wholeNumberSetting({ min: 1_048_576, max: Number.MAX_SAFE_INTEGER })
    .default(20 * 1024 ** 3)
    .describe(
      'how many bytes unverified callbacks may take, without compression and indexes; more are refused',
    ),
});

/** The settings of webhook-ingress. */
export const settings = everySetting.superRefine((config, context) => {
  for (const rail of refusedRails(config))
    context.addIssue({
      code: 'custom',
      path: ['RAILS'],
      message: `${rail}: anyone may bring its callbacks: ${REMEDY}, or put callbacks into ALLOW_INSECURE`,
    });
});

/** The environment of this process; no other file reads it. */
export const environment = process.env;

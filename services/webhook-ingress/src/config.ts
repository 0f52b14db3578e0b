import { addressRangesSetting } from '@pesewa/addresses';
import { services } from '@pesewa/contracts';
import { railSettings } from '@pesewa/rails';
import {
  durationMsSetting,
  messagingSettings,
  portSettings,
  secret,
  serviceSettings,
  wholeNumberSetting,
} from '@pesewa/runtime';
import { REMEDY, refusedRails } from './callback-authentication.ts';

const keepDaysSetting = wholeNumberSetting({ min: 1, max: 3_650 });

const everySetting = serviceSettings.extend(messagingSettings.shape).extend({
  ...portSettings(services['webhook-ingress']),
  RAILS: railSettings
    .describe('the rails and how to reach them (JSON); their names are the paths we answer at')
    .meta(secret),
  STORE_TIMEOUT_MS: durationMsSetting
    .default(8_000)
    .describe('how long a callback waits to be stored before it is answered 503'),
  REPASS_AFTER_MS: durationMsSetting
    .default(60_000)
    .describe('how long after it was passed on a repeated callback is passed on again'),
  TRUSTED_PROXIES: wholeNumberSetting({ min: 0, max: 10 })
    .default(0)
    .describe(
      'number of our own proxies before this service; that many entries of X-Forwarded-For are trusted, from the right',
    ),
  TRUSTED_PROXY_ADDRESSES: addressRangesSetting.describe(
    'addresses and CIDR ranges of those proxies, separated by commas; if set, X-Forwarded-For is trusted only from them',
  ),
  REQUEST_TIMEOUT_MS: wholeNumberSetting({ min: 100, max: 120_000 })
    .default(15_000)
    .describe(
      'how long a whole request may take to arrive; checked every 5 s, so it is cut off up to 5 s later',
    ),
  CALLBACK_KEEP_DAYS: keepDaysSetting
    .default(400)
    .describe('how long a callback is kept; a new value applies to later callbacks'),
  UNVERIFIED_CALLBACK_KEEP_DAYS: keepDaysSetting
    .default(30)
    .describe('the same for callbacks without a verified signature or a listed address'),
  CALLBACK_BODY_KEEP_DAYS: keepDaysSetting
    .default(90)
    .describe(
      'how long the body, the headers and the sender of a callback are kept; failed callbacks keep them',
    ),
  UNVERIFIED_CALLBACKS_PER_SECOND_MAX: wholeNumberSetting({ min: 1, max: 1_000_000 })
    .default(2_000)
    .describe('callbacks without a verified signature that are accepted, per rail and replica'),
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

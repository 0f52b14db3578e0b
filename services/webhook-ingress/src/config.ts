import { railSettings } from '@pesewa/rails';
import { durationMsSetting, messagingSettings, serviceSettings, wholeNumberSetting } from '@pesewa/runtime';

/** The settings of webhook-ingress. */
export const settings = serviceSettings.extend(messagingSettings.shape).extend({
  PORT: serviceSettings.shape.PORT.default(4030),
  OPERATIONS_PORT: serviceSettings.shape.OPERATIONS_PORT.default(4031),
  RAILS: railSettings.describe(
    'the rails and how to reach them (JSON); their names are the paths we answer at',
  ),
  STORE_TIMEOUT_MS: durationMsSetting
    .default(8_000)
    .describe('how long a callback waits to be stored before it is answered 503'),
  REPASS_AFTER_MS: durationMsSetting
    .default(60_000)
    .describe('how long after it was passed on a callback that comes again is passed on again'),
  TRUSTED_PROXIES: wholeNumberSetting({ min: 0, max: 10 })
    .default(0)
    .describe(
      'proxies of ours before this service; so many entries of X-Forwarded-For are believed, from the right',
    ),
});

/** The environment of this process; read nowhere else. */
export const environment = process.env;

import { proxySettings, refuseOriginsInProduction, webhookAddressSettings } from '@pesewa/addresses';
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

const perNumber = wholeNumberSetting({ min: 1, max: 1_000_000 });

/** The settings of collection-gateway. */
export const settings = serviceSettings
  .extend(messagingSettings.shape)
  .extend(webhookAddressSettings.shape)
  .extend({
    ...portSettings(services['collection-gateway']),
    ...publicPortSettings,
    ...proxySettings.shape,
    RAILS: railSettings.describe('the rails and how to reach them (JSON)').meta(secret),
    RAIL_DEADLINE_MS: durationMsSetting
      .default(10_000)
      .describe('how long the answer to a merchant waits for the rail'),
    RESUBMIT_GRACE_MS: durationMsSetting
      .default(30_000)
      .describe("how long after an attempt a rail's NOT FOUND does not count"),
    INITIATE_CONCURRENCY_MAX: wholeNumberSetting({ min: 1, max: 1_000 })
      .default(32)
      .describe('queued collections under initiation at once'),
    INITIATE_PAUSE_MS: durationMsSetting
      .default(500)
      .describe('longest pause between searches for queued collections'),
    INITIATE_FOR_MS: durationMsSetting
      .default(600_000)
      .describe('how long after its acceptance a queued collection is still sent'),
    COLLECTIONS_PER_NUMBER_PER_HOUR: perNumber
      .default(30)
      .describe('collections per customer number, of all merchants; 1000000 is no limit'),
    OTP_TRIES_PER_NUMBER_PER_HOUR: perNumber
      .default(30)
      .describe('OTPs passed on per customer number, of all merchants; 1000000 is no limit'),
    MERCHANT_OTP_TRIES_PER_NUMBER_PER_HOUR: perNumber
      .default(10)
      .describe('OTPs passed on per customer number, of one merchant; 1000000 is no limit'),
    PERSONAL_DATA_KEEP_DAYS: wholeNumberSetting({ min: 30, max: 3_650 })
      .default(400)
      .describe("how long after acceptance an ended payment keeps people's names, numbers and accounts"),
  })
  .superRefine(refuseOriginsInProduction);

/** The environment of this process; no other file reads it. */
export const environment = process.env;

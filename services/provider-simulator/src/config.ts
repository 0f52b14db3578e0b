import { dirname, join } from 'node:path';
import { currencyCode, servedCountries, services } from '@pesewa/contracts';
import { parseAmount } from '@pesewa/kernel';
import {
  durationMsSetting,
  portSettings,
  secret,
  serviceSettings,
  wholeNumberSetting,
} from '@pesewa/runtime';
import { z } from 'zod';

const DEFAULT_WALLETS = Object.values(servedCountries)
  .map(({ currency }) => `${currency}:10000000`)
  .join(',');

const walletsSetting = z.string().transform((text, context) => {
  const wallets = new Map<string, bigint>();
  for (const item of text.split(',')) {
    const [name = '', balance = ''] = item.trim().split(':');
    const currency = currencyCode(name);
    const amount = currency === undefined ? undefined : parseAmount(balance, currency);
    if (currency === undefined || !amount?.ok) {
      context.addIssue({ code: 'custom', message: 'must be CURRENCY:BALANCE, separated by commas' });
      return z.NEVER;
    }
    wallets.set(currency, amount.value.minor);
  }
  return wallets;
});

const ports = portSettings(services['provider-simulator']);

/** The simulator's settings. */
export const settings = serviceSettings
  .extend({
    PORT: ports.PORT.describe('port of the upstream, merchant and control APIs'),
    OPERATIONS_PORT: ports.OPERATIONS_PORT.describe('port of health and metrics'),
    CLIENT_PUBLIC_KEY: z.string().min(1).default('hub-public-key').describe("the client's public key, as is"),
    PUBLIC_URL: z.url().default('http://127.0.0.1:4070').describe('own address, for payment links'),
    CALLBACK_PAYOUTS_URL: z
      .url()
      .default('http://127.0.0.1:4030/rails/upstream/payouts')
      .describe('where payout callbacks go'),
    CALLBACK_COLLECTIONS_URL: z
      .url()
      .default('http://127.0.0.1:4030/rails/upstream/collections')
      .describe('where callbacks go for collections without a webhookUrl'),
    CALLBACK_DELAY_MS: durationMsSetting.default(500).describe('from a payment to its callback'),
    CALLBACK_TIMEOUT_MS: durationMsSetting.default(5_000).describe('deadline of one try of a callback'),
    CALLBACK_ATTEMPTS_MAX: wholeNumberSetting({ min: 1, max: 20 })
      .default(5)
      .describe('tries of one callback'),
    CALLBACK_SIGNING_SECRET: z
      .string()
      .startsWith('whsec_')
      .optional()
      .describe('signs callbacks after Standard Webhooks; without it they are unsigned')
      .meta(secret),
    CUSTOMER_DELAY_MS: durationMsSetting.default(500).describe('until a customer accepts or pays'),
    COMPLETION_WINDOW_MS: durationMsSetting
      .default(300_000)
      .describe('until an uncompleted collection fails'),
    ANSWER_HOLD_MS: durationMsSetting.default(60_000).describe('how long an answer that never comes is held'),
    WALLETS: walletsSetting
      .prefault(DEFAULT_WALLETS)
      .describe('initial balances, CURRENCY:BALANCE separated by commas'),
    JOURNAL_FILE: z.string().default('.pesewa/simulator/journal.jsonl').describe('the journal'),
    RECEIVED_FILE: z.string().optional().describe('file of received webhooks; by default beside the journal'),
  })
  .transform((config) => ({
    ...config,
    RECEIVED_FILE: config.RECEIVED_FILE ?? join(dirname(config.JOURNAL_FILE), 'received.jsonl'),
  }));

/** The simulator's settings, read. */
export type Config = z.output<typeof settings>;

/** The environment of this process; no other file reads it. */
export const environment: Readonly<Record<string, string | undefined>> = process.env;

import { z } from 'zod';

/**
 * What the provider simulator does with a payment, by the last four digits of its `accountNumber` or `customerNumber`
 * (contract 10.18).
 */
export const testNumbers = {
  '0001': 'fails, callback',
  '0002': 'succeeds, no callback',
  '0003': 'fails, no callback',
  '0004': 'executed, answers HTTP 500; callback',
  '0005': 'executed, the connection resets; callback',
  '0006': 'first attempt not executed, the connection resets; the second succeeds',
  '0007': 'executed, held for a minute, then reset; callback',
  '0008': 'pending for 10 s, then succeeds, no callback',
  '0009': 'succeeds, callback three times',
  '0010': 'the callback precedes the answer',
  '0011': 'callbacks contradict: COMPLETED, then FAILED; the lookup says COMPLETED',
  '0012': 'the callback names another amount: 100 minor units more',
  '0013': 'the lookup says unknown for 5 s',
  '0014': 'succeeds; a payout is reversed 2 s later, with a second callback',
  '0015': 'answers 429 twice, then succeeds',
  '0016': 'executed, answers malformed JSON',
  '0017': 'pending for ever',
} as const satisfies Readonly<Record<string, string>>;

/** Four digits that choose a behaviour of the simulator. */
export type TestDigits = keyof typeof testNumbers;

/** What the simulator does with any other number. */
export const ORDINARY_NUMBER = 'succeeds, callback after about 0.5 s';

/** The one-time password that the simulator's customers receive, by its length (contract 10.18). */
export const rightOtps: Readonly<Record<4 | 6, string>> = { 4: '1234', 6: '123456' };

/** A webhook as the simulator's merchant endpoint received it, with its exact body; names of headers in lower case. */
export const receivedWebhook = z.object({
  at: z.string(),
  path: z.string(),
  headers: z.record(z.string(), z.string()),
  body: z.string(),
});

/** A received webhook, read. */
export type ReceivedWebhook = z.output<typeof receivedWebhook>;

/** What the simulator's control API answers for received webhooks. */
export const receivedWebhooks = z.object({ webhooks: z.array(receivedWebhook) });

/** What it answers for where webhooks go on to: addresses of developers' programs, by merchant. */
export const webhookReceivers = z.object({ receivers: z.record(z.string(), z.string()) });

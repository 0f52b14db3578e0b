import { payoutBody } from '@pesewa/contracts';
import type { Bench } from './bench.ts';
import { measureLives, type Subject } from './lifecycle-run.ts';

const payouts: Subject = {
  name: 'lifecycle',
  one: 'payout',
  about: 'from request to webhook',
  requests: (stack, { publicKey }, reference) => ({
    url: `${stack.url('payout-gateway')}/api/v1/transactions/transfer/single`,
    headers: { 'x-api-key': Buffer.from(publicKey).toString('base64') },
    body: () => payoutBody({ reference: reference(), amount: '1.50', accountNumber: '0123456789' }),
  }),
};

/** Complete payouts per second: accepted, held, submitted, called back, captured and reported to the merchant. */
export const benchLifecycle: Bench = (options) => measureLives(options, payouts);

/** The same with all services in one process. */
export const benchCompact: Bench = (options) =>
  measureLives(options, { ...payouts, name: 'compact', isCompact: true });

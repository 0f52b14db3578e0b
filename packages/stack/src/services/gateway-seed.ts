import { payoutEnvelope, walletRecord } from '@pesewa/contracts';
import { waitUntil } from '@pesewa/infrastructure';
import { openDatabase } from '@pesewa/messaging';
import { z } from 'zod';
import { exchange } from '../clients/http.ts';
import { SIMULATOR_RAIL } from './simulator-rail.ts';

const PAYABLE_TIMEOUT_MS = 30_000;

const balances = payoutEnvelope.extend({ responseData: z.array(walletRecord) });
const processors = payoutEnvelope.extend({ responseData: z.array(z.unknown()).min(1) });

/** Resolves once the payout gateway shows funded wallets and processors: from then on it accepts payouts. */
export async function untilPayable(
  transferUrl: string,
  merchants: readonly { readonly publicKey: string }[],
): Promise<void> {
  await waitUntil('the payout gateway with its balances', PAYABLE_TIMEOUT_MS, async () => {
    for (const { publicKey } of merchants) {
      const headers = { 'x-api-key': Buffer.from(publicKey).toString('base64') };
      const answer = await exchange(`${transferUrl}/api/v1/wallets/balance`, { method: 'POST', headers });
      const wallets = balances.parse(answer.body).responseData;
      const empty = wallets.find(({ balance }) => balance === '0');
      if (empty) throw new Error(`no balance in ${empty.currencyCode} yet`);
      if (publicKey !== merchants[0]?.publicKey) continue;
      for (const { countryCode } of wallets) {
        const list = await exchange(`${transferUrl}/api/v1/banks?country=${countryCode}`, { headers });
        processors.parse(list.body);
      }
    }
  });
}

/**
 * Lets a payout gateway that runs alone accept payouts: writes what it would have learned from the ledger and the rail.
 */
export async function seedGateway(options: {
  readonly mongodbUrl: string;
  readonly databasePrefix: string;
  readonly merchantId: string;
  readonly wallets: readonly {
    readonly currency: string;
    readonly country: string;
    readonly bankCode: string;
  }[];
}): Promise<void> {
  await using database = await openDatabase({
    url: options.mongodbUrl,
    database: `${options.databasePrefix}payouts`,
    appName: 'pesewa-seed',
  });
  for (const { currency, country, bankCode } of options.wallets) {
    const wallet = { available: 1_000_000_000_000n, held: 0n, sequence: 1n };
    const processor = {
      code: bankCode,
      name: bankCode,
      shortName: bankCode,
      sortCode: bankCode,
      avatar: '',
      currency,
      country,
      active: true,
      blockTransaction: false,
    };
    const listing = { country, rail: SIMULATOR_RAIL, fetchedAt: new Date(), processors: [processor] };
    const set = (collection: string, _id: string, fields: object) =>
      database.db
        .collection<{ _id: string }>(collection)
        .updateOne({ _id }, { $set: fields }, { upsert: true });
    await set('wallets', `${options.merchantId}:${currency}`, wallet);
    await set('processors', `${country}:${SIMULATOR_RAIL}`, listing);
  }
}

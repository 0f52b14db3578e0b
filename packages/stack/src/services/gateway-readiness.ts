import { payoutEnvelope, payoutHeaders, walletRecord } from '@pesewa/contracts';
import { waitUntil } from '@pesewa/infrastructure';
import { z } from 'zod';
import { exchange } from '../clients/http.ts';

const PAYABLE_TIMEOUT_MS = 30_000;

const balances = payoutEnvelope.extend({ responseData: z.array(walletRecord) });
const processors = payoutEnvelope.extend({ responseData: z.array(z.unknown()).min(1) });

/** Resolves once the payout gateway shows funded wallets and processors: from then on it accepts payouts. */
export async function waitUntilPayable(
  transferUrl: string,
  merchants: readonly { readonly publicKey: string }[],
): Promise<void> {
  await waitUntil('the payout gateway with its balances', PAYABLE_TIMEOUT_MS, async () => {
    for (const { publicKey } of merchants) {
      const headers = payoutHeaders(publicKey);
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

import { receivedWebhooks } from '@pesewa/contracts';
import { z } from 'zod';
import { exchange } from './http.ts';

const journalView = z.object({
  entries: z.array(
    z.object({
      at: z.string(),
      kind: z.enum(['request', 'execution', 'callback', 'reversal']),
      operation: z.enum(['payout', 'payin', 'complete', 'lookup', 'check']),
      reference: z.string(),
      amount: z.string().nullish(),
      currency: z.string().nullish(),
      outcome: z.string(),
    }),
  ),
});

const walletsView = z.object({ wallets: z.array(z.object({ currency: z.string(), balance: z.string() })) });

/** The faults that the simulator can be set to; null restores the default. */
export interface Faults {
  readonly callbacks?: boolean | null;
  readonly outage?: boolean | null;
  readonly latencyMs?: number | null;
  readonly merchantEndpoint?: { readonly status: number; readonly times: number } | null;
}

/** The control side of the provider simulator. */
export type SimulatorClient = ReturnType<typeof createSimulatorClient>;

/** Builds a client of the simulator's control API. */
export function createSimulatorClient(baseUrl: string) {
  const get = async (path: string): Promise<unknown> => (await exchange(`${baseUrl}${path}`)).body;
  const put = async (path: string, body: unknown): Promise<void> => {
    const answer = await exchange(`${baseUrl}${path}`, {
      method: 'PUT',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    });
    if (answer.status !== 200) throw new Error(`the simulator answered ${answer.status}: ${answer.text}`);
  };
  return {
    /** What the simulator really did with a payment. */
    journal: async (reference: string) =>
      journalView.parse(await get(`/control/journal?reference=${encodeURIComponent(reference)}`)).entries,
    /** The webhooks as the merchant's endpoint received them. */
    received: async (merchantId: string, reference: string) => {
      const query = new URLSearchParams({ merchant: merchantId, reference });
      return receivedWebhooks.parse(await get(`/control/received?${query.toString()}`)).webhooks;
    },
    wallets: async () => walletsView.parse(await get('/control/wallets')).wallets,
    setWallet: (currency: string, balance: string) =>
      put('/control/wallets', { wallets: [{ currency, balance }] }),
    /** Gives a completed payout back, now. */
    reverse: (reference: string) => put(`/control/reversals/${encodeURIComponent(reference)}`, {}),
    setFaults: (faults: Faults) => put('/control/faults', faults),
  };
}

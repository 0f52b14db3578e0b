import { parseJson } from '@pesewa/contracts';
import { parseAmount } from '@pesewa/kernel';
import { exchange, type Stack } from '@pesewa/stack';
import { z } from 'zod';
import type { RailMove, Received } from './checker/world.ts';

const journal = z.object({
  entries: z.array(
    z.object({
      at: z.string(),
      kind: z.enum(['request', 'execution', 'callback', 'reversal']),
      operation: z.enum(['payout', 'payin', 'complete', 'lookup', 'check']),
      reference: z.string(),
      amount: z.string(),
      currency: z.string(),
      outcome: z.string(),
    }),
  ),
});

/** All that the rail did. */
export async function readMoves(stack: Pick<Stack, 'url'>): Promise<readonly RailMove[]> {
  const { body } = await exchange(`${stack.url('provider-simulator')}/control/journal`);
  return journal.parse(body).entries.map(({ at, amount, ...entry }) => ({
    ...entry,
    atMs: Date.parse(at),
    amount: minorOf(amount, entry.currency),
  }));
}

/** Minor units of a decimal text; none where the rail knows no amount. */
function minorOf(amount: string, currency: string): bigint {
  const parsed = amount === '' ? undefined : parseAmount(amount, currency);
  return parsed?.ok === true ? parsed.value.minor : 0n;
}

const received = z.object({
  webhooks: z.array(
    z.object({ path: z.string(), headers: z.record(z.string(), z.string()), body: z.string() }),
  ),
});

const webhookBody = z.union([
  z.object({ data: z.object({ transactionReference: z.string() }) }).transform(({ data }) => data),
  z
    .object({ transaction_reference: z.string() })
    .transform((body) => ({ transactionReference: body.transaction_reference })),
]);

/** All webhooks that reached a merchant. */
export async function readReceived(
  stack: Pick<Stack, 'url'>,
  merchantId: string,
): Promise<readonly Received[]> {
  const url = `${stack.url('provider-simulator')}/control/received?merchant=${merchantId}`;
  return received.parse((await exchange(url)).body).webhooks.map(({ path, headers, body }) => ({
    merchantId,
    path,
    body,
    webhookId: headers['webhook-id'] ?? '',
    reference: webhookBody.parse(parseJson(body)).transactionReference,
  }));
}

/** The rail's wallets, in minor units by currency. */
export async function readWallets({
  simulator,
}: Pick<Stack, 'simulator'>): Promise<ReadonlyMap<string, bigint>> {
  const wallets = await simulator.wallets();
  return new Map(wallets.map(({ currency, balance }) => [currency, minorOf(balance, currency)]));
}

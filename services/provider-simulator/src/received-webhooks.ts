import { JsonError, parseJson, type ReceivedWebhook, receivedWebhook } from '@pesewa/contracts';
import { z } from 'zod';
import { openIndexedLog } from './indexed-log.ts';

const line = receivedWebhook.extend({ merchantId: z.string() });

/** Every webhook that the merchants' endpoint received. */
export interface ReceivedWebhooks extends AsyncDisposable {
  /** Resolves once the webhook is on disk. */
  readonly record: (merchantId: string, webhook: ReceivedWebhook) => Promise<void>;
  /** By merchant, by a reference in the body (the merchant's or ours), by both, or all. */
  readonly find: (filter: {
    readonly merchantId: string | undefined;
    readonly reference: string | undefined;
  }) => Promise<readonly ReceivedWebhook[]>;
}

/** Opens the file of received webhooks. */
export async function openReceivedWebhooks(options: {
  readonly path: string;
  readonly onBroken: (error: Error) => void;
}): Promise<ReceivedWebhooks> {
  const keysOf = (merchantId: string, body: string) => [
    `merchant ${merchantId}`,
    ...referencesOf(body).map((reference) => `reference ${reference}`),
  ];
  const log = await openIndexedLog({
    path: options.path,
    onBroken: options.onBroken,
    restore: (text) => {
      const { merchantId, body } = line.parse(JSON.parse(text));
      return keysOf(merchantId, body);
    },
  });
  return {
    record: async (merchantId, webhook) => {
      log.append(JSON.stringify({ merchantId, ...webhook }), keysOf(merchantId, webhook.body));
      await log.flushed();
    },
    find: async ({ merchantId, reference }) => {
      const byMerchant = merchantId === undefined ? undefined : `merchant ${merchantId}`;
      const key = reference === undefined ? byMerchant : `reference ${reference}`;
      const found = (await log.read(key)).map((text) => line.parse(JSON.parse(text)));
      return found
        .filter((webhook) => merchantId === undefined || webhook.merchantId === merchantId)
        .map(({ at, path, headers, body }) => ({ at, path, headers, body }));
    },
    [Symbol.asyncDispose]: () => log[Symbol.asyncDispose](),
  };
}

const payoutReferences = z.object({
  data: z.object({ merchantReference: z.string(), transactionReference: z.string() }),
});
const collectionReferences = z.object({ merchant_reference: z.string(), transaction_reference: z.string() });

function referencesOf(body: string): readonly string[] {
  const parsed = readBody(body);
  const payout = payoutReferences.safeParse(parsed);
  if (payout.success) return [payout.data.data.merchantReference, payout.data.data.transactionReference];
  const collection = collectionReferences.safeParse(parsed);
  if (!collection.success) return [];
  return [collection.data.merchant_reference, collection.data.transaction_reference];
}

function readBody(body: string): unknown {
  try {
    return parseJson(body);
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}

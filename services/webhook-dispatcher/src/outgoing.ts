import { type Merchant, signingSecrets } from '@pesewa/directory';
import { signWebhook } from '@pesewa/signatures';
import type { DeliveryDocument } from './documents.ts';

const plainHeaders = { 'content-type': 'application/json', 'user-agent': 'Pesewa-Webhooks/1' };

/** The collection's own address, else the merchant's (contract 10.15). */
export function addressOf(
  delivery: Pick<DeliveryDocument, 'kind' | 'webhookUrl'>,
  { payoutsUrl, collectionsUrl }: Merchant['webhooks'],
): string | undefined {
  const own = delivery.kind.startsWith('payout') ? payoutsUrl : collectionsUrl;
  return delivery.webhookUrl ?? own ?? undefined;
}

/** The headers of an attempt at this time, with a signature for each secret that signs then. */
export function headersFor(
  { _id: id, body }: Pick<DeliveryDocument, '_id' | 'body'>,
  webhooks: Merchant['webhooks'],
  nowMs: number,
): Readonly<Record<string, string>> {
  const secrets = signingSecrets(webhooks, nowMs);
  return { ...plainHeaders, ...signWebhook({ id, body, secrets, timestamp: new Date(nowMs) }) };
}

/** The headers of the last attempt without its signature, which is made anew each time and stored nowhere. */
export function unsignedHeaders({
  _id: id,
  attemptLog,
}: Pick<DeliveryDocument, '_id' | 'attemptLog'>): Readonly<Record<string, string>> {
  const last = attemptLog?.at(-1);
  const timestamp = last && { 'webhook-timestamp': String(Math.floor(last.at.getTime() / 1_000)) };
  return { ...plainHeaders, 'webhook-id': id, ...timestamp };
}

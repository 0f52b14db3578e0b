import { jsonNumber, paymentEnds, type TopicEvent } from '@pesewa/contracts';
import { type Merchant, signingSecrets } from '@pesewa/directory';
import { formatAmount } from '@pesewa/kernel';
import { signWebhook } from '@pesewa/signatures';
import type { DeliveryDocument } from './documents.ts';

/** The events of payouts that merchants get webhooks about. */
export type EndedPayout = Extract<
  TopicEvent<'payouts'>,
  { readonly type: `pesewa.payouts.Payout${'Completed' | 'Failed' | 'Reversed'}` }
>;

/** The events of collections that merchants get webhooks about. */
export type EndedCollection = Extract<
  TopicEvent<'collections'>,
  { readonly type: `pesewa.collections.Collection${'Completed' | 'Failed'}` }
>;

/**
 * The body of a payout's webhook, as it is stored, signed and sent (contract 6.1); the value is amount plus fee
 * (contract 10.7).
 */
export function payoutBody({ type, payload }: EndedPayout): string {
  const money = (minor: bigint) => jsonNumber(formatAmount(minor, payload.currency));
  return JSON.stringify({
    data: {
      transactionStatus: paymentEnds[type].toUpperCase(),
      merchantReference: payload.merchantReference,
      transactionReference: payload.reference,
      amount: money(payload.amount),
      feeAmount: money(payload.fee),
      valueAmount: money(payload.amount + payload.fee),
      statusReason: payload.statusReason,
    },
  });
}

/**
 * The body of a collection's webhook (contract 6.2); in a failed one, received amount and fee are zero (contract
 * 10.15).
 */
export function collectionBody(event: EndedCollection): string {
  const { payload } = event;
  const completed = event.type === 'pesewa.collections.CollectionCompleted' ? event.payload : undefined;
  const failed = event.type === 'pesewa.collections.CollectionFailed' ? event.payload : undefined;
  const money = (minor: bigint) => jsonNumber(formatAmount(minor, payload.currency));
  return JSON.stringify({
    transaction_reference: payload.reference,
    transaction_status: completed ? 'Funds Received' : 'Transaction Failed',
    transaction_fee: money(completed?.fee ?? 0n),
    amount_received: money(completed?.amountReceived ?? 0n),
    initiated_date: dateTime(payload.initiatedAt),
    current_status_date: dateTime(payload.occurredAt),
    received_from: {},
    merchant_reference: payload.merchantReference,
    status: completed ? 'COMPLETED' : 'FAILED',
    channel: 'MOBILE_MONEY',
    currency_code: payload.currency,
    ...(failed && { failure_reason: failed.failureReason }),
  });
}

/** `YYYY-MM-DD HH:MM:SS` in UTC (contract 6.2 and 10.15). */
function dateTime(epochMs: bigint): string {
  return new Date(Number(epochMs)).toISOString().slice(0, 19).replace('T', ' ');
}

/** What a sample can be about. */
export type TestKind = 'payout' | 'collection';

/** One unit of money, whatever the currency's decimals. */
const SAMPLE_AMOUNT_MINOR = 100n;
const SAMPLE_REASON = 'Test webhook: it belongs to no payment';

/**
 * The body of a sample, in the form of a real webhook. It says FAILED of a reference that no payment has, so that a
 * receiver which takes it for real gives nothing away.
 */
export function testBody(sample: {
  readonly kind: TestKind;
  readonly reference: string;
  readonly merchantId: string;
  readonly currency: string;
  readonly atMs: number;
}): string {
  const { kind, reference, merchantId, currency } = sample;
  const at = BigInt(sample.atMs);
  const payment = {
    eventId: reference,
    occurredAt: at,
    reference,
    merchantReference: reference,
    merchantId,
    currency,
    rail: 'none',
  };
  return kind === 'payout'
    ? payoutBody({
        type: 'pesewa.payouts.PayoutFailed',
        payload: { ...payment, amount: SAMPLE_AMOUNT_MINOR, fee: 0n, statusReason: SAMPLE_REASON },
      })
    : collectionBody({
        type: 'pesewa.collections.CollectionFailed',
        payload: { ...payment, initiatedAt: at, webhookUrl: null, failureReason: SAMPLE_REASON },
      });
}

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

import { walletKeyOf } from '@pesewa/contracts';
import type { Message } from './feed.ts';

const MERCHANTS = 1_000;
const CURRENCY = 'XOF';

/** The reference of an open collection that only the topics know; ordered like their numbers. */
export function openReference(index: number): string {
  return `co-open-${String(index).padStart(12, '0')}`;
}

function common(reference: string, occurredAtMs: number) {
  const merchantId = `open-${Number(reference.slice(-3)) % MERCHANTS}`;
  return {
    occurredAt: BigInt(occurredAtMs),
    reference,
    merchantReference: reference,
    merchantId,
    currency: CURRENCY,
    rail: 'upstream',
  };
}

/** What the collection gateway would publish of a collection that it records. */
export function initiation(reference: string, occurredAtMs: number): Message {
  const shared = common(reference, occurredAtMs);
  return {
    key: walletKeyOf(shared.merchantId, CURRENCY),
    type: 'pesewa.collections.CollectionInitiated',
    payload: {
      ...shared,
      eventId: `ev-1-${reference}`,
      amount: 1_500n,
      country: 'CI',
      operatorCode: 'CIMTN',
    },
  };
}

/** What the collection gateway would publish once its rail has reported that the customer paid. */
export function completion(reference: string, occurredAtMs: number): Message {
  const shared = common(reference, occurredAtMs);
  return {
    key: walletKeyOf(shared.merchantId, CURRENCY),
    type: 'pesewa.collections.CollectionCompleted',
    version: 2,
    payload: {
      ...shared,
      eventId: `ev-2-${reference}`,
      amountReceived: 1_500n,
      fee: 15n,
      railFee: 15n,
      initiatedAt: BigInt(occurredAtMs),
      webhookUrl: null,
    },
  };
}

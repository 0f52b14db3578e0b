import { collectionWebhook, JsonError, parseJson, payoutRecord, referencePattern } from '@pesewa/contracts';
import { accept, refuse } from '@pesewa/kernel';
import { z } from 'zod';
import type { RailCallback, ReadCallback } from '../rail.ts';
import { payoutReason, reasonLine } from '../text.ts';

const AMOUNT_LENGTH_MAX = 40;
const CURRENCY = /^[A-Z]{3}$/;

/** The fields that a hint needs; the rest of the body is stored unread. */
const payoutClaim = z.object({
  data: payoutRecord.pick({
    transactionStatus: true,
    merchantReference: true,
    amount: true,
    feeAmount: true,
    statusReason: true,
  }),
});

const collectionClaim = collectionWebhook
  .pick({
    merchant_reference: true,
    status: true,
    amount_received: true,
    transaction_fee: true,
    failure_reason: true,
  })
  .extend({
    // A callback without a currency is still accepted; what it is worth is decided elsewhere.
    currency_code: z.unknown().optional(),
  });

/** Reads the body of a payout's callback (contract 6.1). */
export const readPayoutCallback: ReadCallback = (bodyText) => usable(readPayout(bodyText));

/** Reads the body of a collection's callback (contract 6.2). */
export const readCollectionCallback: ReadCallback = (bodyText) => usable(readCollection(bodyText));

function usable(claim: RailCallback | undefined): ReturnType<ReadCallback> {
  const isUsable =
    claim !== undefined &&
    referencePattern.test(claim.reference) &&
    (claim.claimedAmount ?? '').length <= AMOUNT_LENGTH_MAX &&
    (claim.claimedFee ?? '').length <= AMOUNT_LENGTH_MAX;
  return isUsable ? accept(claim) : refuse('callback.malformed');
}

function readPayout(bodyText: string): RailCallback | undefined {
  const claim = payoutClaim.safeParse(readJson(bodyText));
  if (!claim.success) return undefined;
  const { data } = claim.data;
  return {
    reference: data.merchantReference,
    claimedStatus: data.transactionStatus,
    claimedAmount: data.amount,
    claimedCurrency: null,
    claimedFee: data.feeAmount,
    claimedReason: payoutReason(data.statusReason) ?? null,
  };
}

function readCollection(bodyText: string): RailCallback | undefined {
  const claim = collectionClaim.safeParse(readJson(bodyText));
  if (!claim.success) return undefined;
  return {
    reference: claim.data.merchant_reference,
    claimedStatus: claim.data.status,
    claimedAmount: claim.data.amount_received,
    claimedCurrency: readCurrency(claim.data.currency_code),
    claimedFee: claim.data.transaction_fee,
    claimedReason: reasonLine(claim.data.failure_reason) ?? null,
  };
}

function readCurrency(code: unknown): string | null {
  return typeof code === 'string' && CURRENCY.test(code) ? code : null;
}

function readJson(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return undefined;
  }
}

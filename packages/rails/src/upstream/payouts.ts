import { jsonNumber, type PayoutRecord, payoutCodes, payoutEnvelope, payoutRecord } from '@pesewa/contracts';
import { formatAmount, parseAmount, unreachable } from '@pesewa/kernel';
import type { z } from 'zod';
import type { Answered } from '../call.ts';
import {
  BUSY_RETRY_MS,
  type LookupResult,
  malformed,
  notSent,
  type OutgoingPayout,
  refusedUs,
  type SubmissionResult,
  type Unknown,
  unknown,
} from '../rail.ts';
import { payoutReason } from '../text.ts';

/** The codes that prove that a payout was not executed and never will be (contract 10.1). */
const definitiveCodes: ReadonlySet<string | undefined> = new Set(
  Object.values(payoutCodes).flatMap(({ code, definitive }) => (definitive ? [code] : [])),
);

/**
 * The codes that say that something is wrong with us, not with the payout: our key, our funds at the rail, our limit
 * there. The payout waits until people have put it right.
 */
const ourFaultCodes: ReadonlySet<string | undefined> = new Set([
  payoutCodes.unauthenticated.code,
  payoutCodes.notPermitted.code,
  payoutCodes.insufficientFunds.code,
  payoutCodes.overLimit.code,
]);

/** The body of a single payout (contract 2.2); the amount is an exact JSON number. */
export function payoutBody(order: OutgoingPayout): unknown {
  return {
    transactionReference: order.reference,
    country: order.country,
    currency: order.currency,
    channel: order.channel,
    transactionType: order.transactionType,
    beneficiary: { ...order.beneficiary, amount: jsonNumber(formatAmount(order.amount, order.currency)) },
    sender: order.sender,
  };
}

/** A payout as a batch of one item (contract 2.3): the item has our reference, and the batch one derived from it. */
export function batchBody(order: OutgoingPayout): unknown {
  const amount = jsonNumber(formatAmount(order.amount, order.currency));
  return {
    transactionReference: `${order.reference}.b`,
    country: order.country,
    currency: order.currency,
    totalAmount: amount,
    channel: order.channel,
    transactionType: order.transactionType,
    sender: { ...order.sender, phoneNumber: order.sender.phoneNumber ?? '' },
    beneficiaries: [
      { ...order.beneficiary, amount, transactionReference: order.reference, saveBeneficiary: false },
    ],
  };
}

/** Reads the envelope of contract 2.1. */
export function readEnvelope(answer: Answered): z.output<typeof payoutEnvelope> | Unknown {
  const envelope = payoutEnvelope.safeParse(answer.body);
  return envelope.success ? envelope.data : malformed(answer, envelope.error);
}

/** Reads the answer to a submission (contract 4.1); only an answer that names this payout is trusted. */
export function readSubmission(answer: Answered, order: OutgoingPayout): SubmissionResult {
  const envelope = readEnvelope(answer);
  if ('kind' in envelope) return envelope;
  const refusal = readRefused(answer, envelope);
  if (refusal) return refusal;
  const record = readRecord(answer, envelope.responseData, order);
  if ('kind' in record) return record;
  if (record.amount !== order.amount) return unknown('the answer names another amount');
  switch (record.status) {
    case 'INITIALIZED':
      return { kind: 'acknowledged' };
    case 'COMPLETED':
      return { kind: 'completed', fee: record.fee };
    case 'FAILED':
      return { kind: 'failed', reason: record.reason ?? 'failed at the rail' };
    case 'REVERSED':
      return unknown('reversed already: look it up');
    default:
      return unreachable(record.status);
  }
}

/** Reads the answer to a batch of one (contract 4.2): it has no record, so lookups and callbacks bring the outcome. */
export function readBatchSubmission(answer: Answered): SubmissionResult {
  const envelope = readEnvelope(answer);
  if ('kind' in envelope) return envelope;
  return readRefused(answer, envelope) ?? { kind: 'acknowledged' };
}

function readRefused(
  answer: Answered,
  envelope: z.output<typeof payoutEnvelope>,
): SubmissionResult | undefined {
  const { isSuccessful, responseCode, responseMessage } = envelope;
  if (!isSuccessful) return readRefusal(responseCode, responseMessage);
  if (answer.status < 300 && responseCode === payoutCodes.accepted.code) return undefined;
  return unknown(`accepted with HTTP ${answer.status} and an unexpected code`);
}

function readRefusal(code: string | undefined, message: string): SubmissionResult {
  if (code === payoutCodes.duplicate.code) return unknown('duplicate: look it up');
  if (code === payoutCodes.tooManyRequests.code) return notSent('refused with code 65', BUSY_RETRY_MS);
  if (ourFaultCodes.has(code)) return refusedUs(`refused with code ${code}`);
  if (definitiveCodes.has(code)) {
    return { kind: 'failed', reason: payoutReason(message) ?? `refused with code ${code}` };
  }
  return unknown('refused with a code that decides nothing');
}

/** Reads the answer to a lookup (contract 4.3). */
export function readLookup(
  answer: Answered,
  query: { readonly reference: string; readonly currency: string },
): LookupResult {
  const envelope = readEnvelope(answer);
  if ('kind' in envelope) return envelope;
  if (!envelope.isSuccessful) {
    if (envelope.responseCode !== payoutCodes.notFound.code) return unknown('the lookup was refused');
    // Contract 4.3 sends it with 400. With another status something else may have answered, such as a proxy's 404.
    if (answer.status !== payoutCodes.notFound.status && answer.status !== payoutCodes.answered.status)
      return unknown(`not found with HTTP ${answer.status}`);
    return { kind: 'notFound' };
  }
  if (answer.status >= 300 || envelope.responseCode !== payoutCodes.answered.code) {
    return unknown(`answered with HTTP ${answer.status} and an unexpected code`);
  }
  const record = readRecord(answer, envelope.responseData, query);
  if ('kind' in record) return record;
  const { amount, fee, reason } = record;
  switch (record.status) {
    case 'INITIALIZED':
      return { kind: 'pending' };
    case 'COMPLETED':
      return { kind: 'completed', amount, fee, reason: reason ?? null };
    case 'FAILED':
      return { kind: 'failed', reason: reason ?? 'failed at the rail' };
    case 'REVERSED':
      return { kind: 'reversed', amount, fee, reason: reason ?? 'reversed at the rail' };
    default:
      return unreachable(record.status);
  }
}

interface ReadRecord {
  readonly status: PayoutRecord['transactionStatus'];
  readonly amount: bigint;
  readonly fee: bigint;
  readonly reason: string | undefined;
}

function readRecord(
  answer: Answered,
  data: unknown,
  asked: { readonly reference: string; readonly currency: string },
): ReadRecord | Unknown {
  const record = payoutRecord.safeParse(data);
  if (!record.success) return malformed(answer, record.error);
  if (record.data.merchantReference !== asked.reference) return unknown('the answer names another payout');
  const amount = parseAmount(record.data.amount, asked.currency);
  const fee = parseAmount(record.data.feeAmount, asked.currency);
  if (!amount.ok || !fee.ok || amount.value.minor < 0n || fee.value.minor < 0n) {
    return unknown('the answer names an impossible amount');
  }
  return {
    status: record.data.transactionStatus,
    amount: amount.value.minor,
    fee: fee.value.minor,
    reason: payoutReason(record.data.statusReason),
  };
}

import { JsonError, jsonNumber, type PayoutCode, parseJson, payoutCodes } from '@pesewa/contracts';
import type { Merchant } from '@pesewa/directory';
import { formatAmount } from '@pesewa/kernel';
import { answerJson, readJsonText } from '@pesewa/runtime';
import type { Context } from 'hono';
import type { Payout } from './store.ts';

/** What every route of the payout API finds in its context: the merchant that the key names. */
export interface AppEnv {
  readonly Variables: { merchant: Merchant };
}

/** Answers in the envelope of contract 2.1, with the status of the code (design 9). */
export function answer(
  context: Pick<Context, 'newResponse'>,
  name: PayoutCode,
  message: string,
  data?: unknown,
): Response {
  const { code, status } = payoutCodes[name];
  return answerJson(context, status, {
    isSuccessful: status === 200,
    responseCode: code,
    responseMessage: message,
    ...(data !== undefined && { responseData: data }),
  });
}

/** The text of a request's JSON body, or the sentence that says what is wrong with it. */
export async function readText(
  context: Parameters<typeof readJsonText>[0],
  bytesMax: number,
): Promise<{ readonly text: string } | string> {
  const body = await readJsonText(context, bytesMax);
  if (body.ok) return body;
  return {
    'body.too_large': `the body must have at most ${bytesMax} bytes`,
    'body.not_json': 'Content-Type must be application/json',
    'body.not_utf8': 'the body must be UTF-8',
  }[body.refusal];
}

/** A request's body as lossless JSON, or the sentence that says what is wrong with it. */
export async function readBody(
  context: Parameters<typeof readJsonText>[0],
  bytesMax: number,
): Promise<{ readonly value: unknown } | string> {
  const body = await readText(context, bytesMax);
  if (typeof body === 'string') return body;
  try {
    return { value: parseJson(body.text) };
  } catch (error) {
    if (error instanceof JsonError) return 'the body must be well-formed JSON, each key once';
    throw error;
  }
}

/** A payout as a submission answers it (contract 2.4). */
export function viewSubmitted(payout: Payout) {
  return {
    transactionStatus: payout.status,
    merchantReference: payout.order.merchantReference,
    transactionReference: payout.reference,
    amount: money(payout, payout.order.amount.minor),
    feeAmount: money(payout, payout.fee),
  };
}

/** A payout as a lookup answers it (contract 2.4); `valueAmount` is what it takes from the wallet (design 5). */
export function viewLookedUp(payout: Payout) {
  return {
    ...viewSubmitted(payout),
    valueAmount: money(payout, payout.order.amount.minor + payout.fee),
    statusReason: payout.statusReason ?? '',
  };
}

function money(payout: Payout, minor: bigint): number {
  return jsonNumber(formatAmount(minor, payout.order.amount.currency));
}

import { accept, type Result, refuse } from '@pesewa/kernel';
import { z } from 'zod';
import { JsonError, numberText, parseJson } from '../json.ts';
import { describeProblem, firstProblem } from '../problems.ts';
import { reference } from '../text.ts';

/** A number as JSON has it (RFC 8259, 6); an amount goes into `X-module` as the body writes it. */
export const jsonNumberPattern = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** What `X-module` encodes (contract 5): the reference alone for a status check, all three for payin and complete-payin. */
export function moduleText(signed: {
  readonly amount?: string | undefined;
  readonly reference: string;
  readonly number?: string | undefined;
}): string {
  return `${signed.amount ?? ''}${signed.reference}${signed.number ?? ''}`;
}

const signedFields = z
  .object(
    {
      transactionAmount: numberText.optional(),
      transactionReference: reference,
      customerNumber: z.string().optional(),
    },
    { error: 'the body must be an object' },
  )
  .refine(
    ({ transactionAmount, customerNumber }) =>
      (transactionAmount === undefined) === (customerNumber === undefined),
    { error: 'the body must have both transactionAmount and customerNumber, or neither for a status check' },
  );

/** {@link moduleText} of a body as it is sent; refused with what is wrong with the body. */
export function readModuleText(body: string): Result<string, string> {
  try {
    const { data, error } = signedFields.safeParse(parseJson(body));
    if (!data) return refuse(describeProblem(firstProblem(error)));
    const { transactionAmount: amount, transactionReference, customerNumber: number } = data;
    return accept(moduleText({ amount, reference: transactionReference, number }));
  } catch (error) {
    if (error instanceof JsonError) return refuse(`the body ${error.message}`);
    throw error;
  }
}

/** A text as the headers of contract 5 carry it: the Base64 of its UTF-8. */
export function encodeHeader(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}

/** The header of a payout request. */
export function payoutHeaders(publicKey: string): Record<string, string> {
  return { 'x-api-key': encodeHeader(publicKey) };
}

/** The headers of a collection request, with the text of {@link moduleText}. */
export function collectionHeaders(publicKey: string, module: string): Record<string, string> {
  return { 'x-business': encodeHeader(publicKey), 'x-app': 'api', 'x-module': encodeHeader(module) };
}

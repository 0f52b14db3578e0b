import { type CollectionRefusal, collectionRefusals, numberText, payinResponse } from '@pesewa/contracts';
import { z } from 'zod';
import { viewRefused } from './answers.ts';
import type { DocumentedAnswer } from './api-operation.ts';
import { DECLINED } from './domain/reasons.ts';

/** The meaning of each failedReason (contract 10.10). */
const meanings: Readonly<Record<CollectionRefusal, string>> = {
  'DUPLICATE REFERENCE':
    'the reference was used before; the answer names the collection that has it, unless that ended years ago',
  'INCORRECT SECURITY MODULE': 'X-module is missing or wrong',
  'INVALID AMOUNT':
    'zero or less, finer than the currency, less than its fee, or no multiple of five in Cote d’Ivoire',
  'OPERATOR NOT AVAILABLE':
    'mobile operator, country and currency do not fit, or the mobile operator can not be asked at present',
  'INCORRECT OTP': 'the mobile operator does not take the code',
  'OTP EXPIRED': 'the time for the code is over, or the mobile operator takes no more codes',
  'OTP ATTEMPTS EXCEEDED': 'three codes were tried',
  'COLLECTION CLOSED': 'the collection has ended: check its status',
  'COMPLETION NOT REQUIRED':
    'the customer completes a collection of this flow alone, or it was passed on ten times',
  'REQUEST MISMATCH': 'the body differs from that of the payin',
  'UNKNOWN REFERENCE': 'there is no such collection',
  'INVALID REQUEST': 'a field is missing or malformed: statusDescription names it by its path',
  UNAUTHORIZED: 'X-business or X-app is missing or wrong, or the merchant is suspended',
  'TOO MANY REQUESTS': 'too many requests, or too many of one customer: Retry-After says when to come again',
  'SERVICE UNAVAILABLE': 'not possible at present: statusDescription says what to do',
  'INTERNAL ERROR': 'something broke on our side: check the status before anything else',
};

/** Closed schemas, with the number as it is sent. */
const closed = { lengthOfOtp: numberText } as const;

const pendingAnswer = payinResponse
  .extend({
    ...closed,
    responseDetails: z.strictObject({
      responseCode: z.literal('09'),
      responseMessage: z.literal('PENDING'),
      statusDescription: z.string().optional(),
    }),
  })
  .strict();

/** The answer of a refusal with one of the reasons (contract 2.9). */
function refusedAnswer(failedReason: z.ZodType) {
  return payinResponse
    .extend({
      ...closed,
      responseDetails: z.strictObject({
        responseCode: z.literal('06'),
        responseMessage: z.literal('FAILED'),
        statusDescription: z.string().optional(),
        failedReason,
      }),
    })
    .strict();
}

const railReason = z.string().meta({
  description: `the mobile operator's own reason, in capitals; \`${DECLINED}\` where it doesn't take our own request`,
});

/**
 * The documented answers of an operation: the collection goes on, as in the examples, or is refused (contract 2.9, 7).
 */
export function documentAnswers(
  pending: { readonly description: string; readonly examples: Readonly<Record<string, unknown>> },
  refusals: readonly CollectionRefusal[],
): Readonly<Record<number, DocumentedAnswer>> {
  const byStatus = Map.groupBy(refusals, (reason) => collectionRefusals[reason]);
  const answers = [...byStatus].map(([status, reasons]): [number, DocumentedAnswer] => {
    const described = reasons.map((reason) => `\`${reason}\` ${meanings[reason]}`).join('; ');
    const examples = Object.fromEntries(
      reasons.map((reason) => [reason, viewRefused(reason, exampleDetails[reason])]),
    );
    if (status !== 200) {
      const retryAfter = reasons.includes('TOO MANY REQUESTS');
      return [
        status,
        { description: described, schema: refusedAnswer(z.enum(reasons)), examples, retryAfter },
      ];
    }
    return [
      200,
      {
        description: `\`09\` ${pending.description}; \`06\` with a failedReason: ${described}; or the mobile operator's own reason`,
        schema: z.union([pendingAnswer, refusedAnswer(z.union([z.enum(reasons), railReason]))]),
        examples: { ...pending.examples, ...examples },
      },
    ];
  });
  return Object.fromEntries(answers);
}

/** The further fields of refusals in the examples. */
const exampleDetails: Readonly<
  Partial<Record<CollectionRefusal, { readonly reference?: string; readonly description?: string }>>
> = {
  'DUPLICATE REFERENCE': { reference: 'co-019a6b2c4d5e7f8091a2b3c4d5e6f708' },
  'INVALID REQUEST': { description: 'customerNumber is required' },
  UNAUTHORIZED: { description: 'X-business must be the Base64 of your public key, and X-app must be api' },
  'TOO MANY REQUESTS': { description: 'too many requests: nothing was recorded, send it again after 1 s' },
  'SERVICE UNAVAILABLE': {
    description: 'your key can not be looked up at present: nothing was recorded, send it again',
  },
};

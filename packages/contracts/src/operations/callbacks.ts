import { z } from 'zod';
import { reference } from '../text.ts';
import { pageOf, textUpTo, timeOrDate } from './lists.ts';
import { declareOperations } from './operation.ts';

/** The states of callbacks. */
export const callbackStates = ['passed_on', 'failed', 'dismissed'] as const;

/** The reasons for which requests are stored as rejected. */
export const rejectionReasons = [
  'address.unlisted',
  'signature.wrong',
  'signature.expired',
  'signature.missing',
  'body.malformed',
  'reference.foreign',
] as const;

const verdict = z
  .object({
    address: z.enum(['allowed', 'unlisted', 'any']),
    signature: z.enum(['verified', 'wrong', 'expired', 'missing', 'not_required']),
    /** Whether its claim is a fact. */
    proven: z.boolean(),
  })
  .meta({ id: 'Verdict' });

const kind = z.enum(['payout', 'collection']);

const callbackView = z.object({
  id: z.string(),
  rail: z.string(),
  kind,
  digest: z.string(),
  /** The rail's own id of the message; null unless a verified signature covers it. */
  messageId: z.string().nullable(),
  state: z.enum(callbackStates),
  /** Null, as the claim's other fields, if it could not be read. */
  reference: z.string().nullable(),
  claimedStatus: z.string().nullable(),
  claimedAmount: z.string().nullable(),
  claimedCurrency: z.string().nullable().default(null),
  claimedFee: z.string().nullable(),
  failure: z.string().nullable(),
  deliveries: z.number(),
  timesPassedOn: z.number(),
  conflicts: z.number(),
  /** The digests of other contents under the same id. */
  otherDigests: z.array(z.string()).readonly(),
  passedOnDigest: z.string().nullable(),
  verdict,
  receivedAt: timeOrDate,
  lastReceivedAt: timeOrDate,
  passedOnAt: timeOrDate.nullable(),
  forgetAt: timeOrDate,
  /** Whether its body and its sender are erased. */
  erased: z.literal(true).optional(),
});

const rejectedView = z.object({
  id: z.string(),
  rail: z.string(),
  kind,
  reason: z.enum(rejectionReasons),
  digest: z.string(),
  /** The size of the whole body. */
  bodyBytes: z.number().optional(),
  peerAddress: z.string().optional(),
  clientAddress: z.string().optional(),
  /** The header X-Forwarded-For as received. */
  forwardedFor: z.string().nullable().default(null),
  verdict,
  receivedAt: timeOrDate,
});

/** A stored callback, without its body. */
export type CallbackView = z.output<typeof callbackView>;

/** A refused request, without its body. */
export type RejectedView = z.output<typeof rejectedView>;

const after = textUpTo(200).optional();

/** The callbacks of rails. */
export const callbackOperations = declareOperations({
  list: {
    method: 'get',
    path: '/callbacks',
    summary: 'Lists callbacks by our reference, state, or both, oldest first',
    query: z
      .object({
        reference: reference.optional().describe("our transactionReference, not the merchant's"),
        state: z.enum(callbackStates).optional(),
        after,
      })
      .refine((asked) => (asked.reference ?? asked.state) !== undefined, {
        error: `ask by our transaction reference, by state (${callbackStates.join(', ')}), or both`,
      }),
    answers: { 200: pageOf(callbackView) },
    pages: 'after',
  },
  rejected: {
    method: 'get',
    path: '/callbacks/rejected',
    summary: 'Lists refused requests with reason and addresses, newest first',
    query: z.object({
      rail: textUpTo(32).optional().describe('only what came for this rail'),
      reason: z
        .enum(rejectionReasons, { error: `must be one of ${rejectionReasons.join(', ')}` })
        .optional()
        .describe('only what was refused for this'),
      after,
    }),
    answers: { 200: pageOf(rejectedView) },
    pages: 'after',
  },
  redrive: {
    method: 'post',
    path: '/callbacks/{id}/redrive',
    summary: 'Reads a failed callback again and passes it on; passes any other on again',
    answers: { 202: z.object({ id: z.string(), state: z.literal('passed_on') }) },
    refusals: { not_found: 404, failed: 409, dismissed: 409, rail_unknown: 409 },
  },
  dismiss: {
    method: 'post',
    path: '/callbacks/{id}/dismiss',
    summary: 'Dismisses a failed callback; it stays stored',
    answers: { 200: z.object({ id: z.string(), state: z.literal('dismissed') }) },
    refusals: { not_found: 404, not_failed: 409 },
  },
});

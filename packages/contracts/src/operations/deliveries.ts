import { z } from 'zod';
import { referencePattern } from '../text.ts';
import { ENDPOINT_LENGTH_MAX } from './endpoints.ts';
import { pageOf } from './lists.ts';
import { declareOperations, strictFields } from './operation.ts';

/** How many endpoints are listed at most. */
export const ENDPOINTS_MAX = 100;

/** The longest deadline of an attempt, after the resolution of a name. */
const TEST_TIMEOUT_MS = 75_000;

/** The states of webhooks; `deferred`: its endpoint is disabled. */
export const deliveryStates = ['pending', 'deferred', 'delivered', 'exhausted', 'discarded'] as const;

const deliveryView = z.object({
  id: z.string(),
  merchantId: z.string(),
  reference: z.string(),
  merchantReference: z.string(),
  kind: z.string(),
  state: z.enum(deliveryStates),
  attempts: z.number(),
  createdAt: z.string(),
  dueAt: z.string().nullable(),
  lastStatus: z.number().nullable(),
  lastError: z.string().nullable(),
  /** Why it is exhausted or discarded. */
  reason: z.string().nullable(),
});

const deliveryDetail = deliveryView.extend({
  /** Where it would be sent now; null if the merchant has no address for it. */
  address: z.string().nullable(),
  /** The exact text that every attempt sends. */
  body: z.string(),
  /** What every attempt sends beside the signature, which only an attempt has; the timestamp is that of the last one. */
  headers: z.record(z.string(), z.string()),
});

const signedView = z.object({
  body: z.string(),
  /** All that an attempt at this moment would send. */
  headers: z.record(z.string(), z.string()),
});

/** What a test webhook can be about; each has an address of its own. */
export const testKinds = ['payout', 'collection'] as const;

/** Why a test webhook got no good answer, or `delivered`. */
export const testFindings = [
  'delivered',
  'no_address',
  'address_refused',
  'name_not_public',
  'name_unresolved',
  'redirected',
  'answered',
  'no_answer',
] as const;

const addressRuleCodes = [
  'address.malformed',
  'address.not_https',
  'address.port',
  'address.credentials',
  'address.not_public',
] as const;

const testView = z.object({
  /** The `webhook-id` it was sent with; no delivery has it. */
  id: z.string(),
  address: z.string().nullable(),
  finding: z.enum(testFindings),
  /** The rule that an address breaks as it is written. */
  rule: z.enum(addressRuleCodes).nullable(),
  /** The addresses of the host's name; null where it was not asked. */
  resolved: z.array(z.string()).nullable(),
  /** The address that was connected to. */
  connectedTo: z.string().nullable(),
  /** The version of TLS, and the endpoint's certificate; null without a connection, over plain http, or if it could not be read. */
  tls: z.object({ version: z.string(), issuer: z.string(), expiresAt: z.string() }).nullable(),
  /** Why TLS failed, as a code of OpenSSL or Node in small letters. */
  tlsProblem: z.string().nullable(),
  /** The signature of the sample, and whether the secrets on record verify it; null if none was made. */
  signature: z
    .object({ header: z.literal('webhook-signature'), count: z.number(), verifies: z.boolean() })
    .nullable(),
  status: z.number().nullable(),
  error: z.string().nullable(),
  durationMs: z.number(),
  deadlineMs: z.number(),
  /** Whether the answer's body was longer than what is read of it. */
  isBodyCut: z.boolean(),
  sentBody: z.string(),
});

const testFields = strictFields(
  { kind: z.enum(testKinds, { error: `must be one of ${testKinds.join(', ')}` }) },
  (names) => `unknown fields: ${names.join(', ')}`,
);

const attemptView = z.object({
  at: z.string(),
  /** The status, or `error`: why there was no answer. */
  status: z.number().optional(),
  error: z.string().optional(),
  durationMs: z.number(),
});

/** What is counted of an endpoint. */
export const endpointCounts = ['pending', 'failing', 'deferred', 'exhausted'] as const;

const endpointView = z.object({
  merchantId: z.string(),
  endpoint: z.string(),
  /**
   * `warned` and `disabled` by how long it has failed; otherwise whether an attempt of what it is owed has failed;
   * `given_up`: it is owed nothing, but some were given up.
   */
  state: z.enum(['disabled', 'warned', 'failing', 'waiting', 'given_up']),
  pending: z.number(),
  failing: z.number(),
  /** How many wait for a disabled endpoint. */
  deferred: z.number(),
  /** How many were given up, and wait for an operator. */
  exhausted: z.number(),
  /** The counts that stopped at a limit: there are at least so many. */
  cut: z.array(z.enum(endpointCounts)),
  oldestCreatedAt: z.string().nullable(),
  nextAt: z.string().nullable(),
  /** The first failure without a success since. */
  failingSince: z.string().nullable(),
  lastSuccessAt: z.string().nullable(),
  lastStatus: z.number().nullable(),
  lastError: z.string().nullable(),
});

/** A webhook that a merchant is owed, without its body and address; times in UTC. */
export type DeliveryView = z.output<typeof deliveryView>;

/** A webhook with what it sends. */
export type DeliveryDetailView = z.output<typeof deliveryDetail>;

/** What a test webhook met. */
export type TestView = z.output<typeof testView>;

/** One attempt of a webhook. */
export type AttemptView = z.output<typeof attemptView>;

/** A merchant's endpoint that is owed webhooks. */
export type EndpointView = z.output<typeof endpointView>;

/** The webhooks that merchants are owed. */
export const deliveryOperations = declareOperations({
  list: {
    method: 'get',
    path: '/deliveries',
    summary:
      "Lists webhooks by a payment's reference, ours or the merchant's, by merchant and time, or by state",
    query: z
      .object({
        reference: z.string().regex(referencePattern).optional(),
        state: z.enum(deliveryStates).optional(),
        merchantId: z.string().max(32).optional(),
        /** One of the merchant's: `payouts`, `collections`, or an origin. */
        endpoint: z.string().max(ENDPOINT_LENGTH_MAX).optional(),
        /** Created at or after this time, and before that; both in UTC. */
        from: z.iso.datetime().optional(),
        to: z.iso.datetime().optional(),
        after: z.string().max(200).optional(),
      })
      .refine(({ reference, state, merchantId }) => (reference ?? state ?? merchantId) !== undefined, {
        error: "ask by reference (ours or the merchant's), by merchantId, or by state",
      })
      .refine(({ merchantId, endpoint }) => merchantId !== undefined || endpoint === undefined, {
        error: 'an endpoint is one of a merchant: give merchantId as well',
      })
      .refine(({ merchantId, from, to }) => merchantId !== undefined || (from ?? to) === undefined, {
        error: 'from and to are times of one merchant: give merchantId as well',
      }),
    answers: { 200: pageOf(deliveryView) },
    refusals: { not_found: 404 },
    pages: 'after',
  },
  show: {
    method: 'get',
    path: '/deliveries/{id}',
    summary: 'Shows a webhook: body, headers without the signature, address',
    answers: { 200: deliveryDetail },
    refusals: { not_found: 404 },
  },
  attempts: {
    method: 'get',
    path: '/deliveries/{id}/attempts',
    summary: "Lists a webhook's attempts: when, status or error, duration",
    answers: { 200: pageOf(attemptView) },
  },
  resend: {
    method: 'post',
    path: '/deliveries/{id}/resend',
    summary: 'Makes a webhook due now, with the same id and its schedule from the start',
    answers: { 202: z.object({ id: z.string(), state: z.literal('pending') }) },
    refusals: { not_found: 404 },
  },
  sign: {
    method: 'post',
    path: '/deliveries/{id}/sign',
    summary: 'Signs a webhook as an attempt now would; sends and changes nothing',
    answers: { 200: signedView },
    refusals: { not_found: 404 },
  },
  test: {
    method: 'post',
    path: '/merchants/{merchantId}/test-webhook',
    summary: "Sends a signed sample of no payment to a merchant's address, and says what it met",
    body: testFields,
    answers: { 200: testView },
    refusals: { not_found: 404 },
    timeoutMs: TEST_TIMEOUT_MS,
  },
  signTest: {
    method: 'post',
    path: '/merchants/{merchantId}/test-webhook/sign',
    summary: 'Signs such a sample; sends nothing',
    body: testFields,
    answers: { 200: signedView },
    refusals: { not_found: 404 },
  },
  endpoints: {
    method: 'get',
    path: '/endpoints',
    summary: `Lists up to ${ENDPOINTS_MAX} endpoints that fail, or with webhooks open or given up, disabled first`,
    answers: { 200: pageOf(endpointView) },
  },
});

import { z } from 'zod';
import { referencePattern } from '../text.ts';
import { pageOf } from './lists.ts';
import { declareOperations } from './operation.ts';

/** How many endpoints are listed at most. */
export const ENDPOINTS_MAX = 100;

/** The states of webhooks. */
export const deliveryStates = ['pending', 'delivered', 'exhausted', 'discarded'] as const;

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

const attemptView = z.object({
  at: z.string(),
  /** The status, or `error`: why there was no answer. */
  status: z.number().optional(),
  error: z.string().optional(),
  durationMs: z.number(),
});

const endpointView = z.object({
  merchantId: z.string(),
  endpoint: z.string(),
  state: z.enum(['failing', 'waiting']),
  pending: z.number(),
  failing: z.number(),
  oldestCreatedAt: z.string(),
  nextAt: z.string(),
  lastStatus: z.number().nullable(),
  lastError: z.string().nullable(),
});

/** A webhook that a merchant is owed, without its body and address; times in UTC. */
export type DeliveryView = z.output<typeof deliveryView>;

/** One attempt of a webhook. */
export type AttemptView = z.output<typeof attemptView>;

/** A merchant's endpoint that is owed webhooks. */
export type EndpointView = z.output<typeof endpointView>;

/** The webhooks that merchants are owed. */
export const deliveryOperations = declareOperations({
  list: {
    method: 'get',
    path: '/deliveries',
    summary: "Lists webhooks by a payment's reference, ours or the merchant's, by state, or both",
    query: z
      .object({
        reference: z.string().regex(referencePattern).optional(),
        state: z.enum(deliveryStates).optional(),
        after: z.string().max(200).optional(),
      })
      .refine(({ reference, state }) => reference !== undefined || state !== undefined, {
        error: "ask by reference (ours or the merchant's), by state, or both",
      }),
    answers: { 200: pageOf(deliveryView) },
    pages: 'after',
  },
  attempts: {
    method: 'get',
    path: '/deliveries/{id}/attempts',
    summary: 'Lists the attempts of a webhook: when, status or error, duration',
    answers: { 200: pageOf(attemptView) },
  },
  resend: {
    method: 'post',
    path: '/deliveries/{id}/resend',
    summary: 'Makes a webhook due now, under the same id and with its schedule from the start',
    answers: { 202: z.object({ id: z.string(), state: z.literal('pending') }) },
    refusals: { not_found: 404 },
  },
  endpoints: {
    method: 'get',
    path: '/endpoints',
    summary: `Lists up to ${ENDPOINTS_MAX} endpoints with open webhooks, those with the most failing ones first`,
    answers: { 200: pageOf(endpointView) },
  },
});

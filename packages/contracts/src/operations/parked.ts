import { z } from 'zod';
import { seenLine } from '../text.ts';
import { instant, onlyIfTrue, pageCursor, pageOf } from './lists.ts';
import { declareOperations } from './operation.ts';

const REASON_LENGTH_MAX = 200;

/** Every state of a parked message; it leaves the first one for good. */
export const parkedStates = ['parked', 'replayed', 'discarded'] as const;

const parkedView = z
  .object({
    /** `<group>/<topic>/<partition>/<offset>` */
    id: z.string(),
    topic: z.string(),
    partition: z.number(),
    offset: z.string(),
    key: z.string(),
    eventType: z.string(),
    /** Empty if the message could not be read. */
    eventId: z.string(),
    reason: z.string(),
    valueBytes: z.number(),
    parkedAt: z.string(),
    state: z.enum(parkedStates),
    lastReplay: z.object({ by: z.string(), at: z.string(), failure: z.string().nullable() }).optional(),
    discard: z
      .object({
        reason: z.string(),
        status: z.enum(['proposed', 'approved', 'rejected']),
        requestedBy: z.string(),
        requestedAt: z.string(),
        expiresAt: z.string().optional(),
        decidedBy: z.string().optional(),
        decidedAt: z.string().optional(),
        rejectedFor: z.string().optional(),
      })
      .optional(),
  })
  .meta({ id: 'ParkedMessage' });

const parkedDetailView = parkedView.extend({
  headers: z.record(z.string(), z.string()).nullable(),
  /** Null if it could not be decoded, or was too large to keep. */
  payload: z.unknown(),
  /** The first bytes of a payload that could not be decoded. */
  base64: z.string().optional(),
});

/** A message that a service could not apply, as operators see it in a list; times in UTC. */
export type ParkedView = z.output<typeof parkedView>;

/** The same with its headers and its payload. */
export type ParkedDetailView = z.output<typeof parkedDetailView>;

const discardRefusals = {
  not_found: 404,
  closed: 409,
  undecided: 409,
  not_proposed: 409,
  changed: 409,
  same_operator: 403,
  expired: 409,
  decided: 409,
} as const;

const reason = seenLine(REASON_LENGTH_MAX);
/** Names the proposal that was seen, so that no other one is decided. */
const seen = { requestedAt: instant };

/** The messages that a service could not apply (ADR 8). */
export const parkedOperations = declareOperations({
  list: {
    method: 'get',
    path: '/parked',
    summary: 'Lists parked messages, newest first',
    query: z.object({
      state: z.enum(parkedStates).optional(),
      topic: z.string().min(1).max(200).optional(),
      /** Only those that wait, and that it is proposed to discard. */
      proposed: onlyIfTrue,
      cursor: pageCursor.optional(),
    }),
    answers: { 200: pageOf(parkedView) },
    pages: 'cursor',
  },
  show: {
    method: 'get',
    path: '/parked/{id}',
    summary: 'Shows a message with its headers and its payload',
    answers: { 200: parkedDetailView },
    refusals: { not_found: 404 },
  },
  replay: {
    method: 'post',
    path: '/parked/{id}/replay',
    summary: 'Applies a message again; what took effect already stays as it is',
    answers: { 200: parkedView },
    refusals: { ...discardRefusals, replay_failed: 409 },
  },
  discard: {
    method: 'post',
    path: '/parked/{id}/discard',
    summary: 'Proposes to discard a message',
    body: z.strictObject({ reason }, { error: 'the body must be { "reason": "…" }' }),
    answers: { 202: parkedView },
    refusals: discardRefusals,
  },
  approve: {
    method: 'post',
    path: '/parked/{id}/discard/approve',
    summary: 'Discards a message as another operator proposed',
    caller: 'second',
    body: z.strictObject(seen),
    answers: { 200: parkedView },
    refusals: discardRefusals,
  },
  reject: {
    method: 'post',
    path: '/parked/{id}/discard/reject',
    summary: 'Rejects a proposed discard',
    body: z.strictObject({ ...seen, reason }),
    answers: { 200: parkedView },
    refusals: discardRefusals,
  },
});

import { z } from 'zod';
import { seenLine } from '../text.ts';
import { instant, onlyIfTrue, pageOf, smallNumber } from './lists.ts';
import { declareOperations } from './operation.ts';

const REASON_LENGTH_MAX = 200;
const OFFSET = /^\d{1,18}$/;

const planView = z.object({
  next: z.string(),
  appliedAgain: z.string(),
  skipped: z.string(),
  /** How many operators it needs. */
  operators: z.number(),
});

const realignmentView = planView
  .extend({
    from: z.string().nullable(),
    status: z.enum(['proposed', 'approved', 'rejected', 'done']),
    reason: z.string(),
    requestedBy: z.string(),
    requestedAt: z.string(),
    expiresAt: z.string().optional(),
    decidedBy: z.string().optional(),
    decidedAt: z.string().optional(),
    rejectedFor: z.string().optional(),
  })
  .meta({ id: 'Realignment' });

const positionView = z
  .object({
    topic: z.string(),
    partition: z.number(),
    state: z.enum(['begins', 'continues', 'stopped']),
    mismatch: z.string().optional(),
    reason: z.string().optional(),
    remedy: z.string().optional(),
    stored: z.object({ next: z.string(), topicId: z.string() }).nullable(),
    kafka: z.object({
      low: z.string(),
      high: z.string(),
      committed: z.string().nullable(),
      topicId: z.string(),
    }),
    /** Null if nothing is known of how many messages wait. */
    lag: z.string().nullable(),
    realignment: realignmentView.optional(),
  })
  .meta({ id: 'Position' });

const plannedView = positionView.extend({ plan: planView });

/** A service's position in a partition, by its database and by Kafka; offsets are decimal text. */
export type PositionView = z.output<typeof positionView>;

/** A realignment, planned or done; one that skips messages needs two operators. */
export type RealignmentView = z.output<typeof realignmentView>;

/** What a realignment would do. */
export type RealignPlanView = z.output<typeof planView>;

/** A position with what a realignment would do to it. */
export type PlannedPositionView = z.output<typeof plannedView>;

const place = { topic: z.string().min(1).max(300), partition: smallNumber };

const decisionRefusals = {
  not_found: 404,
  not_stopped: 409,
  added: 409,
  nothing_stored: 409,
  not_kept: 409,
  beyond_end: 409,
  moved: 409,
  undecided: 409,
  not_proposed: 409,
  changed: 409,
  same_operator: 403,
  expired: 409,
  decided: 409,
  unavailable: 503,
} as const;

/** Names the proposal that was seen, so that no other one is decided. */
const approvalBody = z.strictObject({ ...place, requestedAt: instant });
const reason = seenLine(REASON_LENGTH_MAX);

const realignBody = z.strictObject({
  ...place,
  to: z.union([z.enum(['stored', 'start', 'end']), z.string().regex(OFFSET)], {
    error: 'must be "stored", "start", "end", or an offset as decimal text',
  }),
  reason,
  dryRun: z.boolean().optional(),
});

/** A service's positions in the topics that it consumes (ADR 43). */
export const positionOperations = declareOperations({
  list: {
    method: 'get',
    path: '/positions',
    summary: 'Lists positions of all partitions, or of proposed realignments',
    query: z.object({ proposed: onlyIfTrue }),
    answers: { 200: pageOf(positionView) },
    refusals: { unavailable: 503 },
  },
  realign: {
    method: 'post',
    path: '/positions/realign',
    summary:
      'Starts a stopped partition elsewhere; what skips messages is only proposed; `dryRun` shows what it would do',
    body: realignBody,
    answers: { 200: realignmentView, 202: realignmentView },
    dryRun: plannedView,
    refusals: decisionRefusals,
  },
  approve: {
    method: 'post',
    path: '/positions/realign/approve',
    summary: 'Realigns a partition as another operator proposed',
    caller: 'second',
    body: approvalBody,
    answers: { 200: realignmentView },
    refusals: decisionRefusals,
  },
  reject: {
    method: 'post',
    path: '/positions/realign/reject',
    summary: 'Rejects a proposed realignment',
    body: approvalBody.extend({ reason }),
    answers: { 200: realignmentView },
    refusals: decisionRefusals,
  },
});

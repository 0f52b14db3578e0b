import { z } from 'zod';
import { pageOf, smallNumber, textUpTo } from './lists.ts';
import { declareOperations, reasonLine } from './operation.ts';

const planView = z.object({
  next: z.string(),
  appliedAgain: z.string(),
  /** How many messages were never applied, and Kafka has removed them. */
  skipped: z.string(),
});

const realignmentView = planView
  .extend({
    from: z.string().nullable(),
    reason: z.string(),
    requestedBy: z.string(),
    requestedAt: z.string(),
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

/** The last realignment of a partition. */
export type RealignmentView = z.output<typeof realignmentView>;

/** What a realignment would do. */
export type RealignPlanView = z.output<typeof planView>;

/** A position with what a realignment would do to it. */
export type PlannedPositionView = z.output<typeof plannedView>;

const place = { topic: textUpTo(300).min(1, { error: 'must not be empty' }), partition: smallNumber };

const realignBody = z.strictObject({ ...place, reason: reasonLine, dryRun: z.boolean().optional() });

/** A service's positions in the topics that it consumes (ADR 43). */
export const positionOperations = declareOperations({
  list: {
    method: 'get',
    path: '/positions',
    summary: 'Lists positions of all partitions',
    query: z.object({}),
    answers: { 200: pageOf(positionView) },
    refusals: { unavailable: 503 },
  },
  realign: {
    method: 'post',
    path: '/positions/realign',
    summary: 'Starts a stopped partition with what Kafka keeps; `dryRun` shows what it would do',
    body: realignBody,
    answers: { 200: realignmentView },
    dryRun: plannedView,
    refusals: { not_found: 404, not_stopped: 409, added: 409, restored: 409, moved: 409, unavailable: 503 },
  },
});

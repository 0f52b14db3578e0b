import { z } from 'zod';
import { type AnswerOf, declareOperations } from './operation.ts';

const measuredRail = z
  .object({
    rail: z.string(),
    /** The mobile operator; null for all of the rail. */
    operatorCode: z.string().nullable(),
    completed: z.number(),
    /** By whose reason; payments that never left for the rail are not among them. */
    failed: z.object({ customer: z.number(), rail: z.number(), other: z.number() }),
    /** Those that the rail took back after they had completed. */
    reversed: z.number(),
    /** Completed ones of those that ended, 0 to 1; this and the times are null if too few did. */
    successRate: z.number().nullable(),
    /** From acceptance to the final state: half, and 95 of 100, took no longer. */
    medianMs: z.number().nullable(),
    p95Ms: z.number().nullable(),
    /** Among those that failed. */
    topFailure: z.object({ reason: z.string(), count: z.number() }).nullable(),
    /** Those open for longer than `afterMs`, whenever they were accepted; with `isCut` at least so many. */
    openTooLong: z.object({ count: z.number(), isCut: z.boolean(), afterMs: z.number() }),
  })
  .meta({ id: 'RailAvailability' });

/** How payments of an hour ended at a rail, or of one mobile operator there. */
export type RailAvailabilityView = z.output<typeof measuredRail>;

/** How well a gateway's rails do. */
export const availabilityOperations = declareOperations({
  show: {
    method: 'get',
    path: '/availability',
    summary: "Shows how the last hour's payments ended, by rail and mobile operator",
    answers: {
      // Payments accepted from `from` to `at`; a sample of them, spread over the time, if there are too many.
      200: z.object({
        from: z.string(),
        at: z.string(),
        isSample: z.boolean(),
        items: z.array(measuredRail),
      }),
    },
    refusals: { unavailable: 503 },
  },
});

/** How the payments of the last hour ended at each rail and mobile operator; times in UTC. */
export type AvailabilityView = AnswerOf<typeof availabilityOperations.show>;

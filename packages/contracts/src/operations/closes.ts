import { z } from 'zod';
import { runOperations } from './match-runs.ts';
import { declareOperations } from './operation.ts';

/** Every result that a payment of a close can have. */
export const closeResults = ['pending', 'matched', 'differs', 'not_at_rail', 'unclear'] as const;

const closeView = z
  .object({
    id: z.string(),
    from: z.string(),
    to: z.string(),
    rail: z.string().nullable(),
    status: z.enum(['asking', 'done']),
    /** Whether it is at work; one that is done may be asking again about what is not matched. */
    running: z.boolean(),
    payments: z.number().nullable(),
    done: z.number().nullable(),
    /** Null while there are too many to count. */
    results: z
      .object({
        matched: z.number(),
        differs: z.number(),
        not_at_rail: z.number(),
        unclear: z.number(),
        pending: z.number(),
      })
      .nullable(),
    /** How many of its payments were reported only after the close had been made. */
    late: z.number(),
    requestedBy: z.string(),
    requestedAt: z.string(),
    finishedAt: z.string().nullable(),
  })
  .meta({ id: 'Close' });

const side = z.object({
  status: z.string().nullable(),
  amount: z.string().nullable(),
  fee: z.string().nullable(),
});

const closeRecordView = z
  .object({
    reference: z.string(),
    kind: z.string(),
    rail: z.string(),
    merchantId: z.string(),
    currency: z.string(),
    endedAt: z.string(),
    result: z.enum(closeResults),
    ours: side,
    theirs: side,
    differences: z.array(z.object({ field: z.string(), amount: z.string() })),
    why: z.string().nullable(),
    breakId: z.string().nullable(),
    alsoCoveredBy: z.array(z.string()).readonly(),
    /** Whether the rail reported an end that the payment's owner did not know, which was published to it. */
    correctionSent: z.boolean(),
    askedAt: z.string().nullable(),
    tries: z.number(),
  })
  .meta({ id: 'CloseRecord' });

/** A close; times in UTC. */
export type CloseView = z.output<typeof closeView>;

/** A payment of a close; amounts are decimal text, null if unknown. */
export type CloseRecordView = z.output<typeof closeRecordView>;

const day = z.iso.date({ error: 'must be a date such as 2026-11-20' });

const closeBody = z.strictObject(
  { date: day, rail: z.string().optional() },
  {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `${issue.keys.join(', ')} is no field of a close`
        : 'the body must be a JSON object',
  },
);

/** The day of a close (UTC), and its rail if it is of one. */
export type CloseRequest = z.input<typeof closeBody>;

/** Daily closes: the payments of a day that nothing has compared yet, looked up at their rails and matched (ADR 29). */
export const closeOperations = declareOperations({
  open: {
    method: 'post',
    path: '/closes',
    summary: 'Makes the close of a day, or continues the existing one',
    body: closeBody,
    answers: { 200: closeView, 202: closeView },
    refusals: { invalid: 400, not_over: 409 },
  },
  ...runOperations({
    path: 'closes',
    run: closeView,
    record: closeRecordView,
    results: closeResults,
    called: ['a close', 'closes', 'the payments of a close'],
  }),
});

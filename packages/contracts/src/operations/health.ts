import { z } from 'zod';
import { declareOperations } from './operation.ts';

const healthView = z.object({
  /** What makes the process unready, and what is wrong although it works, by name. */
  problems: z.record(z.string(), z.string()),
  /** When the oldest of the events that wait for Kafka was written; null within it if none waits. */
  outbox: z.object({ oldestAt: z.string().nullable() }).nullable(),
  /** Whether what its topics held was applied within a second. */
  keepsUp: z.boolean().nullable(),
  /** Messages that could not be applied; with `isCut` at least so many. */
  parked: z.object({ count: z.number(), isCut: z.boolean() }).nullable(),
});

/** How a service stands; times in UTC. What is null is not known, because no answer came in time. */
export type HealthView = z.output<typeof healthView>;

/** What every service says of its own health. */
export const healthOperations = declareOperations({
  show: {
    method: 'get',
    path: '/health',
    summary: 'Shows what hinders the service, and whether events wait in its outbox or before its consumer',
    answers: { 200: healthView },
  },
});

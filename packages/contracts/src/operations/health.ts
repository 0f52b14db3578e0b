import { z } from 'zod';
import { declareOperations } from './operation.ts';

const healthView = z.object({
  /** What makes the process unready, and what is wrong although it works, by name. */
  problems: z.record(z.string(), z.string()),
  /** When the oldest of the events that wait for Kafka was written; null if none waits. */
  outboxOldestAt: z.string().nullable(),
  /** Whether what its topics held was applied within a second; false also if Kafka did not answer by then. */
  keepsUp: z.boolean(),
  /** Messages that could not be applied; with `isCut` at least so many. */
  parked: z.object({ count: z.number(), isCut: z.boolean() }),
});

/** How a service stands; times in UTC. */
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

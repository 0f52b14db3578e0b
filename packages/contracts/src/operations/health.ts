import { z } from 'zod';
import type { MessagingService } from '../services.ts';
import { declareOperations } from './operation.ts';
import { pauseView } from './pauses.ts';

/** A count that ends at a limit: with `isCut` there are at least so many. */
const count = z.object({ count: z.number(), isCut: z.boolean() });
const sum = z.object({ account: z.string(), currency: z.string(), balance: z.string() });
const known = <Known extends z.ZodType>(what: Known) => what.nullable().optional();

/** What waits for people at a service; what other services know is absent. */
const waitingView = z.object({
  /** Orders of money, changes of settings and decisions on payments that were proposed. */
  orders: known(count),
  settings: known(count),
  decisions: known(count),
  givenUpWebhooks: known(count),
  disabledEndpoints: known(
    z.array(z.object({ merchantId: z.string(), failingSince: z.string().nullable() })),
  ),
  pauses: known(z.array(pauseView)),
  books: known(
    z.object({
      /** What is not zero. */
      suspense: z.array(sum),
      /** Floats that may not suffice for the payouts that wait: `held` is what all of their currency hold. */
      lowFloats: z.array(sum.extend({ held: z.string() })),
    }),
  ),
});

const healthView = z.object({
  /** What makes the process unready, and what is wrong although it works, by name. */
  problems: z.record(z.string(), z.string()),
  /** When the oldest of the events that wait for Kafka was written; null within it if none waits. */
  outbox: z.object({ oldestAt: z.string().nullable() }).nullable(),
  /** Whether what its topics held was applied within a second. */
  keepsUp: z.boolean().nullable(),
  /** Messages that could not be applied. */
  parked: count.nullable(),
  waiting: waitingView,
});

/**
 * How a service stands; times in UTC. What is null is not known, because no answer came in time. What waits for people is
 * as it is now but for `books`; those and messages are as they were at most five seconds ago.
 */
export type HealthView = z.output<typeof healthView>;

/** What waits for people at a service. */
export type WaitingView = z.output<typeof waitingView>;

/** Who tells what waits for people. */
export const waitingTellers: Readonly<
  Record<keyof WaitingView, readonly [MessagingService, ...MessagingService[]]>
> = {
  orders: ['ledger'],
  settings: ['ledger'],
  decisions: ['reconciler'],
  givenUpWebhooks: ['webhook-dispatcher'],
  disabledEndpoints: ['webhook-dispatcher'],
  pauses: ['payout-gateway', 'collection-gateway'],
  books: ['ledger'],
};

/** What every service says of its own health. */
export const healthOperations = declareOperations({
  show: {
    method: 'get',
    path: '/health',
    summary:
      'Shows what hinders the service, what waits in its outbox or before its consumer, and what for people',
    answers: { 200: healthView },
  },
});

import { z } from 'zod';
import type { Ask } from './ask.ts';
import { type Answers, addressOf, askEvery, type ConsumingService } from './every-service.ts';

const plan = z.object({
  next: z.string(),
  appliedAgain: z.string(),
  skipped: z.string(),
  operators: z.number(),
});

const realignment = plan.extend({
  from: z.string().nullable(),
  status: z.enum(['proposed', 'approved', 'rejected', 'done']),
  reason: z.string(),
  requestedBy: z.string(),
  requestedAt: z.string(),
  expiresAt: z.string().optional(),
  decidedBy: z.string().optional(),
  decidedAt: z.string().optional(),
});

const position = z.object({
  topic: z.string(),
  partition: z.number(),
  state: z.enum(['begins', 'continues', 'stopped']),
  misfit: z.string().optional(),
  reason: z.string().optional(),
  remedy: z.string().optional(),
  stored: z.object({ next: z.string(), topicId: z.string() }).nullable(),
  kafka: z.object({
    low: z.string(),
    high: z.string(),
    committed: z.string().nullable(),
    topicId: z.string(),
  }),
  lag: z.string().nullable(),
  realignment: realignment.optional(),
});

const positions = z.object({ items: z.array(position) });
const foreseen = position.extend({ plan });

/** A service's position in a partition, by its database and by Kafka; offsets are decimal strings. */
export type PositionView = z.output<typeof position>;

/** A realignment, planned or done; one that skips messages needs two operators. */
export type RealignmentView = z.output<typeof realignment>;

/** A partition of a service. */
export interface ServicePartition {
  readonly service: ConsumingService;
  readonly topic: string;
  readonly partition: number;
}

/** The positions of the services, the newest first. */
export type PositionList = Answers<PositionView & { readonly service: ConsumingService }>;

/** The positions of all services that consume topics (ADR 43). */
export interface Positions {
  readonly list: (service?: ConsumingService) => Promise<PositionList>;
  readonly plan: (at: ServicePartition, to: string, reason: string) => Promise<z.output<typeof foreseen>>;
  readonly realign: (at: ServicePartition, to: string, reason: string) => Promise<RealignmentView>;
  readonly decide: (at: ServicePartition, verdict: 'approve' | 'reject') => Promise<RealignmentView>;
}

/** Builds {@link Positions}. */
export function createPositions(ask: Ask): Positions {
  const request = ({ service, ...place }: ServicePartition, more: object, what = '') => ({
    service: addressOf(service),
    path: `/positions/realign${what}`,
    body: { ...place, ...more },
  });
  return {
    list: (service) =>
      askEvery(service, async (name) => {
        const { items } = await ask(positions, { service: addressOf(name), path: '/positions' });
        return items.map((item) => ({ ...item, service: name }));
      }),
    plan: (at, to, reason) => ask(foreseen, request(at, { to, reason, dryRun: true })),
    realign: (at, to, reason) => ask(realignment, request(at, { to, reason })),
    decide: (at, verdict) =>
      ask(realignment, {
        ...request(at, {}, `/${verdict}`),
        ...(verdict === 'approve' && { approving: true }),
      }),
  };
}

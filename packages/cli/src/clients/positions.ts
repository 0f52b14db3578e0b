import {
  type ConsumerGroup,
  dryRunOf,
  type PlannedPositionView,
  type PositionView,
  positionOperations,
  type RealignmentView,
} from '@pesewa/contracts';
import { type Answers, askEveryService } from './ask-services.ts';
import type { Caller } from './call.ts';

/** A partition of a service. */
export interface ServicePartition {
  readonly service: ConsumerGroup;
  readonly topic: string;
  readonly partition: number;
}

/** The positions of the services. */
export type PositionList = Answers<PositionView & { readonly service: ConsumerGroup }>;

/** The positions of all services that consume topics (ADR 43). */
export interface Positions {
  readonly list: (service?: ConsumerGroup) => Promise<PositionList>;
  readonly plan: (at: ServicePartition, to: string, reason: string) => Promise<PlannedPositionView>;
  readonly realign: (at: ServicePartition, to: string, reason: string) => Promise<RealignmentView>;
  readonly decide: (at: ServicePartition, verdict: 'approve' | 'reject') => Promise<RealignmentView>;
}

/** Builds {@link Positions}. */
export function createPositions({ call }: Caller): Positions {
  const { list, realign } = positionOperations;
  return {
    list: (service) =>
      askEveryService(service, async (name) => {
        const { items } = await call(name, list, {});
        return items.map((item) => ({ ...item, service: name }));
      }),
    plan: ({ service, ...place }, to, reason) =>
      call(service, dryRunOf(realign), { body: { ...place, to, reason, dryRun: true } }),
    realign: ({ service, ...place }, to, reason) =>
      call(service, realign, { body: { ...place, to, reason } }),
    decide: ({ service, ...place }, verdict) => call(service, positionOperations[verdict], { body: place }),
  };
}

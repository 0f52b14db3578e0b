import { type ConsumerGroup, dryRunOf, type PositionView, positionOperations } from '@pesewa/contracts';
import { type Caller } from '@pesewa/operator-client';
import { type Answers, askEveryService } from './ask-services.ts';

/** A partition of a service. */
export interface ServicePartition {
  readonly service: ConsumerGroup;
  readonly topic: string;
  readonly partition: number;
}

/** The positions of the services. */
export type PositionList = Answers<PositionView & { readonly service: ConsumerGroup }>;

/** Builds the client of the positions of all services that consume topics (ADR 43). */
export function createPositions({ call }: Caller) {
  const { list, realign, approve, reject } = positionOperations;
  return {
    list: (service?: ConsumerGroup): Promise<PositionList> =>
      askEveryService(service, async (name) => {
        const { items } = await call(name, list, {});
        return items.map((item) => ({ ...item, service: name }));
      }),
    plan: ({ service, ...place }: ServicePartition, to: string, reason: string) =>
      call(service, dryRunOf(realign), { body: { ...place, to, reason, dryRun: true } }),
    realign: ({ service, ...place }: ServicePartition, to: string, reason: string) =>
      call(service, realign, { body: { ...place, to, reason } }),
    /** The last realignment of a partition, if there is any. */
    last: async ({ service, ...place }: ServicePartition) => {
      const { items } = await call(service, list, {});
      return items.find(({ topic, partition }) => topic === place.topic && partition === place.partition)
        ?.realignment;
    },
    /** Realigns it as was proposed at a time. */
    approve: ({ service, ...place }: ServicePartition, requestedAt: string) =>
      call(service, approve, { body: { ...place, requestedAt } }),
    /** Ends the proposal that was made at a time. */
    reject: ({ service, ...place }: ServicePartition, requestedAt: string, reason: string) =>
      call(service, reject, { body: { ...place, requestedAt, reason } }),
  };
}

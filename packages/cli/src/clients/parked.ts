import { type ConsumerGroup, consumerGroups, type ParkedView, parkedOperations } from '@pesewa/contracts';
import { type Caller } from '@pesewa/operator-client';
import { CliError } from '../errors.ts';
import { type Answers, askEveryService } from './ask-services.ts';

/** The service that has parked the message; ids begin with its name. */
export function serviceOf(id: string): ConsumerGroup {
  const service = consumerGroups.find((name) => id.startsWith(`${name}/`));
  if (service) return service;
  throw new CliError(`id: ${id} is of no service: see pesewa parked list`);
}

/** Builds the client of the parked messages of all services. */
export function createParked({ call, list }: Caller) {
  const { show, replay, discard, approve, reject } = parkedOperations;
  return {
    /** The newest first, of one service or of all, at most `limit` of each. */
    list: async ({
      service,
      limit,
      ...query
    }: {
      readonly service?: ConsumerGroup | undefined;
      readonly state?: ParkedView['state'] | undefined;
      readonly topic?: string | undefined;
      readonly proposed?: 'true' | undefined;
      readonly limit: number;
    }): Promise<Answers<ParkedView>> => {
      const { items, missing } = await askEveryService(
        service,
        async (name) => (await list(name, parkedOperations.list, query, limit)).items,
      );
      return { items: items.toSorted((one, other) => other.parkedAt.localeCompare(one.parkedAt)), missing };
    },
    show: async (id: string) => call(serviceOf(id), show, { parameters: { id } }),
    replay: async (id: string) => call(serviceOf(id), replay, { parameters: { id } }),
    discard: async (id: string, reason: string) =>
      call(serviceOf(id), discard, { parameters: { id }, body: { reason } }),
    /** Discards it as was proposed at a time. */
    approve: async (id: string, requestedAt: string) =>
      call(serviceOf(id), approve, { parameters: { id }, body: { requestedAt } }),
    /** Ends the proposal that was made at a time. */
    reject: async (id: string, requestedAt: string, reason: string) =>
      call(serviceOf(id), reject, { parameters: { id }, body: { requestedAt, reason } }),
  };
}

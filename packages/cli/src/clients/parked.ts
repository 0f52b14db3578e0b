import {
  type ConsumerGroup,
  consumerGroups,
  type ParkedDetailView,
  type ParkedView,
  parkedOperations,
} from '@pesewa/contracts';
import { CliError } from '../errors.ts';
import { type Answers, askEveryService } from './ask-services.ts';
import type { Caller } from './call.ts';

/** Which parked messages are listed. */
export interface ParkedSearch {
  /** Only messages of this service. */
  readonly service?: ConsumerGroup | undefined;
  readonly state?: ParkedView['state'] | undefined;
  readonly topic?: string | undefined;
  /** The most messages from each service. */
  readonly limit: number;
}

/** The parked messages of all services (ADR 39). */
export interface Parked {
  /** The newest first. */
  readonly list: (search: ParkedSearch) => Promise<Answers<ParkedView>>;
  readonly show: (id: string) => Promise<ParkedDetailView>;
  readonly replay: (id: string) => Promise<ParkedView>;
  readonly discard: (id: string, reason: string) => Promise<ParkedView>;
  readonly approve: (id: string) => Promise<ParkedView>;
  readonly reject: (id: string) => Promise<ParkedView>;
}

/** The service that has parked the message; ids begin with its name. */
export function serviceOf(id: string): ConsumerGroup {
  const service = consumerGroups.find((name) => id.startsWith(`${name}/`));
  if (service) return service;
  throw new CliError(`id: ${id} is of no service: see pesewa parked list`);
}

/** Builds {@link Parked}. */
export function createParked({ call, list }: Caller): Parked {
  const { show, replay, discard, approve, reject } = parkedOperations;
  return {
    list: async ({ service, limit, state, topic }) => {
      const { items, missing } = await askEveryService(
        service,
        async (name) => (await list(name, parkedOperations.list, { state, topic }, limit)).items,
      );
      return { items: items.toSorted((one, other) => other.parkedAt.localeCompare(one.parkedAt)), missing };
    },
    show: async (id) => call(serviceOf(id), show, { parameters: { id } }),
    replay: async (id) => call(serviceOf(id), replay, { parameters: { id } }),
    discard: async (id, reason) => call(serviceOf(id), discard, { parameters: { id }, body: { reason } }),
    approve: async (id) => call(serviceOf(id), approve, { parameters: { id } }),
    reject: async (id) => call(serviceOf(id), reject, { parameters: { id } }),
  };
}

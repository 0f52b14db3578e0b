import { z } from 'zod';
import type { Ask } from './ask.ts';
import { CliError } from './errors.ts';
import {
  type Answers,
  addressOf,
  askEvery,
  type ConsumingService,
  consumingServices,
} from './every-service.ts';
import { readPages } from './pages.ts';

/** Every state of a parked message. */
export const parkedStates = ['parked', 'replayed', 'discarded'] as const;

const parked = z.object({
  id: z.string(),
  topic: z.string(),
  partition: z.number(),
  offset: z.string(),
  key: z.string(),
  eventType: z.string(),
  eventId: z.string(),
  reason: z.string(),
  valueBytes: z.number(),
  parkedAt: z.string(),
  state: z.enum(parkedStates),
  lastReplay: z.object({ by: z.string(), at: z.string(), failure: z.string().nullable() }).optional(),
  discard: z
    .object({
      reason: z.string(),
      status: z.string(),
      requestedBy: z.string(),
      requestedAt: z.string(),
      expiresAt: z.string().optional(),
      decidedBy: z.string().optional(),
      decidedAt: z.string().optional(),
    })
    .optional(),
});

const whole = parked.extend({
  headers: z.record(z.string(), z.string()).nullable(),
  payload: z.unknown(),
  base64: z.string().optional(),
});

/** A message that a service could not apply, as in the service's list; times in UTC. */
export type ParkedView = z.output<typeof parked>;

/** The same with its headers and its payload, or the first bytes if the payload can't be read. */
export type WholeParkedView = z.output<typeof whole>;

/** The parked messages of the services, the newest first. */
export type ParkedList = Answers<ParkedView>;

/** Which parked messages are listed. */
export interface ParkedSearch {
  /** Only messages of this service. */
  readonly service?: ConsumingService | undefined;
  readonly state?: ParkedView['state'] | undefined;
  readonly topic?: string | undefined;
  /** The most messages from each service. */
  readonly limit: number;
}

/** The parked messages of all services (ADR 39). */
export interface Parked {
  readonly list: (search: ParkedSearch) => Promise<ParkedList>;
  readonly show: (id: string) => Promise<WholeParkedView>;
  readonly replay: (id: string) => Promise<ParkedView>;
  readonly discard: (id: string, reason: string) => Promise<ParkedView>;
  readonly approve: (id: string) => Promise<ParkedView>;
  readonly reject: (id: string) => Promise<ParkedView>;
}

/** The service that has parked the message; ids begin with its name. */
export function serviceOf(id: string): ConsumingService {
  const service = consumingServices.find((name) => id.startsWith(`${name}/`));
  if (service) return service;
  throw new CliError(`id: ${id} is of no service: see pesewa parked list`);
}

/** Builds {@link Parked}. */
export function createParked(ask: Ask): Parked {
  const at = (id: string, what = '') => ({
    service: addressOf(serviceOf(id)),
    path: `/parked/${encodeURIComponent(id)}${what}`,
  });
  const listOne = (name: ConsumingService, { state, topic, limit }: ParkedSearch) =>
    readPages(ask, parked, { service: addressOf(name), path: '/parked', query: { state, topic }, limit });
  return {
    list: async (search) => {
      const { items, missing } = await askEvery(search.service, (name) => listOne(name, search));
      return { items: items.toSorted((one, other) => other.parkedAt.localeCompare(one.parkedAt)), missing };
    },
    show: (id) => ask(whole, at(id)),
    replay: (id) => ask(parked, { ...at(id, '/replay'), body: {} }),
    discard: (id, reason) => ask(parked, { ...at(id, '/discard'), body: { reason } }),
    approve: (id) => ask(parked, { ...at(id, '/discard/approve'), body: {}, approving: true }),
    reject: (id) => ask(parked, { ...at(id, '/discard/reject'), body: {} }),
  };
}

import type { Collection, Filter } from 'mongodb';
import { DUE_KEY, UNDELIVERED_AT_ENDPOINT } from './database-schema.ts';
import type { DeliveryDocument } from './documents.ts';

/** How many deliveries one update changes. */
const BATCH_MAX = 1_000;
const READ_TIMEOUT_MS = 5_000;

/** How many deliveries are counted at most. */
const COUNTED_MAX = 50_000;
/** Of how many endpoints. */
const ENDPOINTS_COUNTED_MAX = 10_000;

/** A state whose deliveries are counted by endpoint. */
type CountedState = 'deferred' | 'exhausted';

/** How many deliveries an endpoint has in a state; `isCut`: at least so many. */
export interface EndpointCount {
  readonly count: number;
  readonly isCut: boolean;
}

/** What is done with the deliveries of an endpoint that is disabled or enabled (ADR 73). */
export interface DeferredDeliveries {
  /**
   * Keeps the deliveries of a disabled endpoint: open ones that are not claimed, and those that were given up since it fails.
   * Done in batches, each of which leaves what is the case; done twice, it finds nothing.
   */
  readonly keep: (bulkhead: string, failingSince: Date | null) => Promise<void>;
  /** Makes deliveries due that were kept, from the start of their schedules; false if there may be more of them. */
  readonly release: (bulkhead: string, dueAtMs: number) => Promise<boolean>;
  /** The bulkheads that deliveries are kept for. */
  readonly deferredBulkheads: () => Promise<readonly string[]>;
  /** How many deliveries are kept, or were given up, by bulkhead: the same number of each at most, 50,000 of all. */
  readonly countByEndpoint: (
    state: CountedState,
    timeoutMs: number,
  ) => Promise<ReadonlyMap<string, EndpointCount>>;
  /** How many deliveries of an endpoint wait; 50,000 means at least as many. */
  readonly countWaiting: (bulkhead: string) => Promise<number>;
}

/** The deliveries of disabled endpoints, which are kept until those are enabled. */
export function openDeferred(deliveries: Collection<DeliveryDocument>): DeferredDeliveries {
  const change = async (
    filter: Filter<DeliveryDocument>,
    update: Parameters<typeof deliveries.updateMany>[1],
  ) => {
    const found = await deliveries
      .find(filter, { projection: { _id: 1 }, maxTimeMS: READ_TIMEOUT_MS })
      .limit(BATCH_MAX)
      .toArray();
    if (found.length > 0)
      await deliveries.updateMany({ ...filter, _id: { $in: found.map(({ _id }) => _id) } }, update);
    return found.length < BATCH_MAX;
  };
  return {
    keep: async (bulkhead, failingSince) => {
      // What is claimed is left to the loop that has claimed it.
      const open = { state: 'pending', bulkhead, claim: { $exists: false } } as const;
      let isDone = false;
      while (!isDone) isDone = await change(open, { $set: { state: 'deferred' }, $unset: { dueAt: true } });
      if (failingSince) await keepExhausted(deliveries, bulkhead, failingSince);
    },
    release: (bulkhead, dueAtMs) =>
      change(
        { state: 'deferred', bulkhead },
        { $set: { state: 'pending', dueAt: new Date(dueAtMs), roundAttempts: 0 } },
      ),
    deferredBulkheads: () =>
      deliveries.distinct(
        'bulkhead',
        { state: 'deferred', bulkhead: { $gt: '' } },
        { maxTimeMS: READ_TIMEOUT_MS },
      ),
    countByEndpoint: (state, maxTimeMS) => countByEndpoint(deliveries, state, maxTimeMS),
    countWaiting: async (bulkhead) => {
      const options = { limit: COUNTED_MAX, maxTimeMS: READ_TIMEOUT_MS };
      const [deferred, pending] = await Promise.all([
        deliveries.countDocuments({ state: 'deferred', bulkhead }, options),
        deliveries.countDocuments({ state: 'pending', bulkhead }, options),
      ]);
      return Math.min(COUNTED_MAX, deferred + pending);
    },
  };
}

/** The index that each state is counted by, and the order of its keys within a state. */
const countedBy = {
  deferred: { hint: DUE_KEY, sort: { bulkhead: 1, dueAt: 1, _id: 1 } },
  exhausted: { hint: UNDELIVERED_AT_ENDPOINT, sort: { bulkhead: 1, _id: 1 } },
} as const;

/** Counts keys, a part of the limit for each endpoint, so that none hides another. */
async function countByEndpoint(
  deliveries: Collection<DeliveryDocument>,
  state: CountedState,
  maxTimeMS: number,
): Promise<ReadonlyMap<string, EndpointCount>> {
  const { hint, sort } = countedBy[state];
  const endpoints = [
    { $match: { state, bulkhead: { $gt: '' } } },
    { $sort: sort },
    // With the first of each, the database takes a step by key for each endpoint.
    { $group: { _id: '$bulkhead', first: { $first: '$_id' } } },
    { $limit: ENDPOINTS_COUNTED_MAX },
  ];
  const options = { hint, maxTimeMS };
  const [found] = await deliveries
    .aggregate<{ readonly count: number }>([...endpoints, { $count: 'count' }], options)
    .toArray();
  if (!found) return new Map();
  const limit = Math.ceil(COUNTED_MAX / found.count);
  const counts = await deliveries
    .aggregate<{ readonly _id: string; readonly counted: readonly { readonly count: number }[] }>(
      [
        ...endpoints,
        {
          $lookup: {
            from: deliveries.collectionName,
            localField: '_id',
            foreignField: 'bulkhead',
            pipeline: [{ $match: { state } }, { $sort: sort }, { $limit: limit }, { $count: 'count' }],
            as: 'counted',
          },
        },
      ],
      options,
    )
    .toArray();
  return new Map(
    counts.map(({ _id, counted: [{ count } = { count: 0 }] }) => [_id, { count, isCut: count === limit }]),
  );
}

/**
 * Keeps what was given up since then. The ids of all that was given up are read from keys alone: what is older may be any
 * number, and each read has to end in time.
 */
async function keepExhausted(
  deliveries: Collection<DeliveryDocument>,
  bulkhead: string,
  since: Date,
): Promise<void> {
  const givenUp = { state: 'exhausted', bulkhead } as const;
  let after: string | undefined = '';
  while (after !== undefined) {
    const found = await deliveries
      .find(
        { ...givenUp, _id: { $gt: after } },
        { projection: { _id: 1 }, hint: UNDELIVERED_AT_ENDPOINT, maxTimeMS: READ_TIMEOUT_MS },
      )
      .sort({ _id: 1 })
      .limit(BATCH_MAX)
      .toArray();
    const ids = found.map(({ _id }) => _id);
    if (ids.length > 0)
      await deliveries.updateMany(
        { ...givenUp, 'attemptLog.at': { $gte: since }, _id: { $in: ids } },
        { $set: { state: 'deferred' }, $unset: { reason: true, forgetAt: true } },
        { hint: '_id_' },
      );
    after = ids.at(-1);
  }
}

import type { Collection } from 'mongodb';
import { DUE_KEY } from './database-schema.ts';
import type { Attempt, DeliveryDocument } from './documents.ts';
import type { AttemptError } from './domain/delivery.ts';

/** A destination of a merchant's webhooks that has unfinished deliveries. */
export interface Endpoint {
  /** The merchant and the destination of these webhooks. */
  readonly bulkhead: string;
  /** Whether an attempt of an unfinished delivery has failed. */
  readonly state: 'failing' | 'waiting';
  readonly pending: number;
  readonly failing: number;
  /** Whether there may be more that are pending, and failing. */
  readonly isCut: boolean;
  readonly oldestCreatedAt: Date;
  /** When its next delivery is due, which may be in the past. */
  readonly nextAt: Date;
  readonly lastStatus: number | null;
  readonly lastError: AttemptError | null;
}

/** An endpoint with unfinished deliveries, and when the first of them is due, which may be in the past. */
export interface OwedEndpoint {
  readonly bulkhead: string;
  readonly nextAt: Date;
}

/** How many endpoints are read by keys, and how many with what they are owed. */
const OWED_MAX = 10_000;
const SHOWN_MAX = 1_000;
/** How many deliveries are read, the same number of each endpoint at most. */
const BACKLOG_MAX = 50_000;

/** The first of what each endpoint is owed, as `nextAt`: a step by key for each, however many deliveries it has. */
const FIRST_OF_EACH = [
  { $match: { state: 'pending' } },
  { $sort: { bulkhead: 1, dueAt: 1 } },
  { $group: { _id: '$bulkhead', nextAt: { $first: '$dueAt' } } },
];

/** The endpoints with deliveries that have not ended, by keys alone; at most 10,000. */
export async function readOwed(
  deliveries: Collection<DeliveryDocument>,
  maxTimeMS: number,
): Promise<readonly OwedEndpoint[]> {
  return deliveries
    .aggregate<OwedEndpoint>(
      [...FIRST_OF_EACH, { $limit: OWED_MAX }, { $project: { _id: 0, bulkhead: '$_id', nextAt: 1 } }],
      { hint: DUE_KEY, maxTimeMS },
    )
    .toArray();
}

/**
 * The thousand endpoints with unfinished deliveries that are due first; those with the most failing deliveries come first.
 * Of each so many deliveries are read as are due first, so that no backlog hides another endpoint.
 */
export async function readEndpoints(
  deliveries: Collection<DeliveryDocument>,
  maxTimeMS: number,
): Promise<readonly Endpoint[]> {
  const owed = await readOwed(deliveries, maxTimeMS);
  if (owed.length === 0) return [];
  const limit = Math.ceil(BACKLOG_MAX / Math.min(owed.length, SHOWN_MAX));
  const failed = { $gt: ['$roundAttempts', 0] };
  const summary = {
    _id: null,
    pending: { $sum: 1 },
    failing: { $sum: { $cond: [failed, 1, 0] } },
    oldestCreatedAt: { $min: '$createdAt' },
    // Documents compare by their first field, which is the time: an older answer never stands for a newer one.
    lastAttempt: { $max: { $last: '$attemptLog' } },
  };
  const found = await deliveries
    .aggregate<
      Omit<Endpoint, 'bulkhead' | 'state' | 'isCut' | 'lastStatus' | 'lastError'> & {
        readonly _id: string;
        readonly lastAttempt: Attempt | null;
      }
    >(
      [
        ...FIRST_OF_EACH,
        { $limit: OWED_MAX },
        { $sort: { nextAt: 1 } },
        { $limit: SHOWN_MAX },
        {
          $lookup: {
            from: deliveries.collectionName,
            localField: '_id',
            foreignField: 'bulkhead',
            pipeline: [
              { $match: { state: 'pending' } },
              { $sort: { dueAt: 1 } },
              { $limit: limit },
              { $group: summary },
              { $unset: '_id' },
            ],
            as: 'owed',
          },
        },
        { $unwind: '$owed' },
        { $replaceWith: { $mergeObjects: ['$$ROOT', '$owed'] } },
        { $unset: 'owed' },
        { $sort: { failing: -1, pending: -1, _id: 1 } },
      ],
      { hint: DUE_KEY, maxTimeMS },
    )
    .toArray();
  return found.map(({ _id, lastAttempt, ...endpoint }) => ({
    ...endpoint,
    lastStatus: lastAttempt?.status ?? null,
    lastError: lastAttempt?.error ?? null,
    bulkhead: _id,
    isCut: endpoint.pending === limit,
    state: endpoint.failing > 0 ? 'failing' : 'waiting',
  }));
}

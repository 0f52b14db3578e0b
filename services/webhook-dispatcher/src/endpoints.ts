import type { Collection, Condition } from 'mongodb';
import type { DeliveryDocument } from './documents.ts';
import type { AttemptError } from './domain/delivery.ts';

/** A destination of a merchant's webhooks that has unfinished deliveries. */
export interface Endpoint {
  /** The merchant and the destination of these webhooks. */
  readonly bulkhead: string;
  /** Whether an attempt of an unfinished delivery has failed. */
  readonly state: 'failing' | 'waiting';
  readonly pending: number;
  readonly failing: number;
  readonly oldestCreatedAt: Date;
  /** When its next delivery is due, which may be in the past. */
  readonly nextAt: Date;
  readonly lastStatus: number | null;
  readonly lastError: AttemptError | null;
}

/** How many endpoints are owed webhooks, by whether an attempt of what is owed has failed. */
export type EndpointCounts = Readonly<Record<Endpoint['state'], number>>;

/** How many deliveries are read: those that are due first. */
const BACKLOG_MAX = 50_000;

/** The endpoints with unfinished deliveries; those with the most failing deliveries come first. */
export async function readEndpoints(
  deliveries: Collection<DeliveryDocument>,
  timeoutMs: number,
): Promise<readonly Endpoint[]> {
  const failed = { $gt: ['$roundAttempts', 0] };
  const ofLastAttempt = (field: string) => ({
    $let: { vars: { last: { $last: '$attemptLog' } }, in: `$$last.${field}` },
  });
  const found = await deliveries
    .aggregate<Omit<Endpoint, 'bulkhead' | 'state'> & { readonly _id: string }>(
      [
        { $match: { state: 'pending' } },
        { $sort: { dueAt: 1 } },
        { $limit: BACKLOG_MAX },
        {
          $group: {
            _id: '$bulkhead',
            pending: { $sum: 1 },
            failing: { $sum: { $cond: [failed, 1, 0] } },
            oldestCreatedAt: { $min: '$createdAt' },
            nextAt: { $min: '$dueAt' },
            lastStatus: { $max: ofLastAttempt('status') },
            lastError: { $max: ofLastAttempt('error') },
          },
        },
        { $sort: { failing: -1, pending: -1, _id: 1 } },
      ],
      { maxTimeMS: timeoutMs },
    )
    .toArray();
  return found.map(({ _id, ...endpoint }) => ({
    ...endpoint,
    bulkhead: _id,
    state: endpoint.failing > 0 ? 'failing' : 'waiting',
  }));
}

/** Counts the endpoints with deliveries that have not ended: a step by key for each, however many deliveries they have. */
export async function countEndpoints(
  deliveries: Collection<DeliveryDocument>,
  maxTimeMS: number,
): Promise<EndpointCounts> {
  // Both name every field of the index by bulkhead: `distinct` takes no hint, and another index has a key for each delivery.
  const bulkheads = (roundAttempts: Condition<number>) =>
    deliveries.distinct('bulkhead', { state: 'pending', roundAttempts }, { maxTimeMS });
  const [owed, failing] = await Promise.all([bulkheads({ $gte: 0 }), bulkheads({ $gt: 0 })]);
  // The two are not of one moment: a bulkhead may be in the second alone.
  return { failing: failing.length, waiting: Math.max(0, owed.length - failing.length) };
}

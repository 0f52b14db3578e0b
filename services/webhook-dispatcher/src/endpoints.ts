import type { Collection } from 'mongodb';
import type { AttemptError } from './domain/delivery.ts';
import type { DeliveryDocument } from './store.ts';

/** Where a merchant's webhooks go, as far as some are owed to it. */
export interface Endpoint {
  /** The merchant and where its webhooks of this sort go. */
  readonly lane: string;
  /** Whether an attempt of what is owed to it has failed. */
  readonly state: 'failing' | 'waiting';
  readonly pending: number;
  readonly failing: number;
  readonly oldestBornAt: Date;
  /** When the next of its deliveries is due, or was. */
  readonly nextAt: Date;
  readonly lastStatus: number | null;
  readonly lastError: AttemptError | null;
}

/** How many deliveries are looked at: those that are due first. */
export const BACKLOG_MAX = 50_000;

/** The endpoints with deliveries that have not ended, those with the most failing ones first. */
export async function readEndpoints(
  deliveries: Collection<DeliveryDocument>,
  timeoutMs: number,
): Promise<readonly Endpoint[]> {
  const failed = { $gt: ['$roundAttempts', 0] };
  const found = await deliveries
    .aggregate<Omit<Endpoint, 'lane' | 'state'> & { readonly _id: string }>(
      [
        { $match: { state: 'pending' } },
        { $sort: { dueAt: 1 } },
        { $limit: BACKLOG_MAX },
        {
          $group: {
            _id: '$lane',
            pending: { $sum: 1 },
            failing: { $sum: { $cond: [failed, 1, 0] } },
            oldestBornAt: { $min: '$bornAt' },
            nextAt: { $min: '$dueAt' },
            lastStatus: { $max: '$lastStatus' },
            lastError: { $max: '$lastError' },
          },
        },
        { $sort: { failing: -1, pending: -1, _id: 1 } },
      ],
      { maxTimeMS: timeoutMs },
    )
    .toArray();
  return found.map(({ _id, ...endpoint }) => ({
    ...endpoint,
    lane: _id,
    state: endpoint.failing > 0 ? 'failing' : 'waiting',
  }));
}

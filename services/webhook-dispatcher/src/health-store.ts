import { DAY_MS } from '@pesewa/kernel';
import type { ClientSession, Collection, Db } from 'mongodb';
import type { Health, HealthState } from './domain/endpoint-health.ts';

/** The health of an endpoint; without one it is healthy. `_id` is the `bulkhead` of its deliveries. */
export interface HealthDocument {
  readonly _id: string;
  readonly state: HealthState;
  /** The digest of the merchant's own address; null for an endpoint that is named by its origin. */
  readonly address: string | null;
  readonly failingSince: Date | null;
  readonly lastFailureAt: Date | null;
  readonly lastSuccessAt: Date | null;
  /** How often it was written: a writer must have read the newest. */
  readonly version: number;
  /** When it is deleted; absent while it is disabled. */
  readonly forgetAt?: Date;
}

/** A changed health, and the document that it was decided on. */
export interface HealthChange {
  readonly endpoint: string;
  readonly health: Health;
  readonly before: HealthDocument | undefined;
  readonly atMs: number;
}

/** The health of endpoints in this service's database. */
export interface HealthStore {
  readonly collection: Collection<HealthDocument>;
  readonly find: (
    endpoints: readonly string[],
    session?: ClientSession,
  ) => Promise<ReadonlyMap<string, HealthDocument>>;
  /** Replaces a document that is as it was read; a duplicate key if it is not. */
  readonly save: (change: HealthChange, session: ClientSession) => Promise<void>;
  /** Those that are not healthy, or only the disabled ones, which come first; at most so many. */
  readonly listUnhealthy: (
    states?: readonly HealthState[],
    limit?: number,
  ) => Promise<readonly HealthDocument[]>;
  readonly count: (state: HealthState, timeoutMs: number) => Promise<number>;
}

/** The states of endpoints that are not healthy. */
export const UNHEALTHY = ['disabled', 'failing', 'warned'] as const satisfies readonly HealthState[];

const LISTED_MAX = 10_000;
const READ_TIMEOUT_MS = 5_000;

/** Opens the store; what is not disabled is deleted so many days after it was last written. */
export function openHealthStore(db: Db, keepDays: number): HealthStore {
  const collection = db.collection<HealthDocument>('endpoints');
  return {
    collection,
    find: async (endpoints, session) => {
      const found = await collection
        .find({ _id: { $in: [...endpoints] } }, { ...(session && { session }) })
        .toArray();
      return new Map(found.map((document) => [document._id, document]));
    },
    save: async ({ endpoint, health, before, atMs }, session) => {
      const version = before?.version ?? 0;
      const document = toDocument(health, version + 1, new Date(atMs + keepDays * DAY_MS));
      await collection.replaceOne({ _id: endpoint, version }, document, { session, upsert: true });
    },
    listUnhealthy: (states = UNHEALTHY, limit = LISTED_MAX) =>
      collection
        .find({ state: { $in: [...states] } }, { maxTimeMS: READ_TIMEOUT_MS })
        .sort({ state: 1, failingSince: 1 })
        .limit(limit)
        .toArray(),
    count: (state, maxTimeMS) => collection.countDocuments({ state }, { limit: LISTED_MAX, maxTimeMS }),
  };
}

/** The health that a document holds. */
export function toHealth({ state, address, ...times }: HealthDocument): Health {
  return {
    state,
    address,
    failingSinceMs: times.failingSince?.getTime() ?? null,
    lastFailureAtMs: times.lastFailureAt?.getTime() ?? null,
    lastSuccessAtMs: times.lastSuccessAt?.getTime() ?? null,
  };
}

function toDocument(health: Health, version: number, forgetAt: Date): Omit<HealthDocument, '_id'> {
  const { state, address } = health;
  return {
    state,
    address,
    failingSince: dateOf(health.failingSinceMs),
    lastFailureAt: dateOf(health.lastFailureAtMs),
    lastSuccessAt: dateOf(health.lastSuccessAtMs),
    version,
    ...(state !== 'disabled' && { forgetAt }),
  };
}

function dateOf(atMs: number | null): Date | null {
  return atMs === null ? null : new Date(atMs);
}

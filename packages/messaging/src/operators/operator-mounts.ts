import { topics } from '@pesewa/contracts';
import type { Positions } from '@pesewa/kafka';
import type { ServiceScope } from '@pesewa/runtime';
import type { Db, MongoClient } from 'mongodb';
import type { ParkedStore } from '../inbox/parked-store.ts';
import type { TopicHandler } from '../inbox/received.ts';
import { gaugeParked } from '../metrics.ts';
import type { OpenGroupCommit } from '../outbox/group-commit.ts';
import type { Codec } from '../schemas/codec.ts';
import { createParked } from './parked.ts';
import { addParkedRoutes } from './parked-routes.ts';
import { addPositionRoutes } from './position-routes.ts';
import { createServicePositions, type ServicePositions } from './service-positions.ts';

type Scope = ServiceScope<{ readonly NODE_ENV: string }>;

/** Mounts the operators' routes to parked messages, and registers the gauge of those that wait. */
export function mountParked(
  scope: Scope,
  parts: {
    readonly store: ParkedStore;
    readonly handlers: readonly TopicHandler[];
    readonly codec: Codec;
    readonly db: Db;
    readonly topicPrefix: string;
    readonly group: string;
    readonly groupCommit: OpenGroupCommit;
  },
): void {
  const { clock, logger, config, operator, metrics: registry } = scope;
  const byName = byTopicName(parts);
  const parked = createParked({ ...parts, handlerOf: (name) => byName.get(name), clock, logger });
  addParkedRoutes(operator, {
    parked,
    codec: parts.codec,
    logger,
    sharedMayOrder: config.NODE_ENV !== 'production',
  });
  gaugeParked({ store: parts.store, topicNames: [...byName.keys()], registry, clock });
}

/** Mounts the operators' routes that show positions and start stopped partitions. */
export function mountPositions(
  { clock, logger, config, operator }: Scope,
  parts: {
    readonly client: MongoClient;
    readonly db: Db;
    readonly positions: Positions;
    readonly topicPrefix: string;
    readonly group: string;
    readonly handlers: readonly TopicHandler[];
  },
): ServicePositions {
  const positions = createServicePositions({ ...parts, handlers: byTopicName(parts), clock });
  addPositionRoutes(operator, { positions, logger, sharedMayOrder: config.NODE_ENV !== 'production' });
  return positions;
}

/** The consumed topics by their full names. */
function byTopicName(parts: {
  readonly topicPrefix: string;
  readonly handlers: readonly TopicHandler[];
}): ReadonlyMap<string, TopicHandler> {
  return new Map(parts.handlers.map((handler) => [parts.topicPrefix + topics[handler.topic].name, handler]));
}

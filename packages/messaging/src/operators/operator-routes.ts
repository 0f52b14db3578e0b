import { topics } from '@pesewa/contracts';
import type { ServiceScope } from '@pesewa/runtime';
import type { TopicHandler } from '../inbox/topic-handler.ts';
import { gaugeParked } from '../metrics.ts';
import { createParked, type ParkedDeps } from './parked.ts';
import { addParkedRoutes } from './parked-routes.ts';
import { addPositionRoutes } from './position-routes.ts';
import type { ServicePositions } from './service-positions.ts';

/** Adds the operators' routes to parked messages and to positions, and registers the gauge of parked messages that wait. */
export function addOperatorRoutes(
  { clock, logger, operator, metrics: registry }: ServiceScope<object>,
  parts: Omit<ParkedDeps, 'clock' | 'logger' | 'handlers'> & {
    readonly handlers: readonly TopicHandler[];
    readonly servicePositions: ServicePositions;
    readonly topicPrefix: string;
  },
): void {
  const { codec, store, topicPrefix, servicePositions: positions } = parts;
  const handlers = new Map(
    parts.handlers.map((handler) => [topicPrefix + topics[handler.topic].name, handler]),
  );
  const parked = createParked({ ...parts, handlers, clock, logger });
  addParkedRoutes(operator, { parked, codec, logger });
  gaugeParked({ store, topicNames: [...handlers.keys()], registry, clock });
  addPositionRoutes(operator, { positions, logger });
}

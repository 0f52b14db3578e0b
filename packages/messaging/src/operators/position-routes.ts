import {
  type PositionView,
  positionOperations,
  type RealignmentView,
  type RealignPlanView,
} from '@pesewa/contracts';
import type { TopicPartition } from '@pesewa/kafka';
import { answer, type Logger, refusalsAs, refused, serveOperations } from '@pesewa/runtime';
import type { Hono } from 'hono';
import { RECOVER } from '../inbox/position.ts';
import type { Realignment, RealignPlan } from './realignment.ts';
import type { PartitionPosition, RealignRequest, ServicePositions } from './service-positions.ts';

/** The dependencies of the routes of positions. */
export interface PositionRouteDeps {
  readonly positions: ServicePositions;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
}

/** Adds the routes by which operators list positions and realign stopped ones (ADR 43). */
export function addPositionRoutes(operator: Hono, deps: PositionRouteDeps): void {
  const { positions, logger } = deps;
  const answered = async <Answer>(work: Promise<Answer>) => {
    try {
      return await work;
    } catch (error) {
      logger.warn({ err: error }, 'positions are not known');
      return refused('unavailable', 'Kafka or the database does not answer: try again');
    }
  };
  const plan = async (place: TopicPartition) => {
    const planned = await positions.plan(place);
    if (!planned.ok) return refuse(planned.refusal);
    const { seen, ...foreseen } = planned.value;
    return answer(200, { ...view(seen), plan: viewPlan(foreseen) });
  };
  const realign = async (request: RealignRequest) => {
    const done = await positions.realign(request);
    if (!done.ok) return refuse(done.refusal);
    logger.info({ position: done.value.id, ...viewRealignment(done.value) }, 'a partition was realigned');
    return answer(200, viewRealignment(done.value));
  };
  serveOperations(operator, positionOperations, {
    list: () => answered(positions.list().then((all) => answer(200, { items: all.map(view), next: null }))),
    realign: ({ body: { topic, partition, reason, dryRun = false }, operator: by }) =>
      answered<Awaited<ReturnType<typeof plan | typeof realign>>>(
        dryRun ? plan({ topic, partition }) : realign({ topic, partition, reason, by }),
      ),
  });
}

const refuse = refusalsAs({
  'realign.unknown': ['not_found', 'topic, partition: this service consumes no such partition'],
  'realign.fits': ['not_stopped', 'the position fits: the partition continues by itself'],
  'realign.added': [
    'added',
    'partition: the topic has more partitions than this version gives it; deploy the version that gives it more',
  ],
  'realign.restored': ['restored', `the database is an older one: ${RECOVER}`],
  'realign.moved': ['moved', 'the position has changed: read it again'],
});

const text = (offset: bigint | undefined): string | null => (offset === undefined ? null : String(offset));

/** A position as operators see it; offsets are decimal strings. */
function view({ stored, bounds, position, realignment }: PartitionPosition): PositionView {
  const { topic, partition, low, high, committed, topicId } = bounds;
  const next = position.kind === 'stopped' ? undefined : position.next;
  return {
    topic,
    partition,
    state: position.kind,
    ...(position.kind === 'stopped' && {
      mismatch: position.mismatch,
      reason: position.reason,
      remedy: position.remedy,
    }),
    stored: stored && { next: String(stored.next), topicId: stored.topicId },
    kafka: { low: String(low), high: String(high), committed: text(committed), topicId },
    // Nothing is known of how many messages wait behind a position that does not fit.
    lag: next === undefined ? null : String(high > next ? high - next : 0n),
    ...(realignment && { realignment: viewRealignment(realignment) }),
  };
}

const viewPlan = ({ next, appliedAgain, skipped }: RealignPlan): RealignPlanView => ({
  next: String(next),
  appliedAgain: String(appliedAgain),
  skipped: String(skipped),
});

function viewRealignment(realignment: Realignment): RealignmentView {
  const { from, reason, requestedBy, at } = realignment;
  const by = { reason, requestedBy, requestedAt: at.toISOString() };
  return { ...viewPlan(realignment), from: text(from ?? undefined), ...by };
}

import {
  type PositionView,
  positionOperations,
  type RealignmentView,
  type RealignPlanView,
} from '@pesewa/contracts';
import type { TopicPartition } from '@pesewa/kafka';
import { proposalExpiryMs } from '@pesewa/kernel';
import { answer, type Logger, refusalsAs, refused, serveOperations } from '@pesewa/runtime';
import type { Hono } from 'hono';
import type { Realignment, RealignmentDecision, RealignPlan, RealignTarget } from './realignment.ts';
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
  const list = async (only?: 'proposed') =>
    answer(200, { items: (await positions.list(only)).map(view), next: null });
  const plan = async (place: TopicPartition, to: RealignTarget) => {
    const planned = await positions.plan(place, to);
    if (!planned.ok) return refuse(planned.refusal);
    const { seen, ...foreseen } = planned.value;
    return answer(200, { ...view(seen), plan: viewPlan(foreseen) });
  };
  const realign = async (request: RealignRequest) => {
    const done = await positions.realign(request);
    if (!done.ok) return refuse(done.refusal);
    logger.info({ ...logged(done.value), operator: request.by }, announcements[done.value.status]);
    return answer(done.value.status === 'proposed' ? 202 : 200, viewRealignment(done.value));
  };
  const decide = async (place: TopicPartition, verdict: RealignmentDecision) => {
    const decision = await positions.decide(place, verdict);
    if (!decision.ok) return refuse(decision.refusal);
    logger.info({ ...logged(decision.value), operator: verdict.by }, announcements[decision.value.status]);
    return answer(200, viewRealignment(decision.value));
  };
  serveOperations(operator, positionOperations, {
    list: ({ query: { proposed } }) => answered(list(proposed && 'proposed')),
    realign: ({ body: { topic, partition, to: target, reason, dryRun = false }, operator: by }) => {
      const to = targetOf(target);
      return answered<Awaited<ReturnType<typeof plan | typeof realign>>>(
        dryRun ? plan({ topic, partition }, to) : realign({ topic, partition, to, reason, by }),
      );
    },
    approve: ({ body: { requestedAt, ...place }, operator: by }) =>
      answered(decide(place, { verdict: 'approve', by, requestedAt: new Date(requestedAt) })),
    reject: ({ body: { requestedAt, reason, ...place }, operator: by }) =>
      answered(decide(place, { verdict: 'reject', by, requestedAt: new Date(requestedAt), reason })),
  });
}

const announcements = {
  done: 'a partition was realigned',
  proposed: 'to realign a partition past messages was proposed',
  approved: 'a partition was realigned past messages, by two operators',
  rejected: 'to realign a partition was rejected',
} as const satisfies Record<Realignment['status'], string>;

const logged = ({ id, from, next, skipped, reason, requestedBy }: Realignment) => ({
  position: id,
  from: from === null ? null : String(from),
  next: String(next),
  skipped: String(skipped),
  reason,
  requestedBy,
});

function targetOf(to: string): RealignTarget {
  return to === 'stored' || to === 'start' || to === 'end' ? to : BigInt(to);
}

const refuse = refusalsAs({
  'realign.unknown': ['not_found', 'topic, partition: this service consumes no such partition'],
  'realign.fits': ['not_stopped', 'the position fits: the partition continues by itself'],
  'realign.added': [
    'added',
    'partition: the topic has more partitions than this version gives it; deploy the version that gives it more',
  ],
  'realign.nothing_stored': [
    'nothing_stored',
    'to: the database has no position of this partition; use start, or an offset',
  ],
  'realign.not_kept': [
    'not_kept',
    'to: Kafka no longer keeps that message; use start, or an offset from low on',
  ],
  'realign.beyond_end': [
    'beyond_end',
    'to: the topic ends before that; use start, end, or an offset up to high',
  ],
  'realign.moved': ['moved', 'the position has changed: read it again, then order or propose again'],
  'realign.open': ['undecided', 'another realignment is proposed, and not decided yet'],
  'realign.none': ['not_proposed', 'no realignment of this partition is proposed'],
  'realign.changed': ['changed', 'requestedAt: another realignment is proposed now: read it, then decide'],
  'realign.same_operator': [
    'same_operator',
    'you proposed it: another operator must approve what skips messages, with a token of their own',
  ],
  'realign.expired': ['expired', 'the proposal is older than seven days: propose it again'],
  'realign.decided': ['decided', 'the proposal is decided already'],
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

function viewPlan({ next, appliedAgain, skipped }: RealignPlan): RealignPlanView {
  return {
    next: String(next),
    appliedAgain: String(appliedAgain),
    skipped: String(skipped),
    operators: skipped > 0n ? 2 : 1,
  };
}

function viewRealignment(realignment: Realignment): RealignmentView {
  const { from, reason, requestedBy, at, status, decidedBy, decidedAt, rejectedFor } = realignment;
  return {
    ...viewPlan(realignment),
    from: text(from ?? undefined),
    status,
    reason,
    requestedBy,
    requestedAt: at.toISOString(),
    ...(status === 'proposed' && { expiresAt: new Date(proposalExpiryMs({ at })).toISOString() }),
    ...(decidedBy !== undefined && { decidedBy, decidedAt: decidedAt?.toISOString(), rejectedFor }),
  };
}

import { line, wholeNumber } from '@pesewa/contracts';
import { proposalExpiryMs } from '@pesewa/kernel';
import {
  answerJson,
  forNamedOperators,
  type Logger,
  operatorOf,
  readOperatorBody,
  refuseOperator,
  refuserOf,
} from '@pesewa/runtime';
import type { Context, Hono } from 'hono';
import { z } from 'zod';
import type { Realignment, RealignTarget } from './realignment.ts';
import type { PartitionPosition, RealignRefusal, ServicePositions } from './service-positions.ts';

const REASON_LENGTH_MAX = 200;

const place = { topic: z.string().min(1).max(300), partition: wholeNumber.transform(Number) };

const realignBody = z.strictObject({
  ...place,
  to: z.union([z.enum(['stored', 'start', 'end']), z.string().regex(/^\d{1,18}$/)], {
    error: 'must be "stored", "start", "end", or an offset as decimal text',
  }),
  reason: line(REASON_LENGTH_MAX),
  dryRun: z.boolean().optional(),
});

const decided = z.strictObject(place);

/** The dependencies of the routes of positions. */
export interface PositionRouteDeps {
  readonly positions: ServicePositions;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  /** Whether the shared token, which belongs to no person, may realign: only in development. */
  readonly sharedMayOrder: boolean;
}

/** Adds the routes by which operators list positions and realign stopped ones (ADR 43). */
export function addPositionRoutes(operator: Hono, deps: PositionRouteDeps): void {
  const { positions, logger } = deps;
  const answered = (work: (context: Context) => Promise<Response>) => async (context: Context) => {
    try {
      return await work(context);
    } catch (error) {
      logger.warn({ err: error }, 'positions are not known');
      return refuseOperator(context, 503, 'unavailable', 'Kafka or the database does not answer: try again');
    }
  };
  operator.post('/positions/*', forNamedOperators(deps.sharedMayOrder));
  operator.get(
    '/positions',
    answered(async (context) =>
      answerJson(context, 200, { items: (await positions.list()).map(view), next: null }),
    ),
  );
  operator.post(
    '/positions/realign',
    answered(async (context) => {
      const body = await readOperatorBody(context, realignBody);
      if (!body.ok) return body.refusal;
      const { topic, partition, reason, dryRun = false } = body.value;
      const to = targetOf(body.value.to);
      if (dryRun) {
        const planned = await positions.plan({ topic, partition }, to);
        if (!planned.ok) return refuse(context, planned.refusal);
        const { seen, ...plan } = planned.value;
        return answerJson(context, 200, { ...view(seen), plan: viewPlan(plan) });
      }
      const by = operatorOf(context);
      const done = await positions.realign({ topic, partition, to, reason, by });
      if (!done.ok) return refuse(context, done.refusal);
      logger.info({ ...logged(done.value), operator: by }, announcements[done.value.status]);
      return answerJson(context, done.value.status === 'proposed' ? 202 : 200, viewRealignment(done.value));
    }),
  );
  for (const verdict of ['approve', 'reject'] as const) {
    operator.post(
      `/positions/realign/${verdict}`,
      answered(async (context) => {
        const body = await readOperatorBody(context, decided);
        if (!body.ok) return body.refusal;
        const by = operatorOf(context);
        const decision = await positions.decide(body.value, { verdict, by });
        if (!decision.ok) return refuse(context, decision.refusal);
        logger.info({ ...logged(decision.value), operator: by }, announcements[decision.value.status]);
        return answerJson(context, 200, viewRealignment(decision.value));
      }),
    );
  }
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

const refuse = refuserOf<RealignRefusal>({
  'realign.unknown': [404, 'not_found', 'topic, partition: this service consumes no such partition'],
  'realign.fits': [409, 'not_stopped', 'the position fits: the partition continues by itself'],
  'realign.added': [
    409,
    'added',
    'partition: the topic has more partitions than this version gives it; deploy the version that gives it more',
  ],
  'realign.nothing_stored': [
    409,
    'nothing_stored',
    'to: the database has no position of this partition; use start, or an offset',
  ],
  'realign.not_kept': [
    409,
    'not_kept',
    'to: Kafka no longer keeps that message; use start, or an offset from low on',
  ],
  'realign.beyond_end': [
    409,
    'beyond_end',
    'to: the topic ends before that; use start, end, or an offset up to high',
  ],
  'realign.moved': [409, 'moved', 'the position has changed: read it again, then order or propose again'],
  'realign.open': [409, 'undecided', 'another realignment is proposed, and not decided yet'],
  'realign.none': [409, 'not_proposed', 'no realignment of this partition is proposed'],
  'realign.same_operator': [
    403,
    'same_operator',
    'you proposed it: another operator must approve what skips messages, with a token of their own',
  ],
  'realign.expired': [409, 'expired', 'the proposal is older than seven days: propose it again'],
  'realign.decided': [409, 'decided', 'the proposal is decided already'],
});

const text = (offset: bigint | undefined): string | null => (offset === undefined ? null : String(offset));

/** A position as operators see it; offsets are decimal strings. */
function view({ stored, bounds, position, realignment }: PartitionPosition) {
  const { topic, partition, low, high, committed, topicId } = bounds;
  const next = position.kind === 'stopped' ? undefined : position.next;
  return {
    topic,
    partition,
    state: position.kind,
    ...(position.kind === 'stopped' && {
      misfit: position.misfit,
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

function viewPlan({ next, appliedAgain, skipped }: Pick<Realignment, 'next' | 'appliedAgain' | 'skipped'>) {
  return {
    next: String(next),
    appliedAgain: String(appliedAgain),
    skipped: String(skipped),
    operators: skipped > 0n ? 2 : 1,
  };
}

function viewRealignment(realignment: Realignment) {
  const { from, reason, requestedBy, at, status, decidedBy, decidedAt } = realignment;
  return {
    ...viewPlan(realignment),
    from: text(from ?? undefined),
    status,
    reason,
    requestedBy,
    requestedAt: at.toISOString(),
    ...(status === 'proposed' && { expiresAt: new Date(proposalExpiryMs({ at })).toISOString() }),
    ...(decidedBy !== undefined && { decidedBy, decidedAt: decidedAt?.toISOString() }),
  };
}

import type { OutgoingEvent } from '@pesewa/messaging';
import type { Break, BreakCause } from './domain/break.ts';
import type { ApprovedDecision } from './domain/decisions.ts';
import type { RailFact } from './domain/judging.ts';
import type { Terms, Tracked } from './domain/tracked.ts';
import type { RunDocument } from './wallets/store.ts';

/** The topic of the gateway that owns the payments of each kind. */
export const factsTopics = { payout: 'payoutFacts', collection: 'collectionFacts' } as const;

/** The source of a fact: a poll, or the callback that proves it. */
export interface FactSource {
  readonly source: 'poll' | 'provenCallback';
  /** When the poll was claimed, by the database's clock, or when the callback came. */
  readonly atMs: number;
  readonly causationId: string | null;
}

/** A fact about a payment, for its owner. */
export function railStatusObserved(
  tracked: Tracked,
  terms: Terms,
  fact: RailFact,
  { source, atMs, causationId }: FactSource,
  nowMs: number,
): OutgoingEvent {
  const { reference } = tracked;
  const { rail, kind } = terms;
  const occurredAt = BigInt(nowMs);
  return {
    topic: factsTopics[kind],
    ...aboutPayment(tracked),
    causationId,
    type: 'pesewa.rails.RailStatusObserved',
    payload: { occurredAt, ...fact, rail, reference, source, polledAt: BigInt(atMs) },
  };
}

/** An approved decision, for the owner of its payment: what a customer paid, or how a payout ended. */
export function decisionApproved(tracked: Tracked, terms: Terms, approved: ApprovedDecision): OutgoingEvent {
  const { outcome, amount, requestedAt, approvedAt, railFee, breakId, requestedBy, approvedBy } = approved;
  const { rail, currency } = terms;
  const common = {
    occurredAt: BigInt(approvedAt.getTime()),
    rail,
    reference: tracked.reference,
    railFee,
    breakId,
    decidedBy: requestedBy,
    approvedBy,
  };
  if (outcome === undefined)
    return {
      topic: 'collectionFacts',
      ...aboutPayment(tracked),
      type: 'pesewa.rails.CollectionAmountDecided',
      payload: { ...common, amount, currency },
    };
  const proposedAt = BigInt(requestedAt.getTime());
  return {
    topic: 'payoutFacts',
    ...aboutPayment(tracked),
    type: 'pesewa.rails.PayoutOutcomeDecided',
    payload: { ...common, outcome, proposedAt },
  };
}

/** A payment that our polls alone have finalised, with or without the break `payment.stuck`. */
export function stuckSettled(tracked: Tracked, causationId: string, nowMs: number): OutgoingEvent {
  const { reference, version, polls, status } = tracked;
  return {
    ...about(reference, version),
    ...traceOf(tracked),
    causationId,
    type: 'pesewa.reconciliation.StuckSettled',
    payload: { occurredAt: BigInt(nowMs), reference, polls, status },
  };
}

/** The result of comparing a wallet. */
export function driftMeasured({ _id: runId, at, rail, currency, ...run }: RunDocument): OutgoingEvent {
  const { railBalance, float, drift, withinRange } = run;
  const measured = { railBalance, float, drift, withinRange, runId };
  return {
    ...about(`${rail}:${currency}`, 0n),
    type: 'pesewa.reconciliation.DriftMeasured',
    payload: { occurredAt: BigInt(at.getTime()), rail, currency, ...measured },
  };
}

/** A break that was not open before: an operator opened it again, or a discrepancy was found. */
export function breakOpened(opened: Break, openedBy: string | null, cause?: BreakCause): OutgoingEvent {
  const { currency, amount } = opened;
  return ofBreak('pesewa.reconciliation.BreakOpened', opened, { currency, amount, openedBy }, cause);
}

/** A break that was resolved. The operator's texts are not published, because they may name people. */
export function breakResolved(resolved: Break, cause?: BreakCause): OutgoingEvent {
  const { resolvedBy = null } = resolved;
  const resolution = resolvedBy === null ? (resolved.resolution ?? '') : 'by an operator';
  return ofBreak('pesewa.reconciliation.BreakResolved', resolved, { resolution, resolvedBy }, cause);
}

const traceOf = ({ traceparent }: Pick<Tracked, 'traceparent'>) =>
  traceparent === null ? {} : { traceparent };

function aboutPayment(tracked: Tracked) {
  const { reference: key, version } = tracked;
  return { key, version, causationId: null, ...traceOf(tracked) };
}

function about(key: string, version: bigint) {
  return { topic: 'reconciliation', key, version, causationId: null } as const;
}

/** An event of a break. Each change of a break has a number and a time, by which its events differ. */
function ofBreak<const Type extends string, Fields extends object>(
  type: Type,
  { _id: breakId, kind, reference, version, since, history }: Break,
  fields: Fields,
  cause: BreakCause = {},
) {
  const { eventId: causationId = null, traceparent } = cause;
  const at = history.at(-1)?.at ?? since;
  return {
    ...about(reference, BigInt(version)),
    causationId,
    ...(traceparent !== undefined && { traceparent }),
    type,
    payload: { occurredAt: BigInt(at.getTime()), breakId, kind, reference, ...fields },
  };
}

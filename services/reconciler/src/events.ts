import type { Clock } from '@pesewa/kernel';
import type { OutgoingEvent } from '@pesewa/messaging';
import type { Break, BreakCause } from './domain/break.ts';
import type { RailFact } from './domain/question.ts';
import type { Terms, Tracked } from './domain/tracked.ts';
import type { RunDocument } from './wallets/store.ts';

/** The source of a fact: a poll, or the callback that proves it. */
export interface FactSource {
  readonly source: 'poll' | 'provenCallback';
  /** When the poll was claimed, by the database's clock, or when the callback came. */
  readonly atMs: number;
  readonly causationId: string | null;
}

/** The amount that, by the decision of two operators, a customer paid; in minor units. */
export interface DecidedAmount {
  readonly tracked: Tracked;
  readonly terms: Terms;
  readonly amount: bigint;
  readonly railFee: bigint;
  readonly breakId: string;
  readonly decidedBy: string;
  readonly approvedBy: string;
  readonly approvedAt: Date;
}

/** The outcome of a payout by the decision of two operators; the fee in minor units. */
export interface OutcomeDecided extends Omit<DecidedAmount, 'amount'> {
  readonly outcome: 'failed' | 'completed';
  readonly proposedAt: bigint;
}

/** Converts findings into events of rails.notices and reconciliation.events. */
export interface ReconcilerEvents {
  readonly observed: (tracked: Tracked, terms: Terms, fact: RailFact, from: FactSource) => OutgoingEvent;
  readonly amountDecided: (decided: DecidedAmount) => OutgoingEvent;
  readonly outcomeDecided: (decided: OutcomeDecided) => OutgoingEvent;
  readonly stuckSettled: (tracked: Tracked, causationId: string) => OutgoingEvent;
  /** A break that was not open before; `by` is set if an operator opened it again. */
  readonly breakOpened: (
    opened: Standing & Pick<Break, '_id' | 'kind' | 'currency' | 'amount' | 'cause'>,
    by?: string,
  ) => OutgoingEvent;
  readonly breakAssigned: (assigned: Break, owner: string, by: string) => OutgoingEvent;
  readonly breakExplained: (explained: Break, by: string) => OutgoingEvent;
  /** The operator's texts are not published, because they may name people. */
  readonly breakResolved: (
    resolved: Standing & Pick<Break, '_id' | 'kind' | 'resolution' | 'resolvedBy'>,
    cause?: BreakCause,
  ) => OutgoingEvent;
  readonly driftMeasured: (run: RunDocument) => OutgoingEvent;
}

/** Builds {@link ReconcilerEvents}. */
export function createReconcilerEvents(deps: { readonly clock: Pick<Clock, 'nowMs'> }): ReconcilerEvents {
  const envelope = () => ({ occurredAt: BigInt(deps.clock.nowMs()) });
  return {
    observed: (tracked, terms, fact, { source, atMs, causationId }) => ({
      ...noticeOf(tracked),
      causationId,
      type: 'pesewa.rails.RailStatusObserved',
      payload: {
        ...envelope(),
        ...fact,
        rail: terms.rail,
        reference: tracked.reference,
        kind: terms.kind,
        source,
        polledAt: BigInt(atMs),
      },
    }),
    amountDecided: ({ tracked, terms, approvedAt, ...decided }) => ({
      ...noticeOf(tracked),
      causationId: null,
      type: 'pesewa.rails.CollectionAmountDecided',
      payload: {
        occurredAt: BigInt(approvedAt.getTime()),
        ...decided,
        rail: terms.rail,
        reference: tracked.reference,
        currency: terms.currency,
      },
    }),
    outcomeDecided: ({ tracked, terms, approvedAt, ...decided }) => ({
      ...noticeOf(tracked),
      causationId: null,
      type: 'pesewa.rails.PayoutOutcomeDecided',
      payload: {
        occurredAt: BigInt(approvedAt.getTime()),
        ...decided,
        rail: terms.rail,
        reference: tracked.reference,
      },
    }),
    stuckSettled: (tracked, causationId) => ({
      ...about(tracked.reference, tracked.version),
      ...traceOf(tracked),
      causationId,
      type: 'pesewa.reconciliation.StuckSettled',
      payload: { ...envelope(), reference: tracked.reference, polls: tracked.polls, status: tracked.status },
    }),
    ...breakEvents,
    driftMeasured: ({ _id: runId, at, rail, currency, railBalance, float, drift, withinRange }) => ({
      ...about(`${rail}:${currency}`, 0n),
      type: 'pesewa.reconciliation.DriftMeasured',
      payload: {
        occurredAt: BigInt(at.getTime()),
        rail,
        currency,
        railBalance,
        float,
        drift,
        withinRange,
        runId,
      },
    }),
  };
}

const traceOf = ({ traceparent }: Pick<Tracked, 'traceparent'>) =>
  traceparent === null ? {} : { traceparent };

function noticeOf(tracked: Tracked) {
  const { reference: key, version } = tracked;
  return { topic: 'railNotices', key, version, ...traceOf(tracked) } as const;
}

function about(key: string, version: bigint) {
  return { topic: 'reconciliation', key, version, causationId: null } as const;
}

/** The fields of a break's event. Each change of a break has a number and a time, by which its events differ. */
function standing({ reference, version, since, history }: Standing, cause: BreakCause = {}) {
  const at = history.at(-1)?.at ?? since;
  const { eventId: causationId = null, traceparent } = cause;
  const origin = { causationId, ...(traceparent !== undefined && { traceparent }) };
  return { address: { ...about(reference, BigInt(version)), ...origin }, occurredAt: BigInt(at.getTime()) };
}

type Standing = Pick<Break, 'reference' | 'version' | 'since' | 'history'>;

/** The events of a break's life. */
const breakEvents: Pick<
  ReconcilerEvents,
  'breakOpened' | 'breakAssigned' | 'breakExplained' | 'breakResolved'
> = {
  breakOpened: (opened, by) => {
    const { _id, kind, reference, currency, amount } = opened;
    const { address, occurredAt } = standing(opened, by === undefined ? opened.cause : {});
    return {
      ...address,
      type: 'pesewa.reconciliation.BreakOpened',
      payload: { occurredAt, breakId: _id, kind, reference, currency, amount, openedBy: by ?? null },
    };
  },
  breakAssigned: (assigned, owner, by) => {
    const { _id, kind, reference } = assigned;
    const { address, occurredAt } = standing(assigned);
    return {
      ...address,
      type: 'pesewa.reconciliation.BreakAssigned',
      payload: { occurredAt, breakId: _id, kind, reference, owner, assignedBy: by },
    };
  },
  breakExplained: (explained, by) => {
    const { _id, kind, reference } = explained;
    const { address, occurredAt } = standing(explained);
    return {
      ...address,
      type: 'pesewa.reconciliation.BreakExplained',
      payload: { occurredAt, breakId: _id, kind, reference, explainedBy: by },
    };
  },
  breakResolved: (resolved, cause) => {
    const { _id, kind, reference, resolution = '', resolvedBy } = resolved;
    const { address, occurredAt } = standing(resolved, cause);
    return {
      ...address,
      type: 'pesewa.reconciliation.BreakResolved',
      payload: {
        occurredAt,
        breakId: _id,
        resolution: resolvedBy === undefined ? resolution : 'by an operator',
        kind,
        reference,
        resolvedBy: resolvedBy ?? null,
      },
    };
  },
};

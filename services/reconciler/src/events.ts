import type { Clock, Ids } from '@pesewa/kernel';
import type { OutgoingEvent } from '@pesewa/messaging';
import type { Break } from './domain/break.ts';
import type { RailFact } from './domain/question.ts';
import type { Terms, Tracked } from './domain/tracked.ts';
import type { RunDocument } from './wallets/store.ts';

/** Where a fact comes from: a poll, or the callback that proves it. */
export interface FactSource {
  readonly source: 'poll' | 'provenCallback';
  /** When the poll was claimed, by the database's clock, or when the callback came. */
  readonly atMs: number;
  readonly causationId: string | null;
}

/** What two operators decided that a customer paid; amounts in minor units. */
export interface DecidedAmount {
  readonly tracked: Tracked;
  readonly terms: Terms;
  readonly amount: bigint;
  readonly railFee: bigint;
  readonly breakId: string;
  readonly decidedBy: string;
  readonly approvedBy: string;
}

/** How two operators decided that a payout ended; the fee in minor units. */
export interface OutcomeDecided extends Omit<DecidedAmount, 'amount'> {
  readonly outcome: 'failed' | 'completed';
  readonly proposedAt: bigint;
}

/** What turns findings into events of rails.notices and reconciliation.events. */
export interface ReconcilerEvents {
  readonly observed: (tracked: Tracked, terms: Terms, fact: RailFact, from: FactSource) => OutgoingEvent;
  readonly amountDecided: (decided: DecidedAmount) => OutgoingEvent;
  readonly outcomeDecided: (decided: OutcomeDecided) => OutgoingEvent;
  readonly stuckSettled: (tracked: Tracked, causationId: string) => OutgoingEvent;
  /** A break that was not open before; `by` where an operator opened it again. */
  readonly breakOpened: (
    opened: Pick<Break, '_id' | 'kind' | 'reference' | 'currency' | 'amount'>,
    by?: string,
  ) => OutgoingEvent;
  readonly breakAssigned: (assigned: Break, owner: string, by: string) => OutgoingEvent;
  readonly breakExplained: (explained: Break, by: string) => OutgoingEvent;
  /** The words of an operator stay here: they may name people. */
  readonly breakResolved: (
    resolved: Pick<Break, '_id' | 'kind' | 'reference' | 'resolution' | 'resolvedBy'>,
  ) => OutgoingEvent;
  readonly driftMeasured: (run: RunDocument) => OutgoingEvent;
}

/** Builds {@link ReconcilerEvents}. */
export function createReconcilerEvents(deps: { readonly ids: Ids; readonly clock: Clock }): ReconcilerEvents {
  const envelope = () => ({ eventId: deps.ids.next('ev'), occurredAt: BigInt(deps.clock.nowMs()) });
  return {
    observed: (tracked, terms, fact, { source, atMs, causationId }) => ({
      topic: 'railNotices',
      key: tracked.reference,
      version: tracked.version,
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
    amountDecided: ({ tracked, terms, ...decided }) => ({
      topic: 'railNotices',
      key: tracked.reference,
      version: tracked.version,
      causationId: null,
      type: 'pesewa.rails.CollectionAmountDecided',
      payload: {
        ...envelope(),
        ...decided,
        rail: terms.rail,
        reference: tracked.reference,
        currency: terms.currency,
      },
    }),
    outcomeDecided: ({ tracked, terms, ...decided }) => ({
      topic: 'railNotices',
      key: tracked.reference,
      version: tracked.version,
      causationId: null,
      type: 'pesewa.rails.PayoutOutcomeDecided',
      payload: { ...envelope(), ...decided, rail: terms.rail, reference: tracked.reference },
    }),
    stuckSettled: (tracked, causationId) => ({
      ...about(tracked.reference, tracked.version),
      causationId,
      type: 'pesewa.reconciliation.StuckSettled',
      payload: { ...envelope(), reference: tracked.reference, polls: tracked.polls, status: tracked.status },
    }),
    ...breakEvents(envelope),
    driftMeasured: ({ rail, currency, railBalance, float, drift, withinRange }) => ({
      ...about(`${rail}:${currency}`, 0n),
      type: 'pesewa.reconciliation.DriftMeasured',
      payload: { ...envelope(), rail, currency, railBalance, float, drift, withinRange },
    }),
  };
}

type Envelope = () => { readonly eventId: string; readonly occurredAt: bigint };

function about(key: string, version: bigint) {
  return { topic: 'reconciliation', key, version, causationId: null } as const;
}

/** The events of a break's life. */
function breakEvents(
  envelope: Envelope,
): Pick<ReconcilerEvents, 'breakOpened' | 'breakAssigned' | 'breakExplained' | 'breakResolved'> {
  return {
    breakOpened: ({ _id, kind, reference, currency, amount }, by) => ({
      ...about(reference, 0n),
      type: 'pesewa.reconciliation.BreakOpened',
      payload: { ...envelope(), breakId: _id, kind, reference, currency, amount, openedBy: by ?? null },
    }),
    breakAssigned: ({ _id, kind, reference }, owner, by) => ({
      ...about(reference, 0n),
      type: 'pesewa.reconciliation.BreakAssigned',
      payload: { ...envelope(), breakId: _id, kind, reference, owner, assignedBy: by },
    }),
    breakExplained: ({ _id, kind, reference }, by) => ({
      ...about(reference, 0n),
      type: 'pesewa.reconciliation.BreakExplained',
      payload: { ...envelope(), breakId: _id, kind, reference, explainedBy: by },
    }),
    breakResolved: ({ _id, kind, reference, resolution = '', resolvedBy }) => ({
      ...about(reference, 0n),
      type: 'pesewa.reconciliation.BreakResolved',
      payload: {
        ...envelope(),
        breakId: _id,
        resolution: resolvedBy === undefined ? resolution : 'by an operator',
        kind,
        reference,
        resolvedBy: resolvedBy ?? null,
      },
    }),
  };
}

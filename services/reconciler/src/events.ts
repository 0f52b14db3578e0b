import type { Clock, Ids } from '@pesewa/kernel';
import type { OutgoingEvent } from '@pesewa/messaging';
import type { BreakDocument } from './breaks.ts';
import type { RailFact } from './domain/question.ts';
import type { Terms, Tracked } from './domain/tracked.ts';
import type { RunDocument } from './wallets.ts';

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

/** What turns findings into events of rails.notices and reconciliation.events. */
export interface ReconcilerEvents {
  readonly observed: (tracked: Tracked, terms: Terms, fact: RailFact, from: FactSource) => OutgoingEvent;
  readonly amountDecided: (decided: DecidedAmount) => OutgoingEvent;
  readonly stuckSettled: (tracked: Tracked, causationId: string) => OutgoingEvent;
  readonly breakOpened: (opened: BreakDocument) => OutgoingEvent;
  readonly breakResolved: (resolved: BreakDocument) => OutgoingEvent;
  readonly driftMeasured: (run: RunDocument) => OutgoingEvent;
}

/** Builds {@link ReconcilerEvents}. */
export function createReconcilerEvents(deps: { readonly ids: Ids; readonly clock: Clock }): ReconcilerEvents {
  const envelope = () => ({ eventId: deps.ids.next('ev'), occurredAt: BigInt(deps.clock.nowMs()) });
  const about = (key: string, version: bigint) => ({
    topic: 'reconciliation' as const,
    key,
    version,
    causationId: null,
  });
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
    stuckSettled: (tracked, causationId) => ({
      ...about(tracked.reference, tracked.version),
      causationId,
      type: 'pesewa.reconciliation.StuckSettled',
      payload: { ...envelope(), reference: tracked.reference, polls: tracked.polls, status: tracked.status },
    }),
    breakOpened: ({ _id, kind, reference, currency, amount }) => ({
      ...about(reference, 0n),
      type: 'pesewa.reconciliation.BreakOpened',
      payload: { ...envelope(), breakId: _id, kind, reference, currency, amount },
    }),
    breakResolved: ({ _id, reference, resolution = '' }) => ({
      ...about(reference, 0n),
      type: 'pesewa.reconciliation.BreakResolved',
      payload: { ...envelope(), breakId: _id, resolution },
    }),
    driftMeasured: ({ rail, currency, railBalance, float, drift, withinRange }) => ({
      ...about(`${rail}:${currency}`, 0n),
      type: 'pesewa.reconciliation.DriftMeasured',
      payload: { ...envelope(), rail, currency, railBalance, float, drift, withinRange },
    }),
  };
}

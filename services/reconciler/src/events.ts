import type { Clock, Ids } from '@pesewa/kernel';
import type { OutgoingEvent } from '@pesewa/messaging';
import type { BreakDocument } from './breaks.ts';
import type { Terms, Tracked } from './domain/tracked.ts';
import type { RailFact } from './domain/verdict.ts';
import type { RunDocument } from './wallets.ts';

/** What turns findings into events of rails.notices and reconciliation.events. */
export interface ReconcilerEvents {
  readonly observed: (tracked: Tracked, terms: Terms, fact: RailFact, polledAtMs: number) => OutgoingEvent;
  readonly stuckSettled: (tracked: Tracked, causationId: string) => OutgoingEvent;
  readonly breakOpened: (opened: BreakDocument) => OutgoingEvent;
  readonly breakResolved: (resolved: BreakDocument, resolution: string) => OutgoingEvent;
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
    observed: (tracked, terms, fact, polledAtMs) => ({
      topic: 'railNotices',
      key: tracked.reference,
      version: tracked.version,
      causationId: null,
      type: 'pesewa.rails.RailStatusObserved',
      payload: {
        ...envelope(),
        ...fact,
        rail: terms.rail,
        reference: tracked.reference,
        kind: terms.kind,
        source: 'poll',
        polledAt: BigInt(polledAtMs),
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
    breakResolved: ({ _id, reference }, resolution) => ({
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

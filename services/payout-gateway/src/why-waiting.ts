import type { IsPaused } from '@pesewa/payments';
import type { Payout } from './store.ts';

/** Why a payout that certainly was not sent waits, in words for merchants too; null if nothing but its turn holds it up. */
export type WhyWaiting = (
  payout: Pick<Payout, 'step' | 'rail' | 'merchantId' | 'earlierUnclear' | 'recipientKnown'>,
) => string | null;

/** Builds {@link WhyWaiting}; its words are those of availability (contract 10.23). */
export function createWhyWaiting(deps: {
  readonly isPaused: IsPaused;
  readonly rail: (name: string) => { readonly isAvailable: () => boolean } | undefined;
}): WhyWaiting {
  return (payout) => {
    if (payout.step !== 'awaitingHold' && payout.step !== 'held') return null;
    // It may have been sent before: by an unclear attempt, or before its database was restored.
    if (payout.earlierUnclear || !payout.recipientKnown) return null;
    if (deps.isPaused(payout)) return 'Waiting: paused';
    return deps.rail(payout.rail)?.isAvailable() === false ? 'Waiting: the route is delayed' : null;
  };
}

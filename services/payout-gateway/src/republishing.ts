import { unreachable } from '@pesewa/kernel';
import type { OutgoingEvent, Transaction } from '@pesewa/messaging';
import { describe } from './domain/payout-state.ts';
import { acceptedEvent, eventOf } from './events.ts';
import type { Payout, PayoutStore } from './store.ts';

/** A request for an event of a payout that was published long ago, and that another service still waits for. */
export interface RepublishRequest {
  readonly reference: string;
  /** The awaited step; see the event RepublishRequested. */
  readonly step: string;
}

/** Publishes again what the records of payouts prove, within the transaction; the records don't change. */
export async function republish(
  store: Pick<PayoutStore, 'findByReferences'>,
  requests: readonly RepublishRequest[],
  transaction: Transaction,
): Promise<void> {
  const byReference = new Map(requests.map((request) => [request.reference, request]));
  const payouts = await store.findByReferences([...byReference.keys()], transaction.session);
  for (const payout of payouts) {
    const request = byReference.get(payout.reference);
    // The answer to the hold has come meanwhile, so nothing waits for it any more.
    if (!request || (request.step === 'hold' && payout.step !== 'awaitingHold')) continue;
    for (const event of eventsProvenBy(payout)) transaction.emit(event);
  }
}

/**
 * The events of a payout that its record proves, in order: its acceptance, its submission if that happened last, and
 * its end. They are identical to those published before, because their content follows from the record.
 */
function eventsProvenBy(payout: Payout): OutgoingEvent[] {
  return [acceptedEvent({ ...payout, version: 1n }), ...laterEvents(payout)];
}

function laterEvents(payout: Payout): readonly OutgoingEvent[] {
  const { status, version, railFee, timeline, acceptedAtMs, causedBy: causationId, completion } = payout;
  const at = (stepsAgo: number) => ({ causationId, atMs: timeline.at(-1 - stepsAgo)?.atMs ?? acceptedAtMs });
  const reason = payout.statusReason ?? status;
  const listOf = (event: OutgoingEvent | undefined) => (event ? [event] : []);
  switch (status) {
    case 'COMPLETED':
      return listOf(eventOf({ kind: 'completed', railFee, reason }, payout, at(0)));
    case 'FAILED':
      return listOf(eventOf({ kind: 'failed', reason }, payout, at(0)));
    case 'REVERSED': {
      const before = { ...payout, version: version - 1n };
      const completed = { kind: 'completed', railFee, reason: completion?.reason ?? 'Successful' } as const;
      const cause = { ...at(1), ...(completion && { causationId: completion.causedBy }) };
      return [
        ...listOf(eventOf(completed, before, cause)),
        ...listOf(eventOf({ kind: 'reversed', reason }, payout, at(0))),
      ];
    }
    case 'INITIALIZED': {
      const submitted = { kind: 'submitted', answer: 'acknowledged' } as const;
      // Of one that something has followed, the record no longer has the version and the cause.
      if (timeline.at(-1)?.what !== describe(submitted)) return [];
      return listOf(eventOf(submitted, payout, at(0)));
    }
    default:
      return unreachable(status);
  }
}

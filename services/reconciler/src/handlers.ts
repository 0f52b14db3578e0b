import type { TopicEvent } from '@pesewa/contracts';
import { type Clock, feeFor, unreachable } from '@pesewa/kernel';
import { handleTopic, type Received, type TopicHandler } from '@pesewa/messaging';
import type { RailConnector } from '@pesewa/rails';
import { type Adjustments, type CorrectionEvent, isCorrection } from './breaks/adjustments.ts';
import type { EndStatus, PaymentKind } from './domain/claim.ts';
import type { Sighting } from './domain/sightings.ts';
import type { Booked, Terms } from './domain/tracked.ts';
import type { WorkingStore } from './store.ts';
import type { FloatMove, WalletStore } from './wallets/store.ts';
import type { Seen, WorkingSet } from './working-set.ts';

/** What a rail is expected to charge us for a payment, in minor units; nothing where it is not configured. */
export type RailFee = (rail: string, kind: PaymentKind, amount: bigint) => bigint | undefined;

/** What rails charge by their own schedules. */
export function expectedFees(
  rail: (name: string) => Pick<RailConnector, 'capabilities'> | undefined,
): RailFee {
  return (name, kind, amount) => {
    const fees = rail(name)?.capabilities.fees[kind];
    return fees && feeFor(fees, amount);
  };
}

interface HandlerDeps {
  readonly workingSet: WorkingSet;
  readonly store: WorkingStore;
  readonly wallets: WalletStore;
  readonly adjustments: Adjustments;
  readonly railFee: RailFee;
  readonly clock: Clock;
}

/** What the reconciler makes of the topics it consumes: its working set, its callbacks, its floats. */
export function createHandlers(deps: HandlerDeps): readonly TopicHandler[] {
  return [payoutHandler(deps), collectionHandler(deps), callbackHandler(deps), ledgerHandler(deps)];
}

const ENDS = {
  'pesewa.payouts.PayoutCompleted': 'completed',
  'pesewa.payouts.PayoutFailed': 'failed',
  'pesewa.payouts.PayoutReversed': 'reversed',
  'pesewa.collections.CollectionCompleted': 'completed',
  'pesewa.collections.CollectionFailed': 'failed',
} as const satisfies Record<string, EndStatus>;

function nameOf(type: string): string {
  return type.slice(type.lastIndexOf('.') + 1);
}

function common(event: {
  readonly type: string;
  readonly version: bigint;
  readonly payload: { readonly occurredAt: bigint };
}) {
  return { name: nameOf(event.type), version: event.version, atMs: Number(event.payload.occurredAt) };
}

const seenAs =
  <Event extends { readonly eventId: string; readonly payload: { readonly reference: string } }>(
    sightingOf: (event: Event) => Sighting,
  ) =>
  (event: Event): Seen => ({
    reference: event.payload.reference,
    eventId: event.eventId,
    sighting: sightingOf(event),
  });

function payoutHandler({ workingSet, railFee }: HandlerDeps): TopicHandler {
  const sightingOf = (event: Received<TopicEvent<'payouts'>>): Sighting => {
    if (event.type === 'pesewa.payouts.PayoutSubmitted') {
      const { answer, refused } = event.payload;
      const said = answer === 'accepted' ? answer : refused ? 'refused' : null;
      return { kind: 'asked', ...common(event), answer: said };
    }
    const { rail, merchantId, currency, amount } = event.payload;
    const country = event.type === 'pesewa.payouts.PayoutAccepted' ? event.payload.country : null;
    const terms: Terms = {
      kind: 'payout',
      rail,
      merchantId,
      currency,
      country,
      amount,
      railFee: railFee(rail, 'payout', amount) ?? 0n,
    };
    if (event.type === 'pesewa.payouts.PayoutAccepted') return { kind: 'opened', ...common(event), terms };
    const paid = event.type === 'pesewa.payouts.PayoutCompleted' && { charged: event.payload.railFee };
    return { kind: 'ended', ...common(event), status: ENDS[event.type], terms, ...paid };
  };
  return handleTopic(
    'payouts',
    [
      'pesewa.payouts.PayoutAccepted',
      'pesewa.payouts.PayoutSubmitted',
      'pesewa.payouts.PayoutCompleted',
      'pesewa.payouts.PayoutFailed',
      'pesewa.payouts.PayoutReversed',
    ],
    (events, transaction) => workingSet.apply(events.map(seenAs(sightingOf)), transaction),
  );
}

function collectionHandler({ workingSet, railFee }: HandlerDeps): TopicHandler {
  const sightingOf = (event: Received<TopicEvent<'collections'>>): Sighting => {
    if (event.type === 'pesewa.collections.CollectionCompletionClosed')
      return { kind: 'closed', ...common(event) };
    if (event.type === 'pesewa.collections.CollectionCompletionRequested')
      return { kind: 'asked', ...common(event), answer: null };
    const { rail, merchantId, currency } = event.payload;
    const opened = event.type === 'pesewa.collections.CollectionInitiated';
    const country = opened ? event.payload.country : null;
    const amount = opened
      ? event.payload.amount
      : 'amountReceived' in event.payload
        ? event.payload.amountReceived
        : 0n;
    const fee = railFee(rail, 'collection', amount) ?? 0n;
    const terms: Terms = { kind: 'collection', rail, merchantId, currency, country, amount, railFee: fee };
    if (opened) return { kind: 'opened', ...common(event), terms };
    return { kind: 'ended', ...common(event), status: ENDS[event.type], terms };
  };
  return handleTopic(
    'collections',
    [
      'pesewa.collections.CollectionInitiated',
      'pesewa.collections.CollectionCompletionRequested',
      'pesewa.collections.CollectionCompletionClosed',
      'pesewa.collections.CollectionCompleted',
      'pesewa.collections.CollectionFailed',
    ],
    (events, transaction) => workingSet.apply(events.map(seenAs(sightingOf)), transaction),
  );
}

/** A hint moves nothing; it makes its payment's poll due. What a rail proves is judged like its answer (design 6). */
function callbackHandler({ workingSet, store, clock }: HandlerDeps): TopicHandler {
  return handleTopic('railNotices', ['pesewa.rails.CallbackReceived'], async (events, transaction) => {
    const fresh = await takeNew(store, events, transaction.session, clock);
    const seen = fresh.map(
      ({ eventId, payload }): Seen => ({
        reference: payload.reference,
        eventId,
        sighting: {
          kind: 'called',
          claim: {
            rail: payload.rail,
            kind: payload.kind,
            proven: payload.proven,
            status: payload.claimedStatus,
            amount: payload.claimedAmount,
            currency: payload.claimedCurrency,
            fee: payload.claimedFee,
            reason: payload.claimedReason,
            atMs: Number(payload.occurredAt),
          },
        },
      }),
    );
    await workingSet.apply(seen, transaction);
  });
}

type FloatEvent = Received<Extract<TopicEvent<'ledger'>, { readonly payload: { readonly rail: string } }>>;
/** What is about a payment and moves no float: its hold. */
type HoldEvent = Received<
  Extract<TopicEvent<'ledger'>, { readonly type: 'pesewa.ledger.HoldReleased' | 'pesewa.ledger.HoldRefused' }>
>;

function ledgerHandler({ workingSet, store, wallets, adjustments, clock }: HandlerDeps): TopicHandler {
  return handleTopic(
    'ledger',
    [
      'pesewa.ledger.HoldCaptured',
      'pesewa.ledger.HoldReleased',
      'pesewa.ledger.HoldRefused',
      'pesewa.ledger.CollectionCredited',
      'pesewa.ledger.PayoutRefunded',
      'pesewa.ledger.FloatFunded',
      'pesewa.ledger.FloatWithdrawn',
      'pesewa.ledger.SuspenseBooked',
      'pesewa.ledger.WalletAdjusted',
      'pesewa.ledger.CommandRefused',
    ],
    async (events, transaction) => {
      const fresh = await takeNew(store, events, transaction.session, clock);
      const postings = fresh.filter(isPosting);
      await wallets.move(postings.filter(movesFloat).map(moveOf), transaction.session);
      await workingSet.apply(postings.flatMap(postingOf), transaction);
      await adjustments.hear(fresh.filter(isCorrection), transaction);
    },
  );
}

function isPosting(event: FloatEvent | HoldEvent | CorrectionEvent): event is FloatEvent | HoldEvent {
  return event.type !== 'pesewa.ledger.WalletAdjusted' && event.type !== 'pesewa.ledger.CommandRefused';
}

function movesFloat(event: FloatEvent | HoldEvent): event is FloatEvent {
  return 'rail' in event.payload;
}

/** How an entry of the ledger moves our float (design 5). */
function moveOf(event: FloatEvent): FloatMove {
  const { rail, currency } = event.payload;
  const move = { rail, currency, bucket: event.key, ordered: false };
  switch (event.type) {
    case 'pesewa.ledger.HoldCaptured':
      return { ...move, minor: -event.payload.amount - event.payload.railCost };
    case 'pesewa.ledger.CollectionCredited':
      return { ...move, minor: event.payload.amountReceived - event.payload.railCost };
    case 'pesewa.ledger.PayoutRefunded':
      return { ...move, minor: event.payload.amount };
    case 'pesewa.ledger.FloatFunded':
      return { ...move, minor: event.payload.amount, ordered: true };
    case 'pesewa.ledger.FloatWithdrawn':
      return { ...move, minor: -event.payload.amount, ordered: true };
    case 'pesewa.ledger.SuspenseBooked': {
      const { direction, amount } = event.payload;
      return { ...move, minor: direction === 'surplus' ? amount : -amount, ordered: true };
    }
    default:
      return unreachable(event);
  }
}

function postingOf(event: FloatEvent | HoldEvent): readonly Seen[] {
  const posting = POSTINGS[event.type];
  // The orders of operators are about no payment.
  if (posting === null || !('reference' in event.payload)) return [];
  const { name, atMs } = common(event);
  const { reference } = event.payload;
  const sighting = { kind: 'posted', name, posting, moved: bookedBy(event), atMs } as const;
  return [{ reference, eventId: event.eventId, sighting }];
}

const POSTINGS = {
  'pesewa.ledger.HoldCaptured': 'capture',
  'pesewa.ledger.CollectionCredited': 'capture',
  'pesewa.ledger.PayoutRefunded': 'refund',
  'pesewa.ledger.HoldReleased': 'release',
  // The payout fails without anything to give back.
  'pesewa.ledger.HoldRefused': 'release',
  'pesewa.ledger.FloatFunded': null,
  'pesewa.ledger.FloatWithdrawn': null,
  'pesewa.ledger.SuspenseBooked': null,
} as const satisfies Record<(FloatEvent | HoldEvent)['type'], string | null>;

/** What an entry moves between a payment and our float, less the rail's own fee. */
function bookedBy(event: FloatEvent | HoldEvent): Booked | null {
  if (!movesFloat(event)) return null;
  const { rail, currency } = event.payload;
  const railCost = 'railCost' in event.payload ? event.payload.railCost : 0n;
  return { rail, currency, minor: moveOf(event).minor + railCost };
}

/** Drops events that were applied before, and repeats within the chunk. */
async function takeNew<Event extends { readonly eventId: string }>(
  store: WorkingStore,
  events: readonly Event[],
  session: Parameters<WorkingStore['takeNew']>[1],
  clock: Clock,
): Promise<readonly Event[]> {
  const byId = new Map(events.map((event) => [event.eventId, event]));
  const fresh = await store.takeNew([...byId.keys()], session, new Date(clock.nowMs()));
  return [...byId.values()].filter(({ eventId }) => fresh.has(eventId));
}

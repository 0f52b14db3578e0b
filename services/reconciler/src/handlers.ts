import { type PaymentKind, paymentEnds, type TopicEvent } from '@pesewa/contracts';
import { feeFor } from '@pesewa/kernel';
import { type BatchTransaction, handleTopic, type Received, type TopicHandler } from '@pesewa/messaging';
import { partOf, type Rail } from '@pesewa/rails';
import type { CorrectionEvent, Corrections } from './breaks/life.ts';
import type { PaymentObservation } from './domain/observations.ts';
import type { Terms } from './domain/tracked.ts';
import type { FloatMove, WalletStore } from './wallets/store.ts';
import type { ObservedEvent, WorkingSet } from './working-set.ts';

/** The rail's expected charge for a payment, in minor units; undefined if the rail is not configured. */
export type RailFee = (rail: string, kind: PaymentKind, amount: bigint) => bigint | undefined;

/** The rails' charges by their own schedules. */
export function expectedFees(
  rail: (name: string) => Pick<Rail, 'payouts' | 'collections'> | undefined,
): RailFee {
  return (name, kind, amount) => {
    const part = partOf(rail(name), kind);
    return part && feeFor(part.fee, amount);
  };
}

interface HandlerDeps {
  readonly workingSet: WorkingSet;
  readonly wallets: Pick<WalletStore, 'move'>;
  readonly corrections: Corrections;
  readonly railFee: RailFee;
}

/** The reconciler's handlers: they maintain its working set, its callbacks and its floats. */
export function createHandlers(deps: HandlerDeps): readonly TopicHandler[] {
  return [
    handleTopic(
      'payouts',
      {
        'pesewa.payouts.PayoutAccepted': 'handled',
        'pesewa.payouts.PayoutSubmitted': 'handled',
        'pesewa.payouts.PayoutCompleted': 'handled',
        'pesewa.payouts.PayoutFailed': 'handled',
        'pesewa.payouts.PayoutReversed': 'handled',
      },
      applyOwned(deps, 'payout'),
    ),
    handleTopic(
      'collections',
      {
        'pesewa.collections.CollectionInitiated': 'handled',
        'pesewa.collections.CollectionCompletionRequested': 'handled',
        'pesewa.collections.CollectionCompletionClosed': 'handled',
        'pesewa.collections.CollectionCompleted': 'handled',
        'pesewa.collections.CollectionFailed': 'handled',
      },
      applyOwned(deps, 'collection'),
    ),
    callbackHandler(deps),
    ledgerHandler(deps),
  ];
}

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

type OwnersEvent = Received<TopicEvent<'payouts'> | TopicEvent<'collections'>>;

/** Applies events of the owner of payments of a kind. */
function applyOwned({ workingSet, railFee }: HandlerDeps, kind: PaymentKind) {
  return (events: readonly OwnersEvent[], transaction: BatchTransaction): Promise<void> => {
    const observed = events.map((event) => {
      const { eventId, traceparent, payload } = event;
      const observation = observationOf(kind, railFee, event);
      return { reference: payload.reference, eventId, traceparent, observation };
    });
    return workingSet.apply(observed, transaction);
  };
}

function observationOf(kind: PaymentKind, railFee: RailFee, event: OwnersEvent): PaymentObservation {
  const said = common(event);
  if (event.type === 'pesewa.payouts.PayoutSubmitted') {
    const { answer, refused } = event.payload;
    return {
      kind: 'asked',
      ...said,
      answer: answer === 'acknowledged' ? answer : refused ? 'refused' : null,
    };
  }
  if (event.type === 'pesewa.collections.CollectionCompletionRequested')
    return { kind: 'asked', ...said, answer: null };
  if (event.type === 'pesewa.collections.CollectionCompletionClosed') return { kind: 'closed', ...said };
  const { type, payload } = event;
  const { rail, merchantId, currency } = payload;
  const country = 'country' in payload ? payload.country : null;
  // What a collection has received counts; one that failed names no amount.
  const asked = 'amount' in payload ? payload.amount : 0n;
  const amount = 'amountReceived' in payload ? payload.amountReceived : asked;
  const fee = railFee(rail, kind, amount) ?? 0n;
  const terms: Terms = { kind, rail, merchantId, currency, country, amount, railFee: fee };
  if (type === 'pesewa.payouts.PayoutAccepted' || type === 'pesewa.collections.CollectionInitiated')
    return { kind: 'opened', ...said, terms };
  const paid = type === 'pesewa.payouts.PayoutCompleted' && { charged: event.payload.railFee };
  return { kind: 'ended', ...said, status: paymentEnds[type], terms, ...paid };
}

/**
 * A hint moves nothing; it makes its payment's poll due. A claim that a rail proves is judged like its answer (ADR 6).
 */
function callbackHandler({ workingSet }: HandlerDeps): TopicHandler {
  return handleTopic(
    'railCallbacks',
    { 'pesewa.rails.CallbackReceived': 'handled' },
    async (events, transaction) => {
      const observed = events.map(
        ({ eventId, traceparent, payload }): ObservedEvent => ({
          reference: payload.reference,
          eventId,
          traceparent,
          observation: {
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
      await workingSet.apply(observed, transaction);
    },
  );
}

type LedgerEvent<Type extends TopicEvent<'ledger'>['type']> = Received<
  Extract<TopicEvent<'ledger'>, { readonly type: Type }>
>;
/** An operator's order about a float. */
type OrderEvent = LedgerEvent<
  'pesewa.ledger.FloatFunded' | 'pesewa.ledger.FloatWithdrawn' | 'pesewa.ledger.SuspenseBooked'
>;
/** An entry of a payment, or the refusal of its hold. */
type PostingEvent = LedgerEvent<keyof typeof POSTINGS>;

function ledgerHandler({ workingSet, wallets, corrections }: HandlerDeps): TopicHandler {
  return handleTopic(
    'ledger',
    {
      'pesewa.ledger.HoldCaptured': 'handled',
      'pesewa.ledger.HoldReleased': 'handled',
      'pesewa.ledger.HoldRefused': 'handled',
      'pesewa.ledger.CollectionCredited': 'handled',
      'pesewa.ledger.PayoutRefunded': 'handled',
      'pesewa.ledger.FloatFunded': 'handled',
      'pesewa.ledger.FloatWithdrawn': 'handled',
      'pesewa.ledger.SuspenseBooked': 'handled',
      'pesewa.ledger.WalletAdjusted': 'handled',
      // A refused order moves nothing, and its break stands.
      'pesewa.ledger.CommandRefused': 'ignored',
      // A hold moves no float.
      'pesewa.ledger.HoldPlaced': 'ignored',
      // A movement between a wallet and the treasury moves no float either.
      'pesewa.ledger.WalletFunded': 'ignored',
      'pesewa.ledger.WalletWithdrawn': 'ignored',
      // Published for the ledger itself.
      'pesewa.ledger.PageWritten': 'ignored',
      'pesewa.ledger.OrderDecided': 'ignored',
    },
    async (events, transaction) => {
      await wallets.move(events.filter(isOrder).map(orderedBy), transaction.session);
      const posted = events.filter(isPosting).map((event) => postingOf(event, transaction.partition));
      await workingSet.apply(posted, transaction);
      await corrections(events.filter(isCorrection), transaction);
    },
  );
}

function isOrder(event: PostingEvent | OrderEvent | CorrectionEvent): event is OrderEvent {
  return 'rail' in event.payload && 'commandId' in event.payload;
}

function isCorrection(event: PostingEvent | OrderEvent | CorrectionEvent): event is CorrectionEvent {
  return 'breakId' in event.payload;
}

function isPosting(event: PostingEvent | OrderEvent | CorrectionEvent): event is PostingEvent {
  return event.type in POSTINGS;
}

/** How an operator's order changes our float. */
function orderedBy(event: OrderEvent): FloatMove {
  const { rail, currency, amount, commandId } = event.payload;
  const isGain =
    event.type === 'pesewa.ledger.FloatFunded' ||
    (event.type === 'pesewa.ledger.SuspenseBooked' && event.payload.direction === 'surplus');
  return { rail, currency, minor: isGain ? amount : -amount, by: commandId };
}

function postingOf(event: PostingEvent, partition: number): ObservedEvent {
  const { name, atMs } = common(event);
  const posting = POSTINGS[event.type];
  const posted = { kind: 'posted', name, posting, atMs } as const;
  const observed = { reference: event.payload.reference, eventId: event.eventId };
  if (event.type === 'pesewa.ledger.HoldReleased' || event.type === 'pesewa.ledger.HoldRefused')
    return { ...observed, observation: { ...posted, moved: null } };
  const { rail, currency, ...payload } = event.payload;
  const amount = 'amountReceived' in payload ? payload.amountReceived : payload.amount;
  const minor = event.type === 'pesewa.ledger.HoldCaptured' ? -amount : amount;
  // The rail's own fee changes the float, but is not part of the payment's amount.
  const cost = 'railCost' in payload ? payload.railCost : 0n;
  const move = { rail, currency, minor: minor - cost, by: partition };
  return { ...observed, observation: { ...posted, moved: { rail, currency, minor } }, move };
}

const POSTINGS = {
  'pesewa.ledger.HoldCaptured': 'capture',
  'pesewa.ledger.CollectionCredited': 'capture',
  'pesewa.ledger.PayoutRefunded': 'refund',
  'pesewa.ledger.HoldReleased': 'release',
  // The payout fails, with nothing to release.
  'pesewa.ledger.HoldRefused': 'release',
} as const;

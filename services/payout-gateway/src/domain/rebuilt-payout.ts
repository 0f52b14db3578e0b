import type { TopicEvent } from '@pesewa/contracts';
import { unreachable } from '@pesewa/kernel';
import {
  type Completion,
  describe,
  evolve,
  initial,
  keepCompletion,
  type PayoutDomainEvent,
  type PayoutState,
  type PayoutTerms,
} from './payout-state.ts';
import type { PayoutRequest } from './request.ts';

/** An event of a payout as it is in our own topic. */
export type OwnEvent = TopicEvent<'payouts'> & {
  readonly version: bigint;
  /** The id of the event that caused it; empty if there is none. */
  readonly causationId: string;
  readonly traceparent?: string | undefined;
};

/** The part of an order that events contain: neither a person nor an account. */
export interface RebuiltRequest extends Pick<PayoutRequest, 'merchantReference' | 'country' | 'amount'> {
  readonly channel: string;
  readonly transactionType: undefined;
  readonly beneficiary: { readonly bankCode: string };
  readonly sender: null;
}

/** A payout that the database had forgotten, as its own events show it. */
export interface RebuiltPayout extends PayoutState, PayoutTerms {
  readonly order: RebuiltRequest;
  readonly causedBy: string | null;
  readonly completion?: Completion;
  readonly timeline: readonly { readonly what: string; readonly atMs: number }[];
}

type Accepted = Extract<OwnEvent, { readonly type: 'pesewa.payouts.PayoutAccepted' }>;
type Later = Exclude<OwnEvent, Accepted>;

/**
 * Rebuilds a payout from its events, in any order and with any repetitions; undefined if its acceptance is not among
 * them.
 */
export function rebuildPayout(events: readonly OwnEvent[]): RebuiltPayout | undefined {
  const accepted = events.find(isAccepted);
  return accepted && catchUp(acceptedStateOf(accepted), events);
}

/** A payout after those of its events that are newer than it, given in any order and with any repetitions. */
export function catchUp<One extends Recorded>(payout: One, events: readonly OwnEvent[]): One {
  return events.toSorted(byVersion).reduce(applyEvent, payout);
}

type Recorded = PayoutState & {
  readonly causedBy: string | null;
  readonly completion?: Completion;
  readonly timeline: readonly { readonly what: string; readonly atMs: number }[];
};

const isAccepted = (event: OwnEvent): event is Accepted => event.type === 'pesewa.payouts.PayoutAccepted';
const byVersion = (one: OwnEvent, other: OwnEvent): number => Number(one.version - other.version);

function acceptedStateOf({ payload, version, traceparent = '' }: Accepted): RebuiltPayout {
  const { reference, merchantReference, merchantId, currency, amount, fee, rail } = payload;
  const { country, channel, bankCode, batchReference, contentCheck } = payload;
  const acceptedAtMs = Number(payload.occurredAt);
  return {
    ...initial,
    version,
    recipientKnown: false,
    reference,
    merchantId,
    order: {
      merchantReference,
      country,
      channel,
      transactionType: undefined,
      amount: { minor: amount, currency },
      beneficiary: { bankCode },
      sender: null,
    },
    contentHash: contentCheck,
    fee,
    rail,
    batchReference,
    acceptedAtMs,
    traceparent,
    causedBy: null,
    timeline: [{ what: `accepted${BY_EVENTS}`, atMs: acceptedAtMs }],
  };
}

const BY_EVENTS = ', by its event: the restored database had forgotten it';

function applyEvent<One extends Recorded>(payout: One, event: OwnEvent): One {
  if (isAccepted(event) || event.version <= payout.version) return payout;
  const domainEvent = domainEventOf(event);
  const isAttempt = event.type === 'pesewa.payouts.PayoutSubmitted';
  return {
    ...payout,
    ...evolve(payout, domainEvent),
    ...keepCompletion(payout, domainEvent),
    version: event.version,
    attempts: isAttempt ? event.payload.attempt : payout.attempts,
    causedBy: event.causationId || null,
    timeline: [...payout.timeline, { what: describe(domainEvent), atMs: Number(event.payload.occurredAt) }],
  };
}

function domainEventOf({ type, payload }: Later): PayoutDomainEvent {
  switch (type) {
    case 'pesewa.payouts.PayoutSubmitted':
      return { kind: 'submitted', answer: payload.refused ? 'refused' : payload.answer };
    case 'pesewa.payouts.PayoutCompleted':
      return { kind: 'completed', railFee: payload.railFee, reason: payload.statusReason };
    case 'pesewa.payouts.PayoutFailed':
      return { kind: 'failed', reason: payload.statusReason };
    case 'pesewa.payouts.PayoutReversed':
      return { kind: 'reversed', reason: payload.statusReason };
    default:
      return unreachable(type);
  }
}

import { type Clock, unreachable } from '@pesewa/kernel';
import {
  type EventHandling,
  type HandledEvent,
  handleTopic,
  type TopicHandler,
  type Transaction,
} from '@pesewa/messaging';
import type { Balances } from './balances.ts';
import type { CausedCommand, ClaimDue, Payouts } from './payouts.ts';
import { republish } from './republishing.ts';
import type { Payout, PayoutStore } from './store.ts';

const FACTS = {
  'pesewa.rails.RailStatusObserved': 'handled',
  'pesewa.rails.PayoutOutcomeDecided': 'handled',
  'pesewa.rails.RepublishRequested': 'handled',
} as const satisfies EventHandling<'payoutFacts'>;

/** The ledger's events that payouts wait for; all others are ignored. */
const ENTRIES = {
  'pesewa.ledger.HoldPlaced': 'handled',
  'pesewa.ledger.HoldRefused': 'handled',
  'pesewa.ledger.HoldCaptured': 'ignored',
  'pesewa.ledger.HoldReleased': 'ignored',
  'pesewa.ledger.PayoutRefunded': 'ignored',
  'pesewa.ledger.CollectionCredited': 'ignored',
  'pesewa.ledger.WalletFunded': 'ignored',
  'pesewa.ledger.FloatFunded': 'ignored',
  'pesewa.ledger.WalletWithdrawn': 'ignored',
  'pesewa.ledger.FloatWithdrawn': 'ignored',
  'pesewa.ledger.WalletAdjusted': 'ignored',
  'pesewa.ledger.SuspenseBooked': 'ignored',
  'pesewa.ledger.CommandRefused': 'ignored',
  'pesewa.ledger.PageWritten': 'ignored',
  'pesewa.ledger.OrderDecided': 'ignored',
} as const satisfies EventHandling<'ledger'>;

type Entry = HandledEvent<'ledger', typeof ENTRIES>;
type Fact = HandledEvent<'payoutFacts', typeof FACTS>;
type Republishing = Extract<Fact, { readonly type: 'pesewa.rails.RepublishRequested' }>;

/** The payout gateway's handlers: holds release payouts for submission, facts end them, balances are stored. */
export function createHandlers(deps: {
  readonly payouts: Pick<Payouts, 'apply'>;
  readonly store: Pick<PayoutStore, 'findByReferences'>;
  readonly balances: Pick<Balances, 'apply'>;
  readonly clock: Clock;
  readonly resubmitGraceMs: number;
  /** Claims payouts that a hold makes due for submission, as far as there is room. */
  readonly claimDue: ClaimDue;
  /** Called when payouts have become due for submission that are not claimed. */
  readonly becameDue: () => void;
}): readonly TopicHandler[] {
  const wakeFor = (changed: readonly Payout[], { afterCommit }: Transaction) => {
    if (changed.some(({ step }) => step === 'held')) afterCommit(deps.becameDue);
  };
  const ledgerAnswers = handleTopic('ledger', ENTRIES, async (events, transaction) => {
    const nowMs = deps.clock.nowMs();
    const commands = events.map((event) => commandOfEntry(event, nowMs));
    wakeFor(await deps.payouts.apply(commands, transaction, { claimDue: deps.claimDue }), transaction);
  });
  const facts = handleTopic('payoutFacts', FACTS, async (events, transaction) => {
    const commands = events.flatMap((event): readonly CausedCommand[] => {
      if (isRepublishing(event)) return [];
      const { eventId: causationId, payload } = event;
      return [{ reference: payload.reference, causationId, command: commandOf(event, deps.resubmitGraceMs) }];
    });
    wakeFor(await deps.payouts.apply(commands, transaction), transaction);
    const requests = events.filter(isRepublishing).map(({ payload }) => payload);
    if (requests.length > 0) await republish(deps.store, requests, transaction);
  });
  const balances = handleTopic(
    'wallets',
    { 'pesewa.wallets.WalletBalanceChanged': 'handled' },
    (events, transaction) =>
      deps.balances.apply(
        events.map(({ payload }) => payload),
        transaction.session,
      ),
  );
  return [ledgerAnswers, facts, balances];
}

/** The command that a ledger event gives for its payout. */
function commandOfEntry({ type, payload, eventId }: Entry, nowMs: number): CausedCommand {
  const { reference } = payload;
  switch (type) {
    case 'pesewa.ledger.HoldPlaced':
      return { reference, causationId: eventId, command: { kind: 'confirmHold', nowMs } };
    case 'pesewa.ledger.HoldRefused':
      return { reference, causationId: eventId, command: { kind: 'refuseHold', reason: payload.reason } };
    default:
      return unreachable(type);
  }
}

function isRepublishing(event: Fact): event is Republishing {
  return event.type === 'pesewa.rails.RepublishRequested';
}

/** The command that a fact or a decision gives for its payout. */
function commandOf(event: Exclude<Fact, Republishing>, resubmitGraceMs: number): CausedCommand['command'] {
  if (event.type === 'pesewa.rails.PayoutOutcomeDecided') {
    const { outcome, railFee, proposedAt, occurredAt } = event.payload;
    return {
      kind: 'endByOperators',
      resubmitGraceMs,
      decided: { outcome, railFee, knownAtMs: Number(proposedAt), decidedAtMs: Number(occurredAt) },
    };
  }
  const { status, fee, reason, polledAt } = event.payload;
  const fact = {
    status,
    railFee: fee ?? 0n,
    reason: reason ?? (status === 'completed' ? 'Successful' : status),
    polledAtMs: Number(polledAt),
  };
  return { kind: 'observe', resubmitGraceMs, fact };
}

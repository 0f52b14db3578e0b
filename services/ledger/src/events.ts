import { walletKeyOf } from '@pesewa/contracts';
import type { OutgoingEvent } from '@pesewa/messaging';
import type { WalletChange } from './domain/books.ts';
import { eventTypeOf, type LedgerDomainEvent } from './domain/instructions.ts';
import { breakIdOf, directionOf, type Order, type OrderKind } from './domain/orders.ts';
import type { Outcome } from './domain/outcomes.ts';
import type { DecidedOrder } from './domain/own-events.ts';
import type { AppendedPage } from './pages.ts';

function address(domainEvent: LedgerDomainEvent) {
  const { causationId, sequence, currency } = domainEvent;
  const key = walletKeyOf(ownerOf(domainEvent), currency);
  return { topic: 'ledger' as const, key, version: sequence, causationId };
}

/** The event of a domain event, with the time of its entries: so the same domain event always gives the same event. */
export function eventOf(domainEvent: LedgerDomainEvent, at: Date): OutgoingEvent {
  const payload = { occurredAt: BigInt(at.getTime()), ...domainEvent };
  // Its fields are those of its event by their types, and only the schema's fields are encoded.
  return { ...address(domainEvent), type: eventTypeOf(domainEvent), payload } as OutgoingEvent;
}

/**
 * The content of a page, for ourselves after a restore (ADR 45); it has the key of the first of its postings. Refusals
 * are on no page.
 */
export function pageEventOf(
  { chain, number, hash, postings }: AppendedPage,
  outcomes: readonly Outcome[],
  at: Date,
): OutgoingEvent {
  const [first] = outcomes.flatMap((outcome) =>
    outcome.kind === 'posted' && !isRefusal(outcome.domainEvent) ? [outcome.domainEvent] : [],
  );
  if (!first) throw new TypeError('a page has postings');
  return {
    ...address(first),
    version: 0n,
    type: 'pesewa.ledger.PageWritten',
    payload: {
      occurredAt: BigInt(at.getTime()),
      chain,
      number,
      hash: Buffer.from(hash).toString('hex'),
      postings,
    },
  };
}

const isRefusal = ({ kind }: LedgerDomainEvent): boolean =>
  kind === 'holdRefused' || kind === 'commandRefused';

/** A decided order, for ourselves after a restore (ADR 45). Reasons are free text and stay in our own database. */
export function decidedEventOf(order: Exclude<Order, { readonly status: 'proposed' }>): OutgoingEvent {
  const { commandId, kind, target, currency, amount, requestedBy, at, status, decidedBy, decidedAt } = order;
  const decidedMs = BigInt(decidedAt.getTime());
  return {
    topic: 'ledger',
    key: walletKeyOf(target, currency),
    version: 0n,
    causationId: null,
    type: 'pesewa.ledger.OrderDecided',
    payload: {
      occurredAt: decidedMs,
      commandId,
      kind,
      target,
      currency,
      amount,
      direction: directionOf(order) ?? null,
      breakId: breakIdOf(order),
      requestedBy,
      requestedAt: BigInt(at.getTime()),
      status,
      decidedBy,
      decidedAt: decidedMs,
    },
  };
}

/** Replaces the reasons of orders that were restored from our own events, which contain none. */
export const REASON_LOST = 'lost with the database that was restored';

/** The order that {@link decidedEventOf} was made from, without its reasons. */
export function orderOf(decided: DecidedOrder): Order {
  const { commandId, target, currency, amount, requestedBy, status, decidedBy } = decided;
  const { direction, breakId } = decided;
  // Only values of our own types were ever published.
  return {
    commandId,
    kind: decided.kind as OrderKind,
    target,
    currency,
    amount,
    ...(direction !== null && { direction }),
    ...(breakId !== null && { breakId }),
    reason: REASON_LOST,
    requestedBy,
    at: new Date(Number(decided.requestedAt)),
    status,
    decidedBy,
    decidedAt: new Date(Number(decided.decidedAt)),
    ...(status === 'rejected' && { decisionReason: REASON_LOST }),
  } as Order;
}

/** The event of a wallet's balances after its newest entry. */
export function balanceEventOf(
  { after, causationId }: Pick<WalletChange, 'after' | 'causationId'>,
  at: Date,
): OutgoingEvent {
  return {
    topic: 'wallets',
    key: walletKeyOf(after.merchantId, after.currency),
    version: after.sequence,
    causationId,
    type: 'pesewa.wallets.WalletBalanceChanged',
    payload: { occurredAt: BigInt(at.getTime()), ...after },
  };
}

/** The owner of the money: a merchant, or we ourselves at a rail. */
function ownerOf(domainEvent: LedgerDomainEvent): string {
  if ('merchantId' in domainEvent) return domainEvent.merchantId;
  return 'rail' in domainEvent ? domainEvent.rail : domainEvent.owner;
}

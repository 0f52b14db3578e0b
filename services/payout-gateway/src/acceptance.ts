import { hash } from 'node:crypto';
import type { Merchant } from '@pesewa/directory';
import type { Clock, Ids } from '@pesewa/kernel';
import type { Messaging, Transaction } from '@pesewa/messaging';
import { paymentId } from '@pesewa/payments';
import type { BatchStore } from './batch-store.ts';
import { type DayLimit, openDayBook, overDayMax } from './domain/limits.ts';
import { payoutDecider } from './domain/payout.ts';
import type { Route, RouteQuestion } from './domain/routing.ts';
import { canonicalContent, type OrderRefusal, type PayoutOrder } from './domain/submission.ts';
import type { PayoutEvents } from './events.ts';
import type { Payout, PayoutKey, PayoutStore, Taken } from './store.ts';
import type { UsageStore } from './usage.ts';

/** The dependencies of accepting payouts, single or in batches. */
export interface AcceptanceDeps {
  readonly store: PayoutStore;
  readonly usage: UsageStore;
  readonly batchStore: BatchStore;
  readonly events: PayoutEvents;
  readonly messaging: Pick<Messaging, 'groupCommit' | 'acceptsWork'>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly routePayout: (question: RouteQuestion) => Promise<Route>;
  /**
   * Whether the database has every payout that was ever published. Until then a new request may repeat one that the
   * database has forgotten (ADR 46).
   */
  readonly isWhole: () => boolean;
  /** Whether the wallet seems to hold the minor units; only advice, because the ledger decides (contract 10.8). */
  readonly canSpend: (
    wallet: { readonly merchantId: string; readonly currency: string },
    minor: bigint,
  ) => Promise<boolean>;
}

/** The result of submitting a payout. */
export type Acceptance = Taken | { readonly kind: 'refused'; readonly refusal: OrderRefusal };

/** A payout about to be stored, and the daily limit that applies to it. */
export interface Candidate {
  readonly payout: Payout;
  readonly dayLimit: DayLimit | undefined;
}

/** The hash of an order's canonical content, by which a duplicate is recognised (contract 10.3). */
export function contentHashOf(order: PayoutOrder): string {
  return hash('sha256', canonicalContent(order), 'base64');
}

/**
 * Whether a payout was ordered with this content, as far as is known: a payout that was brought back has only a part of
 * the hash.
 */
export function isSameContent(payout: Pick<Payout, 'contentHash'>, contentHash: string): boolean {
  return contentHash.startsWith(payout.contentHash);
}

/** A payout that is about to be accepted. */
export function newPayout(
  deps: Pick<AcceptanceDeps, 'ids' | 'clock'>,
  parts: Pick<
    Payout,
    'merchantId' | 'order' | 'contentHash' | 'fee' | 'rail' | 'batchReference' | 'traceparent'
  >,
): Payout {
  return {
    ...payoutDecider.initial,
    reference: deps.ids.next('po'),
    ...parts,
    acceptedAtMs: deps.clock.nowMs(),
    causedBy: null,
    timeline: [],
  };
}

/** The key of a payout. */
export function keyOf({ merchantId, order }: Pick<Payout, 'merchantId' | 'order'>): PayoutKey {
  return { merchantId, merchantReference: order.merchantReference };
}

/** A merchant's wallet in a currency. */
export function walletOf(merchant: Merchant, currency: string): Merchant['wallets'][number] | undefined {
  return merchant.wallets.find((wallet) => wallet.currency === currency);
}

/** Whether the amount now exceeds the daily limit: limits are judged before funds (contract 10.2). */
export async function overDay(
  { usage }: Pick<AcceptanceDeps, 'usage'>,
  limit: DayLimit | undefined,
  minor: bigint,
): Promise<OrderRefusal | undefined> {
  if (limit === undefined) return undefined;
  const days = openDayBook(await usage.read([limit]));
  return days.admits(limit, minor) ? undefined : overDayMax(limit.max);
}

/** The refusal for insufficient funds. */
export function insufficientFunds(
  wallet: Merchant['wallets'][number] | undefined,
  currency: string,
): OrderRefusal {
  const message = wallet
    ? `the ${currency} wallet does not hold the amount and its fee`
    : `there is no wallet in ${currency}`;
  return { code: 'insufficientFunds', message };
}

/**
 * The refusal while too much accepted work waits for Kafka, and while the database may have forgotten payouts. It is
 * judged last, so that duplicates are still answered.
 */
export const takesNoWork: OrderRefusal = {
  code: 'unavailable',
  message: 'no new payout is accepted at present and nothing was stored: send it again later',
};

/**
 * Accepts payouts one by one; those that arrive together share a transaction (ADR 4).
 *
 * Merchants with a daily limit share separate transactions, so that only they pay for reading and for conflicts over
 * the document that counts the day.
 */
export function createAcceptance(deps: AcceptanceDeps): (candidate: Candidate) => Promise<Acceptance> {
  // A payout may wait for a batch that reserves the same reference; payouts of other merchants must not wait with it.
  const ownerOf = ({ payout }: Candidate) => payout.merchantId;
  const free = deps.messaging.groupCommit<Candidate, Acceptance>(
    'payouts.accept',
    (candidates, transaction, isRetry) => acceptAll(deps, candidates, transaction, isRetry),
    { ownerOf },
  );
  const counted = deps.messaging.groupCommit<Candidate, Acceptance>(
    'payouts.accept-counted',
    (candidates, transaction) => acceptAll(deps, candidates, transaction, true),
    { groupsMax: 1, ownerOf },
  );
  return (candidate) => (candidate.dayLimit === undefined ? free : counted).submit(candidate);
}

async function acceptAll(
  { store, usage, events }: AcceptanceDeps,
  candidates: readonly Candidate[],
  { session, emit }: Transaction,
  isRetry: boolean,
): Promise<readonly Acceptance[]> {
  const taken = new Map<string, Taken>(
    isRetry
      ? await store.findTaken(
          candidates.map(({ payout }) => keyOf(payout)),
          session,
        )
      : [],
  );
  const limits = candidates.flatMap(({ dayLimit }) => dayLimit ?? []);
  const days = openDayBook(limits.length === 0 ? new Map() : await usage.read(limits, session));
  const fresh: Payout[] = [];
  const outcomes = candidates.map(({ payout, dayLimit }): Acceptance => {
    const id = paymentId(keyOf(payout));
    const earlier = taken.get(id);
    if (earlier) return earlier;
    if (dayLimit && !days.admits(dayLimit, payout.order.amount.minor))
      return { kind: 'refused', refusal: overDayMax(dayLimit.max) };
    const own = { kind: 'payout', payout } as const;
    taken.set(id, own);
    fresh.push(payout);
    return own;
  });
  await usage.save(days.changes(), session);
  if (fresh.length > 0) await store.insert(fresh, session);
  for (const payout of fresh) emit(events.accepted(payout));
  return outcomes;
}

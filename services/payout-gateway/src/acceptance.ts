import { hash } from 'node:crypto';
import type { Clock, Ids } from '@pesewa/kernel';
import { type LimitUsageStore, openLimitUsage } from '@pesewa/merchant-api';
import type { Messaging, Transaction } from '@pesewa/messaging';
import { paymentId } from '@pesewa/payments';
import { type DayLimit, dayLimitRefusal } from './domain/limits.ts';
import { payoutDecider } from './domain/payout.ts';
import { canonicalContent, type PayoutRequest, type RequestRefusal } from './domain/submission.ts';
import { acceptedEvent } from './events.ts';
import type { Payout, PayoutKey, PayoutStore, ReferenceUse } from './store.ts';

/** The dependencies of accepting admitted payouts, single or in batches. */
export interface AcceptanceDeps {
  readonly store: PayoutStore;
  readonly usage: LimitUsageStore;
  readonly messaging: Pick<Messaging, 'groupCommit'>;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** The result of submitting a payout. */
export type Acceptance = ReferenceUse | { readonly kind: 'refused'; readonly refusal: RequestRefusal };

/** A payout about to be stored, and the daily limit that applies to it. */
export interface Candidate {
  readonly payout: Payout;
  readonly dayLimit: DayLimit | undefined;
}

/** The hash of an order's canonical content, by which a duplicate is recognised (contract 10.3). */
export function contentHashOf(order: PayoutRequest): string {
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
    { ownerOf },
  );
  return (candidate) => (candidate.dayLimit === undefined ? free : counted).submit(candidate);
}

async function acceptAll(
  { store, usage }: AcceptanceDeps,
  candidates: readonly Candidate[],
  { session, emit }: Transaction,
  isRetry: boolean,
): Promise<readonly Acceptance[]> {
  const taken = new Map<string, ReferenceUse>(
    isRetry
      ? await store.findUses(
          candidates.map(({ payout }) => keyOf(payout)),
          session,
        )
      : [],
  );
  const limits = candidates.flatMap(({ dayLimit }) => dayLimit ?? []);
  const days = openLimitUsage(await usage.read(limits, session));
  const fresh: Payout[] = [];
  const outcomes = candidates.map(({ payout, dayLimit }): Acceptance => {
    const id = paymentId(keyOf(payout));
    const earlier = taken.get(id);
    if (earlier) return earlier;
    if (dayLimit && days.add([dayLimit], payout.order.amount.minor))
      return { kind: 'refused', refusal: dayLimitRefusal(dayLimit) };
    const own = { kind: 'payout', payout } as const;
    taken.set(id, own);
    fresh.push(payout);
    return own;
  });
  await usage.save(days.changes(), session);
  if (fresh.length > 0) await store.insert(fresh, session);
  for (const payout of fresh) emit(acceptedEvent(payout));
  return outcomes;
}

import { hash } from 'node:crypto';
import type { Clock, Ids } from '@pesewa/kernel';
import { type LimitUsageStore, openLimitUsage } from '@pesewa/merchant-api';
import type { Messaging, Transaction } from '@pesewa/messaging';
import { isOverdue, paymentId } from '@pesewa/payments';
import type { DayLimit } from './domain/limits.ts';
import { payoutDecider } from './domain/payout.ts';
import { canonicalContent, type PayoutRequest, type RequestRefusal } from './domain/request.ts';
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

/** The result of a request for a payout. */
export type Acceptance = ReferenceUse | { readonly kind: 'refused'; readonly refusal: RequestRefusal };

/** A payout about to be stored, and the daily limits that apply to it. */
interface Candidate {
  readonly payout: Payout;
  readonly limits: readonly DayLimit[];
  /** When its request came, before anything was judged. */
  readonly arrivedAtMs: number;
}

/** A request that was refused before acceptance: its reference must not be accepted for an earlier request. */
interface Refused {
  readonly key: PayoutKey;
  readonly refusal: RequestRefusal;
}

/** The refusal of a request whose repetition was refused while it was under way; it may be sent once more. */
export const overtakenRefusal: RequestRefusal = {
  code: 'unavailable',
  message: 'the request took too long, and nothing was stored: send it again',
};

/** Whether a refusal says to the merchant that the payout does not exist, so that it may pay by another reference. */
export function isFinal({ code }: RequestRefusal): boolean {
  return code !== 'unavailable';
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
 * Accepts payouts one by one; those that arrive together share a transaction (ADR 4). A refusal marks its reference:
 * requests that came before the mark are refused as well, and a later one removes it (ADR 87).
 *
 * Merchants with a daily limit share separate transactions, so that only they pay for reading and for conflicts over
 * the documents that count the day.
 */
export function createAcceptance(deps: AcceptanceDeps) {
  // A payout may wait for a batch that reserves the same reference; payouts of other merchants must not wait with it.
  const ownerOf = (item: Candidate | Refused) => keyOfItem(item).merchantId;
  const unlimited = deps.messaging.groupCommit<Candidate | Refused, Acceptance>(
    'payouts.accept',
    (items, transaction, isRetry) => acceptAll(deps, items, transaction, { readsFirst: isRetry, isRetry }),
    { ownerOf },
  );
  const counted = deps.messaging.groupCommit<Candidate, Acceptance>(
    'payouts.accept-counted',
    (items, transaction, isRetry) => acceptAll(deps, items, transaction, { readsFirst: true, isRetry }),
    { ownerOf },
  );
  return {
    accept: (candidate: Candidate): Promise<Acceptance> =>
      (candidate.limits.length === 0 ? unlimited : counted).submit(candidate),
    /** Gives the refusal, unless the reference was accepted meanwhile. */
    refuse: unlimited.submit,
  };
}

async function acceptAll(
  { store, usage, clock }: AcceptanceDeps,
  items: readonly (Candidate | Refused)[],
  { session, emit }: Transaction,
  { readsFirst, isRetry }: { readonly readsFirst: boolean; readonly isRetry: boolean },
): Promise<readonly Acceptance[]> {
  const candidates = items.filter((item) => 'payout' in item);
  // A mark of a refusal collides with what is inserted, so it is looked for only then.
  const requests = candidates.map((item) => ({ id: idOf(item), arrivedAtMs: item.arrivedAtMs }));
  const stillRefused = isRetry ? await store.refused.release(requests, clock.nowMs, session) : new Set();
  const taken = new Map<string, ReferenceUse>(
    readsFirst ? await store.findUses(items.map(keyOfItem), session) : [],
  );
  const all = candidates.flatMap(({ limits }) => limits);
  const days = openLimitUsage(await usage.read(all, session));
  const fresh: Payout[] = [];
  const toMark = new Map<string, RequestRefusal>();
  const refusalOf = (item: Candidate): RequestRefusal | undefined => {
    if (stillRefused.has(idOf(item)) || isOverdue(item.arrivedAtMs, clock.nowMs())) return overtakenRefusal;
    return days.add(item.limits)?.refusal;
  };
  const refuseAs = (id: string, refusal: RequestRefusal): Acceptance => {
    if (isFinal(refusal)) toMark.set(id, refusal);
    return { kind: 'refused', refusal };
  };
  const outcomes = items.map((item): Acceptance => {
    const id = idOf(item);
    const earlier = taken.get(id);
    if (earlier) return earlier;
    if ('refusal' in item) return refuseAs(id, item.refusal);
    const refusal = toMark.get(id) ?? refusalOf(item);
    if (refusal) return refuseAs(id, refusal);
    const own = { kind: 'payout', payout: item.payout } as const;
    taken.set(id, own);
    fresh.push(item.payout);
    return own;
  });
  await usage.save(days.changes(), session);
  if (fresh.length > 0) await store.insert(fresh, session);
  await store.refused.mark([...toMark.keys()], session);
  for (const payout of fresh) emit(acceptedEvent(payout));
  return outcomes;
}

function keyOfItem(item: Candidate | Refused): PayoutKey {
  return 'payout' in item ? keyOf(item.payout) : item.key;
}

function idOf(item: Candidate | Refused): string {
  return paymentId(keyOfItem(item));
}

import type { Clock } from '@pesewa/kernel';
import { type LimitUsageStore, openLimitUsage } from '@pesewa/merchant-api';
import type { Messaging, Transaction } from '@pesewa/messaging';
import { isArchived, type PaymentOrArchived, paymentId } from '@pesewa/payments';
import type { NumberLimit } from './domain/limits.ts';
import { initiatedEvent } from './events.ts';
import type { Collection, CollectionStore } from './store.ts';

/** The dependencies of accepting collections. */
export interface AcceptanceDeps {
  readonly store: Omit<CollectionStore, 'collection'>;
  readonly usage: LimitUsageStore;
  readonly messaging: Pick<Messaging, 'groupCommit'>;
  readonly clock: Pick<Clock, 'nowMs'>;
}

/** A collection about to be stored, and the limits that apply to it. */
export interface Candidate {
  readonly collection: Collection;
  readonly limits: readonly NumberLimit[];
}

type Acceptance =
  | { readonly kind: 'accepted'; readonly collection: Collection }
  | { readonly kind: 'duplicate'; readonly reference: string }
  | { readonly kind: 'exceeded'; readonly limit: NumberLimit };

/**
 * Accepts collections; those that arrive together share a transaction (ADR 4).
 *
 * The limits by customers' numbers are counted in the accepting transaction, so they are exact over all replicas; the
 * resulting conflicts delay only collections of the same number.
 */
export function createAcceptance(deps: AcceptanceDeps): (candidate: Candidate) => Promise<Acceptance> {
  const group = deps.messaging.groupCommit<Candidate, Acceptance>(
    'collections.accept',
    (candidates, transaction, isRetry) => acceptAll(deps, candidates, transaction, isRetry),
    { ownerOf: ({ limits, collection }) => limits.at(-1)?.id ?? collection.merchantId },
  );
  return group.submit;
}

async function acceptAll(
  { store, usage, clock }: AcceptanceDeps,
  candidates: readonly Candidate[],
  { session, emit }: Transaction,
  isRetry: boolean,
): Promise<readonly Acceptance[]> {
  const taken = new Map<string, string>();
  const findEarlier = async (some: readonly Candidate[]) => {
    const keys = some.map(({ collection }) => keyOf(collection));
    for (const [id, earlier] of await store.findByMerchantReferences(keys, session))
      taken.set(id, referenceOf(earlier));
  };
  if (isRetry) await findEarlier(candidates);
  const book = openLimitUsage(
    await usage.read(
      candidates.flatMap(({ limits }) => limits),
      session,
    ),
  );
  // A conflict may have delayed the request for seconds; the attempt dates from the transaction that commits it.
  const attemptedAtMs = clock.nowMs();
  const fresh: Collection[] = [];
  const exceeding: Candidate[] = [];
  const outcomes = candidates.map((candidate): Acceptance => {
    const { collection, limits } = candidate;
    const earlier = taken.get(idOf(collection));
    if (earlier !== undefined) return { kind: 'duplicate', reference: earlier };
    const limit = book.add(limits, 1n);
    if (limit) {
      exceeding.push(candidate);
      return { kind: 'exceeded', limit };
    }
    taken.set(idOf(collection), collection.reference);
    const attempted = { ...collection, attemptedAtMs };
    fresh.push(attempted);
    return { kind: 'accepted', collection: attempted };
  });
  await usage.save(book.changes(), session);
  if (fresh.length > 0) await store.insert(fresh, session);
  for (const collection of fresh) emit(initiatedEvent(collection));
  if (isRetry || exceeding.length === 0) return outcomes;
  // Duplicates take precedence over the limits, so they are looked for only among what the limits refuse (contract
  // 10.2).
  await findEarlier(exceeding);
  return outcomes.map((outcome, index) => {
    const collection = candidates[index]?.collection;
    const earlier = outcome.kind === 'exceeded' && collection ? taken.get(idOf(collection)) : undefined;
    return earlier === undefined ? outcome : { kind: 'duplicate', reference: earlier };
  });
}

function keyOf({ merchantId, order: { merchantReference } }: Collection) {
  return { merchantId, merchantReference };
}

/** Our reference of an earlier collection; empty if it is archived, because the reference is no longer stored. */
export function referenceOf(earlier: PaymentOrArchived<Collection>): string {
  return isArchived(earlier) ? '' : earlier.reference;
}

function idOf(collection: Collection): string {
  return paymentId(keyOf(collection));
}

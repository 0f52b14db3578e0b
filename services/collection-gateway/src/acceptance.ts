import type { Clock } from '@pesewa/kernel';
import { type LimitUsageStore, openLimitUsage } from '@pesewa/merchant-api';
import type { Messaging, Transaction } from '@pesewa/messaging';
import { isOverdue, paymentId } from '@pesewa/payments';
import type { AmountDayLimit, NumberLimit } from './domain/limits.ts';
import { initiatedEvent } from './events.ts';
import type { Collection, CollectionStore } from './store.ts';

/** The dependencies of accepting collections. */
export interface AcceptanceDeps {
  readonly store: Omit<CollectionStore, 'collection' | 'list'>;
  readonly usage: LimitUsageStore;
  readonly messaging: Pick<Messaging, 'groupCommit'>;
  readonly clock: Pick<Clock, 'nowMs'>;
}

/** A collection about to be stored, and the limits that apply to it. */
export interface Candidate {
  readonly collection: Collection;
  readonly limits: readonly CountedLimit[];
  /** When its request came, before anything was judged. */
  readonly arrivedAtMs: number;
}

/** The reference of a request that was refused before acceptance. */
interface Refused {
  readonly merchantId: string;
  readonly merchantReference: string;
}

/** A limit that is counted by the accepting transaction. */
export type CountedLimit = NumberLimit | AmountDayLimit;

type Acceptance =
  | { readonly kind: 'accepted'; readonly collection: Collection }
  | { readonly kind: 'duplicate'; readonly reference: string }
  | { readonly kind: 'exceeded'; readonly limit: CountedLimit }
  /** A repetition was refused while the request was under way. */
  | { readonly kind: 'overtaken' };

/** What became of a refusal: it stands, or the reference was used meanwhile. */
type Refusal = Extract<Acceptance, { readonly kind: 'duplicate' }> | { readonly kind: 'refused' };

/**
 * Accepts collections; those that arrive together share a transaction (ADR 4).
 *
 * The limits by customers' numbers and of the day are counted in the accepting transaction, so they are exact over all
 * replicas; the resulting conflicts delay only collections of the same number, or of a merchant with a limit per day.
 */
export function createAcceptance(deps: AcceptanceDeps) {
  const group = deps.messaging.groupCommit<Candidate, Acceptance>(
    'collections.accept',
    (candidates, transaction, isRetry) => acceptAll(deps, candidates, transaction, isRetry),
    { ownerOf: ({ limits, collection }) => limits.at(-1)?.id ?? collection.merchantId },
  );
  const refusals = deps.messaging.groupCommit<Refused, Refusal>(
    'collections.accept',
    (refused, { session }, isRetry) => refuseAll(deps, refused, session, isRetry),
    { ownerOf: ({ merchantId }) => merchantId },
  );
  return { accept: group.submit, refuse: refusals.submit };
}

async function refuseAll(
  { store }: Pick<AcceptanceDeps, 'store'>,
  refused: readonly Refused[],
  session: Transaction['session'],
  isRetry: boolean,
): Promise<readonly Refusal[]> {
  const taken = isRetry ? await store.findByMerchantReferences(refused, session) : undefined;
  const ids = new Set(refused.map(paymentId).filter((id) => !taken?.has(id)));
  await store.refused.mark([...ids], session);
  return refused.map((key): Refusal => {
    const earlier = taken?.get(paymentId(key));
    return earlier ? { kind: 'duplicate', reference: earlier.reference } : { kind: 'refused' };
  });
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
      taken.set(id, earlier.reference);
  };
  // A mark of a refusal collides with what is inserted, so it is looked for only then.
  const requests = candidates.map(({ collection, arrivedAtMs }) => ({ id: idOf(collection), arrivedAtMs }));
  const stillRefused = isRetry ? await store.refused.release(requests, clock.nowMs, session) : new Set();
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
    const { collection, limits, arrivedAtMs } = candidate;
    const id = idOf(collection);
    const earlier = taken.get(id);
    if (earlier !== undefined) return { kind: 'duplicate', reference: earlier };
    if (stillRefused.has(id) || isOverdue(arrivedAtMs, attemptedAtMs)) return { kind: 'overtaken' };
    const limit = book.add(limits);
    if (limit) {
      exceeding.push(candidate);
      return { kind: 'exceeded', limit };
    }
    taken.set(id, collection.reference);
    const attempted = { ...collection, attemptedAtMs };
    fresh.push(attempted);
    return { kind: 'accepted', collection: attempted };
  });
  await usage.save(book.changes(), session);
  if (fresh.length > 0) await store.insert(fresh, session);
  for (const collection of fresh) emit(initiatedEvent(collection));
  if (exceeding.length === 0) return outcomes;
  // Duplicates take precedence over the limits, so they are looked for only among what the limits refuse (contract
  // 10.2).
  if (!isRetry) await findEarlier(exceeding);
  const ids = new Set(exceeding.map(({ collection }) => idOf(collection)).filter((id) => !taken.has(id)));
  await store.refused.mark([...ids], session);
  return outcomes.map((outcome, index) => {
    const collection = candidates[index]?.collection;
    const earlier = outcome.kind === 'exceeded' && collection ? taken.get(idOf(collection)) : undefined;
    return earlier === undefined ? outcome : { kind: 'duplicate', reference: earlier };
  });
}

function keyOf({ merchantId, order: { merchantReference } }: Collection) {
  return { merchantId, merchantReference };
}

function idOf(collection: Collection): string {
  return paymentId(keyOf(collection));
}

import { type CollectionRefusal, eventIdOf } from '@pesewa/contracts';
import type { Merchant, MerchantWallet } from '@pesewa/directory';
import {
  accept,
  type Clock,
  continueTrace,
  feeFor,
  type Ids,
  type Result,
  refuse,
  unreachable,
} from '@pesewa/kernel';
import type { Messaging, Transaction } from '@pesewa/messaging';
import { type Found, isArchived, paymentId } from '@pesewa/payments';
import type { RailConnector } from '@pesewa/rails';
import {
  type CollectionForm,
  type CollectionOrder,
  readMobileOperator,
  readOrder,
} from './domain/initiation.ts';
import { type NumberLimit, numberLimit, openCountBook } from './domain/limits.ts';
import { initiated } from './domain/state.ts';
import type { CollectionEvents } from './events.ts';
import type { GatewayMetrics } from './metrics.ts';
import type { Collection, CollectionStore } from './store.ts';
import { digestOfNumber, type UsageStore } from './usage.ts';

/** A refused payin, with our reference of an earlier collection if there is one. */
export interface PayinRefusal {
  readonly reason: CollectionRefusal;
  readonly reference: string;
  readonly description?: string;
  /** The seconds after which to retry, if the limit for the customer's number was exceeded. */
  readonly retryAfterSeconds?: number;
}

/** Records a collection with its first attempt, once; a repetition of its reference is refused (contract 10.3). */
export type AcceptCollection = (
  merchant: Merchant,
  form: CollectionForm,
  /** The `traceparent` of the request, unchanged. */
  traceparent?: string,
) => Promise<Result<Collection, PayinRefusal>>;

/** The dependencies of accepting collections. */
export interface AcceptanceDeps {
  readonly store: Omit<CollectionStore, 'collection'>;
  readonly usage: UsageStore;
  readonly events: CollectionEvents;
  readonly messaging: Pick<Messaging, 'groupCommit' | 'acceptsWork'>;
  readonly routeRail: (operatorCode: string) => RailConnector | undefined;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly ids: Ids;
  readonly metrics: Pick<GatewayMetrics, 'payin'>;
  /** How many collections of one customer's number are accepted within an hour, over all merchants. */
  readonly collectionsPerNumberPerHour: number;
}

/** How many collections of one customer's number a merchant may have in an hour, unless agreed otherwise. */
const AGREED_COLLECTIONS_DEFAULT = 10;

/** A collection about to be stored, and the limits that apply to it. */
interface Candidate {
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
export function createAcceptance(deps: AcceptanceDeps): AcceptCollection {
  const group = deps.messaging.groupCommit<Candidate, Acceptance>(
    'collections.accept',
    (candidates, transaction, isRetry) => acceptAll(deps, candidates, transaction, isRetry),
    { ownerOf: ({ limits, collection }) => limits.at(-1)?.id ?? collection.merchantId },
  );
  const take: AcceptCollection = async (merchant, form, traceparent) => {
    const { merchantReference } = form.content;
    const priced = price(merchant, form, deps.routeRail);
    if (!priced.ok || !deps.messaging.acceptsWork()) {
      // Duplicates take precedence over mobile operator and amount, so they are looked for even if those refuse.
      const [earlier] = (
        await deps.store.findTaken([{ merchantId: merchant.id, merchantReference }])
      ).values();
      if (earlier) return refuse({ reason: 'DUPLICATE REFERENCE', reference: referenceOf(earlier) });
      return refuse(priced.ok ? takesNoWork : { reason: priced.refusal, reference: '' });
    }
    const collection = newCollection(deps, merchant, priced.value, traceparent);
    const acceptance = await group.submit({ collection, limits: limitsOf(deps, merchant, collection) });
    switch (acceptance.kind) {
      case 'accepted':
        return accept(acceptance.collection);
      case 'duplicate':
        return refuse({ reason: 'DUPLICATE REFERENCE', reference: acceptance.reference });
      case 'exceeded':
        return refuse(tooMany(acceptance.limit));
      default:
        return unreachable(acceptance);
    }
  };
  return async (merchant, form, traceparent) => {
    const taken = await take(merchant, form, traceparent);
    deps.metrics.payin(form.content.operatorCode, taken.ok ? 'accepted' : taken.refusal.reason);
    return taken;
  };
}

/** The refusal while too much accepted work waits for Kafka. */
const takesNoWork: PayinRefusal = {
  reason: 'SERVICE UNAVAILABLE',
  reference: '',
  description: 'no new collection is accepted at present: nothing was recorded, send it again later',
};

function tooMany({ retryAfterSeconds }: NumberLimit): PayinRefusal {
  const description = `too many collections of this customerNumber: nothing was recorded, send it again after ${retryAfterSeconds} s`;
  return { reason: 'TOO MANY REQUESTS', reference: '', description, retryAfterSeconds };
}

async function acceptAll(
  { store, usage, events, clock }: AcceptanceDeps,
  candidates: readonly Candidate[],
  { session, emit }: Transaction,
  isRetry: boolean,
): Promise<readonly Acceptance[]> {
  const taken = new Map<string, string>();
  const findTaken = async (some: readonly Candidate[]) => {
    const keys = some.map(({ collection }) => keyOf(collection));
    for (const [id, earlier] of await store.findTaken(keys, session)) taken.set(id, referenceOf(earlier));
  };
  if (isRetry) await findTaken(candidates);
  const book = openCountBook(
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
    const limit = book.countOne(limits);
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
  for (const collection of fresh) emit(events.initiated(collection));
  if (isRetry || exceeding.length === 0) return outcomes;
  // Duplicates take precedence over the limits, so they are looked for only among what the limits refuse (contract
  // 10.2).
  await findTaken(exceeding);
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
function referenceOf(earlier: Found<Collection>): string {
  return isArchived(earlier) ? '' : earlier.reference;
}

function idOf(collection: Collection): string {
  return paymentId(keyOf(collection));
}

/** The merchant's own limit, followed by the one over all merchants. */
function limitsOf(
  deps: Pick<AcceptanceDeps, 'collectionsPerNumberPerHour'>,
  { id, limits }: Merchant,
  { order, acceptedAtMs }: Collection,
): readonly NumberLimit[] {
  const counted = { numberDigest: digestOfNumber(order), nowMs: acceptedAtMs };
  const own = limits.collectionsPerNumberPerHour ?? AGREED_COLLECTIONS_DEFAULT;
  const shared = deps.collectionsPerNumberPerHour;
  return [
    numberLimit({ ...counted, scope: `payin:${id}`, max: own }),
    numberLimit({ ...counted, scope: 'payin', max: shared }),
  ].filter((limit) => limit !== undefined);
}

interface Priced {
  readonly order: CollectionOrder;
  readonly wallet: MerchantWallet;
  readonly fee: bigint;
  readonly rail: RailConnector;
}

function newCollection(
  { clock, ids }: Pick<AcceptanceDeps, 'clock' | 'ids'>,
  { id: merchantId }: Merchant,
  { order, wallet, fee, rail }: Priced,
  traceparent: string | undefined,
): Collection {
  const reference = ids.next('co');
  const type = 'pesewa.collections.CollectionInitiated';
  const nowMs = clock.nowMs();
  const railFee = feeFor(rail.capabilities.fees.collection, order.amount.minor);
  return {
    ...initiated({ order, fee, feeSchedule: wallet.collectionFee, railFee }, nowMs),
    reference,
    merchantId,
    rail: rail.name,
    acceptedAtMs: nowMs,
    traceparent: continueTrace(traceparent, ids),
    causedBy: eventIdOf({ type, payload: { reference }, version: 1n }),
    timeline: [],
  };
}

/** The route and the fee of an order, or why it can't be accepted: operator first, then amount (contract 10.2). */
function price(
  merchant: Merchant,
  form: CollectionForm,
  routeRail: AcceptanceDeps['routeRail'],
): Result<Priced, CollectionRefusal> {
  const mobileOperator = readMobileOperator(form);
  if (!mobileOperator.ok) return mobileOperator;
  const rail = routeRail(mobileOperator.value.code);
  const wallet = merchant.wallets.find(({ currency }) => currency === mobileOperator.value.currency);
  if (!rail || !wallet) return refuse('OPERATOR NOT AVAILABLE');
  const order = readOrder(form, mobileOperator.value);
  if (!order.ok) return order;
  const { minor } = order.value.amount;
  const fee = feeFor(wallet.collectionFee, minor);
  // A collection credits its amount less the fee, so the fee must not exceed the amount (contract 10.7).
  if (fee > minor) return refuse('INVALID AMOUNT');
  return accept({ order: order.value, wallet, fee, rail });
}

import { hash } from 'node:crypto';
import { type CollectionRefusal, eventIdOf } from '@pesewa/contracts';
import type { Merchant, MerchantWallet } from '@pesewa/directory';
import {
  accept,
  type Clock,
  continueTrace,
  displayAmount,
  feeFor,
  type Ids,
  type Result,
  refuse,
} from '@pesewa/kernel';
import type { CollectionRail } from '@pesewa/rails';
import type { Candidate, CountedLimit } from './acceptance.ts';
import { canonicalNumber } from './domain/customer-number.ts';
import {
  type CollectionForm,
  type CollectionRequest,
  invalidAmount,
  readCollectionRequest,
  readMobileOperator,
  unavailable,
} from './domain/initiation.ts';
import { amountDayLimit, amountRefusal, numberLimit } from './domain/limits.ts';
import { initiated } from './domain/state.ts';
import type { Collection } from './store.ts';

/** The dependencies of admission. */
export interface AdmissionDeps {
  readonly routeRail: (operatorCode: string) => CollectionRail | undefined;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly ids: Ids;
  /** How many collections of one customer's number are accepted within an hour, over all merchants. */
  readonly collectionsPerNumberPerHour: number;
}

/** How many collections of one customer's number a merchant may have in an hour, unless agreed otherwise. */
const AGREED_COLLECTIONS_DEFAULT = 10;

/** Why a collection is not admitted, with a description if the reason's own does not say it. */
interface AdmissionRefusal {
  readonly reason: CollectionRefusal;
  readonly description?: string;
}

/** Judges mobile operator and amount, in this order (contract 10.2); gives the collection that may be accepted. */
export function admit(
  deps: AdmissionDeps,
  merchant: Merchant,
  form: CollectionForm,
  traceparent: string | undefined,
): Result<Omit<Candidate, 'arrivedAtMs'>, AdmissionRefusal> {
  const priced = price(merchant, form, deps.routeRail);
  if (!priced.ok) return priced;
  const refusal = amountRefusal(merchant.limits, priced.value.order.amount);
  if (refusal) return refuse(refusal);
  const collection = newCollection(deps, merchant, priced.value, traceparent);
  return accept({ collection, limits: limitsOf(deps, merchant, collection) });
}

/** The merchant's limit of the day and by number, followed by the one over all merchants. */
function limitsOf(
  deps: Pick<AdmissionDeps, 'collectionsPerNumberPerHour'>,
  merchant: Merchant,
  { order, acceptedAtMs }: Collection,
): readonly CountedLimit[] {
  const { id, limits } = merchant;
  const counted = { numberDigest: digestOfNumber(order), nowMs: acceptedAtMs };
  const own = limits.collectionsPerNumberPerHour ?? AGREED_COLLECTIONS_DEFAULT;
  const shared = deps.collectionsPerNumberPerHour;
  return [
    amountDayLimit(merchant, order.amount, new Date(acceptedAtMs)),
    numberLimit({ ...counted, scope: `payin:${id}`, max: own }),
    numberLimit({ ...counted, scope: 'payin', max: shared }),
  ].filter((limit) => limit !== undefined);
}

interface Priced {
  readonly order: CollectionRequest;
  readonly wallet: MerchantWallet;
  readonly fee: bigint;
  readonly rail: CollectionRail;
}

function newCollection(
  { clock, ids }: Pick<AdmissionDeps, 'clock' | 'ids'>,
  { id: merchantId }: Merchant,
  { order, wallet, fee, rail }: Priced,
  traceparent: string | undefined,
): Collection {
  const reference = ids.next('co');
  const type = 'pesewa.collections.CollectionInitiated';
  const nowMs = clock.nowMs();
  const railFee = feeFor(rail.collections.fee, order.amount.minor);
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
  routeRail: AdmissionDeps['routeRail'],
): Result<Priced, AdmissionRefusal> {
  const mobileOperator = readMobileOperator(form);
  if (!mobileOperator.ok) return mobileOperator;
  const { code, currency: ofOperator } = mobileOperator.value;
  const rail = routeRail(code);
  if (!rail) return refuse(unavailable(`operatorCode ${code} is not served at present`));
  const wallet = merchant.wallets.find((one) => one.currency === ofOperator);
  if (!wallet) return refuse(unavailable(`you have no wallet in ${ofOperator}: ask your operator`));
  const order = readCollectionRequest(form, mobileOperator.value);
  if (!order.ok) return order;
  const { minor, currency } = order.value.amount;
  const fee = feeFor(wallet.collectionFee, minor);
  // A collection credits its amount less the fee, so the fee must not exceed the amount (contract 10.7).
  if (fee > minor)
    return refuse(invalidAmount(`must be at least its fee of ${displayAmount(fee, currency)}`));
  return accept({ order: order.value, wallet, fee, rail });
}

/** The key under which a customer's number is counted, in any spelling: a digest, because numbers are personal data. */
export function digestOfNumber(number: {
  readonly customerNumber: string;
  readonly country: string;
}): string {
  return hash('sha256', canonicalNumber(number.customerNumber, number.country), 'base64url');
}

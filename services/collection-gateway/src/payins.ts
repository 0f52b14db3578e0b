import type { CollectionRefusal } from '@pesewa/contracts';
import type { Merchant } from '@pesewa/directory';
import { accept, type Result, refuse, unreachable } from '@pesewa/kernel';
import type { Messaging } from '@pesewa/messaging';
import type { IsPaused } from '@pesewa/payments';
import { type AcceptanceDeps, type CountedLimit, createAcceptance } from './acceptance.ts';
import { type AdmissionDeps, admit } from './admission.ts';
import type { CollectionForm } from './domain/initiation.ts';
import type { GatewayMetrics } from './metrics.ts';
import type { Collection } from './store.ts';

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

/** The dependencies of taking payins: first they are admitted, then accepted. */
export type PayinDeps = AdmissionDeps &
  AcceptanceDeps & {
    readonly messaging: Pick<Messaging, 'acceptsWork'>;
    readonly isPaused: IsPaused;
    readonly metrics: Pick<GatewayMetrics, 'payin'>;
  };

/** Builds {@link AcceptCollection}. */
export function createPayins(deps: PayinDeps): AcceptCollection {
  const acceptances = createAcceptance(deps);
  const take: AcceptCollection = async (merchant, form, traceparent) => {
    const arrivedAtMs = deps.clock.nowMs();
    const admitted = admit(deps, merchant, form, traceparent);
    const refused = admitted.ok ? whyNot(deps, admitted.value.collection) : undefined;
    if (!admitted.ok || refused) {
      // Duplicates take precedence over mobile operator and amount, so they are looked for even if those refuse.
      const key = { merchantId: merchant.id, merchantReference: form.content.merchantReference };
      const [earlier] = (await deps.store.findByMerchantReferences([key])).values();
      if (earlier) return refuse(duplicateOf(earlier.reference));
      if (admitted.ok) return refuse(refused ?? notAcceptingRefusal);
      const refusal = await acceptances.refuse(key);
      if (refusal.kind === 'duplicate') return refuse(duplicateOf(refusal.reference));
      return refuse({ ...admitted.refusal, reference: '' });
    }
    const acceptance = await acceptances.accept({ ...admitted.value, arrivedAtMs });
    switch (acceptance.kind) {
      case 'accepted':
        return accept(acceptance.collection);
      case 'duplicate':
        return refuse(duplicateOf(acceptance.reference));
      case 'exceeded':
        return refuse(exceeded(acceptance.limit));
      case 'overtaken':
        return refuse(overtakenRefusal);
      default:
        return unreachable(acceptance);
    }
  };
  return async (merchant, form, traceparent) => {
    const taken = await take(merchant, form, traceparent);
    deps.metrics.payin(form.content.operatorCode, taken.ok ? 'ok' : taken.refusal.reason);
    return taken;
  };
}

/** Why we can't accept a collection that is in order. */
function whyNot(deps: PayinDeps, collection: Collection): PayinRefusal | undefined {
  if (deps.isPaused(collection)) return pausedRefusal;
  return deps.messaging.acceptsWork() ? undefined : notAcceptingRefusal;
}

function duplicateOf(reference: string): PayinRefusal {
  return { reason: 'DUPLICATE REFERENCE', reference };
}

/** The refusal of a request whose repetition was refused while it was under way. */
const overtakenRefusal: PayinRefusal = {
  reason: 'SERVICE UNAVAILABLE',
  reference: '',
  description: 'the request took too long: nothing was recorded, send it again',
};

/** The refusal while operators have paused the merchant or the rail. */
const pausedRefusal: PayinRefusal = {
  reason: 'SERVICE UNAVAILABLE',
  reference: '',
  description: 'collections are paused: nothing was recorded, send it again later',
};

/** The refusal while too much accepted work waits for Kafka. */
const notAcceptingRefusal: PayinRefusal = {
  reason: 'SERVICE UNAVAILABLE',
  reference: '',
  description: 'no new collection is accepted at present: nothing was recorded, send it again later',
};

function exceeded(limit: CountedLimit): PayinRefusal {
  if ('refusal' in limit) return { ...limit.refusal, reference: '' };
  const { retryAfterSeconds } = limit;
  const description = `too many collections of this customerNumber: nothing was recorded, send it again after ${retryAfterSeconds} s`;
  return { reason: 'TOO MANY REQUESTS', reference: '', description, retryAfterSeconds };
}

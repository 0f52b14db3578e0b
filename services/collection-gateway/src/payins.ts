import type { CollectionRefusal } from '@pesewa/contracts';
import type { Merchant } from '@pesewa/directory';
import { accept, type Result, refuse, unreachable } from '@pesewa/kernel';
import type { Messaging } from '@pesewa/messaging';
import { type AcceptanceDeps, createAcceptance, referenceOf } from './acceptance.ts';
import { type AdmissionDeps, admit } from './admission.ts';
import type { CollectionForm } from './domain/initiation.ts';
import type { NumberLimit } from './domain/limits.ts';
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
    readonly metrics: Pick<GatewayMetrics, 'payin'>;
  };

/** Builds {@link AcceptCollection}. */
export function createPayins(deps: PayinDeps): AcceptCollection {
  const acceptOne = createAcceptance(deps);
  const take: AcceptCollection = async (merchant, form, traceparent) => {
    const admitted = admit(deps, merchant, form, traceparent);
    if (!admitted.ok || !deps.messaging.acceptsWork()) {
      // Duplicates take precedence over mobile operator and amount, so they are looked for even if those refuse.
      const { merchantReference } = form.content;
      const [earlier] = (
        await deps.store.findByMerchantReferences([{ merchantId: merchant.id, merchantReference }])
      ).values();
      if (earlier) return refuse({ reason: 'DUPLICATE REFERENCE', reference: referenceOf(earlier) });
      return refuse(admitted.ok ? notAcceptingRefusal : { reason: admitted.refusal, reference: '' });
    }
    const acceptance = await acceptOne(admitted.value);
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
const notAcceptingRefusal: PayinRefusal = {
  reason: 'SERVICE UNAVAILABLE',
  reference: '',
  description: 'no new collection is accepted at present: nothing was recorded, send it again later',
};

function tooMany({ retryAfterSeconds }: NumberLimit): PayinRefusal {
  const description = `too many collections of this customerNumber: nothing was recorded, send it again after ${retryAfterSeconds} s`;
  return { reason: 'TOO MANY REQUESTS', reference: '', description, retryAfterSeconds };
}

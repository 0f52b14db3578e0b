import { jsonNumber } from '@pesewa/contracts';
import { accept, formatAmount, refuse } from '@pesewa/kernel';
import { type AppEnv, createReadPage } from '@pesewa/merchant-api';
import { paymentId } from '@pesewa/payments';
import type { Logger } from '@pesewa/runtime';
import { Hono } from 'hono';
import { batchListParameters, listOperations, payoutListParameters } from './list-operations.ts';
import { viewLookedUp } from './payout-operations.ts';
import type { Payout, PayoutStore, Reservation } from './store.ts';
import type { WhyWaiting } from './why-waiting.ts';

/** The dependencies of the lists. */
export interface ListDeps {
  readonly store: Pick<PayoutStore, 'list' | 'listBatches' | 'findBatch'>;
}

/** The routes that list payouts and batches, always of the merchant that asks (ADR 83). */
export function createListRoutes(
  deps: ListDeps & { readonly whyWaiting: WhyWaiting; readonly logger: Pick<Logger, 'error'> },
): Hono<AppEnv> {
  const { store } = deps;
  const routes = new Hono<AppEnv>();
  const readPage = createReadPage(deps.logger);
  const { payouts, batches } = listOperations;
  /** The batch that a list is about; undefined if it is about none. */
  const findBatch = async (merchantId: string, reference: string | undefined) => {
    const found = reference === undefined ? undefined : await store.findBatch(merchantId, reference);
    return reference === undefined || found
      ? accept(found)
      : refuse({ code: 'notFound' as const, message: 'batch: you have no batch with this reference' });
  };

  routes.get(payouts.route.getRoutingPath(), async (context) => {
    const page = await readPage(
      context,
      payoutListParameters,
      async (merchantId, query, { status, batch: reference }) => {
        const batch = await findBatch(merchantId, reference);
        return batch.ok
          ? accept(await store.list({ ...query, merchantId, status, batch: batch.value }))
          : batch;
      },
    );
    if (!page.ok) return payouts.refuse(context, page.refusal.code, page.refusal.message);
    const { items, nextCursor } = page.value;
    const transactions = items.map((payout) => viewListed(payout, deps.whyWaiting));
    return payouts.succeed(context, { transactions, nextCursor });
  });

  routes.get(batches.route.getRoutingPath(), async (context) => {
    const page = await readPage(
      context,
      batchListParameters,
      async (merchantId, query, { batch: reference }) => {
        const asked = await findBatch(merchantId, reference);
        if (!asked.ok) return asked;
        const ids = asked.value && [paymentId(asked.value)];
        const found = await store.listBatches({ ...query, merchantId, ids });
        return accept(found?.map((batch) => ({ reference: batch.batchReference, batch })));
      },
    );
    if (!page.ok) return batches.refuse(context, page.refusal.code, page.refusal.message);
    const { items, nextCursor } = page.value;
    return batches.succeed(context, { batches: items.map(({ batch }) => viewBatch(batch)), nextCursor });
  });

  return routes;
}

function viewListed(payout: Payout, whyWaiting: WhyWaiting) {
  return {
    ...viewLookedUp(payout, whyWaiting),
    currency: payout.order.amount.currency,
    batchReference: payout.batchReference,
    acceptedAt: new Date(payout.acceptedAtMs).toISOString(),
  };
}

function viewBatch({ merchantReference, batchReference, total, itemCount, acceptedAtMs }: Reservation) {
  return {
    merchantReference,
    transactionReference: batchReference,
    currency: total.currency,
    totalAmount: jsonNumber(formatAmount(total.minor, total.currency)),
    itemCount,
    acceptedAt: new Date(acceptedAtMs).toISOString(),
  };
}

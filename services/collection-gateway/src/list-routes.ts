import { type JsonOf, jsonNumber, type MobileOperator } from '@pesewa/contracts';
import { accept, type Clock, formatAmount } from '@pesewa/kernel';
import { type AppEnv, type AuthenticationDeps, authenticate, createReadPage } from '@pesewa/merchant-api';
import { answerJson, type Logger } from '@pesewa/runtime';
import { Hono } from 'hono';
import { answerRejected } from './answers.ts';
import { viewConfiguration } from './configuration.ts';
import {
  type listedCollection,
  listedParameters,
  listOperations,
  type operatorsAvailability,
} from './list-operations.ts';
import { merchantKeyOf } from './requests.ts';
import { answerUnauthenticated } from './status-routes.ts';
import type { Collection, CollectionStore } from './store.ts';

/** The dependencies of the list of collections and of what is told of mobile operators. */
export interface ListRouteDeps extends AuthenticationDeps {
  readonly store: Pick<CollectionStore, 'list'>;
  /** How collections fare; undefined before it is first measured. */
  readonly availability: (merchantId: string) => JsonOf<typeof operatorsAvailability> | undefined;
  /** Those that collections are routed to. */
  readonly operators: readonly MobileOperator[];
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly logger: Logger;
}

/** The routes that list collections, always of the merchant that asks (ADR 83), and show how each mobile operator does. */
export function createListRoutes(deps: ListRouteDeps): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();
  const nowMs = deps.clock.nowMs;
  const readPage = createReadPage(deps.logger);
  const authentication = authenticate(deps, {
    scope: 'collections',
    keyOf: merchantKeyOf,
    refuse: (context, refusal) => answerUnauthenticated(context, refusal, nowMs()),
  });
  routes.get(listOperations.collections.getRoutingPath(), authentication, async (context) => {
    const page = await readPage(context, listedParameters, async (merchantId, query, { status }) =>
      accept(await deps.store.list({ ...query, merchantId, status })),
    );
    if (page.ok) {
      const { items, nextCursor } = page.value;
      return answerJson(context, 200, { collections: items.map(viewListed), nextCursor });
    }
    const { code, message } = page.refusal;
    return answerRejected(context, code === 'malformed' ? 400 : 503, nowMs(), message);
  });
  routes.get(listOperations.availability.getRoutingPath(), authentication, (context) => {
    const found = deps.availability(context.get('merchant').id);
    return found ? answerJson(context, 200, found) : answerRejected(context, 503, nowMs());
  });
  routes.get(listOperations.configuration.getRoutingPath(), authentication, (context) =>
    answerJson(context, 200, viewConfiguration(deps.operators, context.get('merchant').limits)),
  );
  return routes;
}

function viewListed(collection: Collection): JsonOf<typeof listedCollection> {
  const { order, status, fee, amountReceived, failureReason, acceptedAtMs } = collection;
  const money = (minor: bigint) => jsonNumber(formatAmount(minor, order.amount.currency));
  const isCompleted = status === 'COMPLETED';
  return {
    transaction_reference: collection.reference,
    merchant_reference: order.merchantReference,
    status,
    transaction_amount: money(order.amount.minor),
    // As in its webhook: nothing is received, and nothing charged, before it is completed (contract 10.15).
    amount_received: money(isCompleted ? (amountReceived ?? 0n) : 0n),
    transaction_fee: money(isCompleted ? fee : 0n),
    currency_code: order.amount.currency,
    channel: 'MOBILE_MONEY',
    operator_code: order.operatorCode,
    initiated_date: new Date(acceptedAtMs).toISOString().slice(0, 19).replace('T', ' '),
    ...(status === 'FAILED' && failureReason !== null && { failure_reason: failureReason }),
  };
}

import { hash } from 'node:crypto';
import type { Merchant } from '@pesewa/directory';
import { accept, type Clock, feeFor, type Money, type Result, refuse } from '@pesewa/kernel';
import { type LimitUsageStore, openLimitUsage } from '@pesewa/merchant-api';
import type { Messaging } from '@pesewa/messaging';
import type { IsPaused } from '@pesewa/payments';
import type { Balances } from './balances.ts';
import { beneficiaryLimitsOf, type DayLimit, dayLimitOf, payoutLimitRefusal } from './domain/limits.ts';
import type { PayoutRequest, RequestRefusal } from './domain/request.ts';
import { noRouteRefusal, type Route, type RouteQuery } from './domain/routing.ts';

/** The dependencies of admission. */
export interface AdmissionDeps {
  readonly usage: Pick<LimitUsageStore, 'read'>;
  readonly messaging: Pick<Messaging, 'acceptsWork'>;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly routePayout: (question: RouteQuery) => Promise<Route>;
  readonly isPaused: IsPaused;
  /** Whether the wallet seems to hold the minor units; only advice, because the ledger decides (contract 10.8). */
  readonly canSpend: Balances['canSpend'];
}

/** What is judged together: a single payout, or all items of a batch. */
interface Requested {
  readonly requests: readonly PayoutRequest[];
  readonly total: Money;
  /** The path of a request's field in the body, for refusals. */
  readonly pathOf: (index: number, field: 'amount' | 'bankCode' | 'accountNumber') => string;
}

/** The terms on which payouts are admitted. */
export interface Admission {
  /** The fee and the rail of one of the requests. */
  readonly termsOf: (request: PayoutRequest) => { readonly fee: bigint; readonly rail: string };
  /** What is counted of the day, of each request in turn. */
  readonly limits: readonly DayLimit[];
}

/**
 * The refusal while too much accepted work waits for Kafka. It is judged last, so that duplicates are still answered.
 */
export const notAcceptingRefusal: RequestRefusal = {
  code: 'unavailable',
  message: 'no new payout is accepted at present and nothing was stored: send it again later',
};

/** The refusal while operators have paused the merchant or the rail. */
const pausedRefusal: RequestRefusal = {
  code: 'unavailable',
  message: 'payouts are paused and nothing was stored: send it again later',
};

/**
 * Judges routing, limits, funds and our own capacity, in this order; daily limits and funds by the sum (contract 10.2).
 * Acceptance counts the day: here daily limits only have to be refused before funds, and are read if these are short.
 */
export async function admit(
  deps: AdmissionDeps,
  merchant: Merchant,
  { requests, total, pathOf }: Requested,
): Promise<Result<Admission, RequestRefusal>> {
  const { currency, minor } = total;
  const rails = await routeAll(deps, requests, pathOf);
  if (!rails.ok) return rails;
  if ([...rails.value.values()].some((rail) => deps.isPaused({ rail, merchantId: merchant.id })))
    return refuse(pausedRefusal);
  for (const [index, { amount }] of requests.entries()) {
    const overMax = payoutLimitRefusal(merchant.limits, amount, pathOf(index, 'amount'));
    if (overMax) return refuse(overMax);
  }
  const now = new Date(deps.clock.nowMs());
  const limits = requests.flatMap((request, index) =>
    [
      dayLimitOf(merchant, request.amount, now) ?? [],
      beneficiaryLimitsOf(merchant, request, { now, path: pathOf(index, 'accountNumber'), digest }),
    ].flat(),
  );
  const wallet = merchant.wallets.find((own) => own.currency === currency);
  if (wallet) {
    const feeOf = ({ amount }: PayoutRequest) => feeFor(wallet.payoutFee, amount.minor);
    const fees = requests.reduce((sum, request) => sum + feeOf(request), 0n);
    if (await deps.canSpend({ merchantId: merchant.id, currency }, minor + fees)) {
      if (!deps.messaging.acceptsWork()) return refuse(notAcceptingRefusal);
      const railOf = ({ beneficiary }: PayoutRequest) => rails.value.get(beneficiary.bankCode) ?? '';
      return accept({ termsOf: (request) => ({ fee: feeOf(request), rail: railOf(request) }), limits });
    }
  }
  const exceeded = openLimitUsage(await deps.usage.read(limits)).add(limits);
  if (exceeded) return refuse(exceeded.refusal);
  const message = wallet
    ? `the ${currency} wallet does not hold the amount and its fee`
    : `there is no wallet in ${currency}`;
  return refuse({ code: 'insufficientFunds', message });
}

const digest = (account: string) => hash('sha256', account, 'base64url');

/** The rail of each bank code, which is routed once; a refusal names the first request without a route. */
async function routeAll(
  deps: Pick<AdmissionDeps, 'routePayout'>,
  requests: readonly PayoutRequest[],
  pathOf: Requested['pathOf'],
): Promise<Result<ReadonlyMap<string, string>, RequestRefusal>> {
  const rails = new Map<string, string>();
  for (const [index, { country, channel, amount, beneficiary }] of requests.entries()) {
    const { bankCode } = beneficiary;
    if (rails.has(bankCode)) continue;
    const question = { country, channel, currency: amount.currency, bankCode };
    const route = await deps.routePayout(question);
    if (route.kind !== 'routed') return refuse(noRouteRefusal(route, question, pathOf(index, 'bankCode')));
    rails.set(bankCode, route.rail);
  }
  return accept(rails);
}

import type { CallerView, MessagingService } from '@pesewa/contracts';
import { callerOperations } from '@pesewa/contracts';
import {
  type Caller,
  ClientError,
  createCaller,
  createTimelines,
  createWaiting,
  exchangeHttp,
  type OperationsExchange,
  RefusedError,
} from '@pesewa/operator-client';

/** Where each service's operator API is. */
export type Addresses = Readonly<Record<MessagingService, string>>;

/** The operator APIs as one operator calls them. */
export interface Upstream extends Caller {
  readonly timelines: ReturnType<typeof createTimelines>;
  readonly waiting: ReturnType<typeof createWaiting>;
}

/** Opens the operator APIs for a token. */
export type OpenUpstream = (token: string) => Upstream;

/** A page waits for a service no longer than this. */
const CALL_TIMEOUT_MS = 5_000;

const bounded: OperationsExchange = (request) => exchangeHttp({ timeoutMs: CALL_TIMEOUT_MS, ...request });

/** Builds {@link OpenUpstream} over the services' addresses. */
export function createUpstream(addresses: Addresses, exchange: OperationsExchange = bounded): OpenUpstream {
  return (token) => {
    const addressOf = (service: MessagingService) => addresses[service];
    const caller = createCaller({ exchange, addressOf, tokenFor: () => token });
    return { ...caller, timelines: createTimelines(caller), waiting: createWaiting(caller) };
  };
}

const askedInTurn = ['ledger', 'reconciler', 'payout-gateway', 'collection-gateway'] as const;

/** Whose token it is; undefined if no service knows it. Fails if no service answers. */
export async function identify({ call }: Upstream): Promise<CallerView | undefined> {
  let silent: unknown;
  for (const service of askedInTurn) {
    try {
      return await call(service, callerOperations.show, {});
    } catch (error) {
      if (error instanceof RefusedError) return undefined;
      if (!(error instanceof ClientError)) throw error;
      silent = error;
    }
  }
  throw silent;
}

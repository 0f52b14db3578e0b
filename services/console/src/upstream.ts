import {
  type CallerView,
  type CallOf,
  callerOperations,
  type MessagingService,
  type Operation,
  requestOf,
} from '@pesewa/contracts';
import { accept, type Result, refuse } from '@pesewa/kernel';
import {
  type Caller,
  ClientError,
  createCaller,
  createTimelines,
  exchangeHttp,
  type FileSender,
  type OperationsExchange,
  parseAnswer,
  RefusedError,
  readBody,
  requestHttp,
  requireAccepted,
  sendFile,
} from '@pesewa/operator-client';

/** How requests go out, and files come and go. */
export interface Transport {
  readonly exchange: OperationsExchange;
  readonly fetch: (url: string, token: string) => Promise<Response>;
  readonly send: FileSender;
}

/** Opens the operator APIs for a token. */
export type OpenUpstream = ReturnType<typeof createUpstream>;

/** The operator APIs as one operator calls them. */
export type Upstream = ReturnType<OpenUpstream>;

/** A page waits for a service no longer than this, and longer for what it changes. */
const CALL_TIMEOUT_MS = 5_000;
const CHANGE_TIMEOUT_MS = 15_000;

/** Whether something is only tried. */
const isDryRun = (given: object): boolean =>
  Object.values(given).some(
    (one) => (one as { readonly dryRun?: unknown } | undefined)?.dryRun !== undefined,
  );

const overHttp: Transport = {
  exchange: (request) =>
    exchangeHttp({ timeoutMs: request.body === undefined ? CALL_TIMEOUT_MS : CHANGE_TIMEOUT_MS, ...request }),
  fetch: async (url, token) => {
    const silent = new AbortController();
    const timer = setTimeout(() => silent.abort(), CALL_TIMEOUT_MS);
    return requestHttp({ url, token, signal: silent.signal }).finally(() => clearTimeout(timer));
  },
  send: sendFile,
};

/** Builds what opens the operator APIs over the services' addresses. */
export function createUpstream(addresses: Readonly<Record<MessagingService, string>>, transport = overHttp) {
  return (token: string) => {
    const addressOf = (service: MessagingService) => addresses[service];
    const caller = createCaller({ exchange: transport.exchange, addressOf, tokenFor: () => token });
    const call: Caller['call'] = (service, operation, given) =>
      caller.call(service, operation, given).catch((error: unknown) => {
        const isLook = operation.method === 'get' || isDryRun(given);
        if (isLook || error instanceof RefusedError || !(error instanceof ClientError)) throw error;
        const unclear = 'What you asked for may have taken effect: look before you ask again';
        throw new ClientError(`${error.message}. ${unclear}`);
      });
    return {
      ...caller,
      call,
      timelines: createTimelines(caller),
      /** A file that a service gives, as it arrives. */
      fetch: async <One extends Operation>(service: MessagingService, operation: One, given: CallOf<One>) => {
        const url = `${addressOf(service)}${requestOf(operation, given).path}`;
        const file = await transport.fetch(url, token);
        if (!file.ok) requireAccepted(service, { status: file.status, body: parseAnswer(await file.text()) });
        return file;
      },
      /** Sends a file to a service. */
      send: async <One extends Operation>(
        service: MessagingService,
        operation: One,
        given: CallOf<One>,
        file: Pick<Parameters<FileSender>[0], 'content' | 'sizeBytes'>,
      ) => {
        const url = `${addressOf(service)}${requestOf(operation, given).path}`;
        return readBody(service, operation, await transport.send({ url, token, ...file }));
      },
    };
  };
}

const askedInTurn = ['ledger', 'reconciler', 'payout-gateway', 'collection-gateway'] as const;

/** Whose token it is, or why it is nobody's. Fails if no service answers. */
export async function identify({ call }: Upstream): Promise<Result<CallerView, RefusedError>> {
  let silent: unknown;
  for (const service of askedInTurn) {
    try {
      return accept(await call(service, callerOperations.show, {}));
    } catch (error) {
      if (error instanceof RefusedError) return refuse(error);
      if (!(error instanceof ClientError)) throw error;
      silent = error;
    }
  }
  throw silent;
}

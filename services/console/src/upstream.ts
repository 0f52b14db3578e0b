import {
  type AnswerOf,
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

/** Where each service's operator API is. */
export type Addresses = Readonly<Record<MessagingService, string>>;

/** The operator APIs as one operator calls them. */
export interface Upstream extends Caller {
  readonly timelines: ReturnType<typeof createTimelines>;
  /** A file that a service gives, as it arrives. */
  readonly fetch: <One extends Operation>(
    service: MessagingService,
    operation: One,
    given: CallOf<One>,
  ) => Promise<Response>;
  /** Sends a file to a service. */
  readonly send: <One extends Operation>(
    service: MessagingService,
    operation: One,
    given: CallOf<One>,
    file: Pick<Parameters<FileSender>[0], 'content' | 'sizeBytes'>,
  ) => Promise<AnswerOf<One>>;
}

/** How files come and go. */
export interface Files {
  readonly fetch: (url: string, token: string) => Promise<Response>;
  readonly send: FileSender;
}

/** Opens the operator APIs for a token. */
export type OpenUpstream = (token: string) => Upstream;

/** A page waits for a service no longer than this, and longer for what it changes. */
const CALL_TIMEOUT_MS = 5_000;
const CHANGE_TIMEOUT_MS = 15_000;

const bounded: OperationsExchange = (request) =>
  exchangeHttp({
    timeoutMs: request.body === undefined ? CALL_TIMEOUT_MS : CHANGE_TIMEOUT_MS,
    ...request,
  });

/** Whether something is only tried. */
const isDryRun = (given: object): boolean =>
  Object.values(given).some(
    (one) => (one as { readonly dryRun?: unknown } | undefined)?.dryRun !== undefined,
  );

const overHttp: Files = {
  fetch: async (url, token) => {
    const silent = new AbortController();
    const timer = setTimeout(() => silent.abort(), CALL_TIMEOUT_MS);
    return requestHttp({ url, token, signal: silent.signal }).finally(() => clearTimeout(timer));
  },
  send: sendFile,
};

/** Builds {@link OpenUpstream} over the services' addresses. */
export function createUpstream(
  addresses: Addresses,
  exchange: OperationsExchange = bounded,
  files: Files = overHttp,
): OpenUpstream {
  return (token) => {
    const addressOf = (service: MessagingService) => addresses[service];
    const caller = createCaller({ exchange, addressOf, tokenFor: () => token });
    const call: Caller['call'] = async (service, operation, given) => {
      try {
        return await caller.call(service, operation, given);
      } catch (error) {
        const isLook = operation.method === 'get' || isDryRun(given);
        const isKnown = error instanceof RefusedError || isLook;
        if (isKnown || !(error instanceof ClientError)) throw error;
        throw new ClientError(
          `${error.message}. What you asked for may have taken effect: look before you ask again`,
        );
      }
    };
    return {
      ...caller,
      call,
      timelines: createTimelines(caller),
      fetch: async (service, operation, given) => {
        const file = await files.fetch(`${addressOf(service)}${requestOf(operation, given).path}`, token);
        if (!file.ok) requireAccepted(service, { status: file.status, body: parseAnswer(await file.text()) });
        return file;
      },
      send: async (service, operation, given, file) => {
        const url = `${addressOf(service)}${requestOf(operation, given).path}`;
        return readBody(service, operation, await files.send({ url, token, ...file }));
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

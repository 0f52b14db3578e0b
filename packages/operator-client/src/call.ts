import {
  type AnswerOf,
  type CallOf,
  type MessagingService,
  type Operation,
  readAnswer,
  refusalBody,
  requestOf,
} from '@pesewa/contracts';
import { ClientError, RefusedError } from './errors.ts';

/** Calls the operations of the services' operator APIs; a refusal becomes a {@link RefusedError}. */
export interface Caller {
  readonly call: <One extends Operation>(
    service: MessagingService,
    operation: One,
    given: CallOf<One>,
  ) => Promise<AnswerOf<One>>;
  /** The items of a list from its first page or a given cursor on, until it ends or `limit` items are read, and whether there are more. */
  readonly list: <One extends ListOperation>(
    service: MessagingService,
    operation: One,
    query: QueryOf<One>,
    limit: number,
  ) => Promise<{ readonly items: readonly ItemOf<One>[]; readonly hasMore: boolean }>;
}

/** An operation that answers page by page. */
type ListOperation = Operation & Required<Pick<Operation, 'pages'>>;
type QueryOf<One extends Operation> =
  CallOf<One> extends { readonly query?: infer Query } ? NonNullable<Query> : object;
type ItemOf<One extends Operation> =
  AnswerOf<One> extends { readonly items: readonly (infer Item)[] } ? Item : never;

/** An answer of an operator API: its status and its JSON body, if it has one. */
export interface OperationsAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** Sends one request with an operator's token; rejects with a {@link ClientError} if there is no answer. */
export type OperationsExchange = (request: {
  readonly url: string;
  readonly token: string;
  /** Sent as JSON; absent means GET. */
  readonly body?: unknown;
  /** `POST` by default. */
  readonly method?: 'PUT';
  /** The time limit, if it is longer than usual. */
  readonly timeoutMs?: number;
}) => Promise<OperationsAnswer>;

/** Where the services are, who asks, and how requests are sent. */
export interface CallerDeps {
  readonly exchange: OperationsExchange;
  /** The address of a service's operator API, without a slash at the end. */
  readonly addressOf: (service: MessagingService) => string;
  readonly tokenFor: (operation: Operation) => string;
}

/** Builds {@link Caller}. */
export function createCaller({ exchange, addressOf, tokenFor }: CallerDeps): Caller {
  const call: Caller['call'] = async (service, operation, given) => {
    const { method, path, body } = requestOf(operation, given);
    const { timeoutMs } = operation;
    const answer = await exchange({
      url: `${addressOf(service)}${path}`,
      token: tokenFor(operation),
      ...(method === 'PUT' && { method }),
      ...(body !== undefined && { body }),
      ...(timeoutMs !== undefined && { timeoutMs }),
    });
    return readBody(service, operation, answer);
  };
  return {
    call,
    list: async (service, operation, query, limit) => {
      type Listed = typeof operation;
      const items: ItemOf<Listed>[] = [];
      let cursor = (query as Readonly<Record<string, string | null | undefined>>)[operation.pages];
      while (cursor !== null && items.length < limit) {
        const given = { query: { ...query, [operation.pages]: cursor } } as unknown as CallOf<Listed>;
        const page = (await call(service, operation, given)) as {
          readonly items: readonly ItemOf<Listed>[];
          readonly next: string | null;
        };
        items.push(...page.items);
        cursor = page.next;
      }
      return { items: items.slice(0, limit), hasMore: cursor !== null || items.length > limit };
    },
  };
}

/** The body of an operation's answer; throws if it is a refusal, or not what the operation gives. */
export function readBody<One extends Operation>(
  service: MessagingService,
  operation: One,
  answer: OperationsAnswer,
): AnswerOf<One> {
  requireAccepted(service, answer);
  const body = readAnswer(operation, answer);
  if (body !== undefined) return body;
  throw new ClientError(`${service} answered something else than expected: use the same version of both`);
}

/** Throws if an answer is a refusal. */
export function requireAccepted(service: MessagingService, { status, body }: OperationsAnswer): void {
  if (status >= 200 && status < 300) return;
  const said = refusalBody.partial().safeParse(body).data;
  const why = `${service}: ${said?.message ?? `answered ${status}, no reason given`}`;
  throw status < 500 ? new RefusedError(why, status, said?.code) : new ClientError(why);
}

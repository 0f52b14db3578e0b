import {
  type AnswerOf,
  type CallOf,
  type MessagingService,
  type Operation,
  readAnswer,
  refusalBody,
  requestOf,
} from '@pesewa/contracts';
import { type Addresses, type AddressName, requireAddress } from '../config.ts';
import { CliError, RefusedError } from '../errors.ts';
import type { CliPorts, OperationsAnswer } from '../ports.ts';

const addressNames = {
  ledger: 'ledgerUrl',
  reconciler: 'reconcilerUrl',
  'webhook-ingress': 'webhookIngressUrl',
  'payout-gateway': 'payoutGatewayUrl',
  'collection-gateway': 'collectionGatewayUrl',
  'webhook-dispatcher': 'webhookDispatcherUrl',
} as const satisfies Record<MessagingService, AddressName>;

/** Calls the operations of the services' operator APIs (ADR 60); a refusal becomes a {@link RefusedError}. */
export interface Caller {
  readonly call: <One extends Operation>(
    service: MessagingService,
    operation: One,
    given: CallOf<One>,
  ) => Promise<AnswerOf<One>>;
  /** The items of a list, page by page, until it ends or `limit` items are read, and whether there are more. */
  readonly list: <One extends ListOperation>(
    service: MessagingService,
    operation: One,
    query: Omit<QueryOf<One>, 'cursor' | 'after'>,
    limit: number,
  ) => Promise<{ readonly items: readonly ItemOf<One>[]; readonly hasMore: boolean }>;
  /** Writes the answer to a file, completely or not at all. */
  readonly save: <One extends Operation>(
    service: MessagingService,
    operation: One,
    given: CallOf<One>,
    file: string,
  ) => Promise<void>;
  /** Sends a file; the request depends on its SHA-256. */
  readonly send: <One extends Operation>(
    service: MessagingService,
    operation: One,
    upload: Pick<Parameters<CliPorts['upload']>[0], 'file' | 'progress'> & {
      readonly given: (sha256: string) => CallOf<One>;
    },
  ) => Promise<AnswerOf<One>>;
}

/** An operation that answers page by page. */
type ListOperation = Operation & Required<Pick<Operation, 'pages'>>;
type QueryOf<One extends Operation> =
  CallOf<One> extends { readonly query?: infer Query } ? NonNullable<Query> : object;
type ItemOf<One extends Operation> =
  AnswerOf<One> extends { readonly items: readonly (infer Item)[] } ? Item : never;

/** Builds {@link Caller} over the resolved addresses; a missing one matters only when it is used. */
export function createCaller(
  ports: Pick<CliPorts, 'exchange' | 'download' | 'upload' | 'progress'>,
  addresses: Addresses,
): Caller {
  const urlOf = (service: MessagingService, path: string) =>
    `${requireAddress(addresses, addressNames[service]).replace(/\/+$/, '')}${path}`;
  const tokenFor = ({ caller }: Operation) =>
    // Without a second token the caller's own is used, because they may be the second operator.
    (caller === 'second' ? addresses.approverToken : undefined) ?? requireAddress(addresses, 'operatorToken');
  const call: Caller['call'] = async (service, operation, given) => {
    const { method, path, body } = requestOf(operation, given);
    const { timeoutMs } = operation;
    const answer = await ports.exchange({
      url: urlOf(service, path),
      token: tokenFor(operation),
      ...(method === 'PUT' && { method }),
      ...(body !== undefined && { body }),
      ...(timeoutMs !== undefined && { timeoutMs }),
    });
    return read(service, operation, answer);
  };
  return {
    call,
    list: async (service, operation, query, limit) => {
      type Listed = typeof operation;
      const items: ItemOf<Listed>[] = [];
      let cursor: string | null | undefined;
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
    save: async (service, operation, given, file) => {
      const url = urlOf(service, requestOf(operation, given).path);
      const progress = (rows: number, total: number | undefined) =>
        ports.progress(`${file}: ${describeRows(rows, total)} …`);
      const saved = await ports
        .download({ url, token: tokenFor(operation), file, progress })
        .finally(() => ports.progress(''));
      requireAccepted(service, saved);
    },
    send: async (service, operation, { given, ...upload }) => {
      const urlOfFile = (sha256: string) => urlOf(service, requestOf(operation, given(sha256)).path);
      const answer = await ports.upload({ ...upload, urlOf: urlOfFile, token: tokenFor(operation) });
      return read(service, operation, answer);
    },
  };
}

/** How much of a download has arrived, such as `1,234 rows`, or of a known total `1,234 of 5,000 rows (24 %)`. */
function describeRows(rows: number, total: number | undefined): string {
  const grouped = (count: number) => count.toLocaleString('en-GB');
  if (total === undefined || total === 0) return `${grouped(rows)} rows`;
  return `${grouped(rows)} of ${grouped(total)} rows (${Math.floor((rows / total) * 100)} %)`;
}

function read<One extends Operation>(
  service: MessagingService,
  operation: One,
  answer: OperationsAnswer,
): AnswerOf<One> {
  requireAccepted(service, answer);
  const body = readAnswer(operation, answer);
  if (body !== undefined) return body;
  throw new CliError(
    `${service} answered something else than expected: use a command line of the same version`,
  );
}

/** Throws if an answer is a refusal. */
function requireAccepted(service: MessagingService, { status, body }: OperationsAnswer): void {
  if (status >= 200 && status < 300) return;
  const said = refusalBody.partial().safeParse(body).data;
  const why = `${service}: ${said?.message ?? `answered ${status}, no reason given`}`;
  throw status < 500 ? new RefusedError(why, status, said?.code) : new CliError(why);
}

import { z } from 'zod';
import { type Callbacks, createCallbacks } from './callbacks.ts';
import { type Addresses, requireAddress } from './config.ts';
import { createDecisions, type Decisions } from './decisions.ts';
import { CliError, RefusedError } from './errors.ts';
import { createOrders, type Orders } from './orders.ts';
import type { CliPorts, OperationsAnswer } from './ports.ts';
import { createStatements, type Statements } from './statements.ts';

const refusal = z.object({ message: z.string() });
const list = z.object({ items: z.array(z.record(z.string(), z.unknown())), next: z.string().nullable() });
const account = z.object({
  currency: z.string(),
  available: z.string(),
  held: z.string(),
  sequence: z.number(),
});
const floats = z.object({
  items: z.array(z.object({ rail: z.string(), currency: z.string(), balance: z.string() })),
});

/** A wallet as the ledger shows it; amounts are decimal text. */
export type Account = z.output<typeof account>;

/** One request to an operations API. */
export interface Question {
  readonly service: 'ledgerUrl' | 'reconcilerUrl' | 'webhookIngressUrl';
  readonly path: string;
  /** Posted as JSON; absent means GET. */
  readonly body?: unknown;
  /** Whether the other operator asks, who approves. */
  readonly approving?: boolean;
}

/** Asks an operations API and reads its answer; a refusal becomes a {@link CliError}. */
export type Ask = <Schema extends z.ZodType>(schema: Schema, question: Question) => Promise<z.output<Schema>>;

/** The operator APIs that commands talk to (design 1). */
export interface Operations {
  readonly orders: Orders;
  readonly statements: Statements;
  readonly decisions: Decisions;
  readonly callbacks: Callbacks;
  readonly account: (merchantId: string, currency: string) => Promise<Account>;
  /** The balance of our float at a rail; nothing where no entry has touched one. */
  readonly float: (rail: string, currency: string) => Promise<string | undefined>;
  readonly drift: () => Promise<readonly Record<string, unknown>[]>;
  readonly timeline: (reference: string) => Promise<readonly Record<string, unknown>[]>;
}

const PAGES_MAX = 100;

/** Builds {@link Operations} over the resolved addresses; each is required only when it is used. */
export function createOperations(
  ports: Pick<CliPorts, 'exchange' | 'clock' | 'progress'>,
  addresses: Addresses,
): Operations {
  const exchange = async ({ service, path, body, approving }: Question): Promise<OperationsAnswer> => {
    const url = `${requireAddress(addresses, service).replace(/\/+$/, '')}${path}`;
    // Without a second token the caller's own is used: they may be the second operator.
    const token =
      (approving ? addresses.approverToken : undefined) ?? requireAddress(addresses, 'operatorToken');
    return ports.exchange({ url, token, ...(body !== undefined && { body }) });
  };
  const ask: Ask = async (schema, question) => read(schema, await exchange(question), question.path);
  const listAll = async (path: string): Promise<readonly Record<string, unknown>[]> => {
    const items: Record<string, unknown>[] = [];
    let cursor = '';
    for (let page = 0; page < PAGES_MAX; page += 1) {
      const separator = path.includes('?') ? '&' : '?';
      const at = cursor === '' ? path : `${path}${separator}cursor=${encodeURIComponent(cursor)}`;
      const answer = await ask(list, { service: 'reconcilerUrl', path: at });
      items.push(...answer.items);
      if (answer.next === null) return items;
      cursor = answer.next;
    }
    throw new CliError(`${path} has more than ${PAGES_MAX} pages: ask for less`);
  };
  return {
    orders: createOrders(ports, ask),
    statements: createStatements(ports, ask),
    decisions: createDecisions(ask),
    callbacks: createCallbacks(ask),
    account: async (merchantId, currency) => {
      const path = `/accounts/${encodeURIComponent(merchantId)}/${encodeURIComponent(currency)}`;
      const answer = await exchange({ service: 'ledgerUrl', path });
      // A wallet that no entry has touched yet is empty.
      if (answer.status === 404) return { currency, available: '0', held: '0', sequence: 0 };
      return read(account, answer, path);
    },
    float: async (rail, currency) => {
      const { items } = await ask(floats, { service: 'ledgerUrl', path: '/floats' });
      return items.find((float) => float.rail === rail && float.currency === currency)?.balance;
    },
    drift: () => listAll('/drift'),
    timeline: (reference) => listAll(`/timeline?reference=${encodeURIComponent(reference)}`),
  };
}

function read<Schema extends z.ZodType>(
  schema: Schema,
  answer: OperationsAnswer,
  path: string,
): z.output<Schema> {
  if (answer.status < 200 || answer.status >= 300) {
    const said = refusal.safeParse(answer.body);
    const why = `${path} answered ${answer.status}: ${said.success ? said.data.message : 'no reason given'}`;
    throw answer.status < 500 ? new RefusedError(why) : new CliError(why);
  }
  const parsed = schema.safeParse(answer.body);
  if (parsed.success) return parsed.data;
  throw new CliError(`${path} answered something else than expected: use a command line of the same version`);
}

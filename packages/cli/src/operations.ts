import { z } from 'zod';
import type { Ask, Download, Question, Upload } from './ask.ts';
import { type Breaks, createBreaks } from './breaks.ts';
import { type Callbacks, createCallbacks } from './callbacks.ts';
import { type Closes, createCloses } from './closes.ts';
import { type Addresses, requireAddress } from './config.ts';
import { createDecisions, type Decisions } from './decisions.ts';
import { CliError, RefusedError } from './errors.ts';
import { createOrders, type Orders } from './orders.ts';
import { createParked, type Parked } from './parked.ts';
import type { CliPorts, OperationsAnswer } from './ports.ts';
import { createPositions, type Positions } from './positions.ts';
import { createRailStatements, type RailStatements } from './rail-statements.ts';
import { createReconciling, type Reconciling } from './reconciling.ts';
import { createStatements, type Statements } from './statements.ts';
import { createTimelines, type Timelines } from './timelines.ts';
import { createWebhooks, type Webhooks } from './webhooks.ts';

const refusal = z.object({ message: z.string(), code: z.string().default('') });
const account = z.object({
  currency: z.string(),
  available: z.string(),
  held: z.string(),
  sequence: z.number(),
});
const floats = z.object({
  items: z.array(z.object({ rail: z.string(), currency: z.string(), balance: z.string() })),
});

/** A wallet as the ledger shows it; amounts are decimal strings. */
export type Account = z.output<typeof account>;

/** The operator APIs that commands talk to (ADR 60). */
export interface Operations {
  readonly orders: Orders;
  readonly statements: Statements;
  readonly decisions: Decisions;
  readonly closes: Closes;
  readonly railStatements: RailStatements;
  readonly breaks: Breaks;
  readonly callbacks: Callbacks;
  readonly parked: Parked;
  readonly positions: Positions;
  readonly account: (merchantId: string, currency: string) => Promise<Account>;
  /** The balance of our float at a rail; undefined if it has no entries. */
  readonly float: (rail: string, currency: string) => Promise<string | undefined>;
  readonly reconciling: Reconciling;
  readonly timelines: Timelines;
  readonly webhooks: Webhooks;
}

/** Builds {@link Operations} over the resolved addresses; a missing one matters only when it is used. */
export function createOperations(
  ports: Pick<CliPorts, 'exchange' | 'download' | 'upload' | 'clock' | 'progress'>,
  addresses: Addresses,
): Operations {
  const urlOf = ({ service, path }: Pick<Question, 'service' | 'path'>) =>
    `${requireAddress(addresses, service).replace(/\/+$/, '')}${path}`;
  const exchange = async ({ body, approving, timeoutMs, ...at }: Question): Promise<OperationsAnswer> => {
    const url = urlOf(at);
    // Without a second token the caller's own is used, because they may be the second operator.
    const token =
      (approving ? addresses.approverToken : undefined) ?? requireAddress(addresses, 'operatorToken');
    const waiting = timeoutMs !== undefined && { timeoutMs };
    return ports.exchange({ url, token, ...(body !== undefined && { body }), ...waiting });
  };
  const ask: Ask = async (schema, question) => read(schema, await exchange(question), question.path);
  const download: Download = async ({ file, ...at }) => {
    const token = requireAddress(addresses, 'operatorToken');
    refused(await ports.download({ url: urlOf(at), token, file }), at.path);
  };
  const upload: Upload = async (schema, { service, pathOf, ...request }) => {
    const token = requireAddress(addresses, 'operatorToken');
    const urlOfFile = (sha256: string) => urlOf({ service, path: pathOf(sha256) });
    return read(schema, await ports.upload({ ...request, urlOf: urlOfFile, token }), '/statements');
  };
  return {
    orders: createOrders(ports, ask),
    statements: createStatements(ports, ask),
    decisions: createDecisions(ask),
    closes: createCloses(ask, download),
    railStatements: createRailStatements(ask, download, upload),
    breaks: createBreaks(ask, download),
    callbacks: createCallbacks(ask),
    parked: createParked(ask),
    positions: createPositions(ask),
    account: async (merchantId, currency) => {
      const path = `/accounts/${encodeURIComponent(merchantId)}/${encodeURIComponent(currency)}`;
      const answer = await exchange({ service: 'ledgerUrl', path });
      // A wallet without entries is empty.
      if (answer.status === 404) return { currency, available: '0', held: '0', sequence: 0 };
      return read(account, answer, path);
    },
    float: async (rail, currency) => {
      const { items } = await ask(floats, { service: 'ledgerUrl', path: '/floats' });
      return items.find((float) => float.rail === rail && float.currency === currency)?.balance;
    },
    reconciling: createReconciling(ask),
    timelines: createTimelines(ask),
    webhooks: createWebhooks(ask),
  };
}

function read<Schema extends z.ZodType>(
  schema: Schema,
  answer: OperationsAnswer,
  path: string,
): z.output<Schema> {
  refused(answer, path);
  const parsed = schema.safeParse(answer.body);
  if (parsed.success) return parsed.data;
  throw new CliError(`${path} answered something else than expected: use a command line of the same version`);
}

/** Throws if an answer is a refusal. */
function refused(answer: OperationsAnswer, path: string): void {
  if (answer.status < 200 || answer.status >= 300) {
    const said = refusal.safeParse(answer.body);
    const why = `${path} answered ${answer.status}: ${said.success ? said.data.message : 'no reason given'}`;
    throw answer.status < 500 ? new RefusedError(why, answer.status, said.data?.code) : new CliError(why);
  }
}

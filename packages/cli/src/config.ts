import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError, resolveFileVariables } from '@pesewa/runtime';
import { z } from 'zod';
import { CliError } from './errors.ts';

/** The addresses that commands may need; a missing one is reported only by a command that needs it. */
export interface Addresses {
  readonly mongodbUrl: string | undefined;
  readonly ledgerUrl: string | undefined;
  readonly reconcilerUrl: string | undefined;
  readonly webhookIngressUrl: string | undefined;
  readonly payoutGatewayUrl: string | undefined;
  readonly collectionGatewayUrl: string | undefined;
  readonly webhookDispatcherUrl: string | undefined;
  readonly operatorToken: string | undefined;
  /** The token of another approver. */
  readonly approverToken: string | undefined;
  readonly kafkaBrokers: string | undefined;
  readonly schemaRegistryUrl: string | undefined;
}

/** The name of an address. */
export type AddressName = keyof Addresses;

/** Addresses, and which of them come from a running stack. */
export interface ResolvedAddresses extends Addresses {
  readonly ofRunningStack: ReadonlySet<AddressName>;
}

/** Where each address comes from: the option, then the variable, then the run file of a running stack. */
export const addressSources: Readonly<
  Record<AddressName, { readonly option: string; readonly variable: string; readonly what: string }>
> = {
  mongodbUrl: { option: '--mongodb-url', variable: 'MONGODB_URL', what: 'the address of MongoDB' },
  ledgerUrl: {
    option: '--ledger-url',
    variable: 'LEDGER_URL',
    what: "the address of the ledger's operations API",
  },
  reconcilerUrl: {
    option: '--reconciler-url',
    variable: 'RECONCILER_URL',
    what: "the address of the reconciler's operations API",
  },
  webhookIngressUrl: {
    option: '--webhook-ingress-url',
    variable: 'WEBHOOK_INGRESS_URL',
    what: "the address of webhook-ingress's operations API",
  },
  payoutGatewayUrl: {
    option: '--payout-gateway-url',
    variable: 'PAYOUT_GATEWAY_URL',
    what: "the address of payout-gateway's operations API",
  },
  collectionGatewayUrl: {
    option: '--collection-gateway-url',
    variable: 'COLLECTION_GATEWAY_URL',
    what: "the address of collection-gateway's operations API",
  },
  webhookDispatcherUrl: {
    option: '--webhook-dispatcher-url',
    variable: 'WEBHOOK_DISPATCHER_URL',
    what: "the address of webhook-dispatcher's operations API",
  },
  operatorToken: { option: '--operator-token', variable: 'OPERATOR_TOKEN', what: 'your operator token' },
  approverToken: {
    option: '--approver-token',
    variable: 'PESEWA_APPROVER_TOKEN',
    what: "another approver's token, to approve with",
  },
  kafkaBrokers: { option: '--kafka-brokers', variable: 'KAFKA_BROKERS', what: 'the addresses of Kafka' },
  schemaRegistryUrl: {
    option: '--schema-registry-url',
    variable: 'SCHEMA_REGISTRY_URL',
    what: 'the address of the schema registry',
  },
};

const addressNames = Object.keys(addressSources) as AddressName[];

const runFile = z.object({
  mongodbUrl: z.string(),
  operations: z.object({
    ledger: z.string(),
    reconciler: z.string(),
    'webhook-ingress': z.string().optional(),
    'payout-gateway': z.string().optional(),
    'collection-gateway': z.string().optional(),
    'webhook-dispatcher': z.string().optional(),
  }),
  operatorToken: z.string(),
  approverToken: z.string().optional(),
  kafkaBrokers: z.array(z.string()),
  schemaRegistryUrl: z.string(),
});

/** The run file of this checkout; an installed command line belongs to no checkout. */
const defaultRunFile = import.meta.filename.endsWith('.ts')
  ? join(import.meta.dirname, '..', '..', '..', '.pesewa', 'run.json')
  : undefined;

/** The environment of this process; no other file reads it. */
export const environment = process.env;

/** Resolves every address; an option takes precedence over a variable, and a variable over the run file. */
export async function resolveAddresses(
  options: Partial<Record<AddressName, string>> & { readonly runFile?: string },
  env: NodeJS.ProcessEnv,
): Promise<ResolvedAddresses> {
  const running = await readRunFile(options.runFile);
  const variables = readVariables(env);
  const given = (name: AddressName): string | undefined =>
    present(options[name]) ?? present(variables[addressSources[name].variable]);
  const pick = (name: AddressName): string | undefined => given(name) ?? running?.[name];
  // An operator with a token of their own approves in their own name, not in that of the stack's second operator.
  const isOwnToken = given('operatorToken') !== undefined;
  return {
    mongodbUrl: pick('mongodbUrl'),
    ledgerUrl: pick('ledgerUrl'),
    reconcilerUrl: pick('reconcilerUrl'),
    webhookIngressUrl: pick('webhookIngressUrl'),
    payoutGatewayUrl: pick('payoutGatewayUrl'),
    collectionGatewayUrl: pick('collectionGatewayUrl'),
    webhookDispatcherUrl: pick('webhookDispatcherUrl'),
    operatorToken: pick('operatorToken'),
    approverToken: isOwnToken ? given('approverToken') : pick('approverToken'),
    kafkaBrokers: pick('kafkaBrokers'),
    schemaRegistryUrl: pick('schemaRegistryUrl'),
    ofRunningStack: new Set(addressNames.filter((name) => given(name) === undefined)),
  };
}

/** The variables, with the content of files for those that are given with `_FILE`. */
function readVariables(env: NodeJS.ProcessEnv): Readonly<Record<string, string | undefined>> {
  try {
    return resolveFileVariables(
      addressNames.map((name) => addressSources[name].variable),
      env,
    );
  } catch (error) {
    throw inOneLine(error);
  }
}

/** A problem of the settings, as the command line prints it. */
export function inOneLine(error: unknown): unknown {
  if (!(error instanceof ConfigError)) return error;
  const [, ...problems] = error.message.split('\n');
  return new CliError(problems.map((problem) => problem.trim()).join('; '));
}

/** The address; if it is missing, throws an error that says how to set it. */
export function requireAddress(addresses: Addresses, name: AddressName): string {
  const address = addresses[name];
  if (address !== undefined) return address;
  const { option, variable, what } = addressSources[name];
  throw new CliError(`${option}: ${what} isn't known: run npm start, or set ${variable}`);
}

async function readRunFile(path: string | undefined): Promise<Addresses | undefined> {
  const file = path ?? defaultRunFile;
  const text = file === undefined ? undefined : await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) {
    if (path === undefined) return undefined;
    throw new CliError(`--run-file: there is no ${path}: start a stack, or leave the option out`);
  }
  const parsed = runFile.safeParse(parse(text));
  if (!parsed.success) throw new CliError('the run file is malformed: stop the stack and start it again');
  const { operations, kafkaBrokers, approverToken, ...rest } = parsed.data;
  return {
    ...rest,
    approverToken,
    ledgerUrl: operations.ledger,
    reconcilerUrl: operations.reconciler,
    webhookIngressUrl: operations['webhook-ingress'],
    payoutGatewayUrl: operations['payout-gateway'],
    collectionGatewayUrl: operations['collection-gateway'],
    webhookDispatcherUrl: operations['webhook-dispatcher'],
    kafkaBrokers: kafkaBrokers.join(','),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function present(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === '' ? undefined : value.trim();
}

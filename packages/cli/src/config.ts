import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type MessagingService, messagingServices } from '@pesewa/contracts';
import { ConfigError, resolveFileVariables } from '@pesewa/runtime';
import { z } from 'zod';
import { CliError } from './errors.ts';

const described = {
  MONGODB_URL: 'the address of MongoDB',
  KAFKA_BROKERS: 'the addresses of Kafka',
  SCHEMA_REGISTRY_URL: 'the address of the schema registry',
  OPERATOR_TOKEN: 'your operator token',
  PESEWA_APPROVER_TOKEN: "another approver's token, to approve with",
} as const;

/** The variable that has the address of a service's operations API, such as `LEDGER_URL`. */
const variableOf = (service: MessagingService) => `${service.toUpperCase().replaceAll('-', '_')}_URL`;

/** The variables that commands may need, with what each has; a missing one is reported only by a command that needs it. */
export const variables: Readonly<Record<string, string>> = {
  ...described,
  ...Object.fromEntries(
    messagingServices.map((service) => [
      variableOf(service),
      `the address of the operations API of ${service}`,
    ]),
  ),
};

/** Addresses and tokens by variable, and which of them come from a running stack. */
export interface Surroundings {
  readonly values: Readonly<Record<string, string | undefined>>;
  readonly ofRunningStack: ReadonlySet<string>;
}

const runFile = z.object({
  mongodbUrl: z.string(),
  operations: z.record(z.string(), z.string()),
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

/** Resolves every address and token; a variable takes precedence over the run file. */
export async function resolveSurroundings(
  runFilePath: string | undefined,
  env: NodeJS.ProcessEnv,
): Promise<Surroundings> {
  const running = await readRunFile(runFilePath);
  const set = Object.entries(readVariables(env)).filter(([, value]) => value?.trim());
  const given = Object.fromEntries(set.map(([name, value]) => [name, value?.trim()]));
  return {
    values: {
      ...running,
      // An operator with a token of their own approves in their own name, not in that of the stack's second operator.
      ...(given['OPERATOR_TOKEN'] !== undefined && { PESEWA_APPROVER_TOKEN: undefined }),
      ...given,
    },
    ofRunningStack: new Set(Object.keys(variables).filter((name) => given[name] === undefined)),
  };
}

/** The variables, with the content of files for those that are given with `_FILE`. */
function readVariables(env: NodeJS.ProcessEnv): Readonly<Record<string, string | undefined>> {
  try {
    return resolveFileVariables(Object.keys(variables), env);
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

/** What a variable has; if it is missing, throws an error that says how to set it. */
export function requireVariable({ values }: Pick<Surroundings, 'values'>, name: string): string {
  const value = values[name];
  if (value !== undefined) return value;
  throw new CliError(`${name}: ${variables[name]} isn't known: run npm start, or set it`);
}

/** The address of a service's operations API, without a slash at the end. */
export function requireService(surroundings: Surroundings, service: MessagingService): string {
  return requireVariable(surroundings, variableOf(service)).replace(/\/+$/, '');
}

async function readRunFile(path: string | undefined): Promise<Surroundings['values']> {
  const file = path ?? defaultRunFile;
  const text = file === undefined ? undefined : await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) {
    if (path === undefined) return {};
    throw new CliError(`--run-file: there is no ${path}: start a stack, or leave the option out`);
  }
  const parsed = runFile.safeParse(parse(text));
  if (!parsed.success) throw new CliError('the run file is malformed: stop the stack and start it again');
  const { mongodbUrl, operations, operatorToken, approverToken, kafkaBrokers, schemaRegistryUrl } =
    parsed.data;
  return {
    MONGODB_URL: mongodbUrl,
    KAFKA_BROKERS: kafkaBrokers.join(','),
    SCHEMA_REGISTRY_URL: schemaRegistryUrl,
    OPERATOR_TOKEN: operatorToken,
    PESEWA_APPROVER_TOKEN: approverToken,
    ...Object.fromEntries(
      messagingServices.map((service) => [variableOf(service), operations[service]] as const),
    ),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

import { firstProblem, type MessagingService, type Operation } from '@pesewa/contracts';
import { Argument, type Command, Option } from 'commander';
import { collect, readCount, readTime } from './arguments.ts';
import { type CommandContext, openContext } from './context.ts';
import { CliError } from './errors.ts';
import { type Field, fieldsOf, type Given } from './fields.ts';
import { pathOf, withExamples } from './help.ts';
import type { CliPorts } from './ports.ts';
import { readZone } from './time-zones.ts';

/** The options of a call. */
export type Options = Readonly<Record<string, string | true | readonly string[] | undefined>>;

/** Reads what is given as a field; of one that may be given several times, all of it. */
type Reader = (label: string, text: string, all: readonly string[]) => unknown;

/** A command that calls an operation: what the operation's declaration does not say. */
export interface Declared<One extends Operation> {
  readonly name: string;
  readonly operation: One;
  /** Who is asked: several at once, of which `--service` chooses one; or the one that the first argument names or belongs to. */
  readonly service:
    | MessagingService
    | readonly MessagingService[]
    | Readonly<Record<string, MessagingService>>
    | ((first: string) => MessagingService);
  readonly isDefault?: boolean;
  /** What it does; by default the operation's summary. */
  readonly description?: string;
  /** Fields that are arguments, besides those of the path; in brackets if they may be left out. */
  readonly arguments?: readonly string[];
  /** Other names of fields, as they are given. */
  readonly names?: Readonly<Record<string, string>>;
  /** What fields are, where it is more than their declaration says. */
  readonly help?: Readonly<Record<string, string>>;
  /** Fields that people give besides, of which {@link complete} makes those of the operation. */
  readonly also?: readonly Field[];
  /** Fields that people don't give. */
  readonly without?: readonly string[];
  /** Fields that people may leave out, because {@link complete} or what happens before fills them in. */
  readonly mayLack?: readonly string[];
  /** Fields that people must give, though the declaration takes a request without them. */
  readonly mustHave?: readonly string[];
  /** What a field is if it is not given, and the word for all. */
  readonly usually?: Readonly<Record<string, readonly [usual: string, all?: string]>>;
  /** Words that stand for what a field has. */
  readonly choices?: Readonly<Record<string, readonly string[]>>;
  /** How fields are read, if not as a text that the declaration takes. */
  readonly read?: Readonly<Record<string, Reader>>;
  /** What is sent, of what is given. */
  readonly complete?: (given: Given, options: Options) => Given;
  /** What follows the command in examples. */
  readonly examples: readonly string[];
}

/** A call of a declared command. */
export interface Called {
  readonly context: CommandContext;
  readonly given: Given;
  readonly options: Options;
  readonly services: readonly MessagingService[];
  /** The arguments as they were written. */
  readonly words: readonly (string | undefined)[];
}

/** What is given in the parts of a request. */
export function splitCall(operation: Operation, given: Given, limit = 0) {
  const parts: Partial<Record<Field['part'], Record<string, unknown>>> = {};
  for (const { name, part, most } of fieldsOf(operation)) {
    const value =
      name === 'limit' && part === 'query' && limit > 0 ? Math.min(limit, most ?? limit) : given[name];
    if (value !== undefined) parts[part] = { ...parts[part], [name]: value };
  }
  return parts;
}

const kebab = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
const nameOf = <One extends Operation>({ names }: Declared<One>, { name }: Field) =>
  kebab(names?.[name] ?? name);

/** Fields that are arguments, in order, and whether each may be left out. */
function argumentsOf<One extends Operation>(spec: Declared<One>) {
  const fields = fieldsOf(spec.operation);
  const path = fields.filter(({ part }) => part === 'parameters').map(({ name }) => name);
  return [...path, ...(spec.arguments ?? [])].flatMap((written) => {
    const name = written.replaceAll(/[[\]]/g, '');
    const field = fields.find((one) => one.name === name);
    return field ? [{ field, isOptional: written !== name }] : [];
  });
}

/** The fields that are options: neither arguments, nor what a list itself fills in. */
function optionsOf<One extends Operation>(spec: Declared<One>): readonly Field[] {
  const taken = [...argumentsOf(spec).map(({ field }) => field.name), ...(spec.without ?? [])];
  const ofLists = spec.operation.pages === undefined ? [] : ['cursor', 'limit', 'after'];
  return [...fieldsOf(spec.operation), ...(spec.also ?? [])].filter(
    ({ name }) => !taken.includes(name) && (!ofLists.includes(name) || spec.help?.[name] !== undefined),
  );
}

/** Adds a command with the arguments and options of its operation; {@link onCall} says what it does. */
export function begin<One extends Operation>(parent: Command, spec: Declared<One>): Command {
  const { name, operation, service } = spec;
  const { summary } = operation;
  const command = parent
    .command(name, { isDefault: spec.isDefault === true })
    .description(spec.description ?? `${summary.charAt(0).toLowerCase()}${summary.slice(1)}`);
  if (typeof service === 'object' && !Array.isArray(service)) {
    const choices = Object.keys(service);
    command.addArgument(new Argument(`<${choices.join('|')}>`, 'which').choices(choices));
  }
  for (const { field, isOptional } of argumentsOf(spec)) {
    const shown = nameOf(spec, field);
    const what =
      spec.help?.[field.name] ?? field.description ?? `its ${/id$/i.test(field.name) ? 'id' : shown}`;
    const argument = new Argument(isOptional ? `[${shown}]` : `<${shown}>`, what);
    command.addArgument(field.choices ? argument.choices(field.choices) : argument);
  }
  for (const field of optionsOf(spec)) command.addOption(optionOf(spec, field));
  if (Array.isArray(service))
    command.addOption(new Option('--service <service>', 'only at this service').choices(service as string[]));
  const examples = spec.examples.map((words) => `${pathOf(command)} ${words}`.trim());
  // Another operator calls it than proposed what it decides.
  if (operation.caller === 'second') examples.push(`PESEWA_APPROVER_TOKEN=… ${examples[0]}`);
  return withExamples(command, examples);
}

function optionOf<One extends Operation>(spec: Declared<One>, field: Field): Option {
  const name = nameOf(spec, field);
  const what = spec.help?.[field.name] ?? field.description ?? '';
  const choices = spec.choices?.[field.name] ?? field.choices;
  if (field.flag !== undefined && choices === undefined) return new Option(`--${name}`, what);
  const isVariadic = field.isMany && choices !== undefined;
  const option = new Option(`--${name} <${field.placeholder ?? name}${isVariadic ? '...' : ''}>`, what);
  const [usual, all] = spec.usually?.[field.name] ?? [];
  if (choices) option.choices(all === undefined ? choices : [...choices, all]);
  else if (field.isMany) option.argParser(collect);
  if (usual !== undefined) option.default(usual);
  return option.makeOptionMandatory(
    (field.isRequired && !spec.mayLack?.includes(field.name)) || spec.mustHave?.includes(field.name) === true,
  );
}

/** Reads what a call gives, opens what it needs, and does it. */
export function onCall<One extends Operation>(
  command: Command,
  ports: CliPorts,
  spec: Declared<One>,
  run: (called: Called) => Promise<void>,
): void {
  command.action(async (...all: readonly unknown[]) => {
    const words = all.slice(0, -2) as readonly (string | undefined)[];
    const options = all.at(-2) as Options;
    const [first = ''] = words;
    const { service } = spec;
    const isChosen = typeof service === 'object' && !Array.isArray(service);
    const zone = typeof options['tz'] === 'string' ? readZone(options['tz']) : undefined;
    const read: Record<string, unknown> = {};
    for (const [index, { field }] of argumentsOf(spec).entries()) {
      const text = words[isChosen ? index + 1 : index];
      if (text !== undefined) read[field.name] = readField(spec, field, nameOf(spec, field), [text], zone);
    }
    for (const field of optionsOf(spec)) {
      const name = nameOf(spec, field);
      const value = options[name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase())];
      if (value === undefined || value === spec.usually?.[field.name]?.[1]) continue;
      if (value === true) read[field.name] = field.flag;
      else read[field.name] = readField(spec, field, `--${name}`, [value].flat(), zone);
    }
    const given = spec.complete ? spec.complete(read, options) : read;
    // Found before anything is asked, so that an id of no service is refused at once.
    const services = servicesOf(service, first, options['service']);
    const context = await openContext(ports, all.at(-1) as Command);
    await run({ context, given, options, services, words });
  });
}

function servicesOf(
  service: Declared<Operation>['service'],
  first: string,
  chosen: unknown,
): readonly MessagingService[] {
  if (typeof service === 'string') return [service];
  if (typeof service === 'function') return [service(first)];
  if (!Array.isArray(service))
    return [(service as Readonly<Record<string, MessagingService>>)[first] ?? []].flat();
  return chosen === undefined
    ? (service as readonly MessagingService[])
    : (service as readonly MessagingService[]).filter((one) => one === chosen);
}

/** Reads a field as it is sent; a text that is none is refused by the rule of the declaration. */
function readField<One extends Operation>(
  { read }: Declared<One>,
  field: Field,
  label: string,
  all: readonly string[],
  zone: string | undefined,
): unknown {
  const [text = ''] = all;
  const reader = read?.[field.name];
  if (field.isNullable && text === 'none') return null;
  if (reader) return reader(label, text, all);
  if (field.isTime) return readTime(label, text, zone).toISOString();
  if (field.isCount) return readCount(label, text);
  if (field.isMany) return [...new Set(all)];
  const parsed = field.schema.safeParse(text);
  if (parsed.success) return text;
  throw new CliError(`${label}: ${firstProblem(parsed.error).message}`);
}

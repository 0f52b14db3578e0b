import {
  type AnswerOf,
  type CallOf,
  describeProblem,
  firstProblem,
  type MessagingService,
  type Operation,
} from '@pesewa/contracts';
import type { Command } from 'commander';
import { readCount } from './arguments.ts';
import { askServices, requireAllAnswers } from './clients/ask-services.ts';
import type { CommandContext } from './context.ts';
import { begin, type Called, type Declared, onCall, splitCall } from './declared.ts';
import { CliError } from './errors.ts';
import { type Given, schemaOf } from './fields.ts';
import { withExitCodes } from './help.ts';
import type { CliPorts } from './ports.ts';
import { formatJson } from './print.ts';
import { readZone, zoneOption } from './time-zones.ts';
import { type Column, linesOf, tableOf } from './views.ts';

/** An item of an operation's list. */
type ItemOf<One extends Operation> =
  AnswerOf<One> extends { readonly items: readonly (infer Item)[] }
    ? Item & { readonly service?: MessagingService }
    : never;

/** A list: a table, or JSON. */
interface ListCommand<One extends Operation> extends Declared<One> {
  readonly columns: readonly Column<ItemOf<One>>[];
  /** What an empty list says. */
  readonly empty: string | ((given: Given) => string);
  /** What a list says that has more, or may have. */
  readonly more?: (items: readonly ItemOf<One>[], hasMore: boolean) => string | undefined;
  /** By what several services' items are sorted, the greatest first. */
  readonly newest?: (item: ItemOf<One>) => string;
  readonly limit?: number;
  /** Whether times are shown in a zone. */
  readonly isZoned?: boolean;
  /** What is printed in place of the table. */
  readonly text?: (items: readonly ItemOf<One>[], options: Called['options']) => string | undefined;
}

/** Adds a list of what an operation answers, page by page up to `--limit`. */
export function addList<One extends Operation>(
  parent: Command,
  ports: CliPorts,
  spec: ListCommand<One>,
): Command {
  const { operation } = spec;
  const isOfMany = Array.isArray(spec.service);
  const command = begin(parent, spec);
  if (spec.isZoned) command.addOption(zoneOption());
  if (operation.pages !== undefined)
    command.option(
      '--limit <count>',
      isOfMany ? 'how many of each service at most' : 'how many at most',
      String(spec.limit ?? 50),
    );
  command.option('--json', 'print JSON');
  if (isOfMany)
    withExitCodes(command, '1 if a service gave no answer; the answers of the others are printed.');
  onCall(command, ports, spec, async ({ context, given, options, services }) => {
    const { operations } = context;
    const limit = operation.pages === undefined ? 0 : readCount('--limit', `${options['limit']?.toString()}`);
    const { query = {}, ...call } = splitCall(operation, given, limit);
    const asText = Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)]));
    const { error } = operation.query?.safeParse(asText) ?? {};
    if (error) throw new CliError(describeProblem(firstProblem(error)));
    let hasMore = false;
    const ask = async (service: MessagingService): Promise<readonly ItemOf<One>[]> => {
      if (operation.pages === undefined) {
        const whole: unknown = await operations.call(service, operation, { ...call, query } as never);
        return (whole as { readonly items: readonly ItemOf<One>[] }).items;
      }
      const page = await operations.list(service, operation as never, query, limit);
      hasMore ||= page.hasMore;
      return page.items as readonly ItemOf<One>[];
    };
    const [only] = services;
    const { newest } = spec;
    const found = isOfMany
      ? await askServices(services, async (service) =>
          (await ask(service)).map((item) => ({ service, ...(item as object) }) as ItemOf<One>),
        )
      : { items: only === undefined ? [] : await ask(only), missing: [] };
    const items = newest
      ? found.items.toSorted((one, other) => newest(other).localeCompare(newest(one)))
      : found.items;
    const zone = typeof options['tz'] === 'string' ? readZone(options['tz']) : undefined;
    const empty = typeof spec.empty === 'string' ? spec.empty : spec.empty(given);
    const more = spec.more
      ? spec.more(items, hasMore)
      : hasMore
        ? 'there are more: raise --limit'
        : undefined;
    const shown = spec.text?.(items, options);
    const table = () =>
      `${tableOf(spec.columns, items, schemaOf(operation, 'items'), { colours: ports.colours, empty, zone })}${more === undefined ? '' : `${more}\n`}`;
    if (options['json']) ports.print(formatJson(isOfMany ? { ...found, items } : items));
    else ports.print(shown ?? table());
    requireAllAnswers(found);
  });
  return command;
}

/** One thing: lines, or JSON. */
interface ShowCommand<One extends Operation> extends Declared<One> {
  /** What is printed, if it is not a line for each field. */
  readonly text?: (answer: AnswerOf<One>, context: CommandContext) => string | Promise<string>;
}

/** Adds a command that shows what an operation answers. */
export function addShow<One extends Operation>(
  parent: Command,
  ports: CliPorts,
  spec: ShowCommand<One>,
): Command {
  const command = begin(parent, spec).option('--json', 'print JSON');
  onCall(command, ports, spec, async ({ context, given, options, services }) => {
    const answer = await callOf(context, services, spec.operation, given);
    const text = spec.text ?? ((view: AnswerOf<One>) => linesOf(view as object, schemaOf(spec.operation)));
    ports.print(options['json'] ? formatJson(answer) : await text(answer, context));
  });
  return command;
}

/** Something that is done: what came of it, or JSON. */
interface ActCommand<One extends Operation> extends Declared<One> {
  readonly said: (answer: AnswerOf<One>, given: Given) => string;
  /** Happens before it is sent: prints, refuses, or completes what is given. */
  readonly before?: (called: Called) => Promise<Given>;
  /** Does it in another way than by a single call. */
  readonly act?: (called: Called) => Promise<AnswerOf<One>>;
  /** With `--dry-run`: what is shown instead, and what did not happen. */
  readonly dryRun?: readonly [
    show: (called: Called) => Promise<{ readonly answer: object; readonly text: string }>,
    what: string,
  ];
}

/** Adds a command that calls an operation in order to change something. */
export function addAct<One extends Operation>(
  parent: Command,
  ports: CliPorts,
  spec: ActCommand<One>,
): Command {
  const command = begin(parent, spec).option('--json', 'print the answer as JSON');
  if (spec.dryRun) command.option('--dry-run', 'show what it is about, and change nothing');
  onCall(command, ports, spec, async (called) => {
    const { context, options, services } = called;
    if (spec.dryRun && options['dryRun']) {
      const [show, what] = spec.dryRun;
      const { answer, text } = await show(called);
      ports.print(options['json'] ? formatJson(answer) : `${text}nothing was ${what}\n`);
      return;
    }
    const given = spec.before ? await spec.before(called) : called.given;
    const answer = spec.act ? await spec.act(called) : await callOf(context, services, spec.operation, given);
    ports.print(options['json'] ? formatJson(answer) : spec.said(answer, given));
  });
  return command;
}

async function callOf<One extends Operation>(
  { operations }: CommandContext,
  [service]: readonly MessagingService[],
  operation: One,
  given: Given,
): Promise<AnswerOf<One>> {
  if (service === undefined) throw new TypeError('a command is of one service at least');
  return operations.call(service, operation, splitCall(operation, given) as CallOf<One>);
}

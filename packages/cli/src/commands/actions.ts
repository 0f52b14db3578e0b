import {
  type ActionView,
  actionOperations,
  type MessagingService,
  messagingServices,
} from '@pesewa/contracts';
import { type Command, Option } from 'commander';
import { readCount, readTime } from '../arguments.ts';
import { askServices, requireAllAnswers } from '../clients/ask-services.ts';
import { openContext } from '../context.ts';
import { withExamples, withExitCodes } from '../help.ts';
import type { CliPorts } from '../ports.ts';
import { formatJson, formatTable } from '../print.ts';

interface ActionsOptions {
  readonly service?: MessagingService;
  readonly by?: string;
  readonly object?: string;
  readonly from?: string;
  readonly to?: string;
  readonly limit: string;
  readonly json?: boolean;
}

/** Adds `actions`: what operators did at all services. */
export function addActionsCommand(program: Command, ports: CliPorts): void {
  const actions = program
    .command('actions')
    .description('what operators did, refused actions too, the newest first')
    .option('--by <operator>', 'only what this operator did')
    .option('--object <id>', 'only what was about this id, reference or name')
    .option('--from <time>', 'only what was done at this time or later')
    .option('--to <time>', 'only what was done before this time')
    .addOption(new Option('--service <service>', 'only at this service').choices(messagingServices))
    .option('--limit <count>', 'how many of each service at most', '50')
    .option('--json', 'print JSON')
    .action(async ({ service, by, object, from, to, json, ...options }: ActionsOptions, command: Command) => {
      const limit = readCount('--limit', options.limit);
      const period = {
        from: from && readTime('--from', from).toISOString(),
        to: to && readTime('--to', to).toISOString(),
      };
      const { operations } = await openContext(ports, command);
      const found = await askServices(service ? [service] : messagingServices, async (name) => {
        const query = { operator: by, object, ...period, limit: Math.min(limit, 200) };
        const { items } = await operations.list(name, actionOperations.list, query, limit);
        return items.map((item) => ({ ...item, service: name }));
      });
      const items = found.items.toSorted((one, other) => other.at.localeCompare(one.at));
      ports.print(json ? formatJson({ ...found, items }) : table(items, ports.colours));
      requireAllAnswers(found);
    });
  withExamples(actions, [
    'pesewa actions',
    'pesewa actions --by ama --limit 200',
    'pesewa actions --from 2026-11-20 --to 2026-11-21',
    'pesewa actions --object po-0193e5c1b6f27c3a8e1d5f4a9b0c7d21 --json',
  ]);
  withExitCodes(actions, '1 if a service gave no answer; the answers of the others are printed.');
}

function table(items: readonly (ActionView & { readonly service: string })[], colours: boolean): string {
  return formatTable(
    ['AT', 'OPERATOR', 'SERVICE', 'DID', 'ABOUT', 'ANSWER'],
    items.map(({ at, operator, service, operation, objects, status }) => [
      at,
      operator,
      service,
      operation,
      objects.join(', '),
      status ?? 'none: it may have taken effect',
    ]),
    { colours, empty: 'nobody did anything yet' },
  );
}

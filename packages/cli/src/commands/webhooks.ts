import { type AttemptView, type DeliveryDetailView, deliveryOperations } from '@pesewa/contracts';
import { inWords } from '@pesewa/operator-client';
import type { Command } from 'commander';
import { openContext } from '../context.ts';
import type { Given } from '../fields.ts';
import { withExamples } from '../help.ts';
import { addList } from '../operation-commands.ts';
import type { CliPorts } from '../ports.ts';
import { formatJson, formatTable } from '../print.ts';
import { namedLines } from '../views.ts';
import { checkPeriod } from '../webhook-periods.ts';
import { addEndpointCommands } from './webhook-endpoints.ts';
import { addResendCommands } from './webhooks-resend.ts';
import { addTryCommands } from './webhooks-try.ts';

const SERVICE = 'webhook-dispatcher';

/** Adds `webhooks …`: what merchants are owed. */
export function addWebhookCommands(program: Command, ports: CliPorts): void {
  const webhooks = program.command('webhooks').description('the webhooks that merchants are owed');
  addEndpointCommands(webhooks, ports);
  addListCommand(webhooks, ports);
  addShowCommand(webhooks, ports);
  addResendCommands(webhooks, ports);
  addTryCommands(webhooks, ports);
}

function addListCommand(webhooks: Command, ports: CliPorts): void {
  const isBare = ({ reference, merchantId, state }: Given) =>
    (reference ?? merchantId ?? state) === undefined;
  addList(webhooks, ports, {
    name: 'list',
    operation: deliveryOperations.list,
    service: SERVICE,
    description:
      'the webhooks of a payment, of a merchant in the order of their creation, or in one state; without any, those that were given up',
    arguments: ['[reference]'],
    names: { merchantId: 'merchant' },
    help: { after: 'only those that the list has after this webhook: to go on from there' },
    complete: (given) => {
      checkPeriod(given, ports.clock);
      return isBare(given) ? { ...given, state: 'exhausted', isBare: true } : given;
    },
    columns: [
      ['WEBHOOK', ({ id }) => id],
      'state',
      ['MERCHANT', ({ merchantId }) => merchantId],
      'reference',
      ['ITS REFERENCE', ({ merchantReference }) => merchantReference],
      ['WHAT', ({ kind }) => inWords(kind)],
      'attempts',
      ['NEXT', ({ dueAt }) => dueAt],
      [
        'LAST ANSWER',
        (one) => [one.reason, one.lastStatus, one.lastError].filter((part) => part !== null).join(', '),
      ],
    ],
    empty: noneOf,
    more: (items, hasMore) =>
      hasMore ? `there are more: raise --limit, or go on with --after ${items.at(-1)?.id}` : undefined,
    examples: [
      '',
      'po-0193e5c1',
      '--state discarded --json',
      '--merchant demo --from 2026-11-01 --to 2026-11-02T12:00:00Z',
    ],
  });
}

/** What an empty list says, so that it is not taken for another one: a bare list has only those that were given up. */
function noneOf({ reference, isBare }: Given): string {
  if (typeof reference === 'string')
    return `no webhooks of a payment ${reference}; those of a merchant: --merchant, with its id`;
  return isBare ? 'none was given up; those of a merchant: --merchant, with its id' : 'no such webhooks';
}

function addShowCommand(webhooks: Command, ports: CliPorts): void {
  const show = webhooks
    .command('show')
    .description('one webhook: its address, headers without the signature, body, and attempts')
    .argument('<id>', 'its id')
    .option('--json', 'print JSON')
    .action(async (id: string, options: { readonly json?: boolean }, command: Command) => {
      const { call } = (await openContext(ports, command)).operations;
      const detail = await call(SERVICE, deliveryOperations.show, { parameters: { id } });
      const { items } = await call(SERVICE, deliveryOperations.attempts, { parameters: { id } });
      const text = options.json
        ? formatJson({ ...detail, attempts: items })
        : `${deliveryText(detail)}\n${attemptTable(items, ports.colours)}`;
      ports.print(text);
    });
  withExamples(show, [
    'pesewa webhooks show po-0193e5c1-completed',
    'pesewa webhooks show po-0193e5c1-completed --json',
  ]);
}

function deliveryText(one: DeliveryDetailView): string {
  return namedLines([
    ['webhook', one.id],
    ['state', [one.state, one.reason].filter((part) => part !== null).join(': ')],
    ['merchant', one.merchantId],
    ['reference', one.reference],
    ['its reference', one.merchantReference],
    ['what', inWords(one.kind)],
    ['created', one.createdAt],
    ['next attempt', one.dueAt],
    ['address', one.address],
    ...Object.entries(one.headers),
    ['webhook-signature', 'made anew for each attempt'],
    ['body', one.body],
  ]);
}

function attemptTable(attempts: readonly AttemptView[], colours: boolean): string {
  return formatTable(
    ['ATTEMPT AT', 'ANSWER', 'MS'],
    attempts.map(({ at, status, error, durationMs }) => [at, status ?? inWords(error ?? ''), durationMs]),
    { colours, empty: 'it was not tried yet', right: ['MS'] },
  );
}

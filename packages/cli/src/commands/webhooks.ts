import {
  type DeliveryView,
  deliveryOperations,
  deliveryStates,
  ENDPOINTS_MAX,
  type EndpointView,
} from '@pesewa/contracts';
import { type Command, Option } from 'commander';
import { asList, readCount } from '../arguments.ts';
import { openContext } from '../context.ts';
import { withExamples } from '../help.ts';
import { inWords } from '../labels.ts';
import type { CliPorts } from '../ports.ts';
import { formatJson, formatTable } from '../print.ts';

const SERVICE = 'webhook-dispatcher';

/** Adds `webhooks …`: what merchants are owed. */
export function addWebhookCommands(program: Command, ports: CliPorts): void {
  const webhooks = program.command('webhooks').description('the webhooks that merchants are owed');
  const endpoints = webhooks
    .command('endpoints')
    .description("merchants' endpoints with open deliveries, those with the most failing ones first")
    .option('--json', 'print JSON')
    .action(async (options: { readonly json?: boolean }, command: Command) => {
      const { operations } = await openContext(ports, command);
      const { items } = await operations.call(SERVICE, deliveryOperations.endpoints, {});
      ports.print(options.json ? formatJson(items) : endpointTable(items, ports.colours));
      if (!options.json && items.length === ENDPOINTS_MAX)
        ports.print(`these are the first ${ENDPOINTS_MAX}: there may be more\n`);
    });
  withExamples(endpoints, ['pesewa webhooks endpoints', 'pesewa webhooks endpoints --json']);
  addDeliveriesCommand(webhooks, ports);
  addResendCommand(webhooks, ports);
}

interface DeliveriesOptions {
  readonly state?: DeliveryView['state'];
  readonly limit: string;
  readonly json?: boolean;
}

function addDeliveriesCommand(webhooks: Command, ports: CliPorts): void {
  const deliveries = asList(webhooks.command('deliveries'))
    .description('the webhooks of one payment, or in one state; without either, those that were given up')
    .argument('[reference]', "our transactionReference, or the merchant's")
    .addOption(new Option('--state <state>', 'only those in this state').choices(deliveryStates))
    .action(async (reference: string | undefined, options: DeliveriesOptions, command: Command) => {
      const limit = readCount('--limit', options.limit);
      const state = options.state ?? (reference === undefined ? 'exhausted' : undefined);
      const { list } = (await openContext(ports, command)).operations;
      const { items, hasMore } = await list(SERVICE, deliveryOperations.list, { reference, state }, limit);
      ports.print(options.json ? formatJson(items) : deliveryTable(items, ports.colours));
      if (!options.json && hasMore) ports.print('there are more: raise --limit\n');
    });
  withExamples(deliveries, [
    'pesewa webhooks deliveries',
    'pesewa webhooks deliveries po-0193e5c1',
    'pesewa webhooks deliveries --state discarded --json',
  ]);
}

function addResendCommand(webhooks: Command, ports: CliPorts): void {
  const resend = webhooks
    .command('resend')
    .description('sends a webhook again, under the same id and with all its attempts')
    .argument('<id>', 'its id')
    .action(async (id: string, _options: object, command: Command) => {
      const { operations } = await openContext(ports, command);
      await operations.call(SERVICE, deliveryOperations.resend, { parameters: { id } });
      ports.print(`${id} is due now\n`);
    });
  withExamples(resend, ['pesewa webhooks resend po-0193e5c1-completed']);
}

function deliveryTable(deliveries: readonly DeliveryView[], colours: boolean): string {
  return formatTable(
    ['WEBHOOK', 'STATE', 'MERCHANT', 'REFERENCE', 'ITS REFERENCE', 'WHAT', 'ATTEMPTS', 'NEXT', 'LAST ANSWER'],
    deliveries.map((one) => [
      one.id,
      one.state,
      one.merchantId,
      one.reference,
      one.merchantReference,
      inWords(one.kind),
      one.attempts,
      one.dueAt,
      [one.reason, one.lastStatus, one.lastError].filter((part) => part !== null).join(', '),
    ]),
    { colours, empty: 'no such webhooks', right: ['ATTEMPTS'] },
  );
}

function endpointTable(endpoints: readonly EndpointView[], colours: boolean): string {
  return formatTable(
    ['MERCHANT', 'ENDPOINT', 'STATE', 'OWED', 'FAILING', 'OLDEST', 'NEXT ATTEMPT', 'LAST ANSWER'],
    endpoints.map((one) => [
      one.merchantId,
      one.endpoint,
      one.state,
      one.pending,
      one.failing,
      one.oldestCreatedAt,
      one.nextAt,
      [one.lastStatus, one.lastError].filter((part) => part !== null).join(', '),
    ]),
    { colours, empty: 'no webhooks are owed', right: ['OWED', 'FAILING'] },
  );
}

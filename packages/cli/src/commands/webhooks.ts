import {
  type AttemptView,
  type DeliveryDetailView,
  type DeliveryView,
  deliveryOperations,
  deliveryStates,
  ENDPOINTS_MAX,
  type EndpointView,
  endpointCounts,
} from '@pesewa/contracts';
import { inWords } from '@pesewa/operator-client';
import { type Command, Option } from 'commander';
import { asList, readCount } from '../arguments.ts';
import { collectDeliveries } from '../clients/deliveries.ts';
import { openContext } from '../context.ts';
import { withExamples } from '../help.ts';
import type { CliPorts } from '../ports.ts';
import { type Cell, cellText, formatJson, formatTable } from '../print.ts';
import { addPeriodOptions, type PeriodOptions, readPeriod } from '../webhook-periods.ts';
import { addEnableEndpointCommand } from './webhook-endpoints.ts';
import { addResendCommands } from './webhooks-resend.ts';
import { addTryCommands } from './webhooks-try.ts';

const SERVICE = 'webhook-dispatcher';

/** Adds `webhooks …`: what merchants are owed. */
export function addWebhookCommands(program: Command, ports: CliPorts): void {
  const webhooks = program.command('webhooks').description('the webhooks that merchants are owed');
  const endpoints = webhooks
    .command('endpoints')
    .description("merchants' endpoints that fail, or with webhooks open or given up, disabled ones first")
    .option('--json', 'print JSON')
    .action(async (options: { readonly json?: boolean }, command: Command) => {
      const { operations } = await openContext(ports, command);
      const { items } = await operations.call(SERVICE, deliveryOperations.endpoints, {});
      ports.print(options.json ? formatJson(items) : endpointTable(items, ports.colours));
      if (!options.json && items.length === ENDPOINTS_MAX)
        ports.print(`these are the first ${ENDPOINTS_MAX}: there may be more\n`);
    });
  withExamples(endpoints, ['pesewa webhooks endpoints', 'pesewa webhooks endpoints --json']);
  addEnableEndpointCommand(webhooks, ports);
  addListCommand(webhooks, ports);
  addShowCommand(webhooks, ports);
  addResendCommands(webhooks, ports);
  addTryCommands(webhooks, ports);
}

interface ListOptions extends PeriodOptions {
  readonly state?: DeliveryView['state'];
  readonly limit: string;
  readonly json?: boolean;
}

function addListCommand(webhooks: Command, ports: CliPorts): void {
  const list = asList(webhooks.command('list'))
    .description(
      'the webhooks of a payment, of a merchant in the order of their creation, or in one state; without any, those that were given up',
    )
    .argument('[reference]', "our transactionReference, or the merchant's")
    .addOption(new Option('--state <state>', 'only those in this state').choices(deliveryStates));
  addPeriodOptions(list, 'only those of this merchant').action(
    async (reference: string | undefined, options: ListOptions, command: Command) => {
      const limit = readCount('--limit', options.limit);
      const { merchantId, from, to, after } = readPeriod(options, ports.clock);
      const isBare = reference === undefined && merchantId === undefined && options.state === undefined;
      const state = isBare ? 'exhausted' : options.state;
      const { operations } = await openContext(ports, command);
      const query = { reference, state, merchantId, from, to };
      const { items, hasMore } = await collectDeliveries(operations, query, { after, limit });
      ports.print(
        options.json ? formatJson(items) : deliveryTable(items, ports.colours, noneOf(reference, isBare)),
      );
      if (!options.json && hasMore)
        ports.print(`there are more: raise --limit, or go on with --after ${items.at(-1)?.id}\n`);
    },
  );
  withExamples(list, [
    'pesewa webhooks list',
    'pesewa webhooks list po-0193e5c1',
    'pesewa webhooks list --state discarded --json',
    'pesewa webhooks list --merchant demo --from 2026-11-01 --to 2026-11-02T12:00:00Z',
  ]);
}

/** What an empty list says, so that it is not taken for another one: a bare list has only those that were given up. */
function noneOf(reference: string | undefined, isBare: boolean): string {
  if (reference !== undefined)
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
  const fields: readonly (readonly [string, Cell])[] = [
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
  ];
  return fields.map(([name, value]) => `${name.padEnd(18)} ${cellText(value)}\n`).join('');
}

function attemptTable(attempts: readonly AttemptView[], colours: boolean): string {
  return formatTable(
    ['ATTEMPT AT', 'ANSWER', 'MS'],
    attempts.map(({ at, status, error, durationMs }) => [at, status ?? inWords(error ?? ''), durationMs]),
    { colours, empty: 'it was not tried yet', right: ['MS'] },
  );
}

function deliveryTable(deliveries: readonly DeliveryView[], colours: boolean, empty: string): string {
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
    { colours, empty, right: ['ATTEMPTS'] },
  );
}

function endpointTable(endpoints: readonly EndpointView[], colours: boolean): string {
  return formatTable(
    [
      'MERCHANT',
      'ENDPOINT',
      'STATE',
      'OWED',
      'FAILING',
      'DEFERRED',
      'GIVEN UP',
      'FAILS SINCE',
      'LAST SUCCESS',
      'OLDEST',
      'NEXT ATTEMPT',
      'LAST ANSWER',
    ],
    endpoints.map((one) => [
      one.merchantId,
      one.endpoint,
      one.state,
      ...endpointCounts.map((name) => `${one[name]}${one.cut.includes(name) ? '+' : ''}`),
      one.failingSince,
      one.lastSuccessAt,
      one.oldestCreatedAt,
      one.nextAt,
      [one.lastStatus, one.lastError].filter((part) => part !== null).join(', '),
    ]),
    { colours, empty: 'no webhooks are owed', right: ['OWED', 'FAILING', 'DEFERRED', 'GIVEN UP'] },
  );
}

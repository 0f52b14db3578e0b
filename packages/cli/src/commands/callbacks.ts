import {
  type CallbackView,
  callbackOperations,
  type RejectedView,
  rejectionReasons,
} from '@pesewa/contracts';
import { inWords } from '@pesewa/operator-client';
import { type Command, Option } from 'commander';
import { asList, readCount } from '../arguments.ts';
import { openContext } from '../context.ts';
import { withExamples } from '../help.ts';
import type { CliPorts } from '../ports.ts';
import { amountCell, formatJson, formatTable } from '../print.ts';

const SERVICE = 'webhook-ingress';

interface ListOptions {
  readonly limit: string;
  readonly json?: boolean;
}

interface RejectedOptions extends ListOptions {
  readonly rail?: string;
  readonly reason?: RejectedView['reason'];
}

/** Adds `callbacks …`: the rails' callbacks, those that could not be read, and those that were refused. */
export function addCallbackCommands(program: Command, ports: CliPorts): void {
  const callbacks = program
    .command('callbacks')
    .description('what rails reported to us; with a reference, for that payment alone');
  addAboutCommand(callbacks, ports);
  addFailedCommand(callbacks, ports);
  addRejectedCommand(callbacks, ports);
  addOrderCommands(callbacks, ports);
}

function addAboutCommand(callbacks: Command, ports: CliPorts): void {
  const about = asList(
    callbacks
      .command('about', { isDefault: true })
      .description('the callbacks of one payment, the oldest first')
      .argument('<reference>', "our transactionReference, not the merchant's"),
  ).action(async (reference: string, options: ListOptions, command: Command) => {
    const limit = readCount('--limit', options.limit);
    const { operations } = await openContext(ports, command);
    const { items } = await operations.list(SERVICE, callbackOperations.list, { reference }, limit);
    ports.print(options.json ? formatJson(items) : callbackTable(items, ports.colours));
  });
  withExamples(about, ['pesewa callbacks about po-0193e5c1', 'pesewa callbacks about co-0193e5c1 --json']);
}

function addFailedCommand(callbacks: Command, ports: CliPorts): void {
  const failed = asList(
    callbacks
      .command('failed')
      .description('the callbacks that we could not read: fix what broke, then redrive or dismiss them'),
  ).action(async (options: ListOptions, command: Command) => {
    const limit = readCount('--limit', options.limit);
    const { operations } = await openContext(ports, command);
    const { items } = await operations.list(SERVICE, callbackOperations.list, { state: 'failed' }, limit);
    ports.print(options.json ? formatJson(items) : callbackTable(items, ports.colours));
  });
  withExamples(failed, ['pesewa callbacks failed', 'pesewa callbacks failed --limit 500 --json']);
}

function addRejectedCommand(callbacks: Command, ports: CliPorts): void {
  const rejected = asList(
    callbacks
      .command('rejected')
      .description('what was refused, the newest first, and who sent it')
      .option('--rail <rail>', 'only what came for this rail')
      .addOption(new Option('--reason <reason>', 'only what was refused for this').choices(rejectionReasons)),
  ).action(async ({ rail, reason, ...options }: RejectedOptions, command: Command) => {
    const limit = readCount('--limit', options.limit);
    const { operations } = await openContext(ports, command);
    const { items } = await operations.list(SERVICE, callbackOperations.rejected, { rail, reason }, limit);
    ports.print(options.json ? formatJson(items) : rejectedTable(items, ports.colours));
  });
  withExamples(rejected, [
    'pesewa callbacks rejected',
    'pesewa callbacks rejected --rail upstream --reason address.unlisted',
  ]);
}

function addOrderCommands(callbacks: Command, ports: CliPorts): void {
  for (const [name, description] of [
    ['redrive', 'reads a failed callback again and publishes it; any other callback is published once more'],
    ['dismiss', 'dismisses a failed callback; its bytes stay'],
  ] as const) {
    const order = callbacks
      .command(name)
      .description(description)
      .argument('<id>', 'its id')
      .action(async (id: string, _options: object, command: Command) => {
        const { operations } = await openContext(ports, command);
        const { state } = await operations.call(SERVICE, callbackOperations[name], { parameters: { id } });
        ports.print(`${inWords(state)} ${id}\n`);
      });
    withExamples(order, [`pesewa callbacks ${name} cb-0193e5c1`]);
  }
}

function callbackTable(callbacks: readonly CallbackView[], colours: boolean): string {
  return formatTable(
    ['CALLBACK', 'RAIL', 'STATE', 'REFERENCE', 'CLAIMS', 'AMOUNT', 'PROOF', 'TIMES', 'AT', 'FAILURE'],
    callbacks.map((one) => [
      one.id,
      one.rail,
      inWords(one.state),
      one.reference ?? '',
      one.claimedStatus ?? '',
      amountCell(one.claimedAmount, one.claimedCurrency),
      one.verdict.proven ? 'proven' : inWords(one.verdict.signature),
      String(one.deliveries),
      one.receivedAt,
      one.failure ?? '',
    ]),
    { colours, empty: 'no such callbacks', right: ['TIMES'] },
  );
}

function rejectedTable(rejected: readonly RejectedView[], colours: boolean): string {
  return formatTable(
    ['REQUEST', 'RAIL', 'KIND', 'REASON', 'SENDER', 'CONNECTION FROM', 'FORWARDED FOR', 'AT'],
    rejected.map((one) => [
      one.id,
      one.rail,
      one.kind,
      inWords(one.reason),
      one.clientAddress ?? '',
      one.peerAddress ?? '',
      one.forwardedFor ?? '',
      one.receivedAt,
    ]),
    { colours, empty: 'nothing was refused' },
  );
}

import { type OrderView, orderStatuses } from '@pesewa/contracts';
import { describeOrder, inWords, takesAway } from '@pesewa/operator-client';
import { type Command, Option } from 'commander';
import { asList, readCount } from '../arguments.ts';
import { openContext } from '../context.ts';
import { withExamples } from '../help.ts';
import { reportEnded, summary } from '../ledger-commands.ts';
import type { CliPorts } from '../ports.ts';
import { amountCell, formatJson, formatTable } from '../print.ts';
import { addDecidingCommands, type ProposalKind } from './proposals.ts';

interface ListOptions {
  readonly status?: OrderView['status'];
  readonly limit: string;
  readonly json?: boolean;
}

/** Adds `orders …`: the operators' orders to the ledger, and the second operator's decisions (ADR 17). */
export function addOrderCommands(program: Command, ports: CliPorts): void {
  const orders = program.command('orders').description('orders of money, and who approves them');
  addListCommand(orders, ports);
  addShowCommand(orders, ports);
  addDecidingCommands(orders, ports, deciding);
}

const deciding: ProposalKind<OrderView> = {
  noun: 'order',
  exampleId: 'cm-0193e5c1',
  approving: 'approves the order of another operator, and waits until the ledger has applied it',
  rejecting: 'ends a proposal for good, your own too; nothing moves',
  exampleReason: 'wrong amount',
  of: ({ operations }) => operations.orders,
  approve: async (context, id) => {
    await context.operations.orders.approve(id);
    reportEnded(context, await context.operations.orders.ended(id));
  },
  details,
  summary,
};

function addListCommand(orders: Command, ports: CliPorts): void {
  const list = asList(orders.command('list'))
    .description('the newest orders, with who asked and who decided')
    .addOption(new Option('--status <status>', 'only those with this status').choices(orderStatuses))
    .action(async (options: ListOptions, command: Command) => {
      const limit = readCount('--limit', options.limit);
      const { operations } = await openContext(ports, command);
      const found = await operations.orders.list(options.status, limit);
      const empty = options.status ? 'no such orders' : 'no orders yet';
      ports.print(options.json ? formatJson(found) : table(found, ports.colours, empty));
    });
  withExamples(list, [
    'pesewa orders list',
    'pesewa orders list --status proposed',
    'pesewa orders list --limit 500 --json',
  ]);
}

function addShowCommand(orders: Command, ports: CliPorts): void {
  const show = orders
    .command('show')
    .description('one order: what it moves, who asked, who decided, what became of it')
    .argument('<id>', 'its id')
    .option('--json', 'print JSON')
    .action(async (id: string, options: { readonly json?: boolean }, command: Command) => {
      const { operations } = await openContext(ports, command);
      const order = await operations.orders.show(id);
      ports.print(options.json ? formatJson(order) : details(order));
    });
  withExamples(show, ['pesewa orders show cm-0193e5c1', 'pesewa orders show cm-0193e5c1 --json']);
}

function table(orders: readonly OrderView[], colours: boolean, empty: string): string {
  return formatTable(
    ['ORDER', 'STATUS', 'KIND', 'AMOUNT', 'OF', 'ORDERED BY', 'AT', 'DECIDED BY'],
    orders.map((order) => [
      order.commandId,
      order.status,
      inWords(order.kind),
      amountCell(takesAway(order) ? `-${order.amount}` : order.amount, order.currency),
      order.merchantId ?? order.rail,
      order.requestedBy,
      order.requestedAt,
      order.approvedBy ?? order.rejectedBy,
    ]),
    { colours, empty, right: ['AMOUNT'] },
  );
}

function details(order: OrderView): string {
  const { status, approvedBy, approvedAt, rejectedBy, rejectedAt } = order;
  const lines: readonly (readonly [string, string | undefined])[] = [
    ['order', order.commandId],
    ['status', status],
    ['moves', describeOrder(order)],
    ['reason', order.reason],
    ['ordered by', `${order.requestedBy} at ${order.requestedAt}`],
    ['approved by', approvedBy && `${approvedBy} at ${approvedAt ?? '?'}`],
    ['rejected by', rejectedBy && `${rejectedBy} at ${rejectedAt ?? '?'}: ${order.rejectedFor ?? '?'}`],
    ['applied at', order.appliedAt],
    ['refused for', order.refusedFor],
    ['approve until', order.expiresAt],
  ];
  return lines
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name.padEnd(15)}${value}\n`)
    .join('');
}

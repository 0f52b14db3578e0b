import { breakOperations, type OrderView, orderOperations } from '@pesewa/contracts';
import {
  ClientError,
  describeOrder,
  messageOf,
  ordersFor,
  takesAway,
  whyTwice,
} from '@pesewa/operator-client';
import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { approveOrder, requireApplied, summary } from '../ledger-commands.ts';
import { addList, addShow } from '../operation-commands.ts';
import type { CliPorts } from '../ports.ts';
import { amountCell } from '../print.ts';
import { namedLines } from '../views.ts';
import { addDecidingCommands } from './proposals.ts';

/** Adds `orders …`: the operators' orders to the ledger, and the second operator's decisions (ADR 17). */
export function addOrderCommands(program: Command, ports: CliPorts): void {
  const orders = program.command('orders').description('orders of money, and who approves them');
  const common = { service: 'ledger', names: { commandId: 'id' } } as const;
  addList(orders, ports, {
    ...common,
    name: 'list',
    operation: orderOperations.list,
    columns: [
      ['ORDER', ({ commandId }) => commandId],
      'status',
      'kind',
      ['AMOUNT', (order) => amountCell(takesAway(order) ? `-${order.amount}` : order.amount, order.currency)],
      ['OF', ({ merchantId, rail }) => merchantId ?? rail],
      'requestedBy',
      'requestedAt',
      ['DECIDED BY', ({ approvedBy, rejectedBy }) => approvedBy ?? rejectedBy],
    ],
    empty: ({ status }) => (status === undefined ? 'no orders yet' : 'no such orders'),
    examples: ['', '--status proposed', '--limit 500 --json'],
  });
  addShow(orders, ports, {
    ...common,
    name: 'show',
    operation: orderOperations.show,
    text: details,
    examples: ['cm-0193e5c1', 'cm-0193e5c1 --json'],
  });
  addDecidingCommands<OrderView>(orders, ports, {
    operations: orderOperations,
    service: 'ledger',
    exampleId: 'cm-0193e5c1',
    approving: 'approves the order of another operator, and waits until the ledger has applied it',
    rejecting: 'ends a proposal for good, your own too; nothing moves',
    exampleReason: 'wrong amount',
    approve: async (context, id) => requireApplied(await approveOrder(context, id)),
    approved: summary,
    details,
    summary,
  });
}

async function details(order: OrderView, context: CommandContext): Promise<string> {
  const { approvedBy, rejectedBy } = order;
  return namedLines([
    ['order', order.commandId],
    ['status', order.status],
    ['moves', describeOrder(order)],
    ['reason', order.reason],
    [
      'corrects',
      order.breakId && `the break ${order.breakId}: see pesewa reconcile breaks show ${order.breakId}`,
    ],
    ['warning', await warningOf(order, context)],
    ['ordered by', `${order.requestedBy} at ${order.requestedAt}`],
    ['approved by', approvedBy && `${approvedBy} at ${order.approvedAt ?? '?'}`],
    ['rejected by', rejectedBy && `${rejectedBy} at ${order.rejectedAt ?? '?'}: ${order.rejectedFor ?? '?'}`],
    ['applied at', order.appliedAt],
    ['refused for', order.refusedFor],
    ['approve until', order.expiresAt],
  ]);
}

/** What speaks against approving a proposed order that corrects a break. */
async function warningOf(
  order: OrderView,
  { operations, ports }: CommandContext,
): Promise<string | undefined> {
  const { breakId: id, status } = order;
  if (id === undefined || status !== 'proposed') return undefined;
  try {
    const found = await operations.call('reconciler', breakOperations.show, { parameters: { id } });
    return whyTwice(found, await ordersFor(operations, found), order, ports.clock.nowMs());
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    return `whether it corrects anything twice is not known: ${messageOf(error)}`;
  }
}

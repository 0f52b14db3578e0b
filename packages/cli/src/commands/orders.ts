import { type OrderView, orderOperations } from '@pesewa/contracts';
import { describeOrder, takesAway } from '@pesewa/operator-client';
import type { Command } from 'commander';
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

function details(order: OrderView): string {
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
    ['ordered by', `${order.requestedBy} at ${order.requestedAt}`],
    ['approved by', approvedBy && `${approvedBy} at ${order.approvedAt ?? '?'}`],
    ['rejected by', rejectedBy && `${rejectedBy} at ${order.rejectedAt ?? '?'}: ${order.rejectedFor ?? '?'}`],
    ['applied at', order.appliedAt],
    ['refused for', order.refusedFor],
    ['approve until', order.expiresAt],
  ]);
}

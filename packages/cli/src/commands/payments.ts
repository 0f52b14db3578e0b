import { paymentOperations } from '@pesewa/contracts';
import { inWords } from '@pesewa/operator-client';
import type { Command } from 'commander';
import { addList } from '../operation-commands.ts';
import type { CliPorts } from '../ports.ts';
import { addCancelCommand } from './payments-cancel.ts';

/** Adds `payments list`, payouts or collections by merchant, status and time, and `payments cancel`. */
export function addPaymentCommands(program: Command, ports: CliPorts): void {
  const payments = program
    .command('payments')
    .description('payouts and collections, as their gateways have them');
  addList(payments, ports, {
    name: 'list',
    operation: paymentOperations.list,
    service: { payouts: 'payout-gateway', collections: 'collection-gateway' },
    names: { merchantReference: 'reference' },
    isZoned: true,
    columns: [
      ['PAYMENT', ({ reference }) => reference],
      ['MERCHANT', ({ merchantId }) => merchantId],
      ['THEIR REFERENCE', ({ merchantReference }) => merchantReference],
      'status',
      ['STEP', ({ step }) => inWords(step)],
      'reason',
      'amount',
      'fee',
      'rail',
      'acceptedAt',
    ],
    empty: 'no such payments',
    more: (_, hasMore) => (hasMore ? 'there are more: raise --limit, or narrow --from and --to' : undefined),
    examples: [
      'payouts --open --rail upstream',
      'payouts --reference order-7',
      'payouts --merchant demo --status FAILED',
      'collections --from 2026-11-01 --to 2026-11-02 --tz Africa/Nairobi',
      'collections --from 2026-11-01 --to 2026-11-02 --json',
    ],
  });
  addCancelCommand(payments, ports);
}

import { cancellationOperations, dryRunOf, type PayoutView, paymentOperations } from '@pesewa/contracts';
import { RefusedError } from '@pesewa/operator-client';
import type { Command } from 'commander';
import { readCount } from '../arguments.ts';
import type { FileCaller } from '../clients/call.ts';
import { openContext } from '../context.ts';
import { CliError } from '../errors.ts';
import { withExamples } from '../help.ts';
import type { CliPorts } from '../ports.ts';
import { amountCell } from '../print.ts';

const SERVICE = 'payout-gateway';

interface CancelOptions {
  readonly merchant?: string;
  readonly all?: boolean;
  readonly limit: string;
  readonly dryRun?: boolean;
}

/** Adds `payments cancel`: one payout that was not sent, or all of a merchant (ADR 84). */
export function addCancelCommand(payments: Command, ports: CliPorts): void {
  const cancel = payments
    .command('cancel')
    .description('ends a payout as FAILED that was not sent to its rail; its money goes back to the merchant')
    .argument('[reference]', 'our reference of the payout, or with --merchant its own')
    .option('--merchant <merchant>', 'whose payout it is')
    .option('--all', 'every payout of the merchant that has not ended and was not sent')
    .option('--limit <count>', 'with --all: how many at most', '1000')
    .option('--dry-run', 'say what would be cancelled, and cancel nothing')
    .action(async (reference: string | undefined, options: CancelOptions, command: Command) => {
      const { operations } = await openContext(ports, command);
      if (options.all) return cancelAll(ports, operations, { ...options, reference });
      if (reference === undefined)
        throw new CliError('name a payout by its reference, or all of a merchant by --all and --merchant');
      const { merchant, dryRun = false } = options;
      ports.print(await cancelOne(operations, { reference, merchant }, dryRun));
      return undefined;
    });
  withExamples(cancel, [
    'pesewa payments cancel po-01JD0000000000000000000000 --dry-run',
    'pesewa payments cancel order-7 --merchant demo',
    'pesewa payments cancel --all --merchant demo',
  ]);
}

interface Named {
  readonly reference: string;
  readonly merchant?: string | undefined;
}

/** Cancels one; gives what is to be printed. */
async function cancelOne(operations: FileCaller, named: Named, dryRun: boolean): Promise<string> {
  const { cancel } = cancellationOperations;
  if (dryRun) {
    const found = await operations.call(SERVICE, dryRunOf(cancel), { body: { ...named, dryRun } });
    return `${described(found)} ${found.status === 'INITIALIZED' ? 'would be cancelled' : 'is cancelled already'}\n`;
  }
  const found = await operations.call(SERVICE, cancel, { body: named });
  const isOver = found.status !== 'INITIALIZED';
  return `${described(found)} ${isOver ? 'is cancelled' : 'will not be sent: it ends as soon as the ledger has answered for its hold'}\n`;
}

/** Cancels what of the merchant can be; whatever can not is said, and hinders no other. */
async function cancelAll(
  ports: CliPorts,
  operations: FileCaller,
  { reference, merchant, limit, dryRun = false }: CancelOptions & { readonly reference: string | undefined },
): Promise<void> {
  if (merchant === undefined || reference !== undefined)
    throw new CliError('--all: name the merchant with --merchant, and no reference');
  const most = readCount('--limit', limit);
  const query = { merchant, status: 'INITIALIZED' } as const;
  const { items, hasMore } = await operations.list(SERVICE, paymentOperations.list, query, most);
  let refusals = 0;
  for (const { reference: ours } of items) {
    try {
      ports.print(await cancelOne(operations, { reference: ours }, dryRun));
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      refusals += 1;
      ports.print(`${ours} stays: ${error.message}\n`);
    }
  }
  const more = hasMore ? '; there are more: raise --limit' : '';
  const done = dryRun ? 'would be cancelled' : 'cancelled';
  ports.print(`${items.length - refusals} ${done}, ${refusals} stay${more}\n`);
}

function described({ reference, merchantReference, merchantId, amount, currency }: PayoutView): string {
  return `${reference} (${merchantReference} of ${merchantId}, ${amountCell(amount, currency)})`;
}

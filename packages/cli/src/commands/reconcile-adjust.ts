import { breakOperations, type ShownBreakView } from '@pesewa/contracts';
import {
  correctionId,
  correctionOf,
  type OrderRequest,
  ordersFor,
  pendingOf,
  RefusedError,
  whyUncorrectable,
  whyWrongSign,
} from '@pesewa/operator-client';
import type { Command } from 'commander';
import { readCurrency, readSignedAmount, reasonOption } from '../arguments.ts';
import { type CommandContext, openContext } from '../context.ts';
import { CliError } from '../errors.ts';
import { withExamples } from '../help.ts';
import { proposeOrder } from '../ledger-commands.ts';
import type { CliPorts } from '../ports.ts';
import { requireWallet } from './money.ts';

interface AdjustOptions {
  readonly wallet?: string;
  readonly suspense?: string | true;
  readonly amount: string;
  readonly currency?: string;
  readonly reason: string;
  readonly approve?: boolean;
  readonly dryRun?: boolean;
}

/** Adds `breaks adjust`: an order to the ledger that corrects a break's difference, by two operators (ADR 70). */
export function addAdjustCommand(breaks: Command, ports: CliPorts): void {
  const adjust = breaks
    .command('adjust')
    .description(
      'orders a correction of the ledger for a break; another approver approves it, and its entry resolves the break',
    )
    .argument('<id>', 'its id')
    .option('--wallet <merchant>', "correct a merchant's wallet, against suspense")
    .option(
      '--suspense [rail]',
      'book money that no record explains at a rail (default: the rail of the break)',
    )
    .requiredOption('--amount <amount>', 'with its sign: +12.50 where the wallet, or our float, gets more')
    .option('--currency <currency>', 'ISO 4217 code (default: that of the break)')
    .addOption(reasonOption().makeOptionMandatory())
    .option('--approve', "approve it too, with another approver's token, and wait until it is applied")
    .option('--dry-run', 'show what would be ordered and what would be left, and send nothing')
    .action(async (id: string, options: AdjustOptions, command: Command) => {
      const context = await openContext(ports, command);
      const found = await context.operations.call('reconciler', breakOperations.show, { parameters: { id } });
      const request = await requestOf(context, found, options);
      const why = whyUncorrectable(found);
      if (why !== undefined) throw new CliError(`${id} ${why}`);
      const wrong = options.dryRun ? undefined : whyWrongSign(found, request);
      if (wrong !== undefined) throw new CliError(`--amount: ${wrong}; --dry-run shows the drift after it`);
      // A repetition is the order that waits: the ledger takes it for the same, or refuses it as another.
      const orders = await ordersFor(context.operations, found);
      const pending = pendingOf(found, orders, ports.clock.nowMs());
      const commandId = pending?.commandId ?? correctionId(found, orders);
      const order = { ...options, breakId: id, commandId };
      const proposing = proposeOrder(context, request, order, 'repeat the same call');
      await proposing.catch((error: unknown) => {
        if (!(error instanceof RefusedError) || error.code !== 'duplicate') throw error;
        throw new CliError(
          pending
            ? `another order for ${id} waits: approve it, or reject it (pesewa orders reject ${commandId} --reason "withdrawn")`
            : `another order for ${id} was proposed meanwhile: look with pesewa orders show ${commandId}`,
        );
      });
    });
  withExamples(adjust, [
    'pesewa reconcile breaks adjust upstream:GHS/balance --suspense --amount -12.50 --reason "lost" --dry-run',
    'pesewa reconcile breaks adjust po-0193e5c1/status --wallet demo --amount -100 --reason "paid after all"',
  ]);
}

async function requestOf(
  context: CommandContext,
  found: ShownBreakView,
  { wallet, suspense, ...options }: AdjustOptions,
): Promise<OrderRequest> {
  if ((wallet === undefined) === (suspense === undefined)) {
    throw new CliError('say which account to correct: --wallet <merchant>, or --suspense');
  }
  const code = options.currency ?? found.currency;
  if (code === null) throw new CliError(`--currency: ${found.id} has none: say which`);
  const currency = readCurrency('--currency', code);
  const amount = readSignedAmount('--amount', options.amount, currency);
  if (wallet !== undefined) {
    await requireWallet(context, wallet, currency);
    return correctionOf({ merchantId: wallet }, currency, amount);
  }
  const rail = typeof suspense === 'string' ? suspense : found.rail;
  if (rail === null) throw new CliError(`--suspense: ${found.id} has no rail: write --suspense <rail>`);
  return correctionOf({ rail }, currency, amount);
}

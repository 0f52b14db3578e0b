import { referencePattern } from '@pesewa/contracts';
import type { Command } from 'commander';
import { readCurrency, readPositiveAmount } from '../arguments.ts';
import { operatorName } from '../config.ts';
import { type CommandContext, findMerchant, openContext } from '../context.ts';
import { CliError } from '../errors.ts';
import type { Funding } from '../operations.ts';
import type { CliPorts } from '../ports.ts';

interface FundOptions {
  readonly by?: string;
  readonly commandId?: string;
  readonly dryRun?: boolean;
}

/** Adds `fund …`: treasury money into wallets and floats, by orders to the ledger (design 5). */
export function addFundCommands(program: Command, ports: CliPorts): void {
  const fund = program.command('fund').description('puts treasury money into a wallet or a float');
  const withOptions = (command: Command): Command =>
    command
      .option(
        '--by <operator>',
        'who asks, as the ledger records it (default: PESEWA_OPERATOR or the login name)',
      )
      .option('--command-id <id>', 'id of the order: the same id is applied once')
      .option('--dry-run', 'check the order and print it, move nothing');
  withOptions(fund.command('wallet'))
    .description("funds a merchant's wallet")
    .argument('<merchant>', 'its id')
    .argument('<currency>', 'ISO 4217 code')
    .argument('<amount>', 'in major units, such as 2500.50')
    .action(
      async (
        merchantId: string,
        currencyText: string,
        amount: string,
        options: FundOptions,
        command: Command,
      ) => {
        const order = orderOf(ports, currencyText, amount, options);
        const context = await openContext(ports, command);
        // The ledger knows wallets by their entries alone: a mistyped merchant would be funded for nobody.
        const { wallets } = await context.withDirectory((admin) => findMerchant(admin, merchantId));
        if (wallets.every(({ currency }) => currency !== order.currency)) {
          throw new CliError(
            `currency: ${merchantId} has no ${order.currency} wallet: add it with merchants set-wallet`,
          );
        }
        await send(
          context,
          { ...order, merchantId },
          `the ${order.currency} wallet of ${merchantId}`,
          options.dryRun,
        );
      },
    );
  withOptions(fund.command('float'))
    .description('funds our float at a rail')
    .argument('<rail>', 'its name')
    .argument('<currency>', 'ISO 4217 code')
    .argument('<amount>', 'in major units, such as 2500.50')
    .action(
      async (rail: string, currencyText: string, amount: string, options: FundOptions, command: Command) => {
        const order = orderOf(ports, currencyText, amount, options);
        const context = await openContext(ports, command);
        await send(context, { ...order, rail }, `the ${order.currency} float at ${rail}`, options.dryRun);
      },
    );
}

function orderOf(
  ports: CliPorts,
  currencyText: string,
  amount: string,
  options: FundOptions,
): Omit<Extract<Funding, { readonly rail: string }>, 'rail'> {
  const currency = readCurrency('currency', currencyText);
  if (options.commandId !== undefined && !referencePattern.test(options.commandId)) {
    throw new CliError('--command-id: write 1 to 64 letters, digits, dots, underscores, colons or hyphens');
  }
  return {
    commandId: options.commandId ?? ports.ids.next('cm'),
    currency,
    amount: readPositiveAmount('amount', amount, currency),
    requestedBy: options.by ?? operatorName(ports.environment),
  };
}

async function send(
  context: CommandContext,
  funding: Funding,
  target: string,
  dryRun: boolean | undefined,
): Promise<void> {
  const what = `${funding.amount} ${funding.currency} into ${target}, asked by ${funding.requestedBy}`;
  if (dryRun) {
    context.ports.print(`would put ${what}; nothing was sent\n`);
    return;
  }
  await context.operations.fund(funding);
  context.ports.print(`put ${what}: applied as ${funding.commandId}\n`);
}

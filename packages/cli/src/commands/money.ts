import type { Command } from 'commander';
import { readCurrency, readPositiveAmount, readSignedAmount } from '../arguments.ts';
import { type CommandContext, findMerchant, openContext } from '../context.ts';
import { CliError } from '../errors.ts';
import { withExamples } from '../help.ts';
import { addOrderOptions, type OrderOptions, proposeOrder } from '../ledger-commands.ts';
import type { CliPorts } from '../ports.ts';

const currencyArgument = ['<currency>', 'ISO 4217 code'] as const;
const amountArgument = ['<amount>', 'in major units, such as 2500.50'] as const;

/** Adds `fund …`, `withdraw …`, `adjust` and `suspense`: orders to the ledger by two operators (ADR 17). */
export function addMoneyCommands(program: Command, ports: CliPorts): void {
  const fund = program.command('fund').description('puts treasury money into a wallet or a float');
  addTreasuryCommands(fund, ports, {
    verb: 'fund',
    sign: 1n,
    wallet: "orders treasury money into a merchant's wallet",
    float: 'orders treasury money into our float at a rail',
    reason: 'bank-transfer-4711',
  });
  const withdraw = program.command('withdraw').description('takes money out of a wallet or a float');
  addTreasuryCommands(withdraw, ports, {
    verb: 'withdraw',
    sign: -1n,
    wallet: "orders available money out of a merchant's wallet to the treasury",
    float: 'orders money out of our float at a rail to the treasury',
    reason: 'merchant-asked-for-it',
  });
  addAdjustCommand(program, ports);
  addSuspenseCommand(program, ports);
}

interface TreasuryVerb {
  readonly verb: 'fund' | 'withdraw';
  readonly sign: 1n | -1n;
  readonly wallet: string;
  readonly float: string;
  readonly reason: string;
}

function addTreasuryCommands(parent: Command, ports: CliPorts, verb: TreasuryVerb): void {
  const wallet = parent
    .command('wallet')
    .description(verb.wallet)
    .argument('<merchant>', 'its id')
    .argument(...currencyArgument)
    .argument(...amountArgument)
    .action(
      async (
        merchantId: string,
        currencyText: string,
        text: string,
        options: OrderOptions,
        command: Command,
      ) => {
        const currency = readCurrency('currency', currencyText);
        const amount = readPositiveAmount('amount', text, currency);
        const context = await openContext(ports, command);
        await requireWallet(context, merchantId, currency);
        const change = verb.sign * amount.minor;
        const request = {
          kind: verb.verb,
          account: { merchantId },
          currency,
          amount: amount.text,
          change,
        } as const;
        await proposeOrder(context, request, options);
      },
    );
  withExamples(addOrderOptions(wallet, 'optional'), [
    `pesewa ${verb.verb} wallet demo GHS 2500.50`,
    `pesewa ${verb.verb} wallet demo GHS 2500.50 --dry-run`,
    `pesewa ${verb.verb} wallet demo XOF 100000 --reason ${verb.reason} --approve`,
  ]);
  const float = parent
    .command('float')
    .description(verb.float)
    .argument('<rail>', 'its name')
    .argument(...currencyArgument)
    .argument(...amountArgument)
    .action(
      async (rail: string, currencyText: string, text: string, options: OrderOptions, command: Command) => {
        const currency = readCurrency('currency', currencyText);
        const amount = readPositiveAmount('amount', text, currency);
        const context = await openContext(ports, command);
        const change = verb.sign * amount.minor;
        const kind = `${verb.verb}-float` as const;
        await proposeOrder(
          context,
          { kind, account: { rail }, currency, amount: amount.text, change },
          options,
        );
      },
    );
  withExamples(addOrderOptions(float, 'optional'), [
    `pesewa ${verb.verb} float upstream GHS 10000`,
    `pesewa ${verb.verb} float upstream GHS 10000 --dry-run`,
  ]);
}

function addAdjustCommand(program: Command, ports: CliPorts): void {
  const adjust = program
    .command('adjust')
    .description("orders a correction of a merchant's wallet, against suspense")
    .argument('<merchant>', 'its id')
    .argument(...currencyArgument)
    .argument('<amount>', 'with its sign: +12.50 gives the merchant more, -12.50 less')
    .action(
      async (
        merchantId: string,
        currencyText: string,
        text: string,
        options: OrderOptions,
        command: Command,
      ) => {
        const currency = readCurrency('currency', currencyText);
        const { minor, text: amount } = readSignedAmount('amount', text, currency);
        const context = await openContext(ports, command);
        await requireWallet(context, merchantId, currency);
        const direction = minor > 0n ? 'credit' : 'debit';
        const request = {
          kind: 'adjust',
          account: { merchantId },
          currency,
          amount,
          change: minor,
          direction,
        } as const;
        await proposeOrder(context, request, options);
      },
    );
  withExamples(addOrderOptions(adjust, 'required'), [
    'pesewa adjust demo GHS -12.50 --reason "credited twice, break br-0193e5c1"',
    'pesewa adjust demo GHS +12.50 --reason "paid on 2026-11-01, never credited" --dry-run',
  ]);
}

function addSuspenseCommand(program: Command, ports: CliPorts): void {
  const suspense = program
    .command('suspense')
    .description('orders money that no record explains at a rail into suspense, or back from it')
    .argument('<rail>', 'its name')
    .argument(...currencyArgument)
    .argument('<amount>', 'with its sign: +12.50 if the rail has more than our float, -12.50 if less')
    .action(
      async (rail: string, currencyText: string, text: string, options: OrderOptions, command: Command) => {
        const currency = readCurrency('currency', currencyText);
        const { minor, text: amount } = readSignedAmount('amount', text, currency);
        const direction = minor > 0n ? 'surplus' : 'shortage';
        const request = {
          kind: 'suspense',
          account: { rail },
          currency,
          amount,
          change: minor,
          direction,
        } as const;
        await proposeOrder(await openContext(ports, command), request, options);
      },
    );
  withExamples(addOrderOptions(suspense, 'required'), [
    'pesewa suspense upstream GHS +40 --reason "drift of 2026-11-01, break br-0193e5c1"',
    'pesewa suspense upstream GHS -40 --reason "explained: the rail took it back" --dry-run',
  ]);
}

/** The ledger only knows wallets that have entries, so it would accept an order for a mistyped merchant. */
export async function requireWallet(
  context: CommandContext,
  merchantId: string,
  currency: string,
): Promise<void> {
  const { wallets } = await context.withDirectory((admin) => findMerchant(admin, merchantId));
  if (wallets.some((wallet) => wallet.currency === currency)) return;
  throw new CliError(
    `currency: ${merchantId} has no ${currency} wallet: to add it, see pesewa merchants set-wallet --help`,
  );
}

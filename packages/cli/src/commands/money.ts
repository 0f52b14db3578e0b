import type { OrderRequest } from '@pesewa/operator-client';
import type { Command } from 'commander';
import { readCurrency, readPositiveAmount, readSignedAmount } from '../arguments.ts';
import { type CommandContext, findMerchant, openContext } from '../context.ts';
import { CliError } from '../errors.ts';
import { withExamples } from '../help.ts';
import { addOrderOptions, type OrderOptions, proposeOrder } from '../ledger-commands.ts';
import type { CliPorts } from '../ports.ts';

/** A command that proposes one kind of order. */
interface OrderCommand {
  readonly name: string;
  readonly description: string;
  /** Whose account it changes. */
  readonly owner: 'merchant' | 'rail';
  readonly amountHelp?: string;
  readonly reason: 'required' | 'optional';
  readonly examples: readonly string[];
  readonly read: (text: string, currency: string) => Omit<OrderRequest, 'account' | 'currency'>;
}

/** Adds `fund …`, `withdraw …`, `adjust` and `suspense`: orders to the ledger by two operators (ADR 17). */
export function addMoneyCommands(program: Command, ports: CliPorts): void {
  const fund = program.command('fund').description('puts money into a wallet or a float');
  addTreasuryCommands(fund, ports, {
    verb: 'fund',
    sign: 1n,
    wallet: "orders money that the treasury received into a merchant's wallet",
    float: 'orders treasury money into our float at a rail',
    reason: 'bank-transfer-4711',
  });
  const withdraw = program.command('withdraw').description('takes money out of a wallet or a float');
  addTreasuryCommands(withdraw, ports, {
    verb: 'withdraw',
    sign: -1n,
    wallet: "orders available money out of a merchant's wallet, which the treasury pays out",
    float: 'orders money out of our float at a rail to the treasury',
    reason: 'merchant-asked-for-it',
  });
  addOrderCommand(program, ports, {
    name: 'adjust',
    description: "orders a correction of a merchant's wallet, against suspense",
    owner: 'merchant',
    amountHelp: 'with its sign: +12.50 gives the merchant more, -12.50 less',
    reason: 'required',
    read: (text, currency) => {
      const { minor, text: amount } = readSignedAmount('amount', text, currency);
      return { kind: 'adjust', amount, change: minor, direction: minor > 0n ? 'credit' : 'debit' };
    },
    examples: [
      'pesewa adjust demo GHS -12.50 --reason "credited twice, break br-0193e5c1"',
      'pesewa adjust demo GHS +12.50 --reason "paid on 2026-11-01, never credited" --dry-run',
    ],
  });
  addOrderCommand(program, ports, {
    name: 'suspense',
    description: 'orders money that no record explains at a rail into suspense, or back from it',
    owner: 'rail',
    amountHelp: 'with its sign: +12.50 if the rail has more than our float, -12.50 if less',
    reason: 'required',
    read: (text, currency) => {
      const { minor, text: amount } = readSignedAmount('amount', text, currency);
      return { kind: 'suspense', amount, change: minor, direction: minor > 0n ? 'surplus' : 'shortage' };
    },
    examples: [
      'pesewa suspense upstream GHS +40 --reason "drift of 2026-11-01, break br-0193e5c1"',
      'pesewa suspense upstream GHS -40 --reason "explained: the rail took it back" --dry-run',
    ],
  });
}

function addTreasuryCommands(
  parent: Command,
  ports: CliPorts,
  treasury: {
    readonly verb: 'fund' | 'withdraw';
    readonly sign: 1n | -1n;
    readonly wallet: string;
    readonly float: string;
    readonly reason: string;
  },
): void {
  const { verb, sign } = treasury;
  const readAs = (kind: OrderRequest['kind']) => (text: string, currency: string) => {
    const amount = readPositiveAmount('amount', text, currency);
    return { kind, amount: amount.text, change: sign * amount.minor };
  };
  addOrderCommand(parent, ports, {
    name: 'wallet',
    description: treasury.wallet,
    owner: 'merchant',
    reason: 'optional',
    read: readAs(verb),
    examples: [
      `pesewa ${verb} wallet demo GHS 2500.50`,
      `pesewa ${verb} wallet demo GHS 2500.50 --dry-run`,
      `pesewa ${verb} wallet demo XOF 100000 --reason ${treasury.reason} --approve`,
    ],
  });
  addOrderCommand(parent, ports, {
    name: 'float',
    description: treasury.float,
    owner: 'rail',
    reason: 'optional',
    read: readAs(`${verb}-float`),
    examples: [
      `pesewa ${verb} float upstream GHS 10000`,
      `pesewa ${verb} float upstream GHS 10000 --dry-run`,
    ],
  });
}

function addOrderCommand(parent: Command, ports: CliPorts, order: OrderCommand): void {
  const isOfMerchant = order.owner === 'merchant';
  const command = parent
    .command(order.name)
    .description(order.description)
    .argument(`<${order.owner}>`, isOfMerchant ? 'its id' : 'its name')
    .argument('<currency>', 'ISO 4217 code')
    .argument('<amount>', order.amountHelp ?? 'in major units, such as 2500.50')
    .action(
      async (owner: string, currencyText: string, text: string, options: OrderOptions, called: Command) => {
        const currency = readCurrency('currency', currencyText);
        const request = order.read(text, currency);
        const context = await openContext(ports, called);
        if (isOfMerchant) await requireWallet(context, owner, currency);
        const account = isOfMerchant ? { merchantId: owner } : { rail: owner };
        await proposeOrder(context, { ...request, account, currency }, options);
      },
    );
  withExamples(addOrderOptions(command, order.reason), order.examples);
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

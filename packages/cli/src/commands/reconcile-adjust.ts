import {
  type AdjustmentView,
  type BreakDetailView,
  breakChanges,
  breakOperations,
  orderOperations,
  REASON_LENGTH_MAX,
} from '@pesewa/contracts';
import {
  correctionOf,
  mayBeBooked,
  nextCommandId,
  type OrderRequest,
  pendingOf,
  placeAdjustment,
  RefusedError,
  reasonForBreak,
  whyWrongSign,
} from '@pesewa/operator-client';
import type { Command } from 'commander';
import { readCurrency, readReason, readSignedAmount, reasonOption, type SignedAmount } from '../arguments.ts';
import { requireVariable } from '../config.ts';
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
      const { request, amount } = await requestOf(context, found, options);
      const aboutLength = reasonForBreak('', id).length;
      const reason = readReason(options.reason, REASON_LENGTH_MAX - aboutLength);
      const commandId = commandIdOf(found, request, amount);
      const wrong = options.dryRun ? undefined : whyWrongSign(found, request);
      if (wrong !== undefined) throw new CliError(`--amount: ${wrong}; --dry-run shows the drift after it`);
      const order = {
        commandId,
        reason: reasonForBreak(reason, id),
        ...(options.approve && { approve: true }),
        ...(options.dryRun && { dryRun: true }),
      };
      const place = () => proposeOrder(context, request, order, 'repeat the same call');
      if (options.dryRun) return place();
      if (options.approve) requireVariable(context.surroundings, 'PESEWA_APPROVER_TOKEN');
      await placeAdjustment(context.operations, id, { commandId, request, explanation: reason }, place);
    });
  withExamples(adjust, [
    'pesewa reconcile breaks adjust upstream:GHS/balance --suspense --amount -12.50 --reason "lost" --dry-run',
    'pesewa reconcile breaks adjust po-0193e5c1/status --wallet demo --amount -100 --reason "paid after all"',
  ]);
}

async function requestOf(
  context: CommandContext,
  found: BreakDetailView,
  { wallet, suspense, ...options }: AdjustOptions,
): Promise<{ readonly request: OrderRequest; readonly amount: SignedAmount }> {
  if ((wallet === undefined) === (suspense === undefined)) {
    throw new CliError('say which account to correct: --wallet <merchant>, or --suspense');
  }
  const code = options.currency ?? found.currency;
  if (code === null) throw new CliError(`--currency: ${found.id} has none: say which`);
  const currency = readCurrency('--currency', code);
  const amount = readSignedAmount('--amount', options.amount, currency);
  if (wallet !== undefined) {
    await requireWallet(context, wallet, currency);
    return { amount, request: correctionOf({ merchantId: wallet }, currency, amount) };
  }
  const rail = typeof suspense === 'string' ? suspense : found.rail;
  if (rail === null) throw new CliError(`--suspense: ${found.id} has no rail: write --suspense <rail>`);
  return { amount, request: correctionOf({ rail }, currency, amount) };
}

/** The id of the order: if the same order waits already, its id, so that a repetition orders nothing twice. */
function commandIdOf(found: BreakDetailView, request: OrderRequest, amount: SignedAmount): string {
  if (found.status === 'resolved') throw new CliError(`${found.id} is resolved: reopen it first`);
  const pending = pendingOf(found);
  if (!pending) return nextCommandId(found);
  if (isSame(pending, request, amount)) return pending.commandId;
  throw new CliError(
    `another adjustment of ${found.id} waits: approve it, or reject it (pesewa orders reject ${pending.commandId} --reason "withdrawn") and withdraw it (pesewa reconcile breaks withdraw ${found.id})`,
  );
}

function isSame(pending: AdjustmentView, { account, currency }: OrderRequest, amount: SignedAmount): boolean {
  const target = 'merchantId' in account ? account.merchantId : account.rail;
  const kind = 'merchantId' in account ? 'adjust' : 'suspense';
  const theirs = readSignedAmount('amount', withSign(pending.amount), pending.currency);
  return (
    pending.kind === kind &&
    (pending.merchantId ?? pending.rail) === target &&
    pending.currency === currency &&
    theirs.minor === amount.minor
  );
}

function withSign(amount: string): string {
  return amount.startsWith('-') ? amount : `+${amount}`;
}

/** Adds `breaks withdraw`: ends an adjustment whose order will never be applied. */
export function addWithdrawCommand(breaks: Command, ports: CliPorts): void {
  const withdraw = breaks
    .command('withdraw')
    .description('frees a break from an adjustment whose order was rejected, or can no longer be approved')
    .argument('<id>', 'its id')
    .option('--dry-run', 'show whether it can be withdrawn, and change nothing')
    .action(async (id: string, options: { readonly dryRun?: boolean }, command: Command) => {
      const { operations } = await openContext(ports, command);
      const of = { parameters: { id } };
      const pending = pendingOf(await operations.call('reconciler', breakOperations.show, of));
      if (!pending) throw new CliError(`${id}: no adjustment waits`);
      const { commandId } = pending;
      const shown = operations.call('ledger', orderOperations.show, { parameters: { commandId } });
      const order = await shown.catch((error: unknown) => {
        if (!(error instanceof RefusedError) || error.status !== 404) throw error;
        throw new CliError(
          `${commandId} was never ordered: repeat the command that proposed it, then reject the order`,
        );
      });
      if (mayBeBooked(order, ports.clock.nowMs())) {
        const why =
          order.status === 'proposed'
            ? `can still be approved: reject it first, with pesewa orders reject ${commandId} --reason "withdrawn"`
            : `is ${order.status}: the break follows by itself`;
        throw new CliError(`${commandId} ${why}`);
      }
      if (options.dryRun) {
        ports.print(`${id}: ${commandId} would be withdrawn; nothing was changed\n`);
        return;
      }
      const withdrawal = { ...of, body: { commandId } };
      const { status } = await operations.call('reconciler', breakChanges.withdraw, withdrawal);
      ports.print(`${status} ${id}: ${commandId} is withdrawn\n`);
    });
  withExamples(withdraw, [
    'pesewa reconcile breaks withdraw upstream:GHS/balance --dry-run',
    'pesewa reconcile breaks withdraw upstream:GHS/balance',
  ]);
}

import { type AdjustmentView, type BreakDetailView, type OrderView } from '@pesewa/contracts';
import { nextCommandId, pendingOf, RefusedError } from '@pesewa/operator-client';
import type { Command } from 'commander';
import { readCurrency, readLine, readSignedAmount, type SignedAmount } from '../arguments.ts';
import { requireAddress } from '../config.ts';
import { type CommandContext, openContext } from '../context.ts';
import { CliError } from '../errors.ts';
import { withExamples } from '../help.ts';
import { type OrderRequest, proposeOrder } from '../ledger-commands.ts';
import type { CliPorts } from '../ports.ts';
import { requireWallet } from './money.ts';

/** The longest reason that the ledger accepts for an order. */
const REASON_LENGTH_MAX = 200;

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
      'orders a correction of the ledger for a break; another operator approves it, and its entry resolves the break',
    )
    .argument('<id>', 'its id')
    .option('--wallet <merchant>', "correct a merchant's wallet, against suspense")
    .option(
      '--suspense [rail]',
      'book money that no record explains at a rail (default: the rail of the break)',
    )
    .requiredOption('--amount <amount>', 'with its sign: +12.50 where the wallet, or our float, gets more')
    .option('--currency <currency>', 'ISO 4217 code (default: that of the break)')
    .requiredOption('--reason <text>', 'why, in one line, without names or numbers of people')
    .option('--approve', "approve it too, with another operator's token, and wait until it is applied")
    .option('--dry-run', 'show what would be ordered and what would be left, and send nothing')
    .action(async (id: string, options: AdjustOptions, command: Command) => {
      const context = await openContext(ports, command);
      const { breaks: known } = context.operations;
      const found = await known.show(id);
      const { request, amount } = await requestOf(context, found, options);
      const about = ` (break ${id})`;
      const reason = readLine('--reason', options.reason, REASON_LENGTH_MAX - about.length);
      const commandId = commandIdOf(found, request, amount);
      if (!options.dryRun) requireSign(found, request, amount);
      const order = {
        commandId,
        reason: `${reason}${about}`,
        ...(options.approve && { approve: true }),
        ...(options.dryRun && { dryRun: true }),
      };
      if (!options.dryRun) {
        if (options.approve) requireAddress(context.addresses, 'approverToken');
        // The break notes the order first: an order that no break knows would move money without anybody expecting it.
        const body = {
          ...request.account,
          commandId,
          currency: request.currency,
          amount: signed(amount),
          explanation: reason,
        };
        await known.change(id, { verb: 'adjustment', body });
      }
      await proposeOrder(context, request, order, 'repeat the same call').catch(async (error: unknown) => {
        // If the ledger refused the order itself, nothing was ordered and nothing waits for it.
        if (error instanceof RefusedError && wasNeverOrdered(error)) {
          await known.change(id, { verb: 'withdraw', body: { commandId } });
        }
        throw error;
      });
    });
  withExamples(adjust, [
    'pesewa reconcile breaks adjust upstream:GHS/balance --suspense --amount -12.50 --reason "lost" --dry-run',
    'pesewa reconcile breaks adjust po-0193e5c1/status --wallet demo --amount -100 --reason "paid after all"',
  ]);
}

/** Refuses a correction that would make the drift of its own break larger. */
function requireSign(found: BreakDetailView, { kind }: OrderRequest, { minor }: SignedAmount): void {
  if (kind !== 'suspense' || found.kind !== 'wallet.drift' || found.amount === null) return;
  const isLess = found.amount.startsWith('-');
  if (isLess === minor < 0n) return;
  const has = isLess ? 'less' : 'more';
  throw new CliError(
    `--amount: the rail has ${has} than our float, so this makes the drift larger: write it with a ${isLess ? '-' : '+'}; --dry-run shows the drift after it`,
  );
}

/** Any other conflict may be with this same order, sent before. */
function wasNeverOrdered({ status, code }: RefusedError): boolean {
  return status === 400 || status === 404 || code.startsWith('unknown_');
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
  const money = { currency, amount: amount.text, change: amount.minor };
  const isGain = amount.minor > 0n;
  if (wallet !== undefined) {
    await requireWallet(context, wallet, currency);
    const direction = isGain ? 'credit' : 'debit';
    return { amount, request: { kind: 'adjust', account: { merchantId: wallet }, ...money, direction } };
  }
  const rail = typeof suspense === 'string' ? suspense : found.rail;
  if (rail === null) throw new CliError(`--suspense: ${found.id} has no rail: write --suspense <rail>`);
  const direction = isGain ? 'surplus' : 'shortage';
  return { amount, request: { kind: 'suspense', account: { rail }, ...money, direction } };
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

function signed({ minor, text }: SignedAmount): string {
  return `${minor < 0n ? '-' : '+'}${text}`;
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
      const pending = pendingOf(await operations.breaks.show(id));
      if (!pending) throw new CliError(`${id}: no adjustment waits`);
      const { commandId } = pending;
      const order = await operations.orders.show(commandId).catch((error: unknown) => {
        if (!(error instanceof RefusedError) || error.status !== 404) throw error;
        throw new CliError(
          `${commandId} was never ordered: repeat the command that proposed it, then reject the order`,
        );
      });
      const why = whyAlive(order, ports.clock.nowMs());
      if (why !== undefined) throw new CliError(`${commandId} ${why}`);
      if (options.dryRun) {
        ports.print(`${id}: ${commandId} would be withdrawn; nothing was changed\n`);
        return;
      }
      const { status } = await operations.breaks.change(id, { verb: 'withdraw', body: { commandId } });
      ports.print(`${status} ${id}: ${commandId} is withdrawn\n`);
    });
  withExamples(withdraw, [
    'pesewa reconcile breaks withdraw upstream:GHS/balance --dry-run',
    'pesewa reconcile breaks withdraw upstream:GHS/balance',
  ]);
}

/** Why the order may still move money, or has; undefined if it never will. */
function whyAlive({ commandId, status, expiresAt }: OrderView, nowMs: number): string | undefined {
  switch (status) {
    case 'rejected':
    case 'refused':
      return undefined;
    case 'proposed':
      if (expiresAt !== undefined && nowMs >= new Date(expiresAt).getTime()) return undefined;
      return `can still be approved: reject it first, with pesewa orders reject ${commandId} --reason "withdrawn"`;
    case 'approved':
    case 'applied':
      return `is ${status}: the break follows by itself`;
    default:
      throw new TypeError(`no such status: ${JSON.stringify(status satisfies never)}`);
  }
}

import { type OrderKindName, type OrderView } from '@pesewa/contracts';
import { displayAmount, parseAmount } from '@pesewa/kernel';
import { ClientError, describeOrder, messageOf, RefusedError } from '@pesewa/operator-client';
import { type Command, Option } from 'commander';
import { readCommandId, readLine } from './arguments.ts';
import { requireAddress } from './config.ts';
import type { CommandContext } from './context.ts';
import { CliError } from './errors.ts';

/** The options of every order. */
export interface OrderOptions {
  readonly commandId?: string;
  readonly reason?: string;
  readonly approve?: boolean;
  readonly dryRun?: boolean;
}

/** The order that a command asks for. */
export interface OrderRequest {
  readonly kind: OrderKindName;
  readonly account: { readonly merchantId: string } | { readonly rail: string };
  readonly currency: string;
  /** Decimal text without a sign. */
  readonly amount: string;
  /** The change of the account's balance, in minor units. */
  readonly change: bigint;
  readonly direction?: 'credit' | 'debit' | 'surplus' | 'shortage';
}

const REASON_LENGTH_MAX = 200;

/** Adds the options of an order; a correction requires a reason, other orders may have one. */
export function addOrderOptions(command: Command, reason: 'required' | 'optional'): Command {
  const why = new Option(
    '--reason <text>',
    'why, in one line of at most 200 characters, without names or numbers of people',
  );
  if (reason === 'required') why.makeOptionMandatory();
  return command
    .addOption(why)
    .option('--approve', "approve it too, with another operator's token, and wait until it is applied")
    .option('--command-id <id>', 'id of the order: the same order under the same id is one order')
    .option('--dry-run', 'show what would be ordered and what would be left, and send nothing');
}

/**
 * Proposes the order, or shows what it would do; with `--approve` it also approves it and waits until the ledger has
 * applied it.
 *
 * @param again how to repeat the command if an answer was lost; by default, with the order's id
 */
export async function proposeOrder(
  context: CommandContext,
  request: OrderRequest,
  options: OrderOptions,
  again?: string,
): Promise<void> {
  const { ports, operations, addresses } = context;
  const { kind, account, currency, amount, direction } = request;
  const reason =
    options.reason === undefined ? undefined : readLine('--reason', options.reason, REASON_LENGTH_MAX);
  const commandId = readCommandId(options.commandId) ?? ports.ids.next('cm');
  const body = {
    ...account,
    commandId,
    currency,
    amount,
    ...(direction !== undefined && { direction }),
    ...(reason !== undefined && { reason }),
  };
  if (options.dryRun) {
    const { text, isRefused } = await foresee(context, request);
    ports.print(`would order: ${describeOrder({ kind, ...body })}\n${text}nothing was sent\n`);
    // Without --approve the order would be taken, and refused only once another operator approves it.
    if (options.approve && isRefused)
      throw new CliError('the ledger would refuse it: a wallet gives no more than it has');
    return;
  }
  // Required before anything is sent, so that an order is not left half done because a token is missing.
  if (options.approve) requireAddress(addresses, 'approverToken');
  // Printed before the first request: if no answer arrives, people need the id, or they would order it twice.
  ports.print(`ordering ${commandId}\n`);
  const proposed = await operations.orders.propose({ kind, body }).catch((error: unknown) => {
    throw error instanceof RefusedError
      ? error
      : withRetryHint(error, commandId, 'it may have been taken', again);
  });
  if (!options.approve) {
    ports.print(`${summary(proposed)}${nextStep(proposed)}`);
    return;
  }
  const { approve, ended } = operations.orders;
  const followed = await approve(commandId)
    .then(() => ended(commandId))
    .catch((error: unknown) => {
      throw withRetryHint(error, commandId, 'the order was taken', again);
    });
  reportEnded(context, followed);
}

/** The error, with what may have happened all the same and the id with which a repetition is the same order. */
export function withRetryHint(
  error: unknown,
  commandId: string,
  despite: string,
  again = `repeat with --command-id ${commandId}`,
): CliError {
  return new CliError(`${messageOf(error)}; ${despite}: ${again}`);
}

/** Prints an order's outcome in the ledger; a refused order is an error. */
export function reportEnded(context: CommandContext, order: OrderView): void {
  if (order.status === 'refused') {
    throw new CliError(
      `the ledger refused ${order.commandId}: ${order.refusedFor ?? 'no reason given'}; nothing moved`,
    );
  }
  context.ports.print(summary(order));
}

/** An order in one line. */
export function summary(order: OrderView): string {
  const by = `ordered by ${order.requestedBy}`;
  const approved = order.approvedBy === undefined ? '' : `, approved by ${order.approvedBy}`;
  return `${order.status} ${order.commandId}: ${describeOrder(order)}, ${by}${approved}\n`;
}

function nextStep({ commandId, status, expiresAt }: OrderView): string {
  if (status !== 'proposed') return '';
  const until = expiresAt === undefined ? '' : ` until ${expiresAt}`;
  return `waiting for another operator${until}: pesewa orders approve ${commandId}\n`;
}

/** The balance before and after the order, in two or three lines, and whether the ledger would refuse it. */
async function foresee({ operations }: CommandContext, request: OrderRequest) {
  const { account, currency, change, kind } = request;
  const isWallet = 'merchantId' in account;
  const balance = isWallet
    ? (await operations.account(account.merchantId, currency)).available
    : await operations.float(account.rail, currency);
  const now = parseAmount(balance ?? '0', currency);
  if (!now.ok)
    throw new CliError(`the ledger's balance is no amount: use a command line of the same version`);
  const after = now.value.minor + change;
  const name = isWallet ? 'available' : 'float';
  const lines = [
    `${name} now    ${displayAmount(now.value.minor, currency)}`,
    `${name} after  ${displayAmount(after, currency)}`,
  ];
  const isRefused = isWallet && after < 0n;
  if (isRefused) lines.push('the ledger would refuse this: a wallet gives no more than it has');
  if (balance === undefined) lines.push('no entry has touched this float yet: check the name of the rail');
  if (kind === 'suspense' && !isWallet)
    lines.push(...(await foreseeDrift(operations, account.rail, currency, change)));
  return { text: lines.map((line) => `${line}\n`).join(''), isRefused };
}

/** The drift of the rail's wallet before and after a change of our float, and whether the change has the wrong sign. */
async function foreseeDrift(
  { reconciliation }: CommandContext['operations'],
  rail: string,
  currency: string,
  change: bigint,
): Promise<readonly string[]> {
  const runs = await reconciliation.drift().catch((error: unknown) => {
    if (!(error instanceof ClientError)) throw error;
    return messageOf(error);
  });
  if (typeof runs === 'string') return [`drift now    not known: ${runs}`];
  const run = runs.find((one) => one.rail === rail && one.currency === currency);
  const now = run && parseAmount(run.drift, currency);
  if (!now?.ok) return ['drift now    not known: this wallet was never compared (pesewa reconcile run)'];
  const { minor } = now.value;
  const after = minor - change;
  const text = (of: bigint) => displayAmount(of, currency, 'exceptZero');
  const size = (of: bigint) => (of < 0n ? -of : of);
  const isRightWay = minor !== 0n && minor > 0n === change > 0n;
  const isTooMuch = isRightWay && size(change) > size(minor);
  const than = minor > 0n ? 'more' : 'less';
  const state =
    minor === 0n
      ? 'our float and the rail agree'
      : `the rail has ${displayAmount(size(minor), currency)} ${than} than our float, so the order takes ${isTooMuch ? 'no more than that' : `a ${minor > 0n ? '+' : '-'}`}`;
  const wrong = isTooMuch ? 'this is more than the drift' : 'this makes the drift larger';
  return [
    `drift now    ${text(minor)}, compared at ${run?.at ?? ''}`,
    `drift after  ${text(after)}`,
    ...(isTooMuch || !isRightWay ? [`${wrong}: ${state}`] : []),
    ...(run?.finding === 'explained' && minor !== 0n
      ? ['payments in flight explain this drift: it goes once they have ended, and needs no order']
      : []),
  ];
}

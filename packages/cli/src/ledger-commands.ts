import { type OrderView } from '@pesewa/contracts';
import {
  describeOrder,
  foreseeOrder,
  messageOf,
  type OrderRequest,
  RefusedError,
} from '@pesewa/operator-client';
import { type Command, Option } from 'commander';
import { readCommandId, readLine } from './arguments.ts';
import { requireVariable } from './config.ts';
import type { CommandContext } from './context.ts';
import { CliError } from './errors.ts';

/** The options of every order. */
export interface OrderOptions {
  readonly commandId?: string;
  readonly reason?: string;
  readonly approve?: boolean;
  readonly dryRun?: boolean;
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
    .option('--approve', "approve it too, with another approver's token, and wait until it is applied")
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
  const { ports, operations, surroundings } = context;
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
    const { lines, isRefused } = await foreseeOrder(operations, request);
    const text = lines.map((line) =>
      typeof line === 'string' ? `${line}\n` : `${line[0]} ${line[1].padEnd(5)}  ${line[2]}\n`,
    );
    ports.print(`would order: ${describeOrder({ kind, ...body })}\n${text.join('')}nothing was sent\n`);
    // Without --approve the order would be taken, and refused only once another approver approves it.
    if (options.approve && isRefused)
      throw new CliError('the ledger would refuse it: a wallet gives no more than it has');
    return;
  }
  // Required before anything is sent, so that an order is not left half done because a token is missing.
  if (options.approve) requireVariable(surroundings, 'PESEWA_APPROVER_TOKEN');
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
  return `waiting for another approver${until}: pesewa orders approve ${commandId}\n`;
}

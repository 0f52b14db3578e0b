import { type OrderView, orderOperations, proposalOperations } from '@pesewa/contracts';
import {
  describeOrder,
  foreseeOrder,
  messageOf,
  type OrderRequest,
  RefusedError,
} from '@pesewa/operator-client';
import type { Command } from 'commander';
import { readCommandId, readReason, reasonOption } from './arguments.ts';
import { requireVariable } from './config.ts';
import type { CommandContext } from './context.ts';
import { CliError } from './errors.ts';

/** The options of every order. */
export interface OrderOptions {
  readonly commandId?: string;
  readonly reason?: string;
  readonly approve?: boolean;
  readonly dryRun?: boolean;
  /** The break that it corrects. */
  readonly breakId?: string;
}

/** Adds the options of an order; a correction requires a reason, other orders may have one. */
export function addOrderOptions(command: Command, reason: 'required' | 'optional'): Command {
  return command
    .addOption(reasonOption().makeOptionMandatory(reason === 'required'))
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
  const { call } = operations;
  const { kind, account, currency, amount, direction } = request;
  const reason = options.reason === undefined ? undefined : readReason(options.reason);
  const commandId = readCommandId(options.commandId) ?? ports.ids.next('cm');
  const body = {
    ...account,
    commandId,
    currency,
    amount,
    ...(direction !== undefined && { direction }),
    ...(reason !== undefined && { reason }),
    ...(options.breakId !== undefined && { breakId: options.breakId }),
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
  // Which fields go with which kind is known to the commands, and judged by the ledger.
  const proposal = call('ledger', proposalOperations[kind], { body: body as never });
  const proposed = await proposal.catch((error: unknown) => {
    throw error instanceof RefusedError
      ? error
      : withRetryHint(error, commandId, 'it may have been taken', again);
  });
  if (!options.approve) {
    ports.print(`${summary(proposed)}${nextStep(proposed)}`);
    return;
  }
  const followed = await approveOrder(context, commandId).catch((error: unknown) => {
    throw withRetryHint(error, commandId, 'the order was taken', again);
  });
  ports.print(summary(requireApplied(followed)));
}

const ENDED_TIMEOUT_MS = 30_000;
const PAUSE_MS = 150;

/** Approves an order; resolves once the ledger has applied or refused it. */
export async function approveOrder(
  { ports, operations: { call } }: CommandContext,
  commandId: string,
): Promise<OrderView> {
  const of = { parameters: { commandId } };
  await call('ledger', orderOperations.approve, of);
  const startMs = ports.clock.nowMs();
  try {
    for (;;) {
      const seen = await call('ledger', orderOperations.show, of);
      if (seen.status !== 'approved') return seen;
      const waitedMs = ports.clock.nowMs() - startMs;
      if (waitedMs > ENDED_TIMEOUT_MS) {
        throw new CliError(
          `${commandId} is approved but not applied yet: the ledger will; look with pesewa orders show ${commandId}`,
        );
      }
      ports.progress(`${commandId} is approved, the ledger applies it … ${Math.floor(waitedMs / 1000)} s`);
      await ports.clock.sleep(PAUSE_MS);
    }
  } finally {
    ports.progress('');
  }
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

/** An order that the ledger has applied; a refused one is an error. */
export function requireApplied(order: OrderView): OrderView {
  if (order.status !== 'refused') return order;
  throw new CliError(
    `the ledger refused ${order.commandId}: ${order.refusedFor ?? 'no reason given'}; nothing moved`,
  );
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

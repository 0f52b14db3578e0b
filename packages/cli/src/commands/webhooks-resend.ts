import { deliveryOperations } from '@pesewa/contracts';
import { messageOf, RefusedError } from '@pesewa/operator-client';
import type { Command } from 'commander';
import { readCount } from '../arguments.ts';
import type { CommandContext } from '../context.ts';
import { begin, type Called, onCall } from '../declared.ts';
import { CliError } from '../errors.ts';
import type { Given } from '../fields.ts';
import { withExitCodes } from '../help.ts';
import type { CliPorts } from '../ports.ts';
import { checkPeriod } from '../webhook-periods.ts';

const SERVICE = 'webhook-dispatcher';
/** How many webhooks one call sends again; for more, go on with --after. */
const RESENT_MAX = 100_000;
const NOT_FOUND = 404;

const filters = {
  operation: deliveryOperations.list,
  service: SERVICE,
  names: { merchantId: 'merchant' },
  without: ['reference', 'endpoint'],
} as const;
const AFTER = 'only those that the list has after this webhook: to go on from there';
const EXIT_CODES =
  '1 if one is gone, or the service stopped answering: what was printed is done, and --after with the last id goes on.';

/** Adds `webhooks resend` and `webhooks replay`: what was not delivered, and what was, once more. */
export function addResendCommands(webhooks: Command, ports: CliPorts): void {
  const again = {
    ...filters,
    name: 'resend',
    description:
      'sends webhooks again that were not delivered, under the same ids and with all their attempts',
    choices: { state: ['exhausted', 'discarded', 'pending'] },
    help: {
      state: 'instead of ids: those in this state (with --merchant: exhausted)',
      merchantId: 'instead of ids: those of this merchant',
      after: AFTER,
    },
    examples: [
      'po-0193e5c1-completed',
      '--merchant demo --dry-run',
      '--merchant demo --state discarded --from 2026-11-01 --per-second 50',
    ],
  };
  const resend = addSendOptions(begin(webhooks, again).argument('[ids...]', 'their ids'));
  onCall(resend, ports, again, async ({ context, given, options, words: [written] }) => {
    const ids = [written ?? []].flat();
    checkPeriod(given, ports.clock);
    const isFiltered = (given['merchantId'] ?? given['state']) !== undefined;
    if (isFiltered === ids.length > 0 || (!isFiltered && given['after'] !== undefined))
      throw new CliError('ids: give ids, or --merchant or --state with its filters, and not both');
    const chosen = isFiltered
      ? await choose(context, { state: 'exhausted', ...given })
      : { ids, hasMore: false };
    await sendAll(context, chosen, options);
  });
  withExitCodes(resend, EXIT_CODES);
  addReplayCommand(webhooks, ports);
}

function addReplayCommand(webhooks: Command, ports: CliPorts): void {
  const spec = {
    ...filters,
    name: 'replay',
    description:
      'sends again what a merchant has had already, such as after it lost data: the same ids and bodies',
    arguments: ['merchantId'],
    without: [...filters.without, 'state'],
    mustHave: ['from'],
    help: { merchantId: 'its id', after: AFTER },
    examples: [
      'demo --from 2026-11-01T08:00:00Z --to 2026-11-01T12:00:00Z --dry-run',
      'demo --from 2026-11-01 --per-second 5',
      'demo --from 2026-11-01 --after po-0193e5c1-completed',
    ],
  };
  const replay = addSendOptions(begin(webhooks, spec));
  onCall(replay, ports, spec, async ({ context, given, options }) => {
    checkPeriod(given, ports.clock);
    await sendAll(context, await choose(context, { ...given, state: 'delivered' }), options);
  });
  withExitCodes(replay, EXIT_CODES);
}

function addSendOptions(command: Command): Command {
  return command
    .option('--per-second <count>', 'how many are made due in a second', '10')
    .option('--dry-run', 'say how many it would be, and send none');
}

interface Chosen {
  readonly ids: readonly string[];
  readonly hasMore: boolean;
}

/** All that is asked for, before any is sent: sending changes what a filter finds. */
async function choose({ operations, ports }: CommandContext, query: Given): Promise<Chosen> {
  ports.progress('looking for webhooks …');
  const { items, hasMore } = await operations.list(SERVICE, deliveryOperations.list, query, RESENT_MAX);
  ports.progress('');
  return { ids: items.map(({ id }) => id), hasMore };
}

async function sendAll(
  { operations, ports }: CommandContext,
  { ids, hasMore }: Chosen,
  options: Called['options'],
): Promise<void> {
  const perSecond = readCount('--per-second', String(options['perSecond']));
  const more = hasMore ? ` after which there are more: go on with --after ${ids.at(-1)}` : '';
  if (options['dryRun']) {
    ports.print(`${countOf(ids.length)} would be sent again${more && `,${more}`}\n`);
    return;
  }
  const startMs = ports.clock.nowMs();
  const gone: string[] = [];
  for (const [index, id] of ids.entries()) {
    const waitMs = startMs + (index * 1_000) / perSecond - ports.clock.nowMs();
    if (waitMs > 0) await ports.clock.sleep(waitMs);
    ports.progress(`${index + 1} of ${ids.length}`);
    try {
      await operations.call(SERVICE, deliveryOperations.resend, { parameters: { id } });
      ports.progress('');
      ports.print(`${id} is due now\n`);
    } catch (error) {
      ports.progress('');
      if (!(error instanceof RefusedError) || error.status !== NOT_FOUND)
        throw index === 0 ? error : stopped(error, ids, index);
      ports.print(`${id} is gone, or never was\n`);
      gone.push(id);
    }
  }
  if (ids.length === 0) ports.print('no such webhooks\n');
  else if (ids.length > 1 || more)
    ports.print(`${countOf(ids.length - gone.length)} are due now${more && `,${more}`}\n`);
  if (gone.length > 0) throw new CliError(`${gone.length} of ${ids.length} are gone, or never were`);
}

function stopped(error: unknown, ids: readonly string[], index: number): CliError {
  const last = ids[index - 1];
  return new CliError(`${messageOf(error)} (${index} of ${ids.length} are due; to go on: --after ${last})`);
}

function countOf(count: number): string {
  return count === 1 ? '1 webhook' : `${count} webhooks`;
}

import type { ChangeView, FieldChangeView } from '@pesewa/contracts';
import { inWords, messageOf, RefusedError, settingLabel, settingText } from '@pesewa/operator-client';
import type { Command } from 'commander';
import { readLine } from './arguments.ts';
import type { WantedChange } from './clients/settings.ts';
import { requireVariable } from './config.ts';
import { openContext } from './context.ts';
import { CliError } from './errors.ts';
import type { CliPorts } from './ports.ts';
import { cellText } from './print.ts';

/** The options of every change of settings. */
interface ChangeOptions {
  readonly reason?: string;
  readonly dryRun?: boolean;
  readonly approve?: boolean;
}

const REASON_LENGTH_MAX = 200;

/** Adds the options of a change; `by` says whether one operator is enough for it. */
export function addChangeOptions(command: Command, by: 'one' | 'two'): Command {
  command.option('--reason <text>', `why, in one line of at most ${REASON_LENGTH_MAX} characters`);
  if (by === 'two')
    command.option('--approve', "approve it too, with another approver's token, so that it applies at once");
  return command.option('--dry-run', 'show what would change, and change nothing');
}

/** Asks for a change of a merchant's settings, or shows what it would do; with `--approve` it also approves it. */
export async function requestChange(
  ports: CliPorts,
  command: Command,
  merchantId: string,
  { kind, body }: WantedChange,
): Promise<void> {
  const options = command.opts<ChangeOptions>();
  const { operations, surroundings } = await openContext(ports, command);
  const reason =
    options.reason === undefined ? undefined : readLine('--reason', options.reason, REASON_LENGTH_MAX);
  const asked = { kind, body: { ...body, ...(reason !== undefined && { reason }) } } as WantedChange;
  if (options.dryRun) {
    const fields = await operations.settings.foresee(merchantId, asked);
    ports.print(`would change ${merchantId}:\n${fieldLines(fields)}nothing was changed\n`);
    return;
  }
  // Required before anything is sent, so that a change is not left half done because a token is missing.
  if (options.approve) requireVariable(surroundings, 'PESEWA_APPROVER_TOKEN');
  const { made, ...taken } = await operations.settings.take(merchantId, asked).catch((error: unknown) => {
    if (error instanceof RefusedError) throw error;
    throw new CliError(
      `${messageOf(error)}; it may have been taken: see pesewa merchants history ${merchantId}`,
    );
  });
  // Printed before the approval, which may fail: it can't be shown again.
  if (made.publicKey !== undefined) ports.print(`public key       ${made.publicKey}\n`);
  if (made.publicKeys !== undefined) {
    ports.print(
      `payouts key      ${made.publicKeys.payouts}\ncollections key  ${made.publicKeys.collections}\n`,
    );
  }
  if (made.webhookSecret !== undefined) ports.print(`webhook secret   ${made.webhookSecret}\n`);
  if (made.signingSecret !== undefined) ports.print(`signing secret   ${made.signingSecret}\n`);
  if (taken.status === 'applied') {
    ports.print(`${summary(taken)}seen everywhere within five seconds\n`);
    return;
  }
  if (!options.approve) {
    ports.print(`${summary(taken)}${fieldLines(taken.fields)}${nextStep(taken)}`);
    return;
  }
  ports.print(approvedText(await operations.settings.approve(taken.id)));
}

/** What is printed of a change that was approved. */
export function approvedText(change: ChangeView): string {
  return `${summary(change)}${fieldLines(change.fields)}seen everywhere within five seconds\n`;
}

/** A change in one line. */
export function summary({ id, status, kind, merchantId, requestedBy, approvedBy }: ChangeView): string {
  const approved = approvedBy === undefined ? '' : `, approved by ${approvedBy}`;
  return `${status} ${id}: ${inWords(kind)} of ${merchantId}, asked for by ${requestedBy}${approved}\n`;
}

/** A change with everything that is known of it. */
export function details(change: ChangeView): string {
  const lines: readonly (readonly [string, string | undefined])[] = [
    ['change', change.id],
    ['status', change.status],
    ['of', `${change.merchantId}: ${inWords(change.kind)}`],
    ['reason', change.reason],
    ['asked for by', `${change.requestedBy} at ${change.requestedAt}`],
    ['approved by', change.approvedBy],
    ['applied at', change.appliedAt],
    [
      'rejected by',
      change.rejectedBy &&
        `${change.rejectedBy} at ${change.rejectedAt ?? '?'}: ${change.rejectedFor ?? '?'}`,
    ],
    ['approve until', change.expiresAt],
  ];
  const known = lines.filter(([, value]) => value !== undefined);
  return `${known.map(([name, value]) => `${name.padEnd(15)}${cellText(value)}\n`).join('')}${fieldLines(change.fields)}`;
}

/** From what to what each setting changes, in a line each. */
function fieldLines(fields: readonly FieldChangeView[]): string {
  const labels = fields.map(({ field }) => settingLabel(field));
  const width = Math.max(0, ...labels.map((label) => label.length));
  return fields
    .map(({ from, to, ...setting }, index) => {
      const text = (value: string | null) =>
        value === null ? 'none' : cellText(settingText({ ...setting, value }));
      return `  ${(labels[index] ?? '').padEnd(width)}  ${text(from)} → ${text(to)}\n`;
    })
    .join('');
}

function nextStep({ id, expiresAt }: ChangeView): string {
  const until = expiresAt === undefined ? '' : ` until ${expiresAt}`;
  return `waiting for another approver${until}: pesewa settings approve ${id}\n`;
}

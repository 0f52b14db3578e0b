import {
  type CallOf,
  type ChangeKind,
  type ChangeView,
  changeOperations,
  dryRunOf,
  type FieldChangeView,
  settingsOperations,
} from '@pesewa/contracts';
import { inWords, messageOf, RefusedError, settingLabel, settingText } from '@pesewa/operator-client';
import type { Command } from 'commander';
import { requireVariable } from './config.ts';
import { begin, type Called, type Declared, onCall } from './declared.ts';
import { CliError } from './errors.ts';
import type { CliPorts } from './ports.ts';
import { cellText } from './print.ts';
import { namedLines } from './views.ts';

/** A command that asks for a change of a merchant's settings. */
interface ChangeCommand extends Omit<Declared<(typeof changeOperations)['limits']>, 'operation' | 'service'> {
  readonly kind: ChangeKind;
  /** Whether one operator is enough. */
  readonly by: 'one' | 'two';
  /** Warns of what is asked for, before it is. */
  readonly warn?: (body: Readonly<Record<string, unknown>>) => Promise<void>;
}

/** Adds a command that asks for a change, or shows what it would do; with `--approve` it also approves it. */
export function addChange(parent: Command, ports: CliPorts, spec: ChangeCommand): Command {
  // The kind and what it takes belong together by their type.
  const operation = changeOperations[spec.kind] as unknown as (typeof changeOperations)['limits'];
  const declared = {
    ...spec,
    operation,
    service: 'ledger',
    names: { merchantId: 'merchant', ...spec.names },
    without: ['changeId', ...(spec.without ?? [])],
  } as const;
  const command = begin(parent, declared);
  if (spec.by === 'two')
    command.option('--approve', "approve it too, with another approver's token, so that it applies at once");
  onCall(command, ports, declared, async (called) => {
    const { merchantId, dryRun: _, ...body } = called.given;
    await spec.warn?.(body);
    await requestChange(
      called,
      String(merchantId),
      operation,
      spec.kind === 'create' ? { merchantId, ...body } : body,
    );
  });
  return command;
}

async function requestChange(
  { context, given: { dryRun }, options: { approve } }: Called,
  merchantId: string,
  operation: (typeof changeOperations)['limits'],
  asked: NonNullable<CallOf<(typeof changeOperations)['limits']>['body']>,
): Promise<void> {
  const { ports, operations, surroundings } = context;
  const { call } = operations;
  const of = { parameters: { merchantId } };
  if (dryRun) {
    const { fields } = await call('ledger', dryRunOf(operation), { ...of, body: { ...asked, dryRun: true } });
    ports.print(`would change ${merchantId}:\n${fieldLines(fields)}nothing was changed\n`);
    return;
  }
  // Required before anything is sent, so that a change is not left half done because a token is missing.
  if (approve) requireVariable(surroundings, 'PESEWA_APPROVER_TOKEN');
  const { made, ...taken } = await call('ledger', operation, { ...of, body: asked }).catch(
    (error: unknown) => {
      if (error instanceof RefusedError) throw error;
      throw new CliError(
        `${messageOf(error)}; it may have been taken: see pesewa merchants history ${merchantId}`,
      );
    },
  );
  // Printed before the approval, which may fail: it can't be shown again.
  ports.print(
    namedLines([
      ['public key', made.publicKey],
      ['payouts key', made.publicKeys?.payouts],
      ['collections key', made.publicKeys?.collections],
      ['webhook secret', made.webhookSecret],
      ['signing secret', made.signingSecret],
    ]),
  );
  if (taken.status === 'applied') {
    ports.print(`${summary(taken)}seen everywhere within five seconds\n`);
    return;
  }
  if (!approve) {
    ports.print(`${summary(taken)}${fieldLines(taken.fields)}${nextStep(taken)}`);
    return;
  }
  const approved = await call('ledger', settingsOperations.approve, { parameters: { id: taken.id } });
  ports.print(approvedText(approved));
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
  const lines = namedLines([
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
  ]);
  return `${lines}${fieldLines(change.fields)}`;
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

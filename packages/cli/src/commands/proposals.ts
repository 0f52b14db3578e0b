import type { MessagingService, Operation } from '@pesewa/contracts';
import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { type Called } from '../declared.ts';
import type { Given } from '../fields.ts';
import { addAct } from '../operation-commands.ts';
import type { CliPorts } from '../ports.ts';

/** What one operator proposes and another decides: an order, a decision about a payment, a change of settings. */
export interface ProposalKind<View> {
  /** The operations of one, whose path has its id alone. */
  readonly operations: Readonly<Record<'show' | 'approve' | 'reject', Operation>>;
  readonly service: MessagingService;
  /** An id that an example may have. */
  readonly exampleId: string;
  /** What the verbs do, for their help. */
  readonly approving: string;
  readonly rejecting: string;
  readonly exampleReason: string;
  /** Approves it, if that takes more than a call. */
  readonly approve?: (context: CommandContext, id: string) => Promise<View>;
  /** What is printed of one that was approved. */
  readonly approved: (view: View) => string;
  /** What an operator reads before approving. */
  readonly details: (view: View, context: CommandContext) => string | Promise<string>;
  readonly summary: (view: View) => string;
}

/** Adds `approve` and `reject`, each with a dry run, to the commands of a kind of proposal. */
export function addDecidingCommands<View extends object>(
  group: Command,
  ports: CliPorts,
  kind: ProposalKind<View>,
): void {
  const { operations, service, exampleId, details, approve } = kind;
  const idOf = (given: Given) => String(given['id'] ?? given['commandId']);
  const dryRun = (what: string) =>
    [
      async ({ context, given }: Called) => {
        const id = idOf(given);
        const call = { parameters: { id, commandId: id } };
        const view = (await context.operations.call(service, operations.show, call)) as View;
        return { answer: view, text: await details(view, context) };
      },
      what,
    ] as const;
  const common = { service, names: { commandId: 'id' } };
  addAct(group, ports, {
    ...common,
    name: 'approve',
    operation: operations.approve,
    description: kind.approving,
    said: (view) => kind.approved(view as View),
    ...(approve && { act: ({ context, given }) => approve(context, idOf(given)) }),
    dryRun: dryRun('approved'),
    examples: [exampleId, `${exampleId} --dry-run`],
  });
  addAct(group, ports, {
    ...common,
    name: 'reject',
    operation: operations.reject,
    description: kind.rejecting,
    said: (view) => kind.summary(view as View),
    dryRun: dryRun('rejected'),
    examples: [`${exampleId} --reason "${kind.exampleReason}"`],
  });
}

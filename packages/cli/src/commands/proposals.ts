import type { Command } from 'commander';
import { readLine } from '../arguments.ts';
import { type CommandContext, openContext } from '../context.ts';
import { withExamples } from '../help.ts';
import type { CliPorts } from '../ports.ts';

/** What one operator proposes and another decides: an order, a decision about a payment, a change of settings. */
export interface ProposalKind<View> {
  /** What people call one, such as `order`, and an id that an example may have. */
  readonly noun: string;
  readonly exampleId: string;
  /** What the verbs do, for their help. */
  readonly approving: string;
  readonly rejecting: string;
  readonly exampleReason: string;
  readonly of: (context: CommandContext) => {
    readonly show: (id: string) => Promise<View>;
    readonly reject: (id: string, reason: string) => Promise<View>;
  };
  /** Approves it, and prints what came of that. */
  readonly approve: (context: CommandContext, id: string) => Promise<void>;
  /** What an operator reads before approving. */
  readonly details: (view: View) => string;
  readonly summary: (view: View) => string;
}

const REASON_LENGTH_MAX = 200;

/** Adds `approve` and `reject`, each with a dry run, to the commands of a kind of proposal. */
export function addDecidingCommands<View>(group: Command, ports: CliPorts, kind: ProposalKind<View>): void {
  const { noun, exampleId } = kind;
  const path = `pesewa ${group.name()}`;
  const approve = group
    .command('approve')
    .description(kind.approving)
    .argument('<id>', 'its id')
    .option('--dry-run', `show the ${noun} and approve nothing`)
    .action(async (id: string, options: { readonly dryRun?: boolean }, command: Command) => {
      const context = await openContext(ports, command);
      if (!options.dryRun) return kind.approve(context, id);
      ports.print(`${kind.details(await kind.of(context).show(id))}nothing was approved\n`);
    });
  withExamples(approve, [
    `${path} approve ${exampleId}`,
    `${path} approve ${exampleId} --dry-run`,
    `PESEWA_APPROVER_TOKEN=… ${path} approve ${exampleId}`,
  ]);
  addRejectCommand(group, ports, kind);
}

function addRejectCommand<View>(group: Command, ports: CliPorts, kind: ProposalKind<View>): void {
  const reject = group
    .command('reject')
    .description(kind.rejecting)
    .argument('<id>', 'its id')
    .requiredOption('--reason <text>', `why, in one line of at most ${REASON_LENGTH_MAX} characters`)
    .option('--dry-run', `show the ${kind.noun} and reject nothing`)
    .action(
      async (
        id: string,
        options: { readonly reason: string; readonly dryRun?: boolean },
        command: Command,
      ) => {
        const reason = readLine('--reason', options.reason, REASON_LENGTH_MAX);
        const proposals = kind.of(await openContext(ports, command));
        ports.print(
          options.dryRun
            ? `${kind.details(await proposals.show(id))}nothing was rejected\n`
            : kind.summary(await proposals.reject(id, reason)),
        );
      },
    );
  withExamples(reject, [`pesewa ${group.name()} reject ${kind.exampleId} --reason "${kind.exampleReason}"`]);
}

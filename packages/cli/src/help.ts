import type { Command, Help } from 'commander';

/** The heading of `pesewa --help` under which a command is listed. */
export const helpGroups = {
  merchants: 'Merchants and their settings:',
  money: 'Moving money, by an operator and an approver:',
  pausing: 'Stopping at once, and going on by an operator and an approver:',
  looking: 'Looking at money and payments:',
  reconciling: 'Payments that do not end, and unexplained money:',
  callbacks: 'Callbacks of rails:',
  webhooks: 'Webhooks to merchants:',
  parked: 'Messages that could not be applied, and partitions that are stopped:',
  installation: 'Installation:',
} as const;

/** Adds examples of a command's use; each begins with `pesewa`. */
export function withExamples(command: Command, examples: readonly string[]): Command {
  const lines = examples.map((example) => `  ${example}`).join('\n');
  return command.addHelpText(
    'after',
    `\nExamples:\n${lines}\n\nWhere services are, and whose token is used: see pesewa --help.`,
  );
}

/** Documents a command's exit codes, in addition to 1, which means that something was refused or failed. */
export function withExitCodes(command: Command, text: string): void {
  command.addHelpText('after', `\nExit code: ${text}`);
}

/** The commands without subcommands, which are those that do something. */
export function leafCommandsOf(command: Command): readonly Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leafCommandsOf);
}

function descendantsOf(command: Command): readonly Command[] {
  return command.commands.flatMap((below) => [below, ...descendantsOf(below)]);
}

/** A command's full name, such as `pesewa fund wallet`. */
export function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}

/** Makes `pesewa --help` explain every command, not only the first words of their names. */
export function explainEveryCommand(program: Command): void {
  for (const command of program.commands) {
    for (const below of descendantsOf(command)) below.helpGroup(command.helpGroup());
  }
  program.configureHelp({
    visibleCommands: (command) => [...leafCommandsOf(command)],
    subcommandTerm: (command) => {
      const path = pathOf(command).replace(`${program.name()} `, '');
      const words = command.registeredArguments.map((argument) =>
        argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
      );
      return [path, ...words].join(' ');
    },
  } satisfies Partial<Help>);
}

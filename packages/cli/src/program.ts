import { messageOf } from '@pesewa/operator-client';
import { Command, CommanderError } from 'commander';
import manifest from '../package.json' with { type: 'json' };
import { addAccountsCommand } from './commands/accounts.ts';
import { addActionsCommand } from './commands/actions.ts';
import { addAvailabilityCommand } from './commands/availability.ts';
import { addBalanceCommand } from './commands/balance.ts';
import { addCallbackCommands } from './commands/callbacks.ts';
import { addCompletionCommand } from './commands/completion.ts';
import { addDecisionCommands } from './commands/decisions.ts';
import { addKeyCommands } from './commands/keys.ts';
import { addMerchantCommands } from './commands/merchants.ts';
import { addMoneyCommands } from './commands/money.ts';
import { addOrderCommands } from './commands/orders.ts';
import { addParkedCommands } from './commands/parked.ts';
import { addPauseCommands } from './commands/pauses.ts';
import { addPaymentCommands } from './commands/payments.ts';
import { addPrepareCommand } from './commands/prepare.ts';
import { addRealignCommand } from './commands/realign.ts';
import { addReconcileCommands } from './commands/reconcile.ts';
import { addDriftCommand } from './commands/reconcile-drift.ts';
import { addTimelineCommand } from './commands/reconcile-timeline.ts';
import { addSettingsCommands } from './commands/settings.ts';
import { addSignRequestCommand } from './commands/signatures.ts';
import { addStatementCommand } from './commands/statement.ts';
import { addVerifyCommand } from './commands/verify.ts';
import { addWebhookCommands } from './commands/webhooks.ts';
import { addModuleCommand } from './commands/x-module.ts';
import { variables } from './config.ts';
import { explainEveryCommand, helpGroups, withExitCodes } from './help.ts';
import type { CliPorts } from './ports.ts';

/** Runs one call of `pesewa` and resolves with its exit code: 0, or 1 after one line on stderr. */
export async function runProgram(ports: CliPorts, callArguments: readonly string[]): Promise<number> {
  try {
    await createProgram(ports).parseAsync([...callArguments], { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 1;
    ports.printError(`pesewa: ${messageOf(error)}\n`);
    return 1;
  }
}

/** Builds the whole command line; {@link runProgram} runs it. */
export function createProgram(ports: CliPorts): Command {
  const program = new Command('pesewa')
    .description(
      'Operates a Pesewa installation. Addresses and tokens come from variables, else from a running npm start.',
    )
    .version(manifest.version, '--version', 'print the version')
    .optionsGroup('Where services are, and who you are:')
    .exitOverride()
    .configureOutput({
      writeOut: ports.print,
      writeErr: ports.printError,
      outputError: (text, write) =>
        write(
          `pesewa: ${text
            .replace(/^error: /, '')
            .trim()
            .replaceAll('\n', ' ')
            .replace(/[.:]+$/, '')}: see --help\n`,
        ),
    });
  program.option(
    '--run-file <file>',
    'run file of a running stack (default: .pesewa/run.json of this checkout)',
  );
  program.commandsGroup(helpGroups.merchants);
  addMerchantCommands(program, ports);
  addKeyCommands(program, ports);
  addSettingsCommands(program, ports);
  addModuleCommand(program, ports);
  addSignRequestCommand(program, ports);
  program.commandsGroup(helpGroups.money);
  addMoneyCommands(program, ports);
  addOrderCommands(program, ports);
  addDecisionCommands(program, ports);
  program.commandsGroup(helpGroups.pausing);
  addPauseCommands(program, ports);
  program.commandsGroup(helpGroups.looking);
  addBalanceCommand(program, ports);
  addAccountsCommand(program, ports);
  addPaymentCommands(program, ports);
  addAvailabilityCommand(program, ports);
  // Short names for the two commands that are used most.
  addDriftCommand(program, ports);
  addTimelineCommand(program, ports);
  addStatementCommand(program, ports);
  addVerifyCommand(program, ports);
  program.commandsGroup(helpGroups.reconciling);
  addReconcileCommands(program, ports);
  program.commandsGroup(helpGroups.callbacks);
  addCallbackCommands(program, ports);
  program.commandsGroup(helpGroups.webhooks);
  addWebhookCommands(program, ports);
  program.commandsGroup(helpGroups.parked);
  addParkedCommands(program, ports);
  addActionsCommand(program, ports);
  addRealignCommand(program, ports);
  program.commandsGroup(helpGroups.installation);
  addPrepareCommand(program, ports);
  addCompletionCommand(program, ports);
  explainEveryCommand(program);
  const names = Object.entries(variables).map(([name, what]) => `  ${name.padEnd(23)} ${what}\n`);
  program.addHelpText('after', `\nVariables, or with _FILE the file that has it:\n${names.join('')}`);
  withExitCodes(
    program,
    '0 if it is done and well; else 1, and one line on stderr says what was refused, was not answered, or is not well.',
  );
  return program;
}

import type { Command } from 'commander';
import type { CliPorts } from '../ports.ts';
import { addBreakCommands } from './reconcile-breaks.ts';
import { addCloseCommand } from './reconcile-close.ts';
import { addDriftCommand } from './reconcile-drift.ts';
import { addMappingCommands } from './reconcile-mappings.ts';
import { addMatchCommand } from './reconcile-match.ts';
import { addPollCommand } from './reconcile-poll.ts';
import { addRunCommand } from './reconcile-run.ts';
import { addStatusCommand } from './reconcile-status.ts';
import { addTimelineCommand } from './reconcile-timeline.ts';

/** Adds `reconcile …`, in the order in which people on call need the commands. */
export function addReconcileCommands(program: Command, ports: CliPorts): void {
  const reconcile = program
    .command('reconcile')
    .description('whether every payment ends and every unit of money is explained, and what to do if not');
  addStatusCommand(reconcile, ports);
  addBreakCommands(reconcile, ports);
  addTimelineCommand(reconcile, ports);
  addPollCommand(reconcile, ports);
  addDriftCommand(reconcile, ports);
  addRunCommand(reconcile, ports);
  addCloseCommand(reconcile, ports);
  addMatchCommand(reconcile, ports);
  addMappingCommands(reconcile, ports);
}

import { comparisonOperations, type WalletComparisonView } from '@pesewa/contracts';
import type { Caller } from '@pesewa/operator-client';
import type { Command } from 'commander';
import { openContext } from '../context.ts';
import { CliError } from '../errors.ts';
import { withExamples, withExitCodes } from '../help.ts';
import type { CliPorts } from '../ports.ts';
import { formatJson } from '../print.ts';
import { describeRuns, SIGNS } from './reconcile-drift.ts';

/** The result of a requested comparison. */
interface Compared {
  readonly runs: readonly WalletComparisonView[];
  /**
   * Known wallets that were not compared, with their latest comparison: their rail or our own topics did not answer.
   * Wallets of rails that are no longer configured are left out.
   */
  readonly notCompared: readonly WalletComparisonView[];
}

/** Adds `run`: compares every wallet now (ADR 28). */
export function addRunCommand(reconcile: Command, ports: CliPorts): void {
  const run = reconcile
    .command('run')
    .description("compares each rail's wallets with our float now, and prints the result")
    .option('--json', 'print JSON')
    .action(async (options: { readonly json?: boolean }, command: Command) => {
      const { operations } = await openContext(ports, command);
      ports.progress('comparing every wallet: each rail is asked up to three times …');
      const compared = await compare(operations).finally(() => ports.progress(''));
      ports.print(options.json ? formatJson(compared) : describe(compared, ports.colours));
      const [silent] = compared.notCompared;
      if (silent) {
        throw new CliError(
          `${silent.rail} ${silent.currency} was not compared: the rail or our own services did not answer in time, see the reconciler's log`,
        );
      }
      if (compared.runs.length === 0)
        throw new CliError("nothing was compared: no rail reported a wallet, see the reconciler's log");
      const [open] = compared.runs.filter(({ withinRange }) => !withinRange);
      if (open) throw new CliError(`${open.rail} ${open.currency} is out of range: pesewa drift`);
    });
  withExamples(run, ['pesewa reconcile run', 'pesewa reconcile run --json']);
  run.addHelpText('after', SIGNS);
  withExitCodes(
    run,
    '1 if a wallet is out of range or could not be compared; the results of the others are printed.',
  );
}

/** Compares every wallet now. */
async function compare({ call }: Pick<Caller, 'call'>): Promise<Compared> {
  const { items: runs } = await call('reconciler', comparisonOperations.compare, {});
  const compared = new Set(runs.map(({ rail, currency }) => `${rail}:${currency}`));
  const { items: known } = await call('reconciler', comparisonOperations.drift, {});
  const isSilent = ({ rail, configured, currency }: WalletComparisonView) =>
    configured && !compared.has(`${rail}:${currency}`);
  return { runs, notCompared: known.filter(isSilent) };
}

function describe({ runs, notCompared }: Compared, colours: boolean): string {
  const silent = notCompared.map(
    ({ rail, currency, at }) => `not compared: ${rail} ${currency}, last at ${at}\n`,
  );
  return [describeRuns(runs, colours, 'no wallet was compared'), ...silent].join('');
}

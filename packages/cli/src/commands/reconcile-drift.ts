import { type WalletComparisonView } from '@pesewa/contracts';
import { displayAmount } from '@pesewa/kernel';
import type { Command } from 'commander';
import { openContext } from '../context.ts';
import { pathOf, withExamples, withExitCodes } from '../help.ts';
import type { CliPorts } from '../ports.ts';
import { formatJson, formatTable } from '../print.ts';

/** Adds `drift`: the latest comparison of every wallet (ADR 28). */
export function addDriftCommand(parent: Command, ports: CliPorts): void {
  const drift = parent
    .command('drift')
    .description(
      "the latest comparison of each rail's wallets with our float, with the payments that could explain what is unexplained",
    )
    .option('--json', 'print JSON')
    .action(async (options: { readonly json?: boolean }, command: Command) => {
      const { operations } = await openContext(ports, command);
      const runs = await operations.reconciliation.drift();
      ports.print(options.json ? formatJson(runs) : describeRuns(runs, ports.colours));
    });
  const path = pathOf(drift);
  withExamples(drift, [path, `${path} --json`]);
  drift.addHelpText('after', SIGNS);
  withExitCodes(
    drift,
    '0 whatever it shows. To compare anew, with an exit code that says whether all is in range: pesewa reconcile run',
  );
}

/** What the sign of a drift means. */
export const SIGNS =
  '\nDrift: the balance at the rail less our float. + is more at the rail than in our books, - is less. Payments in flight explain a range.';

const REMOVED =
  '\nremoved: the rail is no longer in RAILS of the reconciler, so its wallet is not compared any more; the last result is shown\n';

/** Comparisons of wallets as a table, and below it the unexplained amounts with their candidates. */
export function describeRuns(
  runs: readonly WalletComparisonView[],
  colours: boolean,
  empty = 'no comparison yet: the reconciler makes one by itself, or at once with pesewa reconcile run',
): string {
  const table = formatTable(
    ['AT', 'RAIL', 'AT THE RAIL', 'FLOAT', 'DRIFT', 'EXPLAINED'],
    runs.map(({ at, rail, configured, currency, railBalance, float, drift, withinRange }) => [
      at,
      configured ? rail : `${rail} (removed)`,
      displayAmount(railBalance, currency),
      displayAmount(float, currency),
      displayAmount(drift, currency, 'exceptZero'),
      withinRange ? 'yes' : 'NO',
    ]),
    {
      colours,
      empty,
      right: ['AT THE RAIL', 'FLOAT', 'DRIFT'],
    },
  );
  const unexplained = runs.filter(({ withinRange }) => !withinRange).map(describeUnexplained);
  return [table, ...unexplained, ...(runs.every(({ configured }) => configured) ? [] : [REMOVED])].join('');
}

function describeUnexplained({ rail, currency, unexplained, candidates }: WalletComparisonView): string {
  const head = `\n${rail}: ${displayAmount(unexplained, currency, 'exceptZero')} is unexplained`;
  if (candidates.length === 0) return `${head}, and no payment is known that could explain it\n`;
  const rows = candidates.map(({ reference, why }) => [reference, why]);
  return `${head}; what could explain it:\n${formatTable(['CANDIDATE', 'WHY'], rows, { colours: false, empty: '' })}`;
}

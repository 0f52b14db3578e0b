import { comparisonOperations, type WalletComparisonView } from '@pesewa/contracts';
import { displayAmount } from '@pesewa/kernel';
import { describeDrift, isUnexplained } from '@pesewa/operator-client';
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
      const { items: runs } = await operations.call('reconciler', comparisonOperations.drift, {});
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
  '\nDrift: the balance at the rail less our float. + is more at the rail than in our books, - is less. A difference is explained\nonly if some of the payments in flight give exactly as much; that they could move more ("within range") explains nothing.';

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
    runs.map(({ at, rail, configured, currency, railBalance, float, drift, finding }) => [
      at,
      configured ? rail : `${rail} (removed)`,
      displayAmount(railBalance, currency),
      displayAmount(float, currency),
      displayAmount(drift, currency, 'exceptZero'),
      answers[finding],
    ]),
    {
      colours,
      empty,
      right: ['AT THE RAIL', 'FLOAT', 'DRIFT'],
    },
  );
  return [
    table,
    ...runs.map(describeFinding),
    ...(runs.every(({ configured }) => configured) ? [] : [REMOVED]),
  ].join('');
}

/** Whether a difference is explained, for the table. */
const answers: Readonly<Record<WalletComparisonView['finding'], string>> = {
  explained: 'yes',
  unexplained_within_range: 'NO, within range',
  too_many_to_tell: 'too many open payments to tell',
  books_moved: 'payments moved meanwhile',
  out_of_range: 'NO',
};

function describeFinding(run: WalletComparisonView): string {
  const { rail, candidates } = run;
  const found = describeDrift(run);
  if (found === undefined) return '';
  if (!isUnexplained(run)) return `\n${rail}: ${found}\n`;
  if (candidates.length === 0) return `\n${rail}: ${found}, and no payment is known that could explain it\n`;
  const rows = candidates.map(({ reference, why }) => [reference, why]);
  return `\n${rail}: ${found}; what could explain it:\n${formatTable(['CANDIDATE', 'WHY'], rows, { colours: false, empty: '' })}`;
}

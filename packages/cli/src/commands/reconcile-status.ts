import { healthOperations, messagingServices, type StatusView, statusOperations } from '@pesewa/contracts';
import { inWords } from '@pesewa/operator-client';
import type { Command } from 'commander';
import { askServices } from '../clients/ask-services.ts';
import { openContext } from '../context.ts';
import { CliError } from '../errors.ts';
import { withExamples, withExitCodes } from '../help.ts';
import type { CliPorts } from '../ports.ts';
import { formatJson, formatTable } from '../print.ts';
import {
  describeParked,
  describeWaiting,
  describeWhole,
  parkedOf,
  type ServiceHealth,
  waitingOf,
} from '../waiting-output.ts';

/** The number at which the reconciler stops counting due polls. */
const DUE_COUNT_MAX = 10_000;

/** Adds `status`: the overview that people on call need first. */
export function addStatusCommand(reconcile: Command, ports: CliPorts): void {
  const status = reconcile
    .command('status')
    .description(
      'what is open, due and broken, how old it is, when it was last compared, and what waits for people',
    )
    .option('--json', 'print JSON')
    .action(async (options: { readonly json?: boolean }, command: Command) => {
      const { operations } = await openContext(ports, command);
      const [status, { items: health }] = await Promise.all([
        operations.call('reconciler', statusOperations.show, {}),
        askServices(
          messagingServices,
          async (service): Promise<readonly ServiceHealth[]> => [
            { service, ...(await operations.call(service, healthOperations.show, {})) },
          ],
        ),
      ]);
      const caughtUp = health.find(({ service }) => service === 'reconciler')?.keepsUp ?? null;
      const found = { ...status, caughtUp };
      const [parked, waiting] = [parkedOf(health), waitingOf(health)];
      const { known, unreported: silent } = parked;
      const since = (at: string | null) => (at === null ? null : age(Date.parse(found.at) - Date.parse(at)));
      const parts = [
        describe(found, ports.colours, since),
        describeParked(parked),
        describeWaiting(found, waiting, since),
        describeWhole(found, waiting, parked),
      ];
      const parkedAt = Object.fromEntries(known.map(({ service, count }) => [service, count]));
      ports.print(
        options.json
          ? formatJson({ ...found, parked: { waiting: parkedAt, unreported: silent }, waiting })
          : parts.join(''),
      );
      const unreported = [...(caughtUp === null ? ['caughtUp'] : []), ...found.unreported];
      if (unreported.length > 0) {
        throw new CliError(
          `the reconciler did not answer in time: ${unreported.map(inWords).join(', ')}; see its log, and whether its database is well`,
        );
      }
    });
  withExamples(status, ['pesewa reconcile status', 'pesewa reconcile status --json']);
  status.addHelpText(
    'after',
    '\nOverdue: a poll that was due more than a minute ago. Removed: a rail that is no longer in RAILS of the reconciler.',
  );
  withExitCodes(
    status,
    '1 if a part was not answered in time; the others are printed. 0 however much is open.',
  );
}

/** The state of reconciliation, and whether the reconciler has applied what was published. */
type Found = StatusView & { readonly caughtUp: boolean | null };

function describe(found: Found, colours: boolean, since: (at: string | null) => string | null): string {
  const right = ['COUNT', 'OLDEST', 'DUE', 'OVERDUE', 'LONGEST'];
  const table = (heading: readonly string[], rows: Parameters<typeof formatTable>[1], empty: string) =>
    formatTable(heading, rows, { colours, empty, right });
  const { open, polls, breaks } = found;
  return [
    open &&
      table(
        ['OPEN', 'COUNT', 'OLDEST', 'WHICH'],
        open.map(({ kind, count, states: [oldest] }) => [
          `${kind}s`,
          count,
          since(oldest?.openedAt ?? null),
          oldest ? `${oldest.reference} (${inWords(oldest.state)})` : null,
        ]),
        'nothing is open',
      ),
    polls &&
      table(
        ['POLLS', 'DUE', 'OVERDUE', 'LONGEST'],
        polls.map(({ rail, configured, due, overdue, oldestDueAt }) => [
          configured ? rail : `${rail} (removed)`,
          atMost(due),
          atMost(overdue),
          since(oldestDueAt),
        ]),
        'no rail is polled',
      ),
    breaks &&
      table(
        ['BREAKS', 'COUNT', 'OLDEST'],
        breaks.map(({ kind, count, oldestAt }) => [inWords(kind), count, since(oldestAt)]),
        'no break is open',
      ),
    describeRuns(found, since),
    describeRemoved(found),
  ]
    .filter((part) => part !== null)
    .join('\n');
}

/** When the last complete comparisons and audits ran. */
function describeRuns(
  { comparison, coverage, close, uncompared, caughtUp }: Found,
  since: (at: string | null) => string | null,
): string {
  const ago = (at: string | null) => (at === null ? 'never' : `${since(at)} ago`);
  const lines = [
    comparison &&
      `wallets    last comparison: ${ago(comparison.at)}${comparison.at === null ? '' : `, ${comparison.wallets} in all, out of range: ${comparison.outOfRange.join(', ') || 'none'}${unexplained(comparison, since)}`}`,
    coverage &&
      `coverage   last audit: ${ago(coverage.at)}${coverage.at === null ? '' : `, ${coverage.status}, ${coverage.found} found`}`,
    close &&
      `close      last daily close: ${ago(close.finishedAt)}${close.to === null ? '' : `, of the time before ${close.to}`}${counted(close.counts)}${close.late > 0 ? `, ${close.late} came late` : ''}`,
    uncompared &&
      `uncompared oldest payment that no close and no statement has compared: ${uncompared.map(({ rail, reference, endedAt }) => `${reference} at ${rail}, ended ${ago(endedAt)}`).join('; ') || 'none'}`,
    caughtUp !== null &&
      `events     ${caughtUp ? 'all that was published is applied' : 'NOT ALL that was published is applied yet'}`,
  ];
  return lines
    .filter((line) => typeof line === 'string')
    .map((line) => `${line}\n`)
    .join('');
}

/** Wallets within their range that nothing is known to explain. */
function unexplained(
  { unexplained: found }: NonNullable<StatusView['comparison']>,
  since: (at: string | null) => string | null,
): string {
  const named = (finding: (typeof found)[number]['finding']) =>
    found
      .filter((one) => one.finding === finding)
      .map(({ wallet, since: at }) => `${wallet}${at === null ? '' : ` for ${since(at)}`}`);
  const parts = [
    ['unexplained within range', named('unexplained_within_range')],
    ['too many open payments to tell', named('too_many_to_tell')],
    ['payments moved whenever it was compared', named('books_moved')],
  ] as const;
  return parts
    .flatMap(([what, wallets]) => (wallets.length > 0 ? [`, ${what}: ${wallets.join(', ')}`] : []))
    .join('');
}

/** What is left of rails that are no longer configured; null if nothing is. */
function describeRemoved({ polls, comparison }: StatusView): string | null {
  const rails = (polls ?? []).filter(({ configured }) => !configured).map(({ rail }) => rail);
  const wallets = (comparison?.removed ?? []).map(
    ({ wallet, withinRange }) => `${wallet}${withinRange ? '' : ' (was out of range)'}`,
  );
  const lines = [
    ...(rails.length > 0
      ? [`payments of ${rails.join(', ')} can't be asked for: put the rail back into RAILS until none waits`]
      : []),
    ...(wallets.length > 0 ? [`wallets not compared any more: ${wallets.join(', ')}`] : []),
  ];
  return lines.length === 0 ? null : lines.map((line) => `removed    ${line}\n`).join('');
}

function counted(counts: Readonly<Record<string, number>> | null): string {
  const results = Object.entries(counts ?? {}).map(([result, count]) => `${count} ${inWords(result)}`);
  return results.length === 0 ? '' : `: ${results.join(', ')}`;
}

function atMost(count: number): string {
  return count >= DUE_COUNT_MAX ? `${DUE_COUNT_MAX} or more` : String(count);
}

const units = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
  [1, 's'],
] as const;

/** A duration in its two largest units, such as `3 h 20 min`. */
function age(spanMs: number): string {
  let restS = Math.max(0, Math.floor(spanMs / 1_000));
  const parts: string[] = [];
  for (const [seconds, unit] of units) {
    const count = Math.floor(restS / seconds);
    restS -= count * seconds;
    if (count > 0 || (unit === 's' && parts.length === 0)) parts.push(`${count} ${unit}`);
    else if (parts.length > 0) break;
  }
  return parts.slice(0, 2).join(' ');
}

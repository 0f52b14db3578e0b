import {
  consumerGroups,
  type ParkedView,
  parkedOperations,
  type StatusView,
  statusOperations,
} from '@pesewa/contracts';
import { createWaiting, inWords } from '@pesewa/operator-client';
import type { Command } from 'commander';
import { type Answers, askServices } from '../clients/ask-services.ts';
import { openContext } from '../context.ts';
import { CliError } from '../errors.ts';
import { withExamples, withExitCodes } from '../help.ts';
import type { CliPorts } from '../ports.ts';
import { formatJson, formatTable } from '../print.ts';
import { serviceOf } from '../service-of.ts';
import { describeWaiting, describeWhole } from '../waiting-output.ts';

/** The number at which the reconciler stops counting due polls. */
const DUE_COUNT_MAX = 10_000;
/** The number at which a service's parked messages are no longer counted. */
const PARKED_COUNT_MAX = 1_000;

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
      const [found, parked, forPeople] = await Promise.all([
        operations.call('reconciler', statusOperations.show, {}),
        askServices(consumerGroups, async (service) => {
          const query = { state: 'parked' } as const;
          return (await operations.list(service, parkedOperations.list, query, PARKED_COUNT_MAX)).items;
        }),
        createWaiting(operations).read(),
      ]);
      const since = (at: string | null) => (at === null ? null : age(Date.parse(found.at) - Date.parse(at)));
      const parts = [
        describe(found, ports.colours, since),
        describeParked(parked),
        describeWaiting(found, forPeople, since),
        describeWhole(found, forPeople, parked),
      ];
      ports.print(
        options.json
          ? formatJson({ ...found, parked: countParked(parked), waiting: forPeople })
          : parts.join(''),
      );
      if (found.unreported.length > 0) {
        throw new CliError(
          `the reconciler did not answer in time: ${found.unreported.map(inWords).join(', ')}; see its log, and whether its database is well`,
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

function describe(found: StatusView, colours: boolean, since: (at: string | null) => string | null): string {
  const right = ['COUNT', 'OLDEST', 'DUE', 'OVERDUE', 'LONGEST'];
  const table = (heading: readonly string[], rows: Parameters<typeof formatTable>[1], empty: string) =>
    formatTable(heading, rows, { colours, empty, right });
  const { open, polls, breaks } = found;
  return [
    open &&
      table(
        ['OPEN', 'COUNT', 'OLDEST', 'WHICH'],
        open.map(({ kind, count, oldest }) => [
          `${kind}s`,
          count,
          since(oldest?.openedAt ?? null),
          oldest && `${oldest.reference} (${inWords(oldest.state)})`,
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
  { comparison, coverage, close, uncompared, caughtUp }: StatusView,
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

/** Wallets within their range that nothing is known to explain, and those that old payments may hide something of. */
function unexplained(
  { unexplained: found, overdue }: NonNullable<StatusView['comparison']>,
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
    [
      'open for longer than rails take',
      overdue.map(({ wallet, count, isCut }) => `${count}${isCut ? ' or more' : ''} at ${wallet}`),
    ],
  ] as const;
  return parts
    .flatMap(([what, wallets]) => (wallets.length > 0 ? [`, ${what}: ${wallets.join(', ')}`] : []))
    .join('');
}

/** Wallets that may be out of range: when they were compared, our own services were behind. */

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

/** How many messages wait at each service that answered, and the services that did not answer. */
function countParked({ items, missing }: Answers<ParkedView>) {
  const unreported = missing.map(({ service }) => service);
  const counts = consumerGroups
    .filter((service) => !unreported.includes(service))
    .map((service) => [service, items.filter(({ id }) => serviceOf(id) === service).length] as const);
  return { waiting: Object.fromEntries(counts), unreported };
}

function describeParked(list: Answers<ParkedView>): string {
  const { waiting, unreported } = countParked(list);
  const some = Object.entries(waiting).filter(([, count]) => count > 0);
  const most = (count: number) => (count >= PARKED_COUNT_MAX ? `${PARKED_COUNT_MAX} or more` : String(count));
  const counts = some.map(([service, count]) => `${most(count)} at ${service}`).join(', ') || 'none';
  const silent = unreported.length === 0 ? '' : `; no answer from ${unreported.join(', ')}`;
  return `parked     messages that wait: ${counts}${silent}${some.length === 0 ? '' : ': see pesewa parked'}\n`;
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

import { availabilityOperations, type RailAvailabilityView } from '@pesewa/contracts';
import { describeLength, describeRate, endedOf } from '@pesewa/operator-client';
import type { Command } from 'commander';
import { openContext } from '../context.ts';
import { withExamples } from '../help.ts';
import type { CliPorts } from '../ports.ts';
import { formatJson } from '../print.ts';
import { type Column, tableOf } from '../views.ts';

const gateways = { payouts: 'payout-gateway', collections: 'collection-gateway' } as const;

/** Adds `availability`: how the payments of the last hour ended at each rail and mobile operator. */
export function addAvailabilityCommand(program: Command, ports: CliPorts): void {
  const availability = program
    .command('availability')
    .description("success rate and times of the last hour's payments, by rail and mobile operator")
    .option('--json', 'print JSON')
    .action(async ({ json }: { readonly json?: boolean }, command: Command) => {
      const { operations } = await openContext(ports, command);
      const found = [];
      for (const [payments, service] of Object.entries(gateways))
        found.push({ payments, ...(await operations.call(service, availabilityOperations.show, {})) });
      const rows = found.flatMap(({ payments, items }) => items.map((one) => ({ payments, ...one })));
      const times = found.map(
        ({ payments, from, at, isSample }) =>
          `${payments}: accepted from ${from} to ${at}${isSample ? ', a sample of them' : ''}\n`,
      );
      const table = tableOf(COLUMNS, rows, {}, { colours: ports.colours, empty: 'no rail is configured' });
      ports.print(json ? formatJson(found) : [table, ...times].join(''));
    });
  withExamples(availability, ['pesewa availability', 'pesewa availability --json']);
}

type Shown = RailAvailabilityView & { readonly payments: string };

const COLUMNS: readonly Column<Shown>[] = [
  'payments',
  'rail',
  ['MOBILE OPERATOR', ({ operatorCode }) => operatorCode ?? 'all'],
  ['SUCCEEDED', (one) => `${one.completed} of ${endedOf(one)}`],
  ['RATE', ({ successRate }) => describeRate(successRate)],
  ['MEDIAN', ({ medianMs }) => describeLength(medianMs)],
  ['95 OF 100', ({ p95Ms }) => describeLength(p95Ms)],
  [
    'FAILS MOST',
    ({ topFailure, reversed }) =>
      [
        ...(topFailure ? [`${topFailure.reason} (${topFailure.count})`] : []),
        ...(reversed > 0 ? [`${reversed} reversed`] : []),
      ].join(', '),
  ],
  ['OPEN TOO LONG', ({ openTooLong: { count, isCut } }) => `${count}${isCut ? ' or more' : ''}`],
];

import { availabilityOperations, type RailAvailabilityView } from '@pesewa/contracts';
import { describeLength, describeRate, endedOf } from '@pesewa/operator-client';
import type { Command } from 'commander';
import { openContext } from '../context.ts';
import { withExamples } from '../help.ts';
import type { CliPorts } from '../ports.ts';
import { formatJson, formatTable } from '../print.ts';

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
      const rows = found.flatMap(({ payments, items }) => items.map((one) => [payments, ...cellsOf(one)]));
      const times = found.map(
        ({ payments, from, at, isSample }) =>
          `${payments}: accepted from ${from} to ${at}${isSample ? ', a sample of them' : ''}\n`,
      );
      const table = formatTable(HEADING, rows, { colours: ports.colours, empty: 'no rail is configured' });
      ports.print(json ? formatJson(found) : [table, ...times].join(''));
    });
  withExamples(availability, ['pesewa availability', 'pesewa availability --json']);
}

const HEADING = [
  'PAYMENTS',
  'RAIL',
  'MOBILE OPERATOR',
  'SUCCEEDED',
  'RATE',
  'MEDIAN',
  '95 OF 100',
  'FAILS MOST',
  'OPEN TOO LONG',
];

const cellsOf = (one: RailAvailabilityView) => [
  one.rail,
  one.operatorCode ?? 'all',
  `${one.completed} of ${endedOf(one)}`,
  describeRate(one.successRate),
  describeLength(one.medianMs),
  describeLength(one.p95Ms),
  [
    ...(one.topFailure ? [`${one.topFailure.reason} (${one.topFailure.count})`] : []),
    ...(one.reversed > 0 ? [`${one.reversed} reversed`] : []),
  ].join(', '),
  `${one.openTooLong.count}${one.openTooLong.isCut ? ' or more' : ''}`,
];

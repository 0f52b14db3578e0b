import { displayAmount } from '@pesewa/kernel';
import { createTimelines, inWords, type Timeline } from '@pesewa/operator-client';
import type { Command } from 'commander';
import { readReference } from '../arguments.ts';
import { openContext } from '../context.ts';
import { CliError } from '../errors.ts';
import { pathOf, withExamples, withExitCodes } from '../help.ts';
import type { CliPorts } from '../ports.ts';
import { formatJson, formatTable } from '../print.ts';

interface TimelineOptions {
  readonly merchant?: string;
  readonly json?: boolean;
}

const ORDER = `
Order: by time, as each service has it by its clock; where clocks differ, lines that are close may be swapped. Equal
times stand in the order of the flow: request, attempt, answer, callback, reconciler, end, entries, webhooks.

Gap: of very many steps a service keeps the first and the newest; how many were between stands in their place.`;

/** Adds `timeline`: everything known about one payment (ADR 32). */
export function addTimelineCommand(parent: Command, ports: CliPorts): void {
  const timeline = parent
    .command('timeline')
    .description(
      'all that is known of a payment, oldest first: request, attempts, callbacks, polls, entries, webhooks',
    )
    .argument('<reference>', "our transactionReference, or with --merchant the merchant's")
    .option('--merchant <merchant>', 'whose reference it is')
    .option('--json', 'print JSON')
    .action(async (text: string, { merchant, json }: TimelineOptions, command: Command) => {
      const reference = readReference('reference', text);
      const { operations } = await openContext(ports, command);
      const found = await createTimelines(operations).of({ reference, merchantId: merchant });
      ports.print(json ? formatJson(found) : describe(found, ports.colours));
      const [gap, ...others] = found.missing;
      if (!gap) return;
      const more = others.map(({ service }) => ` and of ${service}`).join('');
      throw new CliError(`what is shown is without that of ${gap.service}${more}: ${gap.why}`);
    });
  const path = pathOf(timeline);
  withExamples(timeline, [
    `${path} po-0193e5c1`,
    `${path} co-0193e5c1 --json`,
    `${path} order-1 --merchant demo`,
  ]);
  timeline.addHelpText('after', ORDER);
  withExitCodes(
    timeline,
    '1 if a service could not be asked, which is named; the answers of the others are printed all the same.',
  );
}

function describe(
  { reference, payment, reconciliation, breaks, lines, cut, missing }: Timeline,
  colours: boolean,
) {
  const stands =
    payment === null
      ? `${reference}: its gateway has no record of it`
      : `${reference}: ${payment.status}, step ${payment.step}, version ${payment.version}, ${displayAmount(payment.amount, payment.currency)} at ${payment.rail}, ${payment.merchantReference} of ${payment.merchantId}`;
  const next = reconciliation?.nextPollAt;
  const polled = next === null || next === undefined ? '' : `next poll ${next}\n`;
  const open = breaks.filter(({ status }) => status !== 'resolved').map(({ id }) => `open break ${id}\n`);
  const table = formatTable(
    ['AT', 'SERVICE', 'WHAT', 'DETAIL'],
    lines.map(({ at, service, what, detail }) => [at, service, inWords(what), detail]),
    { colours, empty: 'nothing seen yet' },
  );
  const gaps = [
    ...cut.map((what) => `there are more ${what} than are shown\n`),
    ...missing.map(({ service }) => `missing: what ${service} knows\n`),
  ];
  return [`${stands}\n`, polled, ...open, '\n', table, ...gaps].join('');
}

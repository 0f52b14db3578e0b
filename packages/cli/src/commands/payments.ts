import { type ListedPayment, paymentOperations, paymentStatuses } from '@pesewa/contracts';
import { inWords, showTime } from '@pesewa/operator-client';
import { Argument, type Command, Option } from 'commander';
import { asList, readCount, readReference, readTime } from '../arguments.ts';
import { openContext } from '../context.ts';
import { withExamples } from '../help.ts';
import type { CliPorts } from '../ports.ts';
import { amountCell, formatJson, formatTable } from '../print.ts';
import { inZone, readZone, zoneOption } from '../time-zones.ts';
import { addCancelCommand } from './payments-cancel.ts';

const gateways = { payouts: 'payout-gateway', collections: 'collection-gateway' } as const;

interface ListOptions {
  readonly merchant?: string;
  readonly reference?: string;
  readonly rail?: string;
  readonly status?: (typeof paymentStatuses)[number];
  readonly open?: boolean;
  readonly from?: string;
  readonly to?: string;
  readonly tz: string;
  readonly limit: string;
  readonly json?: boolean;
}

/** Adds `payments list`, payouts or collections by merchant, status and time, and `payments cancel`. */
export function addPaymentCommands(program: Command, ports: CliPorts): void {
  const payments = program
    .command('payments')
    .description('payouts and collections, as their gateways have them');
  const list = asList(
    payments
      .command('list')
      .description('the newest first, by when they were accepted; archived ones are not among them')
      .addArgument(new Argument('<payouts|collections>', 'which').choices(Object.keys(gateways)))
      .option('--merchant <merchant>', 'only those of one merchant')
      .option('--reference <reference>', 'only those with this reference of their merchant')
      .option('--rail <rail>', 'only those at one rail')
      .addOption(new Option('--status <status>', 'only those with this status').choices(paymentStatuses))
      .addOption(new Option('--open', 'only those that have not ended').conflicts('status'))
      .option('--from <time>', 'only those accepted at this time or later')
      .option('--to <time>', 'only those accepted before this time')
      .addOption(zoneOption()),
  ).action(async (what: keyof typeof gateways, options: ListOptions, command: Command) => {
    const limit = readCount('--limit', options.limit);
    const { merchant, reference, rail, open, status, from, to } = options;
    const zone = readZone(options.tz);
    const query = {
      merchant,
      merchantReference: reference && readReference('--reference', reference),
      rail,
      ...(open && { open: 'true' as const }),
      status,
      from: from && readTime('--from', from, zone).toISOString(),
      to: to && readTime('--to', to, zone).toISOString(),
    };
    const { operations } = await openContext(ports, command);
    const { items, hasMore } = await operations.list(gateways[what], paymentOperations.list, query, limit);
    const more = hasMore ? 'there are more: raise --limit, or narrow --from and --to\n' : '';
    ports.print(options.json ? formatJson(items) : `${paymentTable(items, zone, ports.colours)}${more}`);
  });
  withExamples(list, [
    'pesewa payments list payouts --open --rail upstream',
    'pesewa payments list payouts --reference order-7',
    'pesewa payments list payouts --merchant demo --status FAILED',
    'pesewa payments list collections --from 2026-11-01 --to 2026-11-02 --tz Africa/Nairobi',
    'pesewa payments list collections --from 2026-11-01 --to 2026-11-02 --json',
  ]);
  addCancelCommand(payments, ports);
}

function paymentTable(found: readonly ListedPayment[], zone: string, colours: boolean): string {
  return formatTable(
    [
      'PAYMENT',
      'MERCHANT',
      'THEIR REFERENCE',
      'STATUS',
      'STEP',
      'REASON',
      'AMOUNT',
      'FEE',
      'RAIL',
      inZone('ACCEPTED', zone),
    ],
    found.map((one) => [
      one.reference,
      one.merchantId,
      one.merchantReference,
      one.status,
      inWords(one.step),
      one.reason,
      amountCell(one.amount, one.currency),
      amountCell(one.fee, one.currency),
      one.rail,
      showTime(one.acceptedAt, zone),
    ]),
    { colours, empty: 'no such payments', right: ['AMOUNT', 'FEE'] },
  );
}

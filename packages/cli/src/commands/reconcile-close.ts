import { type CloseRecordView, type CloseRequest, type CloseView, closeOperations } from '@pesewa/contracts';
import { DAY_MS, displayAmount } from '@pesewa/kernel';
import { CLOSE_MATCHES, dayAt, inWords, UTC } from '@pesewa/operator-client';
import type { Command } from 'commander';
import { checkFile, type FileOptions, formatOf, formatOption, readDay } from '../arguments.ts';
import type { FileCaller } from '../clients/call.ts';
import { openContext } from '../context.ts';
import { CliError } from '../errors.ts';
import { withExamples, withExitCodes } from '../help.ts';
import type { CliPorts } from '../ports.ts';
import { amountCell, type Cell, formatJson, formatTable } from '../print.ts';

interface CloseOptions extends FileOptions {
  readonly date?: string;
  readonly rail?: string;
  readonly wait?: boolean;
  readonly json?: boolean;
}

const service = 'reconciler';
/** The results of a close that people must look at. */
const unmatchedResults = ['differs', 'not_at_rail', 'unclear'] as const;
const LOOK_MS = 1_000;
/** How many payments of each result are printed. */
const SHOWN = 20;

/** Adds `reconcile close`: looks up the payments that ended on a day and are not compared yet, and matches them (ADR 29). */
export function addCloseCommand(reconcile: Command, ports: CliPorts): void {
  const close = reconcile
    .command('close')
    .description(
      'asks the rails about the payments that ended on a day and were not compared yet, and compares their answers with our records; if a rail sends statements, those are its close, and it is asked only by --rail; a day is closed once: repeat the command to see its progress, and to have what is not matched asked about again',
    )
    .option('--date <day>', 'the day (UTC), such as 2026-11-20 (default: yesterday)')
    .option('--rail <rail>', 'one rail (default: all that send no statements)')
    .option('--wait', 'wait until it is done, and show the progress')
    .option(
      '--export <file>',
      'write the payments of the close with their results to a file; it must be done',
    )
    .addOption(formatOption())
    .option('--json', 'print JSON')
    .action(async (options: CloseOptions, command: Command) => {
      const request = requestOf(options, ports.clock.nowMs());
      checkFile(options);
      const { operations } = await openContext(ports, command);
      const opened = await operations.call(service, closeOperations.open, { body: request });
      const found = options.wait ? await untilDone(ports, operations, opened) : opened;
      if (options.export !== undefined) await write(operations, found, options, options.export);
      const records = await openRecords(operations, found);
      ports.print(
        options.json ? formatJson({ ...found, records }) : describe(found, records, options, ports.colours),
      );
      requireMatched(found);
    });
  withExamples(close, [
    'pesewa reconcile close --wait',
    'pesewa reconcile close --date 2026-11-20 --rail upstream --wait --json',
    'pesewa reconcile close --date 2026-11-20 --wait --export close.csv',
  ]);
  withExitCodes(
    close,
    '1 where it is done and a payment is not matched; 0 where all are, and while it is not done.',
  );
}

const showClose = ({ call }: FileCaller, id: string): Promise<CloseView> =>
  call(service, closeOperations.show, { parameters: { id } });

/** Refuses a close that is done and left a payment unmatched. */
function requireMatched(close: CloseView): void {
  const unmatched = unmatchedOf(close);
  if (close.status !== 'done' || unmatched === 0) return;
  throw new CliError(
    `${unmatched.toLocaleString('en-GB')} payments of ${close.id} are not matched: see the breaks that are named, or why`,
  );
}

/** The number of payments that people must look at. */
function unmatchedOf({ results }: Pick<CloseView, 'results'>): number {
  return unmatchedResults.reduce((sum, result) => sum + (results?.[result] ?? 0), 0);
}

function requestOf({ date, rail }: CloseOptions, nowMs: number): CloseRequest {
  const day = date ?? dayAt(nowMs - DAY_MS, UTC);
  if (!readDay(day)) throw new CliError(`--date: ${day} is no day: write one such as 2026-11-20`);
  return { date: day, ...(rail !== undefined && { rail }) };
}

async function untilDone(ports: CliPorts, operations: FileCaller, opened: CloseView): Promise<CloseView> {
  let current = opened;
  try {
    while (current.running) {
      ports.progress(`${current.id}: ${progress(current)} …`);
      await ports.clock.sleep(LOOK_MS);
      current = await showClose(operations, current.id);
    }
    return current;
  } finally {
    ports.progress('');
  }
}

async function write(
  operations: FileCaller,
  close: CloseView,
  options: CloseOptions,
  file: string,
): Promise<void> {
  if (close.status !== 'done') {
    throw new CliError(
      `--export: ${close.id} is not done (${progress(close)}): add --wait, or repeat it later`,
    );
  }
  const query = { format: formatOf(file, options.format) };
  await operations.save(service, closeOperations.export, { parameters: { id: close.id }, query }, file);
}

/** The first payments of each result that people must look at. */
async function openRecords(
  operations: FileCaller,
  { id, results }: CloseView,
): Promise<readonly CloseRecordView[]> {
  const found: CloseRecordView[] = [];
  for (const result of unmatchedResults) {
    if (results === null || results[result] === 0) continue;
    const of = { parameters: { id }, query: { result, limit: SHOWN } };
    found.push(...(await operations.call(service, closeOperations.records, of)).items);
  }
  return found;
}

function progress({ status, done, payments }: CloseView): string {
  if (done === null || payments === null) return status;
  return `${done.toLocaleString('en-GB')} of ${payments.toLocaleString('en-GB')}`;
}

function describe(
  close: CloseView,
  records: readonly CloseRecordView[],
  options: CloseOptions,
  colours: boolean,
): string {
  const { id, status, running, results, late } = close;
  const far = results === null ? status : `${status}, ${progress(close)}`;
  const again = running
    ? 'done, and asks again about what is not matched: add --wait for the answers'
    : 'done';
  const state = status === 'done' ? again : `${far}: repeat it to look again, or add --wait`;
  const counts =
    results && Object.entries(results).filter(([name]) => name !== 'pending' || status !== 'done');
  const summary = counts?.map(([name, count]) => `${count.toLocaleString('en-GB')} ${inWords(name)}`);
  const lines = [
    `${id}: ${state}`,
    ...(summary ? [summary.join(', ')] : []),
    ...(results !== null && results.matched > 0 ? [CLOSE_MATCHES] : []),
    ...(late > 0
      ? [`${late.toLocaleString('en-GB')} of them came late: reported only after it had been done once`]
      : []),
  ];
  const written = options.export === undefined ? '' : `the payments of the close are in ${options.export}\n`;
  return `${lines.join('\n')}\n${records.length === 0 ? '' : table(close, records, colours)}${written}`;
}

function table(close: CloseView, records: readonly CloseRecordView[], colours: boolean): string {
  const rows = records.map((record) => [
    record.reference,
    inWords(record.result),
    record.rail,
    ...differenceOf(record),
    record.breakId ?? record.why,
  ]);
  const text = formatTable(
    ['REFERENCE', 'RESULT', 'RAIL', 'FIELD', 'OURS', 'THEIRS', 'DIFFERENCE', 'BREAK'],
    rows,
    {
      colours,
      empty: '',
      right: ['DIFFERENCE'],
    },
  );
  const total = unmatchedOf(close);
  const more =
    total > records.length ? `and ${total - records.length} more of ${close.id}: see --export\n` : '';
  return `${text}${more}`;
}

/** The first field in which the two differ: both values, and theirs minus ours. */
function differenceOf({ ours, theirs, differences, currency }: CloseRecordView): readonly Cell[] {
  const [first] = differences;
  const statuses = [ours.status, theirs.status].map((status) => status && inWords(status));
  if (!first) return [null, ...statuses, null];
  const { field, amount } = first;
  const values =
    field === 'amount' || field === 'fee'
      ? [ours[field], theirs[field]].map((one) => amountCell(one, currency))
      : statuses;
  return [field, ...values, displayAmount(amount, currency, 'exceptZero')];
}

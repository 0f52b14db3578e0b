import { access, readFile } from 'node:fs/promises';
import {
  dryRunOf,
  type RailStatementPreviewView,
  type RailStatementRecordView,
  type RailStatementView,
  railStatementOperations,
  type StatementMappingBody,
  type StatementTermsQuery,
} from '@pesewa/contracts';
import { describeLines, inWords, whyUnmatched } from '@pesewa/operator-client';
import type { Command } from 'commander';
import {
  checkFile,
  type FileOptions,
  formatOf,
  formatOption,
  readCurrency,
  readTime,
  requireBefore,
} from '../arguments.ts';
import type { FileCaller } from '../clients/call.ts';
import { openContext } from '../context.ts';
import { CliError } from '../errors.ts';
import { withExamples, withExitCodes } from '../help.ts';
import type { CliPorts } from '../ports.ts';
import { amountCell, formatJson, formatTable } from '../print.ts';

interface MatchOptions extends FileOptions {
  readonly rail: string;
  readonly mapping: string;
  readonly currency?: string;
  readonly from?: string;
  readonly to?: string;
  readonly json?: boolean;
}

const service = 'reconciler';
/** The results of a statement's records that are discrepancies. */
const discrepantResults = ['differs', 'not_in_books', 'not_on_statement', 'duplicate', 'unreadable'] as const;
const LOOK_MS = 1_000;
/** How many records of each result are printed. */
const SHOWN = 20;
const NAME = /^[a-z][a-z0-9-]{0,39}$/;

const MAPPING = `
A mapping names the columns of the rail's file; the README of the reconciler, "Statements", describes every field:
  { "columns": { "reference": "Our Ref", "amount": "Amount", "time": "Time" }, "time": { "format": "ISO" }, "holds": "payouts" }`;

/** Adds `reconcile match`: compares each line of a rail's statement with our payments. */
export function addMatchCommand(reconcile: Command, ports: CliPorts): void {
  const match = reconcile
    .command('match')
    .description(
      "compares every line of a rail's statement (CSV) with our payments, by reference; the same file again is the same statement, and opens no break twice",
    )
    .argument('<file>', 'the statement as the rail sent it')
    .requiredOption('--rail <rail>', 'whose statement it is')
    .requiredOption(
      '--mapping <mapping>',
      'which column holds what: a JSON file, or the name of a mapping that the reconciler keeps',
    )
    .option('--currency <currency>', 'the currency of every line, if no column has it')
    .option(
      '--from <time>',
      "payments that ended from then on must be in it (default: the first line's time)",
    )
    .option('--to <time>', "the time before which they ended (default: after the last line's time)")
    .option('--dry-run', 'read and match it, show the result, and store nothing')
    .option('--export <file>', 'write every record with its result to a file')
    .addOption(formatOption())
    .option('--json', 'print JSON')
    .action(async (file: string, options: MatchOptions, command: Command) => {
      checkFile(options);
      const request = await requestOf(file, options);
      const { operations } = await openContext(ports, command);
      const statement = options.dryRun
        ? await tryOut(ports, operations, request)
        : await matchWhole(ports, operations, request);
      const { id } = statement;
      if (options.export !== undefined && id !== null) {
        const query = { format: formatOf(options.export, options.format) };
        const of = { parameters: { id }, query };
        await operations.save(service, railStatementOperations.export, of, options.export);
      }
      const records = statement.id === null ? statement.problems : await problemsOf(operations, statement);
      ports.print(
        options.json
          ? formatJson({ ...statement, problems: records })
          : describe(statement, records, options, ports.colours),
      );
      const { discrepancies, counts } = statement;
      const unreadable = counts?.['unreadable'] ?? 0;
      if (discrepancies)
        throw new CliError(
          `${discrepancies} of the records are not matched${unreadable > 0 ? `, ${unreadable} of them because they can't be read` : ''}`,
        );
    });
  withExamples(match, [
    'pesewa reconcile match upstream.csv --rail upstream --mapping upstream.json --currency KES --dry-run',
    'pesewa reconcile match upstream.csv --rail upstream --mapping upstream-daily --currency KES',
    'pesewa reconcile match nov.csv --rail upstream --mapping upstream-daily --from 2026-11-01 --to 2026-12-01 --export result.csv',
  ]);
  match.addHelpText('after', MAPPING);
  withExitCodes(match, '1 if any record is not matched; the differences are printed first.');
}

async function requestOf(file: string, options: MatchOptions): Promise<StatementRequest> {
  const { rail, currency, from, to } = options;
  const [start, end] = [from && readTime('--from', from), to && readTime('--to', to)];
  if (start && end) requireBefore(start, end, from, to);
  return {
    file,
    rail,
    mapping: await readMapping(options.mapping),
    ...(currency !== undefined && { currency: readCurrency('--currency', currency) }),
    ...(start && { from: start.toISOString() }),
    ...(end && { to: end.toISOString() }),
  };
}

/** A mapping from its file, as compact JSON; if there is no such file, the text is the name of a stored mapping. */
async function readMapping(given: string): Promise<string> {
  const isFile = await access(given).then(
    () => true,
    () => false,
  );
  if (!isFile && NAME.test(given)) return given;
  return JSON.stringify(await readMappingFile(given));
}

/** A mapping from its file; the reconciler checks what it says. */
export async function readMappingFile(path: string): Promise<StatementMappingBody> {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined)
    throw new CliError(
      `mapping: ${path} can't be read, and is no name of a mapping: fix the path; reconcile match --help shows what a mapping is`,
    );
  try {
    return JSON.parse(text.replace(/^\ufeff/, '')) as StatementMappingBody;
  } catch {
    throw new CliError(`mapping: ${path} is no JSON: fix it, or name a mapping that is kept`);
  }
}

/** How a file is matched. */
interface StatementRequest extends StatementTermsQuery {
  readonly file: string;
}

/** Matches the file and keeps nothing. */
function tryOut(
  ports: CliPorts,
  operations: FileCaller,
  { file, ...terms }: StatementRequest,
): Promise<RailStatementPreviewView> {
  const given = (sha256: string) => ({ query: { ...terms, sha256, dryRun: 'true' as const } });
  const sent = { file, progress: sending(ports, 'matching'), given };
  return operations
    .send(service, dryRunOf(railStatementOperations.upload), sent)
    .finally(() => ports.progress(''));
}

/** Shows how much of the file is sent, and then what comes next. */
function sending(ports: CliPorts, next: string): (sent: number, size: number) => void {
  return (sent, size) => {
    const percent = size === 0 ? 100 : Math.floor((sent / size) * 100);
    ports.progress(sent < size ? `sending ${percent} % …` : `sent; ${next} …`);
  };
}

async function matchWhole(
  ports: CliPorts,
  operations: FileCaller,
  { file, ...terms }: StatementRequest,
): Promise<RailStatementView> {
  try {
    let current = await operations.send(service, railStatementOperations.upload, {
      file,
      progress: sending(ports, 'the last lines'),
      given: (sha256) => ({ query: { ...terms, sha256 } }),
    });
    while (current.status !== 'done') {
      const { id, lines, stage } = current;
      if (current.status === 'dropped')
        throw new CliError(`FILE: ${id} was dropped meanwhile: send it again`);
      ports.progress(`matching ${lines.toLocaleString('en-GB')} lines: ${stage ?? current.status} …`);
      await ports.clock.sleep(LOOK_MS);
      current = await operations.call(service, railStatementOperations.show, { parameters: { id } });
    }
    return current;
  } finally {
    ports.progress('');
  }
}

async function problemsOf(
  operations: FileCaller,
  { id, counts }: RailStatementView,
): Promise<readonly RailStatementRecordView[]> {
  const found: RailStatementRecordView[] = [];
  for (const result of discrepantResults) {
    if (!counts?.[result]) continue;
    const of = { parameters: { id }, query: { result, limit: SHOWN } };
    found.push(...(await operations.call(service, railStatementOperations.records, of)).items);
  }
  return found;
}

/** The options that a mapping lacks, as they are written in it. */
function proposalOf({ file }: Pick<RailStatementView, 'file'>): string {
  return file?.proposal
    ? `more lines can be read with this in the mapping: ${JSON.stringify(file.proposal)}\n`
    : '';
}

function describe(
  statement: RailStatementView | RailStatementPreviewView,
  records: readonly RailStatementRecordView[],
  { dryRun }: MatchOptions,
  colours: boolean,
): string {
  const { id, lines, counts, discrepancies, from, to, file, breaksOpened, breaksHidden } = statement;
  const window =
    from === null ? 'no time is given: payments without a line are not looked for' : `from ${from} to ${to}`;
  const results = Object.entries(counts ?? {}).filter(([, count]) => count > 0);
  const totals = formatTable(
    ['RESULT', 'RECORDS'],
    results.map(([result, count]) => [inWords(result), count.toLocaleString('en-GB')]),
    { colours, empty: 'no records', right: ['RECORDS'] },
  );
  const list = formatTable(
    ['LINE', 'RESULT', 'PAYMENT', 'AMOUNT', 'DIFFERENCE', 'WHY'],
    records.map((one) => [
      one.line,
      inWords(one.result ?? 'pending'),
      one.payment ?? one.reference,
      amountCell(one.amount, one.currency),
      amountCell(one.difference, one.currency),
      whyUnmatched(one),
    ]),
    { colours, empty: 'everything is matched', right: ['LINE', 'AMOUNT', 'DIFFERENCE'] },
  );
  const more =
    (discrepancies ?? 0) > records.length
      ? `${(discrepancies ?? 0) - records.length} more: see --export\n`
      : '';
  const breaks = dryRun
    ? 'a dry run: nothing was stored, and no break was opened\n'
    : `breaks opened: ${breaksOpened}${breaksHidden > 0 ? `, ${breaksHidden} more had no room` : ''}: see pesewa reconcile breaks\n`;
  const head = `${id ?? 'dry run'}: ${lines.toLocaleString('en-GB')} lines, ${window}\n${file === null ? '' : `${describeLines(file)}\n`}`;
  return `${head}\n${totals}\n${list}${more}${proposalOf(statement)}${breaks}`;
}

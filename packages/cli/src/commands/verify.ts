import { type AuditProgress, type AuditReport, invariants } from '@pesewa/audit';
import type { Command } from 'commander';
import { requireAddress } from '../config.ts';
import { openContext } from '../context.ts';
import { CliError } from '../errors.ts';
import { withExamples } from '../help.ts';
import type { CliPorts } from '../ports.ts';
import { formatJson, formatTable } from '../print.ts';

interface VerifyOptions {
  readonly booksOnly?: boolean;
  readonly json?: boolean;
}

const BAR_CELLS = 24;
const seconds = new Intl.NumberFormat('en-GB', { minimumFractionDigits: 1, maximumFractionDigits: 1 });

/** Adds `ledger verify`: the audit of everything that is stored, from the first entry on (design 5). */
export function addVerifyCommand(program: Command, ports: CliPorts): void {
  const verify = program
    .command('ledger')
    .description('audits the books')
    .command('verify')
    .description(
      'recomputes every balance and every hash from the first entry, and compares payouts and collections with them; reads the databases, writes nothing',
    )
    .option('--books-only', 'leave the records of payouts and collections out')
    .option('--json', 'print JSON')
    .action(async (options: VerifyOptions, command: Command) => {
      const { addresses } = await openContext(ports, command);
      const report = await ports
        .audit({
          mongodbUrl: requireAddress(addresses, 'mongodbUrl'),
          crossCheck: options.booksOnly !== true,
          onProgress: (progress) => ports.progress(bar(progress)),
        })
        .finally(() => ports.progress(''));
      const text = options.json ? formatJson(report) : describe(report, ports.colours);
      ports.print(text);
      const [first] = report.violations;
      if (!first) return;
      throw new CliError(`the first difference: ${first.invariant} ${first.subject}: ${first.message}`);
    });
  withExamples(verify, [
    'pesewa ledger verify',
    'pesewa ledger verify --books-only',
    'pesewa ledger verify --json',
  ]);
  verify.addHelpText('after', `\nWhat must hold:\n${rules()}\n\nExit code: 0 when all of it does, else 1.`);
}

function rules(): string {
  return Object.entries(invariants)
    .map(([name, rule]) => `  ${name.padEnd(4)}${rule}`)
    .join('\n');
}

function bar({ stage, done, total }: AuditProgress): string {
  const part = total === 0 ? 1 : Math.min(1, done / total);
  const filled = Math.round(part * BAR_CELLS);
  const cells = '█'.repeat(filled).padEnd(BAR_CELLS, '░');
  return `${stage} ${cells} ${Math.floor(part * 100)} % of ${grouped(total)}`;
}

function describe(report: AuditReport, colours: boolean): string {
  const { pages, entries, wallets, accounts, openHolds, payments, durationMs } = report;
  const perSecond = durationMs === 0 ? entries : Math.round((entries * 1_000) / durationMs);
  const read = [
    `${grouped(entries)} entries on ${grouped(pages)} pages`,
    `${grouped(wallets)} wallets with ${grouped(openHolds)} open holds`,
    `${grouped(accounts)} shared accounts`,
    `${grouped(payments)} payments`,
  ].join(', ');
  const summary = `${read}: ${seconds.format(durationMs / 1_000)} s, ${grouped(perSecond)} entries/s\n`;
  const total = Object.values(report.violationCounts).reduce((sum, count) => sum + count, 0);
  if (total === 0) return `${summary}every balance and every hash verifies\n`;
  const rows = report.violations.map(({ invariant, subject, message }) => [invariant, subject, message]);
  const more = total > rows.length ? `and ${grouped(total - rows.length)} more\n` : '';
  return `${summary}${formatTable(['RULE', 'WHERE', 'WHAT'], rows, { colours, empty: '' })}${more}`;
}

function grouped(count: number): string {
  return count.toLocaleString('en-GB');
}

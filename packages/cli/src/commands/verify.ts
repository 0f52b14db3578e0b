import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { type AuditProgress, type AuditReport, type Head, invariants } from '@pesewa/audit';
import { numberText, parseJson } from '@pesewa/contracts';
import type { Command } from 'commander';
import { z } from 'zod';
import { readCount } from '../arguments.ts';
import { defaultCheckpointFile } from '../checkpoint-file.ts';
import { requireMongodbUrl } from '../connections.ts';
import { openContext } from '../context.ts';
import { CliError } from '../errors.ts';
import { withExamples } from '../help.ts';
import type { CliPorts } from '../ports.ts';
import { formatJson, formatTable } from '../print.ts';

interface VerifyOptions {
  readonly booksOnly?: boolean;
  readonly allowedLag?: string;
  readonly since?: string;
  readonly all?: boolean;
  readonly checkpoint?: string;
  readonly json?: boolean;
}

const BAR_CELLS = 24;
const seconds = new Intl.NumberFormat('en-GB', { minimumFractionDigits: 1, maximumFractionDigits: 1 });

/** Adds `ledger verify`: audits what is stored behind the last verification, or all of it. */
export function addVerifyCommand(program: Command, ports: CliPorts): void {
  const verify = program
    .command('ledger')
    .description('audits the books')
    .command('verify')
    .description(
      'recomputes balances and hashes from where the last verification ended, and compares payouts and collections with them; writes nothing to the databases',
    )
    .option('--all', 'begin with the first entry; the only way to find a change of what was verified before')
    .option(
      '--checkpoint <file>',
      'where to keep what was verified (default: ~/.pesewa/verified-…, none for a stack of npm start)',
    )
    .option(
      '--books-only',
      'leave the records of payouts and collections out; keeps nothing of what it has verified',
    )
    .option(
      '--allowed-lag <seconds>',
      'how long differences may take to disappear while events are on their way (default: 120)',
    )
    .option('--since <file>', 'an earlier report (--json): its chains must still be there, unchanged')
    .option('--json', 'print JSON, with the newest page of each chain')
    .action(async (options: VerifyOptions, command: Command) => {
      const { surroundings } = await openContext(ports, command);
      const mongodbUrl = requireMongodbUrl(surroundings, ports.environment);
      const checkpointFile =
        options.checkpoint ??
        // A stack of npm start comes and goes with its databases.
        (surroundings.ofRunningStack.has('MONGODB_URL')
          ? undefined
          : defaultCheckpointFile(
              ports.environment['HOME'] ?? homedir(),
              mongodbUrl,
              ports.environment['DATABASE_PREFIX'] ?? '',
            ));
      const report = await ports
        .audit({
          mongodbUrl,
          whole: options.all === true,
          ...(checkpointFile !== undefined && { checkpointFile }),
          crossCheck: options.booksOnly !== true,
          ...(options.allowedLag !== undefined && {
            allowedLagMs: readCount('--allowed-lag', options.allowedLag) * 1_000,
          }),
          ...(options.since !== undefined && { earlierHeads: await readHeads(options.since) }),
          onProgress: (progress) => ports.progress(bar(progress)),
        })
        .finally(() => ports.progress(''));
      const text = options.json ? formatJson(report) : describe(report, ports.colours);
      ports.print(text);
      const [first] = report.violations;
      if (!first && report.pages > 0) return;
      if (!first) throw new CliError('nothing to verify: is DATABASE_PREFIX right?');
      throw new CliError(`the first difference: ${first.invariant} ${first.subject}: ${first.message}`);
    });
  withExamples(verify, [
    'pesewa ledger verify',
    'pesewa ledger verify --all',
    'pesewa ledger verify --books-only',
    'pesewa ledger verify --json',
    'pesewa ledger verify --since report.json',
  ]);
  verify.addHelpText(
    'after',
    `\n${reach}\n\nWhat must hold:\n${rules()}\n\nExit code: 0 when all of it does, else 1, also where there is no page at all.`,
  );
}

const reach = `Without --all it goes on where the last verification ended or broke off. That shows that the newest page of each chain
was not changed since, and that everything behind it holds. A change of an older posting or payment is found by --all only.`;

const earlierReport = z.object({
  heads: z.array(
    z.object({
      chain: z.string(),
      number: numberText.pipe(z.string().regex(/^\d{1,15}$/)).transform(Number),
      hash: z.string().regex(/^[0-9a-f]{64}$/),
    }),
  ),
});

/** The heads of the chains in an earlier report. */
async function readHeads(path: string): Promise<readonly Head[]> {
  const text = await readFile(path, 'utf8').catch(() => {
    throw new CliError(`--since: ${path} can't be read`);
  });
  try {
    return earlierReport.parse(parseJson(text)).heads;
  } catch {
    throw new CliError(`--since: ${path} is no report of this command: write one with --json`);
  }
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
  const fresh = entries - report.entriesBefore;
  const perSecond = durationMs === 0 ? fresh : Math.round((fresh * 1_000) / durationMs);
  const read = [
    `${grouped(entries)} entries on ${grouped(pages)} pages${report.entriesBefore === 0 ? '' : ` (${grouped(report.entriesBefore)} verified before)`}`,
    `${grouped(wallets)} wallets with ${grouped(openHolds)} open holds`,
    `${grouped(accounts)} shared accounts`,
    `${grouped(payments)} payments`,
  ].join(', ');
  const summary = `${read}: ${seconds.format(durationMs / 1_000)} s, ${grouped(perSecond)} entries/s\n`;
  const total = Object.values(report.violationCounts).reduce((sum, count) => sum + count, 0);
  if (report.pages === 0 && total === 0) return `${summary}there is no page: nothing was verified\n`;
  if (total === 0)
    return `${summary}every balance and every hash verifies${report.entriesBefore === 0 ? '' : ' behind the last verification; --all verifies what is before it too'}\n`;
  const rows = report.violations.map(({ invariant, subject, message }) => [invariant, subject, message]);
  const more = total > rows.length ? `and ${grouped(total - rows.length)} more\n` : '';
  return `${summary}${formatTable(['RULE', 'WHERE', 'WHAT'], rows, { colours, empty: '' })}${more}`;
}

function grouped(count: number): string {
  return count.toLocaleString('en-GB');
}

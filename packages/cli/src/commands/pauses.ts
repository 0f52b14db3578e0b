import { type PauseView, pauseOperations } from '@pesewa/contracts';
import { describeScope } from '@pesewa/operator-client';
import { Argument, type Command, Option } from 'commander';
import { approveOption, collect, readLine, readSeenTime, refuseUnseen, seenOption } from '../arguments.ts';
import { type CommandContext, openContext } from '../context.ts';
import { CliError } from '../errors.ts';
import { withExamples } from '../help.ts';
import type { CliPorts } from '../ports.ts';
import { formatJson, formatTable } from '../print.ts';

const REASON_LENGTH_MAX = 200;

/** What can be paused, and the gateways that pause it. */
const gateways = {
  payouts: ['payout-gateway'],
  collections: ['collection-gateway'],
  both: ['payout-gateway', 'collection-gateway'],
} as const;
type Direction = keyof typeof gateways;

const noun = { 'payout-gateway': 'payouts', 'collection-gateway': 'collections' } as const;

interface SubjectOptions {
  readonly all?: boolean;
  readonly rail?: string;
  readonly merchant?: string;
}

/** Adds `pause`, `resume` and `pauses`: what goes to no rail until two operators resume it (ADR 77). */
export function addPauseCommands(program: Command, ports: CliPorts): void {
  addPauseCommand(program, ports);
  addResumeCommand(program, ports);
  const pauses = program
    .command('pauses')
    .description('what is paused, why, and who would resume it')
    .option('--json', 'print JSON')
    .action(async ({ json }: { readonly json?: boolean }, command: Command) => {
      const { operations } = await openContext(ports, command);
      const found = [];
      for (const service of gateways.both) {
        const { items } = await operations.call(service, pauseOperations.list, {});
        found.push(...items.map((item) => ({ paused: noun[service], ...item })));
      }
      const approvals = found.map((one) => describeApproval(one.paused, one));
      ports.print(json ? formatJson(found) : [pauseTable(found, ports.colours), ...approvals].join(''));
    });
  withExamples(pauses, ['pesewa pauses', 'pesewa pauses --json']);
}

function addSubject(command: Command): Command {
  return command
    .addArgument(new Argument('<what>', 'what goes to no rail').choices(Object.keys(gateways)))
    .addOption(new Option('--all', 'of every merchant, at every rail').conflicts(['rail', 'merchant']))
    .addOption(new Option('--rail <rail>', 'at one rail').conflicts('merchant'))
    .option('--merchant <merchant>', 'of one merchant');
}

function subjectOf({ all, rail, merchant }: SubjectOptions) {
  if (all) return { scope: 'all' } as const;
  if (rail !== undefined) return { scope: 'rail', name: rail } as const;
  if (merchant !== undefined) return { scope: 'merchant', name: merchant } as const;
  throw new CliError('name what is meant: --all, --rail or --merchant');
}

function addPauseCommand(program: Command, ports: CliPorts): void {
  const pause = addSubject(
    program
      .command('pause')
      .description(
        'passes nothing more on to rails, on all replicas within a second; what is accepted waits',
      ),
  )
    .requiredOption('--reason <text>', `why, in one line of at most ${REASON_LENGTH_MAX} characters`)
    .option('--dry-run', 'say what would be paused, and send nothing')
    .action(
      async (
        what: Direction,
        options: SubjectOptions & { readonly reason: string; readonly dryRun?: boolean },
        command: Command,
      ) => {
        const subject = subjectOf(options);
        const reason = readLine('--reason', options.reason, REASON_LENGTH_MAX);
        const { operations } = await openContext(ports, command);
        for (const service of gateways[what]) {
          if (!options.dryRun)
            await operations.call(service, pauseOperations.pause, { body: { ...subject, reason } });
          const done = options.dryRun
            ? 'would be paused'
            : 'are paused until an operator and an approver resume them';
          ports.print(`${noun[service]} ${describeScope(subject)} ${done}\n`);
        }
      },
    );
  withExamples(pause, [
    'pesewa pause payouts --rail upstream --reason "it pays twice"',
    'pesewa pause both --merchant demo --reason "its key is stolen"',
    'pesewa pause both --all --reason "drill" --dry-run',
  ]);
}

function addResumeCommand(program: Command, ports: CliPorts): void {
  const resume = addSubject(
    program
      .command('resume')
      .description('proposes to go on after a pause; an approver goes on with --approve'),
  )
    .addOption(approveOption('go on'))
    .addOption(seenOption('when it was paused, for both by the time of each').argParser(collect))
    .action(async (what: Direction, { approve, seen = [], ...options }: ResumeOptions, command: Command) => {
      const subject = subjectOf(options);
      const marks = seen.map(readSeenTime);
      const { operations } = await openContext(ports, command);
      // All are read first: what is not paused, or not as it was seen, is refused before anything goes on.
      const found = await readPauses(operations, what, subject);
      const idle = found.find(({ resumeProposedBy }) => resumeProposedBy === null);
      if (approve !== undefined && idle)
        throw new CliError(
          `--approve: nobody has proposed to resume ${noun[idle.service]} ${describeScope(subject)}`,
        );
      const isSeen = ({ pausedAt, resumeProposedBy: by }: PauseView) =>
        marks.includes(pausedAt) && (approve === undefined || by === approve);
      if ((approve !== undefined || marks.length > 0) && !found.every(isSeen)) {
        const shown = found.map((one) => `${describePause(one)}${describeApproval(noun[one.service], one)}`);
        refuseUnseen(ports, shown.join(''));
      }
      for (const one of found) {
        const { service, pausedAt } = one;
        ports.print(describePause(one));
        const body = { ...subject, approves: approve, pausedAt };
        const answer = await operations.call(service, pauseOperations.resume, { body });
        const done =
          'resumed' in answer
            ? 'go on'
            : `stay paused until an approver resumes them with ${approvalOf(noun[service], answer)}`;
        ports.print(`${noun[service]} ${describeScope(subject)} ${done}\n`);
      }
    });
  withExamples(resume, [
    'pesewa resume payouts --rail upstream',
    'pesewa resume payouts --rail upstream --approve ama --seen 2026-11-01T08:00:00.000Z',
    'pesewa resume both --all',
  ]);
}

interface ResumeOptions extends SubjectOptions {
  readonly approve?: string;
  readonly seen?: readonly string[];
}

/** The pauses of a subject at each gateway that is meant. */
async function readPauses(
  operations: CommandContext['operations'],
  what: Direction,
  subject: ReturnType<typeof subjectOf>,
) {
  return Promise.all(
    gateways[what].map(async (service) => {
      const { items } = await operations.call(service, pauseOperations.list, {});
      const pause = items.find(
        ({ scope, name }) => scope === subject.scope && name === (subject.name ?? null),
      );
      if (!pause) throw new CliError(`${noun[service]} ${describeScope(subject)} are not paused`);
      return { ...pause, service };
    }),
  );
}

type SeenPause = Awaited<ReturnType<typeof readPauses>>[number];

function describePause({ service, scope, name, pausedBy, pausedAt, reason }: SeenPause): string {
  const where = describeScope({ scope, ...(name !== null && { name }) });
  return `${noun[service]} ${where}: paused by ${pausedBy} at ${pausedAt}: ${reason}\n`;
}

/** Who would resume a pause, with the command by which an approver does; empty if nobody would. */
const describeApproval = (paused: string, pause: PauseView): string =>
  pause.resumeProposedBy === null
    ? ''
    : `${pause.resumeProposedBy} proposed to resume them: an approver does with ${approvalOf(paused, pause)}\n`;

/** The command by which an approver ends a pause as it is now. */
function approvalOf(paused: string, { scope, name, pausedAt, resumeProposedBy: by }: PauseView): string {
  const where = name === null ? ' --all' : ` --${scope} ${name}`;
  return `pesewa resume ${paused}${where} --approve ${by} --seen ${pausedAt}`;
}

function pauseTable(found: readonly (PauseView & { readonly paused: string })[], colours: boolean): string {
  return formatTable(
    ['PAUSED', 'WHERE', 'SINCE', 'BY', 'REASON', 'RESUME PROPOSED BY'],
    found.map(({ paused, scope, name, pausedAt, pausedBy, reason, resumeProposedBy }) => [
      paused,
      name === null ? scope : `${scope} ${name}`,
      pausedAt,
      pausedBy,
      reason,
      resumeProposedBy ?? '',
    ]),
    { colours, empty: 'nothing is paused' },
  );
}

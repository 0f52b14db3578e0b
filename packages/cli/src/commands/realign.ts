import {
  type ConsumerGroup,
  consumerGroups,
  dryRunOf,
  type PositionView,
  positionOperations,
  type RealignmentView,
} from '@pesewa/contracts';
import { describeRealignment } from '@pesewa/operator-client';
import { type Command, Option } from 'commander';
import { readReason, readSeenTime, reasonOption, refuseUnseen, seenOption } from '../arguments.ts';
import { askServices, requireAllAnswers } from '../clients/ask-services.ts';
import { type CommandContext, openContext } from '../context.ts';
import { CliError } from '../errors.ts';
import { schemaOf } from '../fields.ts';
import { withExamples, withExitCodes } from '../help.ts';
import type { CliPorts } from '../ports.ts';
import { formatJson } from '../print.ts';
import { tableOf } from '../views.ts';

/** A partition of a topic that a service consumes. */
interface ServicePartition {
  readonly service: ConsumerGroup;
  readonly topic: string;
  readonly partition: number;
}

interface RealignOptions {
  readonly service?: ConsumerGroup;
  readonly all?: boolean;
  readonly json?: boolean;
  readonly to?: string;
  readonly reason?: string;
  readonly dryRun?: boolean;
  readonly approve?: boolean;
  readonly seen?: string;
  readonly reject?: boolean;
}

/** Adds `realign`: shows the positions of services in their topics, and starts stopped partitions (ADR 43). */
export function addRealignCommand(program: Command, ports: CliPorts): void {
  const realign = program
    .command('realign')
    .description('lists the stopped partitions; with a partition, sets where it continues')
    .argument('[service]', `who consumes it: ${consumerGroups.join(', ')}`)
    .argument('[topic]', 'its topic, as the list shows it')
    .argument('[partition]', 'its number')
    .option(
      '--to <where>',
      'which message comes next: stored (where our database stands), start or end (of what Kafka keeps), or an offset',
    )
    .addOption(reasonOption())
    .option('--dry-run', 'show how many messages would be applied again or skipped, and change nothing')
    .option('--approve', 'approve the proposal of another operator: skipped messages never have an effect')
    .addOption(seenOption('when it was proposed'))
    .option('--reject', 'end a proposal, your own too, with a --reason: the partition stays stopped')
    .addOption(
      new Option('--service <name>', 'without a partition: only those of this service').choices(
        consumerGroups,
      ),
    )
    .option('--all', 'without a partition: also those that are not stopped')
    .option('--json', 'without a partition: print JSON')
    .action(
      async (
        service: string | undefined,
        topic: string | undefined,
        partition: string | undefined,
        options: RealignOptions,
        command: Command,
      ) => {
        if (service === undefined) return list(ports, options, command);
        return start(ports, readPlace(service, topic, partition), options, command);
      },
    );
  withExamples(realign, [
    'pesewa realign',
    'pesewa realign --service ledger --all',
    'pesewa realign reconciler payouts.events.v1 3 --to stored --dry-run',
    'pesewa realign reconciler payouts.events.v1 3 --to stored --reason "restored from the backup of noon"',
    'pesewa realign ledger payouts.events.v1 3 --to end --reason "reported by hand"',
    'PESEWA_APPROVER_TOKEN=… pesewa realign ledger payouts.events.v1 3 --approve --seen 2026-11-01T08:00:00.000Z',
  ]);
  withExitCodes(
    realign,
    '1 if a service gave no answer; the answers of the others are printed. 0 however many are stopped.',
  );
}

async function list(ports: CliPorts, options: RealignOptions, command: Command): Promise<void> {
  const { to, approve, reject, seen, dryRun } = options;
  if (to !== undefined || approve || reject || seen !== undefined || dryRun)
    throw new CliError('service, topic, partition: name the partition, as listed by pesewa realign');
  const { operations } = await openContext(ports, command);
  const { service } = options;
  const { items, missing } = await askServices(service ? [service] : consumerGroups, async (name) => {
    const found = await operations.call(name, positionOperations.list, {});
    return found.items.map((item) => ({ ...item, service: name }));
  });
  const shown = options.all ? items : items.filter(({ state }) => state === 'stopped');
  ports.print(options.json ? formatJson({ items: shown, missing }) : describe(shown, ports.colours));
  requireAllAnswers({ missing });
}

type Position = PositionView & { readonly service: ConsumerGroup };

function describe(items: readonly Position[], colours: boolean): string {
  const table = tableOf(
    [
      'service',
      'topic',
      'partition',
      ['STATE', ({ state, mismatch }) => (mismatch ? `${state}: ${mismatch}` : state)],
      ['NEXT', ({ stored }) => stored?.next, 'right'],
      ['LOW', ({ kafka }) => kafka.low, 'right'],
      ['HIGH', ({ kafka }) => kafka.high, 'right'],
      ['COMMITTED', ({ kafka }) => kafka.committed, 'right'],
      ['LAG', ({ lag }) => lag, 'right'],
      [
        'PROPOSED',
        ({ realignment: one }) => (one?.status === 'proposed' ? `${one.next} by ${one.requestedBy}` : null),
      ],
    ],
    items,
    schemaOf(positionOperations.list, 'items'),
    { colours, empty: 'no partition is stopped' },
  );
  const remedies = items
    .filter(({ state }) => state === 'stopped')
    .map(
      (one) =>
        `\n${one.service} ${one.topic} ${one.partition}: ${one.reason ?? ''}\n  ${one.remedy ?? ''}\n${proposal(one, one.realignment)}`,
    );
  return [table, ...remedies].join('');
}

async function start(
  ports: CliPorts,
  at: ServicePartition,
  options: RealignOptions,
  command: Command,
): Promise<void> {
  const { approve, reject, dryRun } = options;
  const { operations } = await openContext(ports, command);
  if (approve || reject) return decide(ports, operations, at, options);
  if (options.seen !== undefined) throw new CliError('--seen: it goes with --approve or --reject');
  const { service, ...place } = at;
  const to = readTarget(options.to);
  if (dryRun) {
    const body = { ...place, to, reason: 'a dry run', dryRun: true };
    const { plan, ...standing } = await operations.call(service, dryRunOf(positionOperations.realign), {
      body,
    });
    ports.print(
      `${whyOf(standing)}would make ${describeRealignment(plan)}\nneeds ${plan.operators} operator(s); nothing was changed\n`,
    );
    return;
  }
  const body = { ...place, to, reason: reasonOf(options) };
  const done = await operations.call(service, positionOperations.realign, { body });
  ports.print(
    done.status === 'proposed'
      ? `proposed by ${done.requestedBy}: ${describeRealignment(done)}; another approver approves it with ${approvalOf(at, done)}\n`
      : `${done.status}: ${describeRealignment(done)}; the partition continues within half a minute\n`,
  );
}

/** Rejects what is proposed, or approves what is named as it was read. */
async function decide(
  ports: CliPorts,
  { call }: CommandContext['operations'],
  at: ServicePartition,
  { approve, reject, ...options }: RealignOptions,
): Promise<void> {
  if (approve && reject) throw new CliError('--approve, --reject: give one of them');
  if (options.dryRun)
    throw new CliError('--dry-run: it goes with --to; what is proposed is listed by pesewa realign');
  const why = approve ? undefined : reasonOf(options);
  const seen = options.seen === undefined ? undefined : readSeenTime(options.seen);
  const { service, ...place } = at;
  const isOf = (one: PositionView) => one.topic === place.topic && one.partition === place.partition;
  const last =
    seen === undefined
      ? (await call(service, positionOperations.list, {})).items.find(isOf)?.realignment
      : undefined;
  const requestedAt = seen ?? last?.requestedAt;
  if (requestedAt === undefined || (approve && last && last.status !== 'proposed'))
    throw new CliError(`no realignment of ${at.topic} ${at.partition} is proposed: see pesewa realign`);
  if (approve && last) refuseUnseen(ports, proposal(at, last));
  const decided =
    why === undefined
      ? await call(service, positionOperations.approve, { body: { ...place, requestedAt } })
      : await call(service, positionOperations.reject, { body: { ...place, requestedAt, reason: why } });
  ports.print(`${describeProposal(decided)}${decided.status} by ${decided.decidedBy ?? '?'}\n`);
}

const describeProposal = (one: RealignmentView): string =>
  `${one.requestedBy} proposed at ${one.requestedAt}: ${describeRealignment(one)}; ${one.reason}\n`;

/** The command that approves a realignment as it is proposed now. */
const approvalOf = ({ service, topic, partition }: ServicePartition, { requestedAt }: RealignmentView) =>
  `pesewa realign ${service} ${topic} ${partition} --approve --seen ${requestedAt}`;

/** A realignment and the command that approves it; empty if none is proposed. */
const proposal = (at: ServicePartition, one: RealignmentView | undefined): string =>
  one?.status === 'proposed'
    ? `${describeProposal(one)}  an approver approves it with ${approvalOf(at, one)}\n`
    : '';

function reasonOf({ reason }: RealignOptions): string {
  if (reason === undefined) throw new CliError('--reason: say why, in one line');
  return readReason(reason);
}

const whyOf = ({ reason }: PositionView): string => (reason === undefined ? '' : `stopped: ${reason}\n`);

function readPlace(
  service: string,
  topic: string | undefined,
  partition: string | undefined,
): ServicePartition {
  const known = consumerGroups.find((name) => name === service);
  if (!known)
    throw new CliError(`service: ${service} consumes no topics: write one of ${consumerGroups.join(', ')}`);
  if (topic === undefined || partition === undefined || !/^\d{1,6}$/.test(partition))
    throw new CliError('topic, partition: name both, as listed by pesewa realign');
  return { service: known, topic, partition: Number(partition) };
}

function readTarget(to: string | undefined): string {
  if (to !== undefined && (['stored', 'start', 'end'].includes(to) || /^\d{1,18}$/.test(to))) return to;
  throw new CliError(`--to: write stored, start, end, or an offset`);
}

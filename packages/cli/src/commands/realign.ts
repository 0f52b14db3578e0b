import {
  type ConsumerGroup,
  consumerGroups,
  dryRunOf,
  type PositionView,
  positionOperations,
} from '@pesewa/contracts';
import { describeRealignment } from '@pesewa/operator-client';
import { type Command, Option } from 'commander';
import { readReason, reasonOption } from '../arguments.ts';
import { askServices, requireAllAnswers } from '../clients/ask-services.ts';
import { openContext } from '../context.ts';
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
  readonly reason?: string;
  readonly dryRun?: boolean;
}

/** Adds `realign`: shows the positions of services in their topics, and starts stopped partitions (ADR 43). */
export function addRealignCommand(program: Command, ports: CliPorts): void {
  const realign = program
    .command('realign')
    .description('lists the stopped partitions; with a partition, starts it with what Kafka keeps')
    .argument('[service]', `who consumes it: ${consumerGroups.join(', ')}`)
    .argument('[topic]', 'its topic, as the list shows it')
    .argument('[partition]', 'its number')
    .addOption(reasonOption())
    .option('--dry-run', 'show how many messages would be applied again or are gone, and change nothing')
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
    'pesewa realign reconciler payouts.events.v1 3 --dry-run',
    'pesewa realign reconciler payouts.events.v1 3 --reason "the topic was made anew"',
  ]);
  withExitCodes(
    realign,
    '1 if a service gave no answer; the answers of the others are printed. 0 however many are stopped.',
  );
}

async function list(ports: CliPorts, options: RealignOptions, command: Command): Promise<void> {
  const { service, reason, dryRun } = options;
  if (reason !== undefined || dryRun)
    throw new CliError('service, topic, partition: name the partition, as listed by pesewa realign');
  const { operations } = await openContext(ports, command);
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
    ],
    items,
    schemaOf(positionOperations.list, 'items'),
    { colours, empty: 'no partition is stopped' },
  );
  const remedies = items
    .filter(({ state }) => state === 'stopped')
    .map(
      (one) => `\n${one.service} ${one.topic} ${one.partition}: ${one.reason ?? ''}\n  ${one.remedy ?? ''}\n`,
    );
  return [table, ...remedies].join('');
}

async function start(
  ports: CliPorts,
  at: ServicePartition,
  options: RealignOptions,
  command: Command,
): Promise<void> {
  const { operations } = await openContext(ports, command);
  const { service, ...place } = at;
  if (options.dryRun) {
    const body = { ...place, reason: 'a dry run', dryRun: true };
    const { plan, reason } = await operations.call(service, dryRunOf(positionOperations.realign), { body });
    ports.print(`stopped: ${reason ?? ''}\nwould make ${describeRealignment(plan)}; nothing was changed\n`);
    return;
  }
  if (options.reason === undefined) throw new CliError('--reason: say why, in one line');
  const body = { ...place, reason: readReason(options.reason) };
  const done = await operations.call(service, positionOperations.realign, { body });
  ports.print(`done: ${describeRealignment(done)}; the partition continues within half a minute\n`);
}

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

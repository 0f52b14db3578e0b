import {
  type ConsumerGroup,
  consumerGroups,
  type ParkedDetailView,
  type ParkedView,
  parkedOperations,
} from '@pesewa/contracts';
import { describeParked, RefusedError } from '@pesewa/operator-client';
import { type Command, Option } from 'commander';
import { refuseUnseen } from '../arguments.ts';
import { type CommandContext, openContext } from '../context.ts';
import { type Called } from '../declared.ts';
import { CliError } from '../errors.ts';
import { schemaOf } from '../fields.ts';
import { withExamples } from '../help.ts';
import { addAct, addList, addShow } from '../operation-commands.ts';
import type { CliPorts } from '../ports.ts';
import { serviceOf } from '../service-of.ts';
import { linesOf, namedLines } from '../views.ts';

const ID = 'its id: <service>/<topic>/<partition>/<offset>';
const EXAMPLE = 'ledger/payouts.events.v1/3/1742';
/** How many messages one call replays; for more, repeat the call. */
const REPLAYED_MAX = 1_000;

const common = { service: serviceOf, help: { id: ID }, mayLack: ['requestedAt'] } as const;

/** Adds `parked …`: messages that services could not apply, replayed by one operator or discarded by two. */
export function addParkedCommands(program: Command, ports: CliPorts): void {
  const parked = program
    .command('parked')
    .description('messages that services could not apply and parked; without a verb it lists them');
  addList(parked, ports, {
    name: 'list',
    isDefault: true,
    operation: parkedOperations.list,
    service: consumerGroups,
    description: 'the messages that wait for people, the newest first',
    usually: { state: ['parked', 'any'] },
    limit: 100,
    columns: [
      ['MESSAGE', ({ id }) => id],
      'state',
      ['TYPE', ({ eventType }) => eventType.slice(eventType.lastIndexOf('.') + 1)],
      'key',
      'parkedAt',
      'reason',
      ['WHAT WAS DONE', describeParked],
    ],
    empty: 'nothing is parked',
    newest: ({ parkedAt }) => parkedAt,
    examples: ['', '--service ledger --topic payouts.events.v1', '--state discarded --json'],
  });
  addShow(parked, ports, {
    ...common,
    name: 'show',
    operation: parkedOperations.show,
    description: 'one message: why it is parked, its headers, what it holds, what operators did with it',
    text: details,
    examples: [EXAMPLE, `${EXAMPLE} --json`],
  });
  addReplayCommand(parked, ports);
  addAct(parked, ports, {
    ...common,
    name: 'discard',
    operation: parkedOperations.discard,
    description:
      'proposes to discard a message, so that it never has an effect; another approver approves it',
    said: (one) =>
      `proposed by ${one.discard?.requestedBy ?? '?'}: another approver approves it with ${approvalOf(one) ?? '?'}\n`,
    examples: [`${EXAMPLE} --reason "captured by an order instead"`],
  });
  addDecidingCommands(parked, ports);
}

function addDecidingCommands(parked: Command, ports: CliPorts): void {
  addAct(parked, ports, {
    ...common,
    names: { requestedAt: 'seen' },
    name: 'approve',
    operation: parkedOperations.approve,
    description:
      'approves the discard that another operator proposed: the message never has an effect, which cannot be undone',
    before: async (called) => {
      if (called.given['requestedAt'] !== undefined) return called.given;
      const found = await readProposal(called);
      return refuseUnseen(ports, details(found));
    },
    said: ({ id, state, discard }) => `${state} ${id}, approved by ${discard?.decidedBy ?? '?'}\n`,
    examples: [`${EXAMPLE} --seen 2026-11-01T08:00:00.000Z`],
  });
  addAct(parked, ports, {
    ...common,
    without: ['requestedAt'],
    name: 'reject',
    operation: parkedOperations.reject,
    description: 'ends a proposal to discard, your own too: the message stays parked',
    before: async (called) => {
      const found = await readProposal(called);
      if (!called.options['json']) ports.print(details(found));
      return { ...called.given, requestedAt: found.discard?.requestedAt };
    },
    said: ({ id, state, discard }) =>
      `${state} ${id}, the proposal was rejected by ${discard?.decidedBy ?? '?'}\n`,
    examples: [`${EXAMPLE} --reason "it can be replayed"`],
  });
}

/** A message whose discard is proposed. */
async function readProposal({ context, given, services }: Called): Promise<ParkedDetailView> {
  const id = String(given['id']);
  const [service = serviceOf(id)] = services;
  const found = await context.operations.call(service, parkedOperations.show, { parameters: { id } });
  if (found.discard?.status !== 'proposed') throw new CliError(`id: it is not proposed to discard ${id}`);
  return found;
}

/** The command that approves the discard as it is proposed now. */
const approvalOf = ({ id, discard }: ParkedView): string | undefined =>
  discard?.status === 'proposed' ? `pesewa parked approve ${id} --seen ${discard.requestedAt}` : undefined;

const details = (one: ParkedDetailView): string =>
  `${namedLines([
    ['approve with', approvalOf(one)],
    ['headers', one.headers === null ? 'too many to be kept: they lie in the topic alone' : null],
  ])}${linesOf(one, schemaOf(parkedOperations.show))}`;

interface ReplayOptions {
  readonly service?: ConsumerGroup;
  readonly topic?: string;
}

function addReplayCommand(parked: Command, ports: CliPorts): void {
  const replay = parked
    .command('replay')
    .description('applies messages again, each once; one that fails stays parked')
    .argument('[id]', ID)
    .addOption(
      new Option(
        '--service <service>',
        'instead of an id: all that wait at this service, in the order of their topics',
      ).choices(consumerGroups),
    )
    .option('--topic <topic>', 'with --service: only those of this topic')
    .action(async (id: string | undefined, options: ReplayOptions, command: Command) => {
      const context = await openContext(ports, command);
      const ids = await idsOf(context, id, options);
      let failed = 0;
      for (const one of ids) failed += (await replayOne(context, one)) ? 0 : 1;
      if (ids.length === 0) ports.print('nothing is parked\n');
      if (failed > 0) throw new CliError(`${failed} of ${ids.length} stay parked: see pesewa parked list`);
    });
  withExamples(replay, [
    `pesewa parked replay ${EXAMPLE}`,
    'pesewa parked replay --service ledger',
    'pesewa parked replay --service ledger --topic payouts.events.v1',
  ]);
}

/** The ids of the messages to replay, in the order of their topics. */
async function idsOf(
  { operations }: CommandContext,
  id: string | undefined,
  { service, topic }: ReplayOptions,
): Promise<readonly string[]> {
  if (id !== undefined && service === undefined) return [id];
  if (id !== undefined || service === undefined)
    throw new CliError('id: name one message, or a --service, and not both');
  const query = { state: 'parked', topic } as const;
  const { items } = await operations.list(service, parkedOperations.list, query, REPLAYED_MAX);
  const place = (one: ParkedView) => `${one.topic}/${one.partition}`;
  return items
    .toSorted(
      (one, other) =>
        place(one).localeCompare(place(other)) || Number(BigInt(one.offset) - BigInt(other.offset)),
    )
    .map((one) => one.id);
}

/** Replays a message and prints what came of it; gives whether it took effect. */
async function replayOne({ operations, ports }: CommandContext, id: string): Promise<boolean> {
  try {
    const { state } = await operations.call(serviceOf(id), parkedOperations.replay, { parameters: { id } });
    ports.print(`${state} ${id}\n`);
    return true;
  } catch (error) {
    // Any other refusal concerns the caller or the request, and all further messages would get it too.
    if (!(error instanceof RefusedError) || error.code !== 'replay_failed') throw error;
    ports.print(`failed ${id}: ${error.message}\n`);
    return false;
  }
}

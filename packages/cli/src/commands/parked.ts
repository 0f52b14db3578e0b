import {
  type ConsumerGroup,
  consumerGroups,
  type ParkedDetailView,
  type ParkedView,
  parkedStates,
} from '@pesewa/contracts';
import { describeParked, RefusedError } from '@pesewa/operator-client';
import { type Command, Option } from 'commander';
import { readCount, readLine, readSeenTime, refuseUnseen, seenOption } from '../arguments.ts';
import { requireAllAnswers } from '../clients/ask-services.ts';
import { serviceOf } from '../clients/parked.ts';
import { type CommandContext, openContext } from '../context.ts';
import { CliError } from '../errors.ts';
import { withExamples, withExitCodes } from '../help.ts';
import type { CliPorts } from '../ports.ts';
import { cellText, formatJson, formatTable } from '../print.ts';

const REASON_LENGTH_MAX = 200;
const ID = 'its id: <service>/<topic>/<partition>/<offset>';
const REASON = 'why, in one line of at most 200 characters, without names or numbers of people';
/** How many messages one call replays; for more, repeat the call. */
const REPLAYED_MAX = 1_000;

/** Adds `parked …`: messages that services could not apply, replayed by one operator or discarded by two. */
export function addParkedCommands(program: Command, ports: CliPorts): void {
  const parked = program
    .command('parked')
    .description('messages that services could not apply and parked; without a verb it lists them');
  addListCommand(parked, ports);
  addShowCommand(parked, ports);
  addReplayCommand(parked, ports);
  addDiscardCommand(parked, ports);
  addDecideCommands(parked, ports);
}

const serviceOption = (what: string) => new Option('--service <service>', what).choices(consumerGroups);

interface ListOptions {
  readonly service?: ConsumerGroup;
  readonly state: ParkedView['state'] | 'any';
  readonly topic?: string;
  readonly proposed?: boolean;
  readonly limit: string;
  readonly json?: boolean;
}

function addListCommand(parked: Command, ports: CliPorts): void {
  const list = parked
    .command('list', { isDefault: true })
    .description('the messages that wait for people, the newest first')
    .addOption(serviceOption('only those of this service'))
    .addOption(
      new Option('--state <state>', 'only those in this state')
        .choices([...parkedStates, 'any'])
        .default('parked'),
    )
    .option('--topic <topic>', 'only those of this topic, such as payouts.events.v1')
    .option('--proposed', 'only those that wait, and that it is proposed to discard')
    .option('--limit <count>', 'how many of each service at most', '100')
    .option('--json', 'print JSON')
    .action(async ({ service, topic, json, ...options }: ListOptions, command: Command) => {
      const limit = readCount('--limit', options.limit);
      const state = options.state === 'any' ? undefined : options.state;
      const { operations } = await openContext(ports, command);
      const proposed = options.proposed ? 'true' : undefined;
      const found = await operations.parked.list({ service, state, topic, proposed, limit });
      ports.print(json ? formatJson(found) : table(found.items, ports.colours));
      requireAllAnswers(found);
    });
  withExamples(list, [
    'pesewa parked list',
    'pesewa parked list --service ledger --topic payouts.events.v1',
    'pesewa parked list --state discarded --json',
  ]);
  withExitCodes(
    list,
    '1 if a service gave no answer; the answers of the others are printed. 0 however much is parked.',
  );
}

function addShowCommand(parked: Command, ports: CliPorts): void {
  const show = parked
    .command('show')
    .description('one message: why it is parked, its headers, what it holds, what operators did with it')
    .argument('<id>', ID)
    .option('--json', 'print JSON')
    .action(async (id: string, options: { readonly json?: boolean }, command: Command) => {
      const { operations } = await openContext(ports, command);
      const found = await operations.parked.show(id);
      ports.print(options.json ? formatJson(found) : details(found));
    });
  withExamples(show, [
    'pesewa parked show ledger/payouts.events.v1/3/1742',
    'pesewa parked show ledger/payouts.events.v1/3/1742 --json',
  ]);
}

function addReplayCommand(parked: Command, ports: CliPorts): void {
  const replay = parked
    .command('replay')
    .description('applies messages again, each once; one that fails stays parked')
    .argument('[id]', ID)
    .addOption(serviceOption('instead of an id: all that wait at this service, in the order of their topics'))
    .option('--topic <topic>', 'with --service: only those of this topic')
    .action(async (id: string | undefined, options: ReplayOptions, command: Command) => {
      const context = await openContext(ports, command);
      const ids = await idsOf(context, id, options);
      let failed = 0;
      for (const one of ids) {
        const replayed = await replayOne(context, one);
        ports.print(replayed.line);
        if (!replayed.ok) failed += 1;
      }
      if (ids.length === 0) ports.print('nothing is parked\n');
      if (failed > 0) throw new CliError(`${failed} of ${ids.length} stay parked: see pesewa parked list`);
    });
  withExamples(replay, [
    'pesewa parked replay ledger/payouts.events.v1/3/1742',
    'pesewa parked replay --service ledger',
    'pesewa parked replay --service ledger --topic payouts.events.v1',
  ]);
}

interface ReplayOptions {
  readonly service?: ConsumerGroup;
  readonly topic?: string;
}

/** The ids of the messages to replay, in the order of their topics. */
async function idsOf(
  { operations }: CommandContext,
  id: string | undefined,
  { service, topic }: ReplayOptions,
): Promise<readonly string[]> {
  if ((id === undefined) === (service === undefined)) {
    throw new CliError('id: name one message, or a --service, and not both');
  }
  if (id !== undefined) return [id];
  const { items, missing } = await operations.parked.list({
    service,
    topic,
    state: 'parked',
    limit: REPLAYED_MAX,
  });
  const [silent] = missing;
  if (silent) throw new CliError(silent.why);
  const place = (one: ParkedView) => `${one.topic}/${one.partition}`;
  return items
    .toSorted(
      (one, other) =>
        place(one).localeCompare(place(other)) || Number(BigInt(one.offset) - BigInt(other.offset)),
    )
    .map((one) => one.id);
}

async function replayOne(
  { operations }: CommandContext,
  id: string,
): Promise<{ readonly ok: boolean; readonly line: string }> {
  try {
    return { ok: true, line: `${(await operations.parked.replay(id)).state} ${id}\n` };
  } catch (error) {
    // Any other refusal concerns the caller or the request, and all further messages would get it too.
    if (!(error instanceof RefusedError) || error.code !== 'replay_failed') throw error;
    return { ok: false, line: `failed ${id}: ${error.message}\n` };
  }
}

function addDiscardCommand(parked: Command, ports: CliPorts): void {
  const discard = parked
    .command('discard')
    .description(
      'proposes to discard a message, so that it never has an effect; another approver approves it',
    )
    .argument('<id>', ID)
    .requiredOption('--reason <text>', REASON)
    .action(async (id: string, options: { readonly reason: string }, command: Command) => {
      const reason = readLine('--reason', options.reason, REASON_LENGTH_MAX);
      const { operations } = await openContext(ports, command);
      const proposed = await operations.parked.discard(id, reason);
      ports.print(
        `proposed by ${proposed.discard?.requestedBy ?? '?'}: another approver approves it with ${approvalOf(proposed) ?? '?'}\n`,
      );
    });
  withExamples(discard, [
    'pesewa parked discard ledger/payouts.events.v1/3/1742 --reason "captured by an order instead"',
  ]);
}

function addDecideCommands(parked: Command, ports: CliPorts): void {
  const approve = parked
    .command('approve')
    .description(
      'approves the discard that another operator proposed: the message never has an effect, which cannot be undone',
    )
    .argument('<id>', ID)
    .addOption(seenOption('when it was proposed'))
    .action(async (id: string, options: { readonly seen?: string }, command: Command) => {
      const seen = options.seen && readSeenTime(options.seen);
      const { parked: messages } = (await openContext(ports, command)).operations;
      if (!seen) {
        const found = await messages.show(id);
        if (!approvalOf(found)) throw notProposed(id);
        return refuseUnseen(ports, details(found));
      }
      const { state, discard } = await messages.approve(id, seen);
      ports.print(`${state} ${id}, approved by ${discard?.decidedBy ?? '?'}\n`);
    });
  withExamples(approve, [
    'pesewa parked approve ledger/payouts.events.v1/3/1742 --seen 2026-11-01T08:00:00.000Z',
    'PESEWA_APPROVER_TOKEN=… pesewa parked approve ledger/payouts.events.v1/3/1742 --seen 2026-11-01T08:00:00.000Z',
  ]);
  const reject = parked
    .command('reject')
    .description('ends a proposal to discard, your own too: the message stays parked')
    .argument('<id>', ID)
    .requiredOption('--reason <text>', REASON)
    .action(async (id: string, options: { readonly reason: string }, command: Command) => {
      const reason = readLine('--reason', options.reason, REASON_LENGTH_MAX);
      const { operations } = await openContext(ports, command);
      const seen = await showProposal(ports, operations, id);
      const { state, discard } = await operations.parked.reject(id, seen, reason);
      ports.print(`${state} ${id}, the proposal was rejected by ${discard?.decidedBy ?? '?'}\n`);
    });
  withExamples(reject, [
    'pesewa parked reject ledger/payouts.events.v1/3/1742 --reason "it can be replayed"',
  ]);
}

const notProposed = (id: string) => new CliError(`id: it is not proposed to discard ${id}`);

/** The command that approves the discard as it is proposed now. */
const approvalOf = ({ id, discard }: ParkedView): string | undefined =>
  discard?.status === 'proposed' ? `pesewa parked approve ${id} --seen ${discard.requestedAt}` : undefined;

/** Prints what is rejected, and gives what names the proposal. */
async function showProposal(
  ports: CliPorts,
  { parked }: CommandContext['operations'],
  id: string,
): Promise<string> {
  const seen = await parked.show(id);
  if (!seen.discard) throw notProposed(id);
  ports.print(details(seen));
  return seen.discard.requestedAt;
}

function table(items: readonly ParkedView[], colours: boolean): string {
  return formatTable(
    ['MESSAGE', 'STATE', 'TYPE', 'KEY', 'PARKED AT', 'REASON', 'WHAT WAS DONE'],
    items.map((one) => [
      one.id,
      one.state,
      one.eventType.slice(one.eventType.lastIndexOf('.') + 1),
      one.key,
      one.parkedAt,
      one.reason,
      describeParked(one),
    ]),
    { colours, empty: 'nothing is parked' },
  );
}

function details(one: ParkedDetailView): string {
  const { lastReplay, discard, headers } = one;
  const decided =
    discard?.decidedBy &&
    `, ${discard.status} by ${discard.decidedBy} at ${discard.decidedAt ?? '?'}${discard.rejectedFor === undefined ? '' : `: ${discard.rejectedFor}`}`;
  const lines: readonly (readonly [string, string | undefined])[] = [
    ['message', one.id],
    ['service', serviceOf(one.id)],
    ['state', one.state],
    ['reason', one.reason],
    ['parked at', one.parkedAt],
    ['key', one.key],
    [
      'replay',
      lastReplay && `by ${lastReplay.by} at ${lastReplay.at}: ${lastReplay.failure ?? 'took effect'}`,
    ],
    [
      'discard',
      discard &&
        `${discard.reason}; proposed by ${discard.requestedBy} at ${discard.requestedAt}${decided ?? ''}`,
    ],
    ['approve until', discard?.expiresAt],
    ['approve with', approvalOf(one)],
    ...Object.entries(headers ?? {}).map(([name, value]) => [name, value] as const),
    [
      'bytes',
      `${one.valueBytes}${headers === null ? ', too many to be kept: they lie in the topic alone' : ''}`,
    ],
    ['unreadable', one.base64],
  ];
  const text = lines
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([name, value]) => `${name.padEnd(19)}${cellText(value)}\n`)
    .join('');
  return one.payload === null ? text : `${text}\n${formatJson(one.payload)}`;
}

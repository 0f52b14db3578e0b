import { addressProblems, readHttpUrl } from '@pesewa/addresses';
import {
  type AnswerOf,
  type DeliveryView,
  deliveryOperations,
  type TestView,
  testKinds,
} from '@pesewa/contracts';
import {
  ClientError,
  describeConnection,
  describeTest,
  inWords,
  messageOf,
  RefusedError,
} from '@pesewa/operator-client';
import { type Command, Option } from 'commander';
import { readCount, readTime } from '../arguments.ts';
import { type CommandContext, openContext } from '../context.ts';
import { CliError } from '../errors.ts';
import { withExamples, withExitCodes } from '../help.ts';
import type { CliPorts } from '../ports.ts';
import { cellText, formatJson } from '../print.ts';

const SERVICE = 'webhook-dispatcher';
const NOT_FOUND = 404;
const POLL_MS = 1_000;
/** Each try signs anew, which the service's record of operators' actions keeps. */
const RETRY_MAX_MS = 30_000;
/** How far this machine's clock may be ahead of the service's. */
const CLOCK_SKEW_MS = 60_000;
/** A webhook that was created earlier may become visible later, by as long as a transaction may last. */
const COMMIT_MS = 15_000;

/** Adds `webhooks test` and `webhooks listen`, with which a merchant's developer tries an endpoint. */
export function addTryCommands(webhooks: Command, ports: CliPorts): void {
  const test = webhooks
    .command('test')
    .description(
      "sends a signed sample to a merchant's own address, as webhooks are sent, and says what it met",
    )
    .argument('<merchant>', 'its id')
    .addOption(
      new Option('--kind <kind>', 'whose address, and what it is about').choices(testKinds).default('payout'),
    )
    .option('--forward-to <url>', 'send it from here to a program of yours, such as http://localhost:8080')
    .option('--json', 'print JSON')
    .action(async (merchantId: string, options: TestOptions, command: Command) => {
      const url = options.forwardTo === undefined ? undefined : readForwardUrl(options.forwardTo);
      const { operations } = await openContext(ports, command);
      if (url !== undefined) {
        const call = { parameters: { merchantId }, body: { kind: options.kind } };
        const signed = await operations.call(SERVICE, deliveryOperations.signTest, call);
        const { status, text } = await post(ports, url, signed);
        ports.print(`${signed.headers['webhook-id']}  ${text}\n`);
        if (status < 200 || status > 299)
          throw new CliError(`the sample was not taken: ${url} answered ${status}`);
        return;
      }
      const met = await operations.call(SERVICE, deliveryOperations.test, {
        parameters: { merchantId },
        body: { kind: options.kind },
      });
      ports.print(options.json ? formatJson(met) : describe(met, merchantId, options.kind));
      if (met.finding !== 'delivered')
        throw new CliError(`the sample was not delivered: ${inWords(met.finding)}`);
    });
  withExamples(test, [
    'pesewa webhooks test demo',
    'pesewa webhooks test demo --kind collection --json',
    'pesewa webhooks test demo --forward-to http://localhost:8080',
  ]);
  withExitCodes(test, '1 if the endpoint did not answer with a 2xx status.');
  addListenCommand(webhooks, ports);
}

interface TestOptions {
  readonly kind: (typeof testKinds)[number];
  readonly forwardTo?: string;
  readonly json?: boolean;
}

interface ListenOptions {
  readonly forwardTo: string;
  readonly since?: string;
  readonly count?: string;
}

function addListenCommand(webhooks: Command, ports: CliPorts): void {
  const listen = webhooks
    .command('listen')
    .description(
      "forwards copies of a merchant's new webhooks, freshly signed, to a program of yours until Ctrl-C",
    )
    .argument('<merchant>', 'its id')
    .requiredOption('--forward-to <url>', 'where your program listens, such as http://localhost:8080')
    .option('--since <time>', 'begin with those created at this time (default: now)')
    .option('--count <count>', 'stop after so many')
    .action(async (merchant: string, options: ListenOptions, command: Command) => {
      const url = readForwardUrl(options.forwardTo);
      const since = options.since === undefined ? undefined : readTime('--since', options.since);
      const countMax = options.count === undefined ? Infinity : readCount('--count', options.count);
      const context = await openContext(ports, command);
      ports.print(`copies of the webhooks of ${merchant} go to ${url}; stop with Ctrl-C\n`);
      await listenTo(context, { merchant, url, since, countMax });
    });
  listen.addHelpText(
    'after',
    '\nIt gets fresh signatures, so it needs the token of an operator, approver or admin: a viewer, as the shared token is in production, is refused.' +
      '\nWhile your program does not answer, its webhooks wait and come in their order; any answer counts.',
  );
  withExamples(listen, [
    'pesewa webhooks listen demo --forward-to http://localhost:8080',
    'pesewa webhooks listen demo --forward-to http://localhost:8080 --since 2026-11-01T08:00:00Z --count 10',
  ]);
}

function readForwardUrl(text: string): string {
  const read = readHttpUrl(text);
  if (read.ok) return read.value.href;
  throw new CliError(
    '--forward-to: write an http or https address without a password, such as http://localhost:8080',
  );
}

interface Listening {
  readonly merchant: string;
  readonly url: string;
  readonly since: Date | undefined;
  readonly countMax: number;
}

/**
 * Asks for new webhooks once a second, less often while something fails, and forwards each in its order until it is
 * answered, whatever the answer; none of it changes a delivery.
 */
async function listenTo(context: CommandContext, listening: Listening): Promise<void> {
  const { clock, printError } = context.ports;
  const { since, countMax } = listening;
  await checkMerchant(context, listening.merchant);
  const seen = new Map<string, number>();
  let fromMs = since?.getTime() ?? clock.nowMs() - CLOCK_SKEW_MS;
  // What is there before the first round is known, not new.
  let isNew = since !== undefined;
  let count = 0;
  let trouble = '';
  let retryMs = POLL_MS;
  while (count < countMax) {
    try {
      for await (const delivery of unseen(context, { ...listening, fromMs, seen })) {
        if (isNew) {
          await forward(context, delivery, listening.url);
          trouble = '';
          count += 1;
        }
        seen.set(delivery.id, Date.parse(delivery.createdAt));
        if (count === countMax) return;
      }
      isNew = true;
      trouble = '';
    } catch (error) {
      if (!isPassing(error)) throw error;
      // A receiver may be down for minutes, which takes one line.
      if (trouble !== messageOf(error)) printError(`${messageOf(error)}: trying again\n`);
      retryMs = trouble === '' ? POLL_MS : Math.min(retryMs * 2, RETRY_MAX_MS);
      trouble = messageOf(error);
    }
    for (const atMs of seen.values()) fromMs = Math.max(fromMs, atMs - COMMIT_MS);
    for (const [id, atMs] of seen) if (atMs < fromMs) seen.delete(id);
    await clock.sleep(trouble === '' ? POLL_MS : retryMs);
  }
}

/** Whether it may be otherwise in a moment: the service or the receiver is away, or something is not there. */
function isPassing(error: unknown): error is ClientError {
  if (error instanceof RefusedError) return error.status === NOT_FOUND;
  return error instanceof ClientError;
}

/** Tells at once of a mistyped id, which would get no webhooks without a word, and of a token that may not sign. */
async function checkMerchant({ operations, ports }: CommandContext, merchantId: string): Promise<void> {
  const call = { parameters: { merchantId }, body: { kind: 'payout' } } as const;
  await operations.call(SERVICE, deliveryOperations.signTest, call).catch((error: unknown) => {
    if (!isPassing(error)) throw error;
    if (error instanceof RefusedError)
      ports.printError(
        `${merchantId} is not known yet; listening all the same. All ids: pesewa merchants list\n`,
      );
  });
}

async function* unseen(
  { operations }: CommandContext,
  from: {
    readonly merchant: string;
    readonly fromMs: number;
    readonly seen: ReadonlyMap<string, number>;
  },
): AsyncGenerator<DeliveryView> {
  const filter = { merchantId: from.merchant, from: new Date(from.fromMs).toISOString() };
  let after: string | null | undefined;
  while (after !== null) {
    const page: AnswerOf<typeof deliveryOperations.list> = await operations.call(
      SERVICE,
      deliveryOperations.list,
      { query: { ...filter, after } },
    );
    for (const delivery of page.items) if (!from.seen.has(delivery.id)) yield delivery;
    after = page.next;
  }
}

/** Forwards one webhook and prints the answer. */
async function forward(
  { operations, ports }: CommandContext,
  delivery: DeliveryView,
  url: string,
): Promise<void> {
  const { id, kind, createdAt } = delivery;
  const call = { parameters: { id } };
  const signed = await operations.call(SERVICE, deliveryOperations.sign, call).catch((error: unknown) => {
    if (error instanceof RefusedError && error.status === NOT_FOUND) return undefined;
    throw error;
  });
  if (!signed) return ports.printError(`${cellText(id)} is gone, and is passed over\n`);
  const { text } = await post(ports, url, signed);
  ports.print(`${createdAt}  ${cellText(id)}  ${inWords(kind)}  ${text}\n`);
}

/** Posts a signed webhook to a program of the developer; gives its answer, also with the time it took. */
async function post(
  { clock, forward: send }: CliPorts,
  url: string,
  signed: Omit<Parameters<CliPorts['forward']>[0], 'url'>,
): Promise<{ readonly status: number; readonly text: string }> {
  const startMs = clock.nowMs();
  const status = await send({ url, ...signed });
  return { status, text: `${status} in ${clock.nowMs() - startMs} ms` };
}

function describe(met: TestView, merchant: string, kind: TestOptions['kind']): string {
  const rule = met.rule === null ? '' : addressProblems[met.rule];
  const command =
    kind === 'payout'
      ? `pesewa merchants set-webhooks ${merchant} --payouts-url URL`
      : `pesewa merchants set-webhooks ${merchant} --collections-url URL`;
  const resolved = met.resolved?.length ? met.resolved.join(' ') : 'none';
  const { connected, tls, signature } = describeConnection(met);
  const lines = [
    `test       ${met.id}, which belongs to no payment`,
    `address    ${cellText(met.address)}`,
    ...(met.resolved ? [`resolved   ${resolved}`] : []),
    ...(connected ? [`connected  ${connected}`] : []),
    ...(tls ? [`tls        ${cellText(tls)}`] : []),
    ...(signature ? [`signature  ${signature}`] : []),
    `time       ${met.durationMs} ms`,
    `body       ${met.sentBody}`,
    ...(met.isBodyCut ? ['answer     its body is longer than what is read: send a short one'] : []),
    `result     ${describeTest(met, { kind, rule, setAddress: `with ${command}` })}`,
  ];
  return `${lines.join('\n')}\n`;
}

import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readHttpUrl } from '@pesewa/addresses';
import { messageOf, openCluster, openInfrastructure, StartError } from '@pesewa/infrastructure';
import { createMerchantClient, createRunFileWriter, openStack, runDemo, type Stack } from '@pesewa/stack';
import { whenOrphaned } from './parent.ts';
import { createTerminal, type Terminal } from './terminal.ts';

const checkout = join(import.meta.dirname, '..');

const help = `npm start [-- options]

Brings MongoDB, Kafka and a schema registry up, starts all services, seeds the merchants demo and rival,
runs a short demo of money moving, and stays up until Ctrl-C.

  --once      stop after the demo; exit code 0 if it ended well
  --no-demo   skip the demo
  --keep      keep the data in .pesewa/data and use it again next time; without Docker. By default all data is
              deleted when this ends
  --compact   all services in one process, for a small machine
  --cluster   on three Kafka nodes and three MongoDB members, always local daemons; about 4 GB of memory
  --webhooks-to URL
              forwards copies of the webhooks of demo, freshly signed, to a receiver of your own, such as
              http://localhost:8080
  --help      show this

  PESEWA_PORTS=free             take free ports instead of 4010 to 4081
  PESEWA_INFRASTRUCTURE=local   use local daemons even where a Docker engine answers
  MONGODB_URL, KAFKA_BROKERS, SCHEMA_REGISTRY_URL   use infrastructure of your own (all three)
`;

/** The exit code of a process that a signal ended. */
const INTERRUPTED = 130;

/** What a start has to do with outside of its stack. */
interface Surroundings extends Terminal {
  /** Where the run file, logs and kept data are. */
  readonly root: string;
  readonly open: typeof openStack;
  readonly interrupted: Promise<NodeJS.Signals>;
}

/** Starts all of it as the arguments of `npm start` say, until it is done or interrupted; gives the exit code. */
export async function start(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const { root, interrupted, say } = surroundings;
  const off = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({
    args: [...args],
    allowNegative: true,
    options: {
      once: off,
      keep: off,
      compact: off,
      cluster: off,
      help: off,
      demo: { type: 'boolean', default: true },
      'webhooks-to': { type: 'string' },
    },
  });
  if (values.help) {
    say(help);
    return 0;
  }
  if (values.keep && values.cluster)
    throw new StartError('a cluster keeps no data: leave --keep or --cluster out');
  const webhooksTo = values['webhooks-to'];
  if (webhooksTo !== undefined && !readHttpUrl(webhooksTo).ok)
    throw new StartError(
      '--webhooks-to: write an http or https address without a password, such as http://localhost:8080',
    );
  const runFilePath = join(root, '.pesewa', 'run.json');
  const runFile = createRunFileWriter(runFilePath);
  await runFile.remove();
  let stack: Stack | undefined;
  const opening = surroundings.open({
    root,
    log: say,
    ports: process.env['PESEWA_PORTS'] === 'free' ? 'free' : 'fixed',
    logDirectory: join('.pesewa', 'logs'),
    isCompact: values.compact,
    hasConsole: true,
    infrastructure: () =>
      infrastructure(surroundings, values.cluster ? 'cluster' : values.keep ? 'kept' : 'fresh'),
    ...(values.keep ? { dataDirectory: join(root, '.pesewa', 'data', 'simulator') } : {}),
    changed: () => {
      if (stack) void runFile.write(stack.runFile());
    },
  });
  const first = await Promise.race([opening, interrupted]);
  // The stack is partly started: its watchdogs stop the running parts in reverse order once this process has ended.
  if (typeof first === 'string') return INTERRUPTED;
  await using opened = first;
  stack = opened;
  await runFile.write(opened.runFile());
  const listener =
    webhooksTo === undefined ? undefined : forwardWebhooks(surroundings, webhooksTo, runFilePath);
  try {
    const signal = values.demo ? await Promise.race([print(opened, say), interrupted]) : undefined;
    if (values.once) return signal === undefined ? 0 : INTERRUPTED;
    if (signal === undefined) {
      say(describe(opened.runFile()));
      await interrupted;
    }
    say('stopping …');
    return 0;
  } finally {
    listener?.kill();
    stack = undefined;
    await runFile.remove();
  }
}

/** The command by which anybody forwards webhooks; it reads the addresses of this run from its file. */
function forwardWebhooks({ say }: Surroundings, url: string, runFile: string): ChildProcess {
  const main = join(checkout, 'packages', 'cli', 'src', 'main.ts');
  // The command takes a moment to start, and the demo doesn't wait for it.
  const since = new Date().toISOString();
  const listen = ['webhooks', 'listen', 'demo', '--forward-to', url, '--since', since];
  const command = [main, ...listen, '--run-file', runFile];
  return spawn(process.execPath, command, { stdio: ['ignore', 'inherit', 'inherit'] }).on('error', (error) =>
    say(`webhooks are not forwarded: ${error.message}`),
  );
}

/** Containers keep no data, so kept data needs local daemons or the infrastructure that the environment names. */
async function infrastructure({ root, say, progress }: Surroundings, wanted: 'fresh' | 'kept' | 'cluster') {
  const shown = { root, log: say, ...(progress && { progress }) };
  if (wanted === 'fresh') return openInfrastructure(shown);
  if (wanted === 'kept')
    return openInfrastructure({
      ...shown,
      env: { ...process.env, PESEWA_INFRASTRUCTURE: 'local' },
      fresh: false,
    });
  say('starting three Kafka nodes and three MongoDB members');
  const opened = await openCluster(shown);
  const nodes = Object.entries(opened.pids).map(([name, pid]) => `${name} ${pid}`);
  say(`the cluster is up; process ids: ${nodes.join(', ')}`);
  return opened;
}

async function print(stack: Stack, say: Surroundings['say']): Promise<undefined> {
  const { transferUrl, collectionsUrl, merchants } = stack.runFile();
  const [demo] = merchants;
  if (!demo) throw new StartError('the merchant demo is missing: start again');
  const merchant = createMerchantClient({ transferUrl, collectionsUrl, publicKey: demo.publicKey });
  await runDemo({ stack, merchant, merchantId: demo.id, run: randomBytes(4).toString('hex'), print: say });
  say('Every pesewa accounted for.');
}

const describe = (run: ReturnType<Stack['runFile']>): string => `
Console          ${run.consoleUrl}: sign in with operatorToken or, as a second person, approverToken of .pesewa/run.json
Payout API       ${run.transferUrl}/api/v1
Collection API   ${run.collectionsUrl}/collection/v1
Simulator        ${run.simulatorUrl}/control/journal?reference=…
Operations       ${run.operations['ledger']}/metrics and the like; token and all addresses in .pesewa/run.json
MongoDB          ${run.mongodbUrl}
Kafka            ${run.kafkaBrokers.join(',')}
Schema registry  ${run.schemaRegistryUrl}
Logs             .pesewa/logs/

Ctrl-C stops everything.`;

if (import.meta.main) {
  const interrupted = Promise.withResolvers<NodeJS.Signals>();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => interrupted.resolve(signal));
  whenOrphaned(() => interrupted.resolve('SIGHUP'));
  start(process.argv.slice(2), {
    root: checkout,
    open: openStack,
    interrupted: interrupted.promise,
    ...createTerminal(process.stdout),
  }).then(
    (code) => process.exit(code),
    (error: unknown) => {
      process.stderr.write(`pesewa: ${error instanceof StartError ? error.message : messageOf(error)}\n`);
      process.exit(1);
    },
  );
}

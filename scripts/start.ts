import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { messageOf, openCluster, openInfrastructure, StartError } from '@pesewa/infrastructure';
import { createMerchantClient, createRunFileWriter, openStack, runDemo, type Stack } from '@pesewa/stack';
import { repositoryRoot as root, whenOrphaned } from './command.ts';

const help = `npm start [-- options]

Brings MongoDB, Kafka and a schema registry up, starts all services, seeds the merchants demo and rival,
runs a short demo of money moving, and stays up until Ctrl-C.

  --once      stop after the demo; exit code 0 if it ended well
  --no-demo   skip the demo
  --keep      keep the data in .pesewa/data and use it again next time; without Docker. By default all data is
              deleted when this ends
  --compact   all services in one process, for a small machine
  --cluster   on three Kafka nodes and three MongoDB members, always local daemons; about 4 GB of memory
  --help      show this

  PESEWA_PORTS=free             take free ports instead of 4010 to 4081
  PESEWA_INFRASTRUCTURE=local   use local daemons even where a Docker engine answers
  MONGODB_URL, KAFKA_BROKERS, SCHEMA_REGISTRY_URL   use infrastructure of your own (all three)
`;

/** The exit code of a process that a signal ended. */
const INTERRUPTED = 130;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Starts all of it as the arguments of `npm start` say, until it is done or interrupted; gives the exit code. */
async function start(interrupted: Promise<NodeJS.Signals>): Promise<number> {
  const off = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({
    allowNegative: true,
    options: {
      once: off,
      keep: off,
      compact: off,
      cluster: off,
      help: off,
      demo: { type: 'boolean', default: true },
    },
  });
  if (values.help) {
    say(help);
    return 0;
  }
  if (values.keep && values.cluster)
    throw new StartError('a cluster keeps no data: leave --keep or --cluster out');
  const runFile = createRunFileWriter(join(root, '.pesewa', 'run.json'));
  await runFile.remove();
  let stack: Stack | undefined;
  const opening = openStack({
    root,
    log: say,
    ports: process.env['PESEWA_PORTS'] === 'free' ? 'free' : 'fixed',
    logDirectory: join('.pesewa', 'logs'),
    isCompact: values.compact,
    hasConsole: true,
    infrastructure: () => (values.cluster ? openThreeOfEach() : openOneOfEach(values.keep)),
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
  try {
    const signal = values.demo ? await Promise.race([demonstrate(opened), interrupted]) : undefined;
    if (values.once) return signal === undefined ? 0 : INTERRUPTED;
    if (signal === undefined) {
      say(describeRun(opened.runFile()));
      await interrupted;
    }
    say('stopping …');
    return 0;
  } finally {
    stack = undefined;
    await runFile.remove();
  }
}

/** Containers keep no data, so kept data needs local daemons or the infrastructure that the environment names. */
const openOneOfEach = (isKept: boolean) =>
  openInfrastructure({
    root,
    log: say,
    ...(isKept && { fresh: false, env: { ...process.env, PESEWA_INFRASTRUCTURE: 'local' } }),
  });

async function openThreeOfEach() {
  say('starting three Kafka nodes and three MongoDB members');
  const opened = await openCluster({ root, log: say });
  const nodes = Object.entries(opened.pids).map(([name, pid]) => `${name} ${pid}`);
  say(`the cluster is up; process ids: ${nodes.join(', ')}`);
  return opened;
}

async function demonstrate(stack: Stack): Promise<undefined> {
  const { transferUrl, collectionsUrl, merchants } = stack.runFile();
  const [demo] = merchants;
  if (!demo) throw new StartError('the merchant demo is missing: start again');
  const merchant = createMerchantClient({ transferUrl, collectionsUrl, publicKey: demo.publicKey });
  await runDemo({ stack, merchant, merchantId: demo.id, run: randomBytes(4).toString('hex'), print: say });
  say('Every pesewa accounted for.');
}

/** Where everything is that was started. */
export const describeRun = (run: ReturnType<Stack['runFile']>): string => `
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
  start(interrupted.promise).then(
    (code) => process.exit(code),
    (error: unknown) => {
      process.stderr.write(`pesewa: ${error instanceof StartError ? error.message : messageOf(error)}\n`);
      process.exit(1);
    },
  );
}

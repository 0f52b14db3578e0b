import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  type Cluster,
  type Infrastructure,
  messageOf,
  openCluster,
  openInfrastructure,
  StartError,
} from '@pesewa/infrastructure';
import { createMerchantClient, createRunFileWriter, openStack, runDemo, type Stack } from '@pesewa/stack';
import { whenOrphaned } from './parent.ts';

const root = join(import.meta.dirname, '..');

const help = `npm start [-- options]

Brings MongoDB, Kafka and a schema registry up, starts all seven services, seeds the merchants demo and rival,
runs a short demo of money moving, and stays up until Ctrl-C.

  --once      stop after the demo; exit code 0 if it ended well
  --no-demo   skip the demo
  --keep      keep the data in .pesewa/data and use it again next time; without Docker. By default all data is
              deleted when this ends
  --cluster   on three Kafka nodes and three MongoDB members, always local daemons; about 4 GB of memory
  --help      show this

  PESEWA_PORTS=free             take free ports instead of 4010 to 4071
  PESEWA_INFRASTRUCTURE=local   use local daemons even where a Docker engine answers
  MONGODB_URL, KAFKA_BROKERS, SCHEMA_REGISTRY_URL   use infrastructure of your own (all three)
`;

/** The exit code of a process that a signal ended. */
const INTERRUPTED = 130;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function main(): Promise<number> {
  const { values } = parseArgs({
    allowNegative: true,
    options: {
      once: { type: 'boolean', default: false },
      demo: { type: 'boolean', default: true },
      keep: { type: 'boolean', default: false },
      cluster: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    say(help);
    return 0;
  }
  if (values.keep && values.cluster)
    throw new StartError('a cluster keeps no data: leave --keep or --cluster out');
  const interrupted = Promise.withResolvers<NodeJS.Signals>();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => interrupted.resolve(signal));
  whenOrphaned(() => interrupted.resolve('SIGHUP'));
  const runFile = createRunFileWriter(join(root, '.pesewa', 'run.json'));
  await runFile.remove();
  let stack: Stack | undefined;
  const opening = openStack({
    root,
    log: say,
    ports: process.env['PESEWA_PORTS'] === 'free' ? 'free' : 'fixed',
    logDirectory: join('.pesewa', 'logs'),
    infrastructure: () => (values.cluster ? cluster() : infrastructure(values.keep)),
    ...(values.keep ? { dataDirectory: join(root, '.pesewa', 'data', 'simulator') } : {}),
    changed: () => {
      if (stack) void runFile.write(stack.runFile());
    },
  });
  const first = await Promise.race([opening, interrupted.promise]);
  // The stack is partly started: its watchdogs stop the running parts in reverse order once this process has ended.
  if (typeof first === 'string') return INTERRUPTED;
  await using opened = first;
  stack = opened;
  await runFile.write(opened.runFile());
  try {
    const signal = values.demo ? await Promise.race([print(opened), interrupted.promise]) : undefined;
    if (values.once) return signal === undefined ? 0 : INTERRUPTED;
    if (signal === undefined) {
      describe(opened);
      await interrupted.promise;
    }
    say('stopping …');
    return 0;
  } finally {
    stack = undefined;
    await runFile.remove();
  }
}

/** Containers keep no data, so kept data needs local daemons or the infrastructure that the environment names. */
function infrastructure(keep: boolean): Promise<Infrastructure> {
  if (!keep) return openInfrastructure({ root, log: say });
  const env = { ...process.env, PESEWA_INFRASTRUCTURE: 'local' };
  return openInfrastructure({ root, log: say, env, fresh: false });
}

async function cluster(): Promise<Cluster> {
  say('starting three Kafka nodes and three MongoDB members');
  const opened = await openCluster({ root, log: say });
  const nodes = Object.entries(opened.pids).map(([name, pid]) => `${name} ${pid}`);
  say(`the cluster is up; process ids: ${nodes.join(', ')}`);
  return opened;
}

async function print(stack: Stack): Promise<undefined> {
  const { transferUrl, collectionsUrl, merchants } = stack.runFile();
  const [demo] = merchants;
  if (!demo) throw new StartError('the merchant demo is missing: start again');
  const merchant = createMerchantClient({ transferUrl, collectionsUrl, publicKey: demo.publicKey });
  await runDemo({ stack, merchant, merchantId: demo.id, run: randomBytes(4).toString('hex'), print: say });
  say('Every pesewa accounted for.');
  return undefined;
}

function describe(stack: Stack): void {
  const {
    transferUrl,
    collectionsUrl,
    simulatorUrl,
    operations,
    mongodbUrl,
    kafkaBrokers,
    schemaRegistryUrl,
  } = stack.runFile();
  say(`
Payout API       ${transferUrl}/api/v1
Collection API   ${collectionsUrl}/collection/v1
Simulator        ${simulatorUrl}/control/journal?reference=…
Operations       ${operations['ledger']}/metrics and the like; token and all addresses in .pesewa/run.json
MongoDB          ${mongodbUrl}
Kafka            ${kafkaBrokers.join(',')}
Schema registry  ${schemaRegistryUrl}
Logs             .pesewa/logs/

Ctrl-C stops everything.`);
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`pesewa: ${error instanceof StartError ? error.message : messageOf(error)}\n`);
    process.exit(1);
  },
);

import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ServiceName, serviceNames, services } from '@pesewa/contracts';
import {
  createSupervisor,
  type Infrastructure,
  plainSettings,
  type ReservedPort,
  reservePort,
  reservePorts,
  type Supervisor,
} from '@pesewa/infrastructure';
import { prepareTopics } from '@pesewa/messaging';
import { createOperatorClient, type OperatorClient } from '../clients/operator.ts';
import { createSimulatorClient, type SimulatorClient } from '../clients/simulator.ts';
import { waitUntilPayable } from './gateway-readiness.ts';
import { createOneProcess, createProcesses, type Processes, type ProcessOptions } from './processes.ts';
import type { RunFile } from './run-file.ts';
import { type SeededMerchant, seed } from './seed.ts';
import {
  databasePrefix,
  newToken,
  operationsUrl,
  publicUrl,
  type RailOverrides,
  type ServicePorts,
  type StackSettings,
  serviceEnvironment,
  topicPrefix,
} from './settings.ts';
import { SIMULATOR_RAIL } from './simulator-rail.ts';
import { type SupervisedService, superviseService } from './supervise.ts';

/** All services running against real infrastructure, seeded. Closing stops them in reverse order. */
export interface Stack extends AsyncDisposable {
  readonly merchants: readonly SeededMerchant[];
  readonly simulator: SimulatorClient;
  readonly operator: OperatorClient;
  readonly service: Processes['service'];
  /** Starts one more process of a service, on its own ports, and waits until it is ready. */
  readonly replicate: (name: ServiceName, environment?: Readonly<Record<string, string>>) => Promise<Replica>;
  readonly url: (name: ServiceName) => string;
  /** The present content of this stack's run file. */
  readonly runFile: () => RunFile;
}

/** One process of a service, and its ports. */
export interface Replica {
  readonly service: SupervisedService;
  readonly url: string;
  readonly operationsUrl: string;
}

/** Options of a stack. */
export interface StackOptions extends ProcessOptions {
  /** Opens the infrastructure; called once the ports are reserved. It is closed after the services. */
  readonly infrastructure: () => Promise<Infrastructure>;
  /** The ports of ARCHITECTURE.md, or free ones. */
  readonly ports: 'fixed' | 'free';
  readonly logLevel?: string;
  /** The prefix of databases, topics and consumer groups, so that stacks can share infrastructure. */
  readonly prefix?: string;
  /** Where the simulator's journal stays, absolute; without one it is gone with the stack. */
  readonly dataDirectory?: string;
  /** Further settings of the rail, for every service that uses it. */
  readonly rail?: RailOverrides;
  /** Whether all services are one process, by default each is one of its own. */
  readonly isCompact?: boolean;
  /** Whether the console runs too; as part of one process it always does. */
  readonly hasConsole?: boolean;
}

/**
 * Starts the services in parallel, waits until each is ready, and seeds the demonstration.
 *
 * The reconciler starts after the seeding: before it, the balances of the simulator's wallets would be unknown to our
 * books and reported as breaks.
 */
export async function openStack(options: StackOptions): Promise<Stack> {
  const closers = new AsyncDisposableStack();
  const hasConsole = options.hasConsole === true || options.isCompact === true;
  try {
    const held = await holdServicePorts(options.ports);
    const { env: addresses } = closers.use(await options.infrastructure());
    const dataDirectory = options.dataDirectory ?? (await mkdtemp(join(tmpdir(), 'pesewa-data-')));
    const isKept = options.dataDirectory !== undefined;
    if (!isKept) closers.defer(() => rm(dataDirectory, { recursive: true, force: true }));
    const supervisor = closers.use(createSupervisor());
    if (isKept) await mkdir(dataDirectory, { recursive: true });
    else supervisor.removeOnClose(dataDirectory);
    const settings: StackSettings = {
      addresses,
      ports: held.ports,
      operatorToken: newToken(),
      approverToken: newToken(),
      dataDirectory,
      logLevel: options.logLevel ?? 'info',
      prefix: options.prefix ?? '',
      rail: options.rail,
    };
    await mkdir(join(options.root, options.logDirectory), { recursive: true });
    await prepareTopics({
      settings: plainSettings(addresses),
      topicPrefix: topicPrefix(settings.prefix),
      log: options.log,
    });
    await Promise.all(held.holders.map((holder) => holder.release()));
    const createServices = options.isCompact === true ? createOneProcess : createProcesses;
    const { service, pids, start } = createServices({ options, settings, supervisor, closers });
    await start(serviceNames.filter((name) => name !== 'reconciler' && (name !== 'console' || hasConsole)));
    const simulator = createSimulatorClient(publicUrl(settings, 'provider-simulator'));
    const operator = operatorOf(settings);
    const merchants = await seed({
      mongodbUrl: addresses.MONGODB_URL,
      databasePrefix: databasePrefix(settings.prefix),
      simulatorUrl: publicUrl(settings, 'provider-simulator'),
      simulator,
      operator,
    });
    await Promise.all([
      start(['reconciler']),
      waitUntilPayable(publicUrl(settings, 'payout-gateway'), merchants),
    ]);
    options.log('all services are ready');
    const resources = closers.move();
    return {
      merchants,
      simulator,
      operator,
      service,
      replicate: (name, environment = {}) =>
        replicate(options, settings, supervisor, resources, { name, environment }),
      url: (name) => publicUrl(settings, name),
      runFile: () => ({
        ...describeRun(settings, merchants, pids),
        ...(hasConsole && { consoleUrl: publicUrl(settings, 'console') }),
      }),
      [Symbol.asyncDispose]: () => resources.disposeAsync(),
    };
  } catch (error) {
    await closers.disposeAsync();
    throw error;
  }
}

const operatorOf = (settings: StackSettings): OperatorClient =>
  createOperatorClient({
    token: settings.operatorToken,
    approverToken: settings.approverToken,
    operations: {
      ledger: operationsUrl(settings, 'ledger'),
      reconciler: operationsUrl(settings, 'reconciler'),
      'webhook-dispatcher': operationsUrl(settings, 'webhook-dispatcher'),
    },
  });

async function replicate(
  options: StackOptions,
  settings: StackSettings,
  supervisor: Supervisor,
  closers: AsyncDisposableStack,
  replica: { readonly name: ServiceName; readonly environment: Readonly<Record<string, string>> },
): Promise<Replica> {
  const { name, environment } = replica;
  const holders = await reservePorts(2);
  const [port = 0, operationsPort = 0] = holders.map((held) => held.port);
  const own = { ...settings, ports: { ...settings.ports, [name]: { port, operationsPort } } };
  await Promise.all(holders.map((holder) => holder.release()));
  const service = await superviseService({
    name,
    supervisor,
    root: options.root,
    environment: { ...serviceEnvironment(own, name), ...options.environment?.[name], ...environment },
    operationsUrl: operationsUrl(own, name),
    logFile: join(options.logDirectory, `${name}-replica.log`),
    log: options.log,
    started: () => undefined,
  });
  closers.defer(service.stop);
  await service.ready();
  return { service, url: publicUrl(own, name), operationsUrl: operationsUrl(own, name) };
}

async function holdServicePorts(choice: 'fixed' | 'free'): Promise<{
  readonly ports: Readonly<Record<ServiceName, ServicePorts>>;
  readonly holders: readonly ReservedPort[];
}> {
  const holders: ReservedPort[] = [];
  const ports: Partial<Record<ServiceName, ServicePorts>> = {};
  try {
    for (const name of serviceNames) {
      const { port, operationsPort } = services[name];
      const pair =
        choice === 'free'
          ? await reservePorts(2)
          : [
              await reservePort(port, 'PESEWA_PORTS=free'),
              await reservePort(operationsPort, 'PESEWA_PORTS=free'),
            ];
      holders.push(...pair);
      const [first, second] = pair;
      if (first && second) ports[name] = { port: first.port, operationsPort: second.port };
    }
  } catch (error) {
    await Promise.all(holders.map((holder) => holder.release()));
    throw error;
  }
  return { ports: ports as Record<ServiceName, ServicePorts>, holders };
}

function describeRun(
  settings: StackSettings,
  merchants: readonly SeededMerchant[],
  pids: RunFile['pids'],
): RunFile {
  return {
    transferUrl: publicUrl(settings, 'payout-gateway'),
    collectionsUrl: publicUrl(settings, 'collection-gateway'),
    ingressUrl: publicUrl(settings, 'webhook-ingress'),
    simulatorUrl: publicUrl(settings, 'provider-simulator'),
    operations: Object.fromEntries(serviceNames.map((name) => [name, operationsUrl(settings, name)])),
    operatorToken: settings.operatorToken,
    approverToken: settings.approverToken,
    rails: [SIMULATOR_RAIL],
    mongodbUrl: settings.addresses.MONGODB_URL,
    kafkaBrokers: settings.addresses.KAFKA_BROKERS.split(','),
    schemaRegistryUrl: settings.addresses.SCHEMA_REGISTRY_URL,
    pids: { ...pids },
    merchants,
  };
}

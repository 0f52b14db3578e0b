import { join } from 'node:path';
import { bankCodes, type ServiceName, serviceNames } from '@pesewa/contracts';
import { type Infrastructure, plainSettings, reservePorts, type Supervisor } from '@pesewa/infrastructure';
import { openDatabase, prepareTopics } from '@pesewa/messaging';
import {
  demoWallets,
  newToken,
  operationsUrl,
  publicUrl,
  type SeededMerchant,
  type ServicePorts,
  SIMULATOR_RAIL,
  type StackSettings,
  seedDirectory,
  serviceEnvironment,
  superviseService,
} from '@pesewa/stack';

/** One service running alone, for a benchmark of it. */
export interface SingleService extends AsyncDisposable {
  readonly url: string;
  readonly operationsUrl: string;
  readonly operatorToken: string;
  readonly publicKey: string;
  /** All seeded merchants; the first one's key is `publicKey`. */
  readonly merchants: readonly SeededMerchant[];
  readonly pid: () => number;
  /** The time from the start of its process until it was ready. */
  readonly readyAfterMs: number;
}

/** Starts one service on the infrastructure; the services that it would call are not running. */
export async function openService(options: {
  readonly name: ServiceName;
  readonly root: string;
  readonly infrastructure: Infrastructure;
  readonly supervisor: Supervisor;
  readonly log: (line: string) => void;
  readonly environment?: Readonly<Record<string, string>>;
}): Promise<SingleService> {
  const held = await reservePorts(2 * serviceNames.length);
  const ports = Object.fromEntries(
    serviceNames.map((name, index) => [
      name,
      {
        port: held[2 * index]?.port ?? 0,
        operationsPort: held[2 * index + 1]?.port ?? 0,
      } satisfies ServicePorts,
    ]),
  ) as Record<ServiceName, ServicePorts>;
  const settings: StackSettings = {
    addresses: options.infrastructure.env,
    ports,
    operatorToken: newToken(),
    approverToken: newToken(),
    dataDirectory: join(options.root, '.pesewa', 'temporary'),
    logLevel: 'warn',
    prefix: '',
  };
  const { env } = options.infrastructure;
  await prepareTopics({ settings: plainSettings(env), topicPrefix: '', log: options.log });
  const merchants = await seedDirectory({
    mongodbUrl: env.MONGODB_URL,
    databasePrefix: '',
    simulatorUrl: publicUrl(settings, 'provider-simulator'),
  });
  if (options.name === 'payout-gateway') {
    for (const { id: merchantId } of merchants) {
      await seedGateway({
        mongodbUrl: env.MONGODB_URL,
        databasePrefix: '',
        merchantId,
        wallets: demoWallets.map((wallet) => ({ ...wallet, bankCode: bankCodes[wallet.currency] ?? '' })),
      });
    }
  }
  await Promise.all(held.map((port) => port.release()));
  const startedMs = performance.now();
  const kept = await superviseService({
    name: options.name,
    supervisor: options.supervisor,
    root: options.root,
    environment: { ...serviceEnvironment(settings, options.name), ...options.environment },
    operationsUrl: operationsUrl(settings, options.name),
    logFile: join('.pesewa', 'logs', `bench-${options.name}.log`),
    log: options.log,
    started: () => undefined,
  });
  await kept.ready();
  const readyAfterMs = performance.now() - startedMs;
  return {
    url: publicUrl(settings, options.name),
    operationsUrl: operationsUrl(settings, options.name),
    operatorToken: settings.operatorToken,
    publicKey: merchants[0]?.publicKey ?? '',
    merchants,
    pid: kept.pid,
    readyAfterMs,
    [Symbol.asyncDispose]: kept.stop,
  };
}

/**
 * Lets a payout gateway that runs alone accept payouts: writes what it would have learned from the ledger and the rail.
 */
async function seedGateway(options: {
  readonly mongodbUrl: string;
  readonly databasePrefix: string;
  readonly merchantId: string;
  readonly wallets: readonly {
    readonly currency: string;
    readonly country: string;
    readonly bankCode: string;
  }[];
}): Promise<void> {
  await using database = await openDatabase({
    url: options.mongodbUrl,
    database: `${options.databasePrefix}payouts`,
    appName: 'pesewa-seed',
  });
  for (const { currency, country, bankCode } of options.wallets) {
    const wallet = { available: 1_000_000_000_000n, held: 0n, sequence: 1n };
    const processor = {
      code: bankCode,
      name: bankCode,
      shortName: bankCode,
      sortCode: bankCode,
      avatar: '',
      currency,
      country,
      active: true,
      blockTransaction: false,
    };
    const listing = { country, rail: SIMULATOR_RAIL, fetchedAt: new Date(), processors: [processor] };
    const set = (collection: string, _id: string, fields: object) =>
      database.db
        .collection<{ _id: string }>(collection)
        .updateOne({ _id }, { $set: fields }, { upsert: true });
    await set('wallets', `${options.merchantId}:${currency}`, wallet);
    await set('processors', `${country}:${SIMULATOR_RAIL}`, listing);
  }
}

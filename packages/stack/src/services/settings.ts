import { createHash, randomBytes } from 'node:crypto';
import { messagingServices, type ServiceName } from '@pesewa/contracts';
import type { Addresses } from '@pesewa/infrastructure';
import { demoMerchant } from './seed.ts';
import { callbackSettings, simulatorRail } from './simulator-rail.ts';

/** Where a service listens. */
export interface ServicePorts {
  readonly port: number;
  readonly operationsPort: number;
}

/** What the services of one stack share. */
export interface StackSettings {
  readonly addresses: Addresses;
  readonly ports: Readonly<Record<ServiceName, ServicePorts>>;
  /** The host by which other services reach a service; the loopback address if all run on one machine. */
  readonly hostOf?: ((name: ServiceName) => string) | undefined;
  readonly operatorToken: string;
  /** The token of the second operator, who approves the first one's orders. */
  readonly approverToken: string;
  /** The directory of the simulator's journal. */
  readonly dataDirectory: string;
  readonly logLevel: string;
  /** The prefix of databases, topics and consumer groups; empty for the names that ARCHITECTURE.md gives. */
  readonly prefix: string;
  /** Further settings of the only rail, which override the usual ones. */
  readonly rail?: RailOverrides | undefined;
}

/** Settings of a rail by their names in `RAILS`. */
export type RailOverrides = Readonly<Record<string, unknown>>;

/** The key by which our connector identifies itself to the simulator. */
const RAIL_PUBLIC_KEY = 'pesewa-hub-development-key';

/** A random token. */
export function newToken(): string {
  return randomBytes(24).toString('base64url');
}

type Places = Pick<StackSettings, 'ports' | 'hostOf'>;

const hostOf = (places: Places, name: ServiceName): string => places.hostOf?.(name) ?? '127.0.0.1';

/** The address of a service's public API. */
export function publicUrl(places: Places, name: ServiceName): string {
  return `http://${hostOf(places, name)}:${places.ports[name].port}`;
}

/** The address of a service's operations API. */
export function operationsUrl(places: Places, name: ServiceName): string {
  return `http://${hostOf(places, name)}:${places.ports[name].operationsPort}`;
}

/** The prefix of database names for a stack's prefix. */
export function databasePrefix(prefix: string): string {
  return prefix === '' ? '' : `${prefix}_`;
}

/** The prefix of topics and consumer groups for a stack's prefix. */
export function topicPrefix(prefix: string): string {
  return prefix === '' ? '' : `${prefix}.`;
}

/** The environment of one service; with shorter times than in production, so that the demonstration is quick. */
export function serviceEnvironment(settings: StackSettings, name: ServiceName): Record<string, string> {
  const simulator = publicUrl(settings, 'provider-simulator');
  const ingress = publicUrl(settings, 'webhook-ingress');
  const { port, operationsPort } = settings.ports[name];
  const common = {
    NODE_ENV: 'development',
    PORT: String(port),
    OPERATIONS_PORT: String(operationsPort),
    OPERATOR_TOKEN: settings.operatorToken,
    OPERATORS: `approver:admin:${createHash('sha256').update(settings.approverToken).digest('hex')}`,
    LOG_LEVEL: settings.logLevel,
    ...settings.addresses,
    DATABASE_PREFIX: databasePrefix(settings.prefix),
    TOPIC_PREFIX: topicPrefix(settings.prefix),
    // A killed consumer's partitions are handed over once its session has run out.
    CONSUMER_SESSION_TIMEOUT_MS: '6000',
  };
  const railList = [
    {
      ...simulatorRail({ url: simulator, publicKey: RAIL_PUBLIC_KEY }),
      requestsPerSecondMax: 5_000,
      timeoutMs: 4_000,
      ...settings.rail,
    },
  ];
  const rails = { RAILS: JSON.stringify(railList) };
  const own: Readonly<Record<ServiceName, Record<string, string>>> = {
    'payout-gateway': {
      ...rails,
      RESUBMIT_GRACE_MS: '8000',
      PUBLIC_URL: publicUrl(settings, 'payout-gateway'),
    },
    'collection-gateway': {
      ...rails,
      RESUBMIT_GRACE_MS: '8000',
      WEBHOOK_ALLOWED_ORIGINS: simulator,
      // Tests and demonstrations have few customers, so the limit is set to a million, which means none.
      COLLECTIONS_PER_NUMBER_PER_HOUR: '1000000',
      OTP_TRIES_PER_NUMBER_PER_HOUR: '1000000',
      MERCHANT_OTP_TRIES_PER_NUMBER_PER_HOUR: '1000000',
    },
    // Its one rail signs nothing, and is benchmarked.
    'webhook-ingress': { ...rails, UNVERIFIED_CALLBACKS_PER_SECOND_MAX: '2000' },
    reconciler: {
      ...rails,
      FIRST_POLL_AFTER_MS: '2000',
      POLL_BASE_MS: '1000',
      POLL_CAP_MS: '10000',
      CALLBACK_LAG_MS: '5000',
      NOT_FOUND_GRACE_MS: '8000',
      COMPARISON_INTERVAL: '*/15 * * * * *',
    },
    ledger: { RAIL_NAMES: railList.map((rail) => rail.name).join(','), WEBHOOK_ALLOWED_ORIGINS: simulator },
    'webhook-dispatcher': { WEBHOOK_ALLOWED_ORIGINS: simulator },
    console: consoleEnvironment(settings),
    'provider-simulator': {
      CLIENT_PUBLIC_KEY: RAIL_PUBLIC_KEY,
      PUBLIC_URL: simulator,
      ...callbackSettings(ingress),
      JOURNAL_FILE: `${settings.dataDirectory}/simulator-journal.jsonl`,
    },
  };
  return { ...common, ...own[name] };
}

/** Where the console finds the operator APIs, and what its sandbox pays and collects with. */
function consoleEnvironment(places: Places): Record<string, string> {
  const urls = messagingServices.map((service) => [
    `${service.replaceAll('-', '_').toUpperCase()}_URL`,
    operationsUrl(places, service),
  ]);
  return {
    ...(Object.fromEntries(urls) as Record<string, string>),
    SANDBOX: JSON.stringify({
      transferUrl: publicUrl(places, 'payout-gateway'),
      collectionsUrl: publicUrl(places, 'collection-gateway'),
      simulatorUrl: publicUrl(places, 'provider-simulator'),
      merchant: demoMerchant,
    }),
  };
}

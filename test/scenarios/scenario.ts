import { randomBytes } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { auditLedger, type Violation } from '@pesewa/audit';
import {
  type ConsumerGroup,
  parseJson,
  payoutWebhook,
  type ServiceName,
  serviceNames,
  type TopicName,
} from '@pesewa/contracts';
import { type Infrastructure, openInfrastructure } from '@pesewa/infrastructure';
import { systemClock } from '@pesewa/kernel';
import {
  createMerchantClient,
  type MerchantClient,
  openStack,
  type Stack,
  type StackOptions,
} from '@pesewa/stack';
import {
  createTestKafka,
  createTopicReader,
  eventually,
  type ReadMessage,
  topicNameOf,
} from '@pesewa/testkit';
import { expect } from 'vitest';

/** All seven services as processes, with the merchant `demo` and the actions that tests use. */
export interface Scenario extends AsyncDisposable {
  readonly stack: Stack;
  readonly demo: MerchantClient;
  readonly merchantId: string;
  /** The prefix of this stack's databases, topics and consumer groups. */
  readonly prefix: string;
  /** A merchant's reference that only this test uses. */
  readonly reference: (name: string) => string;
  /** Waits until the payout has the status; returns our own reference. */
  readonly payoutBecomes: (reference: string, status: string) => Promise<string>;
  /** Has the rail asked about payments now, once the reconciler knows them; those that have ended are left alone. */
  readonly poll: (ourReferences: readonly string[]) => Promise<void>;
  /** The kinds of a payment's ledger entries, in alphabetical order. */
  readonly entryKinds: (ourReference: string) => Promise<readonly string[]>;
  /** How often the rail executed the payment. */
  readonly executions: (ourReference: string) => Promise<number>;
  /** The statuses of the webhooks that the merchant received for a payout, in order. */
  readonly webhookStatuses: (reference: string) => Promise<readonly string[]>;
  /** The violations that the audit of the books finds, payouts and collections included (L1 to L12). */
  readonly violations: () => Promise<readonly Violation[]>;
  /** Arms a crash point of the running process of a service, as `CRASH_AT` would: `name:n`, `name:n:freeze:text`. */
  readonly arm: (service: ServiceName, at: string) => Promise<void>;
  /** Waits until so many replicas of a service share its partitions: one that is ready may not have any yet. */
  readonly joined: (service: ConsumerGroup, replicas: number) => Promise<void>;
  /** Reads a topic from its beginning to its present end. */
  readonly readTopic: (topic: TopicName) => Promise<readonly ReadMessage[]>;
  /** How many lines of a service's log contain the text, including those of earlier runs. */
  readonly logLines: (service: ServiceName, text: string) => Promise<number>;
}

const root = join(import.meta.dirname, '..', '..');

/** A setting of the reconciler with which nothing is polled but by a callback or by {@link Scenario.poll}. */
export const polledOnDemand = { FIRST_POLL_AFTER_MS: '3600000' } as const;

type ServiceSettings = Partial<Record<ServiceName, Readonly<Record<string, string>>>>;

/**
 * Opens a separate stack on the test run's infrastructure, or on the one given; `environment` adds settings to single
 * services, `rail` to the rail.
 */
export function openScenario(
  name: string,
  environment: ServiceSettings = {},
  rail: Readonly<Record<string, unknown>> = {},
  infrastructure: () => Promise<Infrastructure> = () => openInfrastructure({ root, log: () => undefined }),
): Promise<Scenario> {
  return open({ name, environment, rail, infrastructure, isCompact: false });
}

/**
 * Opens a stack whose services are one process, as {@link openScenario} does otherwise: for tests in which no
 * service ends, is doubled or is armed. It takes a third of the CPU to start.
 */
export function openCompactScenario(
  name: string,
  environment: ServiceSettings = {},
  rail: Readonly<Record<string, unknown>> = {},
): Promise<Scenario> {
  const infrastructure = () => openInfrastructure({ root, log: () => undefined });
  return open({ name, environment, rail, infrastructure, isCompact: true });
}

async function open(
  options: Required<Pick<StackOptions, 'infrastructure' | 'environment' | 'rail' | 'isCompact'>> & {
    readonly name: string;
  },
): Promise<Scenario> {
  const { name, environment, isCompact } = options;
  const run = randomBytes(3).toString('hex');
  const prefix = `${name}-${run}`;
  const logDirectory = join('.pesewa', 'logs', name);
  const crashFile = (service: ServiceName) => join(root, logDirectory, `${service}.crash`);
  await Promise.all(serviceNames.map((service) => rm(crashFile(service), { force: true })));
  const armable = serviceNames.map(
    (service) => [service, { CRASH_AT: `@${crashFile(service)}`, ...environment[service] }] as const,
  );
  const stack = await openStack({
    root,
    infrastructure: options.infrastructure,
    log: () => undefined,
    ports: 'free',
    prefix,
    logDirectory,
    environment: isCompact ? environment : Object.fromEntries(armable),
    rail: options.rail,
    isCompact,
  });
  const { transferUrl, collectionsUrl } = stack.runFile();
  const [merchant] = stack.merchants;
  if (!merchant) throw new Error('the stack has no merchant');
  const demo = createMerchantClient({ transferUrl, collectionsUrl, publicKey: merchant.publicKey });
  return {
    stack,
    demo,
    merchantId: merchant.id,
    prefix,
    reference: (label) => `${label}-${run}`,
    payoutBecomes: (reference, status) =>
      eventually(async () => {
        const { responseData } = await demo.lookUpPayout(reference);
        expect(responseData?.transactionStatus).toBe(status);
        return responseData?.transactionReference ?? '';
      }, 60_000),
    poll: async (references) => {
      for (const reference of references)
        await eventually(async () => expect(await stack.operator.poll(reference)).not.toBe('unknown'));
    },
    entryKinds: async (reference) =>
      (await stack.operator.entries(reference)).map((entry) => String(entry['kind'])).toSorted(),
    violations: async () => {
      const { mongodbUrl } = stack.runFile();
      const databasePrefix = `${prefix}_`;
      const options = { mongodbUrl, databasePrefix, allowedLagMs: 15_000, clock: systemClock };
      return (await auditLedger(options)).violations;
    },
    executions: async (reference) => {
      const journal = await stack.simulator.journal(reference);
      return journal.filter(({ kind, outcome }) => kind === 'execution' && outcome === 'COMPLETED').length;
    },
    webhookStatuses: async (reference) => {
      const received = await stack.simulator.received(merchant.id, reference);
      return received.map(({ body }) => payoutWebhook.parse(parseJson(body)).data.transactionStatus);
    },
    logLines: async (service, text) => {
      const log = await readFile(join(root, logDirectory, `${service}.log`), 'utf8');
      return log.split('\n').filter((line) => line.includes(text)).length;
    },
    arm: async (service, at) => {
      if (isCompact) throw new Error(`${service} can't crash alone: open the scenario with openScenario`);
      stack.service(service).resetBackoff();
      await writeFile(crashFile(service), at);
    },
    joined: (service, replicas) => untilJoined(stack, `${prefix}.${service}`, replicas),
    readTopic: async (topic) => {
      const { mongodbUrl, kafkaBrokers, schemaRegistryUrl } = stack.runFile();
      const config = {
        MONGODB_URL: mongodbUrl,
        KAFKA_BROKERS: kafkaBrokers,
        SCHEMA_REGISTRY_URL: schemaRegistryUrl,
        DATABASE_PREFIX: `${prefix}_`,
        TOPIC_PREFIX: `${prefix}.`,
        CONSUMER_SESSION_TIMEOUT_MS: 6_000,
      };
      return (await createTopicReader(config))(topicNameOf(config, topic));
    },
    [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose](),
  };
}

async function untilJoined(stack: Stack, groupId: string, replicas: number): Promise<void> {
  const admin = createTestKafka({ KAFKA_BROKERS: stack.runFile().kafkaBrokers }).admin();
  await admin.connect();
  try {
    await eventually(async () => {
      const { groups } = await admin.describeGroups([groupId]);
      const seen = groups.map(({ state, members }) => ({ state, members: members.length }));
      expect(seen).toEqual([{ state: 'Stable', members: replicas }]);
    }, 60_000);
  } finally {
    await admin.disconnect();
  }
}

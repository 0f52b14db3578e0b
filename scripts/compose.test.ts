import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { environmentOf } from '@pesewa/compact';
import { services as declared, messagingServices, type ServiceName, serviceNames } from '@pesewa/contracts';
import { imageName, kafkaEnvironment, kafkaSettings } from '@pesewa/infrastructure';
import { END_TIMEOUT_MS } from '@pesewa/runtime';
import { serviceEnvironment } from '@pesewa/stack';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { repositoryRoot } from './command.ts';
import { loadSettings } from './docs/settings.ts';

interface ComposeService {
  readonly image: string;
  readonly build?: { readonly context: string; readonly target: string };
  readonly environment?: Readonly<Record<string, string>>;
  readonly healthcheck?: { readonly test: readonly string[]; readonly retries: number };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly [field: string]: unknown;
}

const read = (file: string): string => readFileSync(path.join(repositoryRoot, file), 'utf8');
const readYaml = (file: string): unknown => parse(read(file), { merge: true });

const { services } = readYaml('deploy/compose/compose.yaml') as {
  readonly services: Readonly<Record<string, ComposeService>>;
};
const oneShots = ['mongodb-init', 'pesewa', 'prepare'];
const daemons = Object.keys(services).filter((name) => !oneShots.includes(name));
const example = parseEnv(read('deploy/compose/.env.example'));

const serviceOf = (name: string): ComposeService => {
  const service = services[name];
  if (!service) throw new Error(`compose.yaml has no ${name}`);
  return service;
};

/** A service's environment from the stack, with the hosts of the compose file. */
const stackEnvironment = (name: ServiceName): Readonly<Record<string, string>> => ({
  ...serviceEnvironment(
    {
      addresses: {
        MONGODB_URL: 'mongodb://mongodb:27017/?replicaSet=rs0',
        KAFKA_BROKERS: 'kafka:9092',
        SCHEMA_REGISTRY_URL: 'http://registry:8080/apis/ccompat/v7',
      },
      ports: declared,
      hostOf: (host) => host,
      operatorToken: example['OPERATOR_TOKEN'] ?? '',
      approverToken: example['APPROVER_TOKEN'] ?? '',
      dataDirectory: '/data',
      logLevel: 'info',
      prefix: '',
    },
    name,
  ),
  // Merchants load images from outside the network of the containers.
  ...(name === 'payout-gateway' && { PUBLIC_URL: 'http://127.0.0.1:4010' }),
  // The stack's console takes its own address, and a key that it makes at the start.
  ...(name === 'console' && {
    PUBLIC_ORIGIN: example['CONSOLE_ORIGIN'] ?? '',
    SESSION_KEYS: example['SESSION_KEYS'] ?? '',
  }),
});

/** What the stack gives a service of the settings that it knows; JSON values are parsed. */
const expectedEnvironment = async (name: ServiceName): Promise<Record<string, unknown>> => {
  const known = Object.keys(await loadSettings(name));
  expect(known).toContain('OPERATIONS_PORT');
  const given = Object.entries(stackEnvironment(name));
  const expected = given.filter(([variable, value]) => known.includes(variable) && value !== '');
  return Object.fromEntries(expected.map(([variable, value]) => [variable, understood(variable, value)]));
};

/** A service's environment with the values of `.env.example`; JSON values are parsed. */
const composeEnvironment = ({ environment = {} }: ComposeService): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(environment).map(([variable, value]) => [
      variable,
      understood(
        variable,
        value.replaceAll(/\$\{(\w+):\?[^}]*\}/g, (_, known: string) => example[known] ?? ''),
      ),
    ]),
  );

const understood = (variable: string, value: string): unknown =>
  variable === 'RAILS' || variable === 'SANDBOX' ? (JSON.parse(value) as unknown) : value;

describe('compose.yaml', () => {
  it.each(serviceNames)('runs %s with the settings that the stack gives it', async (name) => {
    expect(composeEnvironment(serviceOf(name))).toEqual(await expectedEnvironment(name));
  });

  it.each(serviceNames)('lets %s end in order', (name) => {
    const [, seconds] = /^(\d+)s$/.exec(String(serviceOf(name)['stop_grace_period'])) ?? [];
    expect(Number(seconds) * 1_000).toBeGreaterThan(END_TIMEOUT_MS);
  });

  it.each(serviceNames)('publishes the ports of %s on the loopback address alone', (name) => {
    const { port, operationsPort } = declared[name];
    const published = serviceOf(name)['ports'] as readonly string[];
    expect(published).toContain(`127.0.0.1:${operationsPort}:${operationsPort}`);
    const allowed = [port, operationsPort].map((each) => `127.0.0.1:${each}:${each}`);
    expect(published.filter((each) => !allowed.includes(each))).toEqual([]);
  });

  it.each([...serviceNames, 'pesewa', 'prepare'])('builds %s from its target of the Dockerfile', (name) => {
    const target = name === 'prepare' ? 'pesewa' : name;
    const { image, build } = serviceOf(name);
    expect(build).toEqual({ context: '../..', target });
    expect(image).toBe(`pesewa/${target}:${packageVersion()}`);
    expect(read('Dockerfile')).toMatch(new RegExp(`^FROM sources AS ${target}$`, 'm'));
  });

  it('gives the command line the address of each service that has operators', () => {
    const given = composeEnvironment(serviceOf('pesewa'));
    for (const name of messagingServices) {
      const variable = `${name.replaceAll('-', '_').toUpperCase()}_URL`;
      expect(given[variable]).toBe(`http://${name}:${declared[name].operationsPort}`);
    }
  });

  it.each(Object.keys(services))('keeps the policy for %s', (name) => {
    const service = serviceOf(name);
    expect(service.image).toMatch(/^[a-z/-]+:v?\d+\.\d+\.\d+$/);
    expect(service['cap_drop']).toEqual(['ALL']);
    expect(service['security_opt']).toEqual(['no-new-privileges:true']);
    expect(service['tmpfs']).toEqual(['/tmp']);
    expect(service['mem_limit']).toMatch(/^\d+[mg]$/);
    expect(service['pids_limit']).toBeGreaterThan(0);
    // Kafka's image writes its configuration into its own folders.
    expect(service['read_only']).toBe(name !== 'kafka');
    expect(service).not.toHaveProperty('privileged');
    for (const published of (service['ports'] as readonly string[] | undefined) ?? [])
      expect(published).toMatch(/^127\.0\.0\.1:/);
  });

  it.each(daemons)('says of %s when it is healthy, and starts it again', (name) => {
    const { healthcheck, restart } = serviceOf(name);
    expect(restart).toBe('unless-stopped');
    expect(healthcheck?.test[0]).toBe('CMD');
    expect(healthcheck?.retries).toBeGreaterThan(0);
    // Engines before 25 would refuse the whole file because of it.
    expect(healthcheck).not.toHaveProperty('start_interval');
  });

  it.each(oneShots)('lets %s end', (name) => {
    expect(serviceOf(name)).not.toHaveProperty('healthcheck');
    expect(serviceOf(name)).not.toHaveProperty('restart');
  });

  it('waits for what is healthy, and for one-shots that succeeded', () => {
    const conditions = Object.values(services).flatMap(({ depends_on: needs = {} }) => Object.entries(needs));
    expect(conditions.length).toBeGreaterThan(serviceNames.length);
    for (const [needed, { condition }] of conditions) {
      const ends = oneShots.includes(needed);
      expect(condition).toBe(ends ? 'service_completed_successfully' : 'service_healthy');
    }
    for (const name of serviceNames) expect(serviceOf(name).depends_on).toHaveProperty('prepare');
  });

  it('runs the infrastructure as the tests run it in containers', () => {
    const kafka = kafkaEnvironment(
      kafkaSettings({
        listeners: 'PLAINTEXT://0.0.0.0:9092,CONTROLLER://127.0.0.1:9093',
        advertised: 'PLAINTEXT://kafka:9092',
        interBroker: 'PLAINTEXT',
        nodeId: 1,
        voters: [{ id: 1, controllerPort: 9093 }],
      }),
    );
    expect(serviceOf('kafka').environment).toMatchObject(kafka);
    expect(serviceOf('kafka').image).toBe(imageName({}, 'kafka'));
    expect(serviceOf('registry').image).toBe(imageName({}, 'registry'));
    expect(serviceOf('mongodb').image).toMatch(new RegExp(`^${imageName({}, 'mongodb')}\\.`));
    expect(serviceOf('mongodb-init').image).toBe(serviceOf('mongodb').image);
  });

  it('knows the second operator by the hash of the token in .env.example', () => {
    const token = example['APPROVER_TOKEN'] ?? '';
    expect(example['APPROVER_TOKEN_SHA256']).toBe(createHash('sha256').update(token).digest('hex'));
  });
});

describe('compact.yaml', () => {
  const { compact = serviceOf('compact'), ...others } = (
    readYaml('deploy/compose/compact.yaml') as { readonly services: Readonly<Record<string, ComposeService>> }
  ).services;
  const hub = serviceNames.filter((name) => name !== 'provider-simulator');

  it('takes the place of every service but the simulator, and answers to their names', () => {
    const separate = hub.map((name) => [name, { profiles: ['separate'] }]);
    expect(others).toEqual(Object.fromEntries(separate));
    const { default: network } = compact['networks'] as { readonly default: { readonly aliases: unknown } };
    expect(network.aliases).toEqual(expect.arrayContaining([...hub]));
  });

  it.each(hub)('runs %s with the settings that the stack gives it, and with its ports', async (name) => {
    const { PORT, OPERATIONS_PORT, ...expected } = await expectedEnvironment(name);
    expect([PORT, OPERATIONS_PORT].map(Number)).toEqual([declared[name].port, declared[name].operationsPort]);
    const given = environmentOf(composeEnvironment(compact) as Record<string, string>, name);
    expect(given).toMatchObject(expected);
    expect(given).not.toHaveProperty('PORT');
    expect(given).not.toHaveProperty('OPERATIONS_PORT');
    const published = (serviceOf(name)['ports'] ?? []) as readonly string[];
    expect(compact['ports']).toEqual(expect.arrayContaining([...published]));
    expect(compact.healthcheck?.test.join(' ')).toContain(String(declared[name].operationsPort));
  });

  it('is restricted, ends and begins as a service does', () => {
    const service = serviceOf('ledger');
    const alike = [
      'restart',
      'stop_grace_period',
      'read_only',
      'cap_drop',
      'security_opt',
      'tmpfs',
      'depends_on',
    ];
    expect(compact).toMatchObject(Object.fromEntries(alike.map((field) => [field, service[field]])));
    expect(compact['ports']).toHaveLength(hub.flatMap((name) => serviceOf(name)['ports'] ?? []).length);
    expect(compact).toMatchObject({
      image: `pesewa/compact:${packageVersion()}`,
      build: { context: '../..', target: 'compact' },
    });
  });
});

describe('prometheus.yaml', () => {
  it('scrapes every service under its own name', () => {
    const { scrape_configs: jobs } = readYaml('deploy/compose/prometheus.yaml') as {
      readonly scrape_configs: readonly {
        readonly job_name: string;
        readonly static_configs: readonly { readonly targets: readonly string[] }[];
      }[];
    };
    const targets = jobs.map((job) => [job.job_name, job.static_configs.flatMap((each) => each.targets)]);
    expect(Object.fromEntries(targets)).toEqual(
      Object.fromEntries(serviceNames.map((name) => [name, [`${name}:${declared[name].operationsPort}`]])),
    );
  });
});

describe('Grafana', () => {
  it('has the data source that dashboards name, and takes every dashboard there is', () => {
    const { datasources } = readYaml('deploy/compose/grafana/datasources/prometheus.yaml') as {
      readonly datasources: readonly Readonly<Record<string, unknown>>[];
    };
    expect(datasources).toMatchObject([{ uid: 'prometheus', url: 'http://prometheus:9090' }]);
    const { providers } = readYaml('deploy/compose/grafana/dashboards/pesewa.yaml') as {
      readonly providers: readonly { readonly options: { readonly path: string } }[];
    };
    const mounted = serviceOf('grafana')['volumes'] as readonly string[];
    expect(providers.map(({ options }) => `../monitoring/dashboards:${options.path}:ro`)).toEqual(
      mounted.filter((volume) => volume.startsWith('../')),
    );
  });
});

describe('Dockerfile', () => {
  it('pins Node, pnpm and the version where the workspace does', () => {
    const dockerfile = read('Dockerfile');
    const { nodeVersion } = readYaml('pnpm-workspace.yaml') as { readonly nodeVersion: string };
    const { packageManager } = JSON.parse(read('package.json')) as { readonly packageManager: string };
    expect(dockerfile).toContain(`ARG NODE_IMAGE=node:${nodeVersion}-bookworm-slim\n`);
    expect(dockerfile).toContain(`ARG PNPM_VERSION=${packageManager.replace('pnpm@', '')}\n`);
    expect(dockerfile).toContain(`ARG VERSION=${packageVersion()}\n`);
    // For version managers, which do not read the workspace.
    expect(read('.node-version')).toBe(`${nodeVersion}\n`);
  });

  it.each(serviceNames)('has a target for %s that starts it as the stack does', (name) => {
    const stage = read('Dockerfile').split(`FROM sources AS ${name}\n`)[1]?.split('\nFROM ')[0] ?? '';
    expect(stage).toContain(`WORKDIR /app/services/${name}\nCMD ["node", "src/main.ts"]`);
  });

  it('has a target for all services in one process', () => {
    const stage = read('Dockerfile').split('FROM sources AS compact\n')[1]?.split('\nFROM ')[0] ?? '';
    expect(stage).toContain('WORKDIR /app/packages/compact\nCMD ["node", "src/main.ts"]');
  });

  it('ends as a user without rights, and asks no registry for its own syntax', () => {
    const dockerfile = read('Dockerfile');
    expect(dockerfile).toMatch(/^USER 1000:1000$/m);
    expect(dockerfile.split('AS sources')[1]).not.toMatch(/^(?:RUN|USER (?!1000:1000)|HEALTHCHECK)/m);
    expect(dockerfile).not.toMatch(/^# *syntax *=/m);
  });
});

function packageVersion(): string {
  return (JSON.parse(read('package.json')) as { readonly version: string }).version;
}

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { serviceNames } from '@pesewa/contracts';
import { connectionProblems, parseConfig } from '@pesewa/runtime';
import { simulatorRail } from '@pesewa/stack';
import { createCertificateAuthority } from '@pesewa/testkit';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { repositoryRoot } from '../command.ts';
import { isSecret } from '../docs/configuration.ts';
import { loadSettings } from '../docs/services.ts';
import { deployedServices } from './model.ts';
import { configurationRules } from './policies/configuration.ts';
import { startEnvironment, unmarkedSecrets } from './policies/environment.ts';
import { gatewayRules } from './policies/gateway.ts';
import { kafkaRules } from './policies/kafka.ts';
import { render } from './policies/kustomize.ts';
import { mongodbRules } from './policies/mongodb.ts';
import { monitoringRules } from './policies/monitoring.ts';
import { namespaceRules } from './policies/namespace.ts';
import { networkRules } from './policies/network.ts';
import { operatorToolsRules } from './policies/operator-tools.ts';
import { podRules } from './policies/pods.ts';
import { at, type Installation, listAt, named, ofKind, type Rendered, titleOf } from './policies/rendered.ts';
import { scalingRules } from './policies/scaling.ts';
import { configurationOf, serviceRules } from './policies/services.ts';
import { site } from './site.ts';
import { serviceAccount } from './workloads.ts';

const directory = path.join(repositoryRoot, 'deploy', 'kubernetes', 'overlays');
const installations = ['dev', 'staging', 'production'].map(
  (name): Installation => ({ name, objects: render(path.join(directory, name)) }),
);
const production = installations[2] as Installation;
const rules = [
  ...namespaceRules,
  ...podRules,
  ...serviceRules,
  ...scalingRules,
  ...networkRules,
  ...gatewayRules,
  ...kafkaRules,
  ...mongodbRules,
  ...configurationRules,
  ...monitoringRules,
  ...operatorToolsRules,
];

describe.each(installations)('$name', (installation) => {
  it.each(rules)('$name', ({ check }) => {
    expect(check(installation)).toEqual([]);
  });
});

describe('each rule fires', () => {
  it.each(
    rules.flatMap((rule) =>
      rule.violations.map((violate, index) => ({ name: rule.name, index, rule, violate })),
    ),
  )('$name ($index)', ({ rule, violate }) => {
    const objects = structuredClone(production.objects) as Rendered[];
    violate(objects);
    expect(rule.check({ ...production, objects })).not.toEqual([]);
  });
});

/** The renderer that this machine has, if any. */
const kustomize = [
  ['kustomize', 'build'],
  ['kubectl', 'kustomize'],
].find(([command = '', argument = '']) => spawnSync(command, [argument, '--help']).status === 0);

describe('the manifests', () => {
  // A renderer comes with none of our packages: the run lists what it left out.
  it.runIf(kustomize).each(installations)(
    `of $name are rendered by kustomize as they are here${kustomize ? '' : ' (left out: no kustomize)'}`,
    ({ name, objects }) => {
      const [command = '', argument = ''] = kustomize ?? [];
      const { stdout, stderr } = spawnSync(command, [argument, path.join(directory, name)], {
        encoding: 'utf8',
        maxBuffer: 1e8,
      });
      expect(stderr).toBe('');
      const rendered = parseAllDocuments(stdout, { version: '1.1' }).map(
        (document) => document.toJS() as Rendered,
      );
      const byTitle = (list: readonly Rendered[]) =>
        Object.fromEntries(list.map((one) => [titleOf(one), one]));
      expect(byTitle(rendered)).toEqual(byTitle(objects));
    },
  );

  it('have the simulator where developers are, and its rails nowhere else', () => {
    for (const { name, objects } of installations) {
      const rails = ofKind(objects, 'ExternalSecret').filter((one) =>
        JSON.stringify(at(one, 'spec.target.template.data.RAILS') ?? '').includes('provider-simulator'),
      );
      expect(rails.length).toBe(name === 'dev' ? 4 : 0);
      expect(named(objects, 'StatefulSet', 'provider-simulator') !== undefined).toBe(name === 'dev');
    }
  });
});

describe('the Pod of the command line', () => {
  const deployment = named(production.objects, 'Deployment', 'operator-tools');
  const [container] = listAt(deployment, 'spec.template.spec.containers');

  it('waits, and ends by itself when it is asked to', async () => {
    const [program = '', ...rest] = at(container, 'command') as readonly string[];
    const running = spawn(program, rest, { stdio: ['ignore', 'pipe', 'inherit'] });
    const closed = once(running, 'close');
    await once(running.stdout, 'data');
    expect(running.exitCode).toBeNull();
    running.kill('SIGTERM');
    expect(await closed).toEqual([0, null]);
  });

  it('has variables that the command line knows', async () => {
    const file = path.join(repositoryRoot, 'packages', 'cli', 'src', 'config.ts');
    const { variables } = (await import(file)) as { readonly variables: Readonly<Record<string, string>> };
    const known = Object.keys(variables);
    const given = Object.keys(configurationOf(production.objects, container ?? {}));
    expect(given.map((name) => name.replace(/_FILE$/, '')).filter((name) => !known.includes(name))).toEqual(
      [],
    );
  });
});

describe('an account', () => {
  it('names what images are pulled with, where that is set', () => {
    expect('imagePullSecrets' in serviceAccount('ledger')).toBe(site.imagePullSecret !== undefined);
    expect(serviceAccount('ledger', 'registry')).toMatchObject({
      automountServiceAccountToken: false,
      imagePullSecrets: [{ name: 'registry' }],
    });
  });
});

const authority = createCertificateAuthority('test authority').certificate;
const password = 'a-password-of-a-test';

type Schema = Parameters<typeof parseConfig>[0];
type Judged = Parameters<typeof connectionProblems>[0];

/** The schema of a service, as its `config.ts` has it. */
async function schemaOf(service: string): Promise<Schema> {
  const file = path.join(repositoryRoot, 'services', service, 'src', 'config.ts');
  const { settings, configSchema } = (await import(file)) as Readonly<Record<string, Schema | undefined>>;
  const schema = settings ?? configSchema;
  if (!schema) throw new Error(`${service} has no schema`);
  return schema;
}

/** A rail that signs its callbacks, as production requires. */
const rails = JSON.stringify([
  {
    ...simulatorRail({ url: 'https://rail.example', publicKey: 'a-public-key' }),
    callbackSecrets: [`whsec_${Buffer.alloc(32).toString('base64')}`],
  },
]);

/** The secrets that a platform's store contains and its operators create. */
const files = (objects: readonly Rendered[], service: string): Readonly<Record<string, string>> => ({
  KAFKA_TLS_CA: authority,
  SCHEMA_REGISTRY_TLS_CA: authority,
  KAFKA_SASL_PASSWORD: password,
  SCHEMA_REGISTRY_PASSWORD: password,
  OPERATOR_TOKEN: password,
  OPERATORS: '',
  SESSION_KEYS: Buffer.alloc(32).toString('base64'),
  RAILS: rails,
  MONGODB_URL: String(
    at(named(objects, 'ExternalSecret', `${service}-settings`), 'spec.target.template.data.MONGODB_URL'),
  ).replace(/\{\{.*?\}\}/, password),
});

describe('the environment of a service', () => {
  it.each(
    installations.flatMap(({ name, objects }) =>
      deployedServices.map((service) => ({ name, objects, service })),
    ),
  )('is what $service starts with in $name', async ({ name, objects, service }) => {
    const environment = startEnvironment(objects, service, files(objects, service));
    const config = parseConfig(await schemaOf(service), environment) as Judged;
    expect(connectionProblems(config)).toEqual([]);
    expect(config.NODE_ENV).toBe(name === 'dev' ? 'development' : 'production');
    const known = Object.keys((await loadSettings(service)) ?? {});
    expect(Object.keys(environment).filter((variable) => !known.includes(variable))).toEqual([]);
  });

  it('is what the simulator starts with', async () => {
    const { objects } = installations[0] as Installation;
    const environment = startEnvironment(objects, 'provider-simulator', files(objects, 'provider-simulator'));
    expect(parseConfig(await schemaOf('provider-simulator'), environment)).toMatchObject({
      NODE_ENV: 'development',
    });
  });

  it('has its secrets marked in its schema', async () => {
    for (const service of serviceNames) {
      const settings = (await loadSettings(service)) ?? {};
      expect(unmarkedSecrets(settings)).toEqual([]);
      expect(Object.values(settings).some(isSecret)).toBe(true);
    }
  });
});

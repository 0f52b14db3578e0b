import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { messagingServices, serviceNames } from '@pesewa/contracts';
import { connectionProblems, parseConfig } from '@pesewa/runtime';
import { simulatorRail } from '@pesewa/stack';
import { createCertificateAuthority } from '@pesewa/testkit';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { repositoryRoot } from '../command.ts';
import { loadSettings } from '../docs/settings.ts';
import { configurations } from './configuration.ts';
import {
  at,
  configurationOf,
  fieldsAt,
  kustomize,
  named,
  podsOf,
  type Rendered,
  render,
} from './rendered.ts';
import { faultsOf, secretName } from './rules.ts';

// The renderer comes with none of our packages: without it the run lists what it left out.
const leftOut = kustomize ? '' : ' (left out: no kubectl, no kustomize)';
const installations = kustomize
  ? ['dev', 'staging', 'production', 'managed', 'small'].map((name) =>
      render(path.join(repositoryRoot, 'deploy', 'kubernetes', 'overlays', name)),
    )
  : [];
const production = installations[2] ?? { name: 'production', objects: [] };

// Only kustomize renders overlays.
describe.runIf(kustomize)(`every installation${leftOut}`, () => {
  it.each(installations)('keeps the rules in $name', (installation) => {
    expect(faultsOf(installation)).toEqual([]);
  });
});

type Refused = readonly [words: string, kind: string, name: string, path?: string, value?: unknown];
const refused = parse(
  readFileSync(path.join(import.meta.dirname, 'fixtures', 'refused.yaml'), 'utf8'),
) as Refused[];

// Only kustomize renders overlays.
describe.runIf(kustomize)(`an installation is refused${leftOut}`, () => {
  it.each(refused.map((one) => ({ words: one[0], one })))(
    '$words',
    ({ one: [words, kind, name, place, value] }) => {
      const given =
        [production, ...installations].find(({ objects }) => named(objects, kind, name)) ?? production;
      const objects = structuredClone(given.objects);
      const broken = named(objects, kind, name);
      const [, parent = '', last = ''] = /^(.*)\.(.*)$/.exec(place ?? '') ?? [];
      if (place) Reflect.set(fieldsAt(broken, parent), last, value);
      const left = objects.filter((object) => place !== undefined || object !== broken);
      expect(faultsOf(given).join('\n')).not.toContain(words);
      expect(faultsOf({ ...given, objects: left }).join('\n')).toContain(words);
    },
  );
});

const [jq = ''] = ['jq'].filter((command) => spawnSync(command, ['--version']).status === 0);

// The page for operators makes its Job of a Deployment, by jq.
it.runIf(kustomize && jq)(`the Job that repairs a restored database keeps the rules${leftOut}`, () => {
  const page = readFileSync(path.join(repositoryRoot, 'docs', 'database-restored.md'), 'utf8');
  const [, program = ''] = /jq '([^']+)'/.exec(page) ?? [];
  for (const installation of installations)
    for (const service of messagingServices) {
      const input = JSON.stringify(named(installation.objects, 'Deployment', service));
      const job = JSON.parse(spawnSync(jq, [program], { input, encoding: 'utf8' }).stdout) as Rendered;
      expect(at(job, 'metadata.generateName')).toBe(`recover-${service}-`);
      const command = ['node', 'src/main.ts', 'recover', '--restored'];
      expect(at(job, 'spec.template.spec.containers.0.command')).toEqual(command);
      const made = { ...job, metadata: { name: `recover-${service}-1` } };
      expect(faultsOf({ ...installation, objects: [...installation.objects, made] })).toEqual([]);
    }
});

const authority = createCertificateAuthority('test authority').certificate;
const password = 'a-password-of-a-test';

type Schema = Parameters<typeof parseConfig>[0];
type Judged = Parameters<typeof connectionProblems>[0];

/** A service's schema, as its `config.ts` has it. */
async function schemaOf(service: string): Promise<Schema> {
  const file = path.join(repositoryRoot, 'services', service, 'src', 'config.ts');
  const { settings: schema } = (await import(file)) as Readonly<Record<string, Schema | undefined>>;
  if (!schema) throw new Error(`${service} has no schema`);
  return schema;
}

/** The secrets that a platform's store contains and its operators create. */
const secrets = (objects: readonly Rendered[], service: string): Readonly<Record<string, string>> => ({
  KAFKA_TLS_CA: authority,
  SCHEMA_REGISTRY_TLS_CA: authority,
  KAFKA_SASL_USERNAME: service,
  KAFKA_SASL_PASSWORD: password,
  SCHEMA_REGISTRY_USERNAME: service,
  SCHEMA_REGISTRY_PASSWORD: password,
  OPERATOR_TOKEN: password,
  OPERATORS: '',
  SESSION_KEYS: Buffer.alloc(32).toString('base64'),
  // A rail that signs its callbacks, as production requires.
  RAILS: JSON.stringify([
    {
      ...simulatorRail({ url: 'https://rail.example', publicKey: 'a-public-key' }),
      callbackSecrets: [`whsec_${Buffer.alloc(32).toString('base64')}`],
    },
  ]),
  // Of a managed one the store has the whole address.
  MONGODB_URL: String(
    at(named(objects, 'ExternalSecret', `${service}-settings`), 'spec.target.template.data.MONGODB_URL'),
  )
    .replace('{{ .MONGODB_URL }}', `mongodb+srv://${service}:${password}@cluster.example/?tls=true`)
    .replace(/\{\{.*?\}\}/, password),
});

// Only kustomize renders overlays.
describe.runIf(kustomize)(`the environment of services${leftOut}`, () => {
  it.each(installations)('is what they start with in $name', async ({ name, objects }) => {
    const pods = podsOf(objects).filter(
      ({ metadata }) => metadata.labels?.['app.kubernetes.io/component'] === 'service',
    );
    for (const { owner: service, containers } of pods) {
      const given = secrets(objects, service);
      const environment = Object.fromEntries(
        Object.entries(configurationOf(objects, containers[0])).map(([variable, value]) => {
          const setting = variable.replace(/_FILE$/, '');
          return value.startsWith('/etc/pesewa/') ? [setting, given[setting] ?? ''] : [variable, value];
        }),
      );
      const config = parseConfig(await schemaOf(service), environment) as Judged;
      expect(service === 'provider-simulator' ? [] : connectionProblems(config)).toEqual([]);
      expect(config.NODE_ENV).toBe(name === 'dev' ? 'development' : 'production');
      const known = Object.keys(await loadSettings(service));
      expect(Object.keys(environment).filter((variable) => !known.includes(variable))).toEqual([]);
    }
  });
});

it('marks settings as secret whose names say it', async () => {
  for (const service of serviceNames) {
    const settings = Object.entries(await loadSettings(service));
    expect(settings.filter(([name, setting]) => secretName.test(name) && !setting.isSecret)).toEqual([]);
  }
});

it('gives the command line variables that it knows', async () => {
  const file = path.join(repositoryRoot, 'packages', 'cli', 'src', 'config.ts');
  const { variables } = (await import(file)) as { readonly variables: Readonly<Record<string, string>> };
  const known = Object.keys(variables);
  const { 'operator-tools': text = '' } = await configurations();
  const given = [...text.matchAll(/^(\w+?)(?:_FILE)?=/gm)].map(([, name]) => name);
  expect(given).toHaveLength(7);
  expect(given.filter((name) => !known.includes(name ?? ''))).toEqual([]);
});

import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { parseConfig, publicPort } from './config.ts';

const canary = 'canary-of-a-secret';

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pesewa-config-'));
  await writeFile(join(directory, 'password'), `${canary}\n`);
});

afterAll(() => rm(directory, { recursive: true, force: true }));

describe('a setting given as a file', () => {
  const schema = z.object({
    PASSWORD: z.string(),
    PORT: z.coerce.number().default(1),
    JOURNAL_FILE: z.string().optional(),
  });

  it('is what the file holds, less its last line end', () => {
    const environment = { PASSWORD_FILE: join(directory, 'password') };
    expect(parseConfig(schema, environment)).toEqual({ PASSWORD: canary, PORT: 1 });
    const transformed = schema.transform(({ PASSWORD }) => PASSWORD);
    expect(parseConfig(transformed, environment)).toBe(canary);
  });

  it('is no setting that is itself called a file, and nothing that the schema does not know', () => {
    const environment = { PASSWORD: 'p', JOURNAL_FILE: '/no/such', SSL_CERT_FILE: '/no/such' };
    expect(parseConfig(schema, environment)).toEqual({ PASSWORD: 'p', PORT: 1, JOURNAL_FILE: '/no/such' });
  });

  it('is refused beside the setting itself, and where it can not be read', () => {
    expect(() => parseConfig(schema, { PASSWORD: canary, PASSWORD_FILE: '/some/file' })).toThrow(
      /PASSWORD_FILE: is set beside PASSWORD: unset one of them/,
    );
    expect(() => parseConfig(schema, { PASSWORD: canary, PASSWORD_FILE: '/some/file' })).not.toThrow(canary);
    expect(() => parseConfig(schema, { PASSWORD_FILE: '/no/such' })).toThrow(
      /PASSWORD_FILE: the file can't be read \(ENOENT\)/,
    );
  });
});

it('a service ends with code 2 and names each problem where nothing says that it is in development', {
  timeout: 30_000,
}, () => {
  const program = `
    import { defineService, messagingSettings, runService, serviceSettings } from './src/index.ts';
    const settings = serviceSettings.extend(messagingSettings.shape);
    const compose = () => Promise.reject(new Error('composed'));
    await runService(defineService({ name: 'a-service', settings, compose }), process.env);`;
  const start = (extra: Readonly<Record<string, string>>) =>
    spawnSync(process.execPath, ['--input-type=module-typescript', '-e', program], {
      cwd: join(import.meta.dirname, '..'),
      encoding: 'utf8',
      env: {
        PATH: process.env['PATH'],
        PORT: '0',
        OPERATIONS_PORT: '0',
        OPERATOR_TOKEN: 'a-token-of-operators',
        MONGODB_URL: `mongodb://hub:${canary}@127.0.0.1:1/`,
        KAFKA_BROKERS: '127.0.0.1:1',
        SCHEMA_REGISTRY_URL: 'http://127.0.0.1:1',
        ...extra,
      },
    });
  const refused = start({ KAFKA_SASL_PASSWORD: canary });
  expect(refused.status).toBe(2);
  for (const variable of ['KAFKA_TLS', 'KAFKA_SASL_PASSWORD', 'SCHEMA_REGISTRY_URL', 'MONGODB_URL'])
    expect(refused.stderr).toMatch(new RegExp(`^ {2}${variable}: `, 'm'));
  expect(refused.stderr + refused.stdout).not.toContain(canary);
  const begun = start({ NODE_ENV: 'development' });
  expect(begun).toMatchObject({ status: 1, stderr: '' });
  expect(begun.stdout).toContain('composed');
});

it('a trusted proxy, which has one address for all its clients, may have every connection of a public port', () => {
  const config = { HOST: '::', PORT: 1, DRAIN_DELAY_MS: 0, CONNECTIONS_PER_ADDRESS_MAX: 20 };
  const most = (TRUSTED_PROXIES: number) =>
    publicPort({ ...config, TRUSTED_PROXIES }).connectionsPerAddressMax;
  expect([most(0), most(1)]).toEqual([20, 10_000]);
});

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { resolveSurroundings } from './config.ts';
import { requireConnections, requireMongodbUrl } from './connections.ts';
import { commandLine } from './program.fixture.ts';
import { runProgram } from './program.ts';

const canary = 'canary-of-a-secret';

let directory: string;
let runFile: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pesewa-cli-'));
  runFile = join(directory, 'run.json');
  const running = {
    mongodbUrl: 'mongodb://127.0.0.1:27017',
    operations: { ledger: 'http://ledger', reconciler: 'http://reconciler' },
    operatorToken: 'token-of-the-stack',
    kafkaBrokers: ['127.0.0.1:9092'],
    schemaRegistryUrl: 'http://127.0.0.1:8080',
  };
  await Promise.all([
    writeFile(runFile, JSON.stringify(running)),
    writeFile(join(directory, 'token'), 'token-of-a-file\n'),
    writeFile(join(directory, 'url'), `mongodb://hub:${canary}@db.example.com/?tls=true\n`),
  ]);
});

afterAll(() => rm(directory, { recursive: true, force: true }));

it('a running stack is on this machine, and may be plain', async () => {
  const addresses = await resolveSurroundings(runFile, {});
  expect(requireMongodbUrl(addresses, {})).toBe('mongodb://127.0.0.1:27017');
  expect(requireConnections(addresses, {})).toMatchObject({ KAFKA_BROKERS: ['127.0.0.1:9092'] });
});

it('what is named must be secure where nothing says that it is for development', async () => {
  const env = { MONGODB_URL: `mongodb://hub:${canary}@db.example.com/` };
  const addresses = await resolveSurroundings(runFile, env);
  const expected =
    'MONGODB_URL: production needs TLS: put tls=true into it, or put mongodb into ALLOW_INSECURE';
  expect(() => requireMongodbUrl(addresses, env)).toThrow(expected);
  expect(() => requireConnections(addresses, env)).toThrow(expected);
  expect(requireMongodbUrl(addresses, { ...env, NODE_ENV: 'development' })).toBe(env.MONGODB_URL);
  expect(requireMongodbUrl(addresses, { ...env, ALLOW_INSECURE: 'mongodb' })).toBe(env.MONGODB_URL);
});

it('secrets may be given as files', async () => {
  const env = { OPERATOR_TOKEN_FILE: join(directory, 'token'), MONGODB_URL_FILE: join(directory, 'url') };
  const addresses = await resolveSurroundings(runFile, env);
  expect(addresses.values['OPERATOR_TOKEN']).toBe('token-of-a-file');
  expect(requireMongodbUrl(addresses, env)).toContain('db.example.com');
  expect(requireConnections(addresses, env).MONGODB_URL).toContain('db.example.com');
  await expect(resolveSurroundings(runFile, { MONGODB_URL_FILE: '/no/such' })).rejects.toThrow(
    "MONGODB_URL_FILE: the file can't be read (ENOENT): check the path and its rights",
  );
});

it.each(['merchants list', 'ledger verify', 'prepare'])(
  '%s refuses in one line, and prints no secret',
  async (call) => {
    const { ports, complained } = commandLine();
    ports.environment['NODE_ENV'] = 'production';
    const given = { KAFKA_BROKERS: 'kafka:9092', SCHEMA_REGISTRY_URL: 'https://registry' };
    const run = (url: string) => {
      Object.assign(ports.environment, { ...given, MONGODB_URL: url });
      return runProgram(ports, [...call.split(' '), '--run-file', runFile]);
    };
    expect(await run(`mongodb://hub:${canary}@db.example.com/`)).toBe(1);
    expect(complained()).toMatch(/^pesewa: [^\n]*MONGODB_URL: production needs TLS[^\n]*\n$/);
    expect(await run(`mongodb://hub:${canary}@@db.example.com/`)).toBe(1);
    expect(complained()).toMatch(/MONGODB_URL: must be mongodb:/);
    expect(complained()).not.toContain(canary);
  },
);

it.each([
  ['brokers that are named', { KAFKA_BROKERS: 'kafka:9092' }, 'production', true],
  ['the same in development', { KAFKA_BROKERS: 'kafka:9092' }, 'development', false],
  ["a running stack's", {}, 'production', false],
])('prepare judges %s by the rules of production or not', async (_what, brokers, environment, expected) => {
  const { ports } = commandLine();
  Object.assign(ports.environment, { NODE_ENV: environment, ALLOW_INSECURE: 'kafka', ...brokers });
  const judged: boolean[] = [];
  const prepare: typeof ports.prepare = async ({ isProduction }) => void judged.push(isProduction);
  expect(await runProgram({ ...ports, prepare }, ['prepare', '--run-file', runFile])).toBe(0);
  expect(judged).toEqual([expected]);
});

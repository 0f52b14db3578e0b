import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { resolveSurroundings } from './config.ts';

let directory: string;
let runFile: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pesewa-cli-'));
  runFile = join(directory, 'run.json');
  const content = {
    mongodbUrl: 'mongodb://running',
    operations: { ledger: 'http://ledger', reconciler: 'http://reconciler' },
    operatorToken: 'token-of-the-stack',
    approverToken: 'approver-of-the-stack',
    kafkaBrokers: ['one:9092', 'two:9092'],
    schemaRegistryUrl: 'http://registry',
  };
  await writeFile(runFile, JSON.stringify(content));
});

afterAll(() => rm(directory, { recursive: true, force: true }));

const resolved = async (env: Record<string, string>) => (await resolveSurroundings(runFile, env)).values;

it('both tokens come from the running stack', async () => {
  expect(await resolved({})).toMatchObject({
    OPERATOR_TOKEN: 'token-of-the-stack',
    PESEWA_APPROVER_TOKEN: 'approver-of-the-stack',
  });
});

it('an operator with their own token never approves in the name of the stack’s second operator', async () => {
  const alone = await resolved({ OPERATOR_TOKEN: 'mine' });
  expect([alone['OPERATOR_TOKEN'], alone['PESEWA_APPROVER_TOKEN']]).toEqual(['mine', undefined]);
  expect(await resolved({ OPERATOR_TOKEN: 'mine', PESEWA_APPROVER_TOKEN: 'theirs' })).toMatchObject({
    OPERATOR_TOKEN: 'mine',
    PESEWA_APPROVER_TOKEN: 'theirs',
  });
});

it('a variable wins over the run file', async () => {
  expect(await resolved({ LEDGER_URL: 'http://variable' })).toMatchObject({
    LEDGER_URL: 'http://variable',
    RECONCILER_URL: 'http://reconciler',
    KAFKA_BROKERS: 'one:9092,two:9092',
  });
});

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { resolveAddresses } from './config.ts';

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

const tokens = async (options: Record<string, string>, env: Record<string, string>) => {
  const { operatorToken, approverToken } = await resolveAddresses({ ...options, runFile }, env);
  return [operatorToken, approverToken];
};

it('both tokens come from the running stack', async () => {
  expect(await tokens({}, {})).toEqual(['token-of-the-stack', 'approver-of-the-stack']);
});

it('an operator with their own token never approves in the name of the stack’s second operator', async () => {
  expect(await tokens({}, { OPERATOR_TOKEN: 'mine' })).toEqual(['mine', undefined]);
  expect(await tokens({ operatorToken: 'mine' }, { PESEWA_APPROVER_TOKEN: 'theirs' })).toEqual([
    'mine',
    'theirs',
  ]);
});

it('an option wins over a variable, a variable over the run file', async () => {
  const addresses = await resolveAddresses(
    { ledgerUrl: 'http://option', runFile },
    { LEDGER_URL: 'http://variable' },
  );
  expect(addresses).toMatchObject({ ledgerUrl: 'http://option', kafkaBrokers: 'one:9092,two:9092' });
});

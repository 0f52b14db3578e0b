import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTokenSource } from './token-command.ts';

const canary = 'canary-of-a-secret';

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pesewa-token-'));
});

afterAll(() => rm(directory, { recursive: true, force: true }));

const jwt = (claims: unknown): string =>
  ['{"alg":"none"}', JSON.stringify(claims), 'signature']
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.');

/** A token source over a program with this text; the program counts its calls in `calls`. */
async function sourceOf(program: string, timeoutMs?: number) {
  const folder = await mkdtemp(join(directory, 'program-'));
  const file = join(folder, 'token.mjs');
  const callsFile = join(folder, 'calls');
  const counting = `
    import { appendFileSync, readFileSync } from 'node:fs';
    appendFileSync(${JSON.stringify(callsFile)}, 'x');
    const calls = readFileSync(${JSON.stringify(callsFile)}).length;`;
  await writeFile(file, `${counting}\n${program}`);
  let nowMs = 1_000_000;
  const source = createTokenSource({
    command: `${process.execPath}  ${file} --secret ${canary}`,
    clock: { nowMs: () => nowMs },
    ...(timeoutMs !== undefined && { timeoutMs }),
  });
  return {
    ...source,
    pass: (durationMs: number) => {
      nowMs += durationMs;
    },
    calls: async () => (await readFile(callsFile, 'utf8')).length,
  };
}

const write = (text: string): string => `process.stdout.write(${text});`;
const problem = (promise: Promise<unknown>): Promise<string> => promise.then(String, String);

it('uses a token again for four fifths of its life, and shares a run', async () => {
  const [first, second] = [jwt({ exp: 1_100 }), jwt({ exp: 1_200 })];
  const source = await sourceOf(write(`calls === 1 ? '${first}\\n' : '${second}\\n'`));
  expect(await Promise.all([source.token(), source.token()])).toEqual([first, first]);
  source.pass(79_999);
  expect(await source.token()).toBe(first);
  expect(await source.calls()).toBe(1);
  source.pass(1);
  expect(await source.token()).toBe(second);
  expect(await source.calls()).toBe(2);
});

it('gets a new token after a refused one, or one without a known lifetime', async () => {
  const refused = await sourceOf(write(`'${jwt({ exp: 1_100 })}'`));
  await refused.token();
  refused.forget();
  await refused.token();
  expect(await refused.calls()).toBe(2);
  const opaque = await sourceOf(write("'opaque' + calls"));
  expect([await opaque.token(), await opaque.token()]).toEqual(['opaque1', 'opaque2']);
});

it('asks again after a failure', async () => {
  const source = await sourceOf(`if (calls === 1) process.exit(3); ${write("'later'")}`);
  await expect(source.token()).rejects.toThrow('KAFKA_SASL_TOKEN_COMMAND ended with exit code 3');
  expect(await source.token()).toBe('later');
});

it.each([
  ['a failure', `process.stderr.write('${canary}'); process.exit(3);`, 'ended with exit code 3'],
  ['too much', write(`'${canary}'.repeat(10_000)`), 'wrote more than 64 KiB'],
  ['nothing', '', 'wrote no token to stdout'],
  ['what is no token', write(`'${canary}\\u0001auth=Bearer other'`), 'wrote no token to stdout'],
  ['two lines', write(`'${canary}\\n${canary}'`), 'wrote no token to stdout'],
])(
  'says what is wrong with %s, and nothing that was written or passed on',
  async (_what, program, expected) => {
    const message = await problem((await sourceOf(program)).token());
    expect(message).toBe(`Error: KAFKA_SASL_TOKEN_COMMAND ${expected}`);
  },
);

it('waits no longer than its deadline', async () => {
  const source = await sourceOf(`setInterval(() => undefined, 1_000);`, 300);
  expect(await problem(source.token())).toBe('Error: KAFKA_SASL_TOKEN_COMMAND did not end within 0.3 s');
});

it('gives no word to a shell, and says where there is no program', async () => {
  const mark = join(directory, 'mark');
  const source = createTokenSource({
    command: `/no/such/program ; touch ${mark}`,
    clock: { nowMs: () => 0 },
  });
  expect(await problem(source.token())).toMatch(/KAFKA_SASL_TOKEN_COMMAND can't be run \(ENOENT\)/);
  const echo = createTokenSource({
    command: `${process.execPath} -p process.argv[1] $(touch`,
    clock: { nowMs: () => 0 },
  });
  expect(await problem(echo.token())).toMatch(/wrote no token/);
  await expect(readFile(mark)).rejects.toThrow('ENOENT');
});

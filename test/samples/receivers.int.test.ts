import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { reservePorts } from '@pesewa/infrastructure';
import { signWebhook } from '@pesewa/signatures';
import { postJson } from '@pesewa/stack';
import { eventually } from '@pesewa/testkit';
import { expect, it } from 'vitest';
import { blocksOf } from '../conformance/pages.ts';

const page = path.join(import.meta.dirname, '..', '..', 'docs', 'api', 'webhooks.md');
const { PYTHON: python = 'python3', PHP: php = 'php' } = process.env;
const hasPython = spawnSync(python, ['--version']).status === 0;
const hasPhp = spawnSync(php, ['--version']).status === 0;

const SECRET = `whsec_${Buffer.from('a secret of this test').toString('base64')}`;
const OTHER = `whsec_${Buffer.from('another').toString('base64')}`;
const PAYOUT = '{"data":{"merchantReference":"inv-1","transactionStatus":"COMPLETED"}}';
const COLLECTION = '{"merchant_reference":"order-é","status":"FAILED"}';

// A reason is in the title where the machine lacks the language.
it.runIf(hasPython)(`the receiver in Python${hasPython ? '' : ' (left out: no Python)'}`, async () => {
  await expectReceiver('python', (file) => [python, file]);
});

// As above.
it.runIf(hasPhp)(`the receiver in PHP${hasPhp ? '' : ' (left out: no PHP)'}`, async () => {
  await expectReceiver('php', (file, port) => [php, '-S', `127.0.0.1:${port}`, file]);
});

/** Runs a sample of the page: it takes what is signed, once each, and refuses all else. */
async function expectReceiver(
  language: string,
  commandOf: (file: string, port: string) => readonly [string, ...string[]],
): Promise<void> {
  const sample = blocksOf(await readFile(page, 'utf8')).find((block) => block.language === language);
  const folder = await mkdtemp(path.join(tmpdir(), 'pesewa-receiver-'));
  const file = path.join(folder, `receiver.${language}`);
  const [held] = await reservePorts(1);
  const port = String(held?.port);
  await writeFile(file, sample?.text.replaceAll('8080', port) ?? '');
  await held?.release();
  const [command, ...commandArguments] = commandOf(file, port);
  const env = { ...process.env, WEBHOOK_SECRET: SECRET, TMPDIR: folder };
  const receiver = spawn(command, commandArguments, { env, stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    let output = '';
    receiver.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const post = async (body: string, headers: Record<string, string>) =>
      (await postJson(`http://127.0.0.1:${port}/`, body, headers)).status;
    const payout = signed('po-1-completed', PAYOUT);
    await eventually(async () => expect(await post(PAYOUT, payout)).toBe(200));
    expect(await post(PAYOUT, payout)).toBe(200);
    expect(await post(PAYOUT.replace('COMPLETED', 'FAILED'), payout)).toBe(401);
    expect(await post(PAYOUT, signed('forged', PAYOUT, [OTHER]))).toBe(401);
    expect(await post(PAYOUT, signed('stale', PAYOUT, [SECRET], -301))).toBe(401);
    expect(await post(PAYOUT, {})).toBe(401);
    // While the secret changes there are two signatures.
    expect(await post(COLLECTION, signed('co-1-failed', COLLECTION, [OTHER, SECRET]))).toBe(200);
    await eventually(() => expect(output).toBe('inv-1 COMPLETED\norder-é FAILED\n'));
  } finally {
    receiver.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  }
}

function signed(id: string, body: string, secrets: readonly string[] = [SECRET], shiftSeconds = 0) {
  const timestamp = Math.floor(Date.now() / 1000) + shiftSeconds;
  return { ...signWebhook({ id, timestamp, body, secrets }) };
}

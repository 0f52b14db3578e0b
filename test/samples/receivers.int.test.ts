import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { reservePorts } from '@pesewa/infrastructure';
import { signWebhook } from '@pesewa/signatures';
import { postJson } from '@pesewa/stack';
import { eventually } from '@pesewa/testkit';
import { describe, expect, it } from 'vitest';
import { languages, startProgram } from './programs.ts';

const SECRET = `whsec_${Buffer.from('a secret of this test').toString('base64')}`;
const OTHER = `whsec_${Buffer.from('another').toString('base64')}`;
const PAYOUT = '{"data":{"merchantReference":"inv-1","transactionStatus":"COMPLETED"}}';
const COLLECTION = '{"merchant_reference":"order-é","status":"FAILED"}';

describe.each(languages)('the receiver in $title', (language) => {
  // The title says so if the machine lacks the language.
  it.runIf(language.isHere)('takes what is signed, once each, and refuses all else', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'pesewa-receiver-'));
    const [held] = await reservePorts(1);
    const port = String(held?.port);
    await held?.release();
    const environment = { WEBHOOK_SECRET: SECRET, PORT: port, TMPDIR: folder };
    const receiver = startProgram(language, 'receiver', environment);
    try {
      let output = '';
      receiver.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
      const post = async (body: string, headers: Record<string, string>) =>
        (await postJson(`http://127.0.0.1:${port}/`, body, headers)).status;
      const payout = signed('po-1-completed', PAYOUT);
      await eventually(async () => expect(await post(PAYOUT, payout)).toBe(200));
      await cutOff(port);
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
  });
});

function signed(id: string, body: string, secrets: readonly string[] = [SECRET], shiftSeconds = 0) {
  const timestamp = Math.floor(Date.now() / 1000) + shiftSeconds;
  return { ...signWebhook({ id, timestamp, body, secrets }) };
}

/** Sends the beginning of a request, and closes the connection. */
async function cutOff(port: string): Promise<void> {
  const socket = connect(Number(port), '127.0.0.1');
  await once(socket, 'connect');
  socket.resume().end('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\nabc');
  await once(socket, 'close');
}

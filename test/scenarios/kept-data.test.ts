import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Infrastructure, openInfrastructure } from '@pesewa/infrastructure';
import { createMerchantClient, openStack } from '@pesewa/stack';
import { eventually } from '@pesewa/testkit';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const run = randomBytes(3).toString('hex');

/** Starts the same stack each time: its databases and topics stay, since the infrastructure outlives it. */
const openKept = (infrastructure: Infrastructure, dataDirectory: string) =>
  openStack({
    root,
    infrastructure: async () => ({ ...infrastructure, [Symbol.asyncDispose]: async () => undefined }),
    log: () => undefined,
    ports: 'free',
    prefix: `kept-${run}`,
    logDirectory: join('.pesewa', 'logs', 'kept-data'),
    dataDirectory,
  });

type KeptStack = Awaited<ReturnType<typeof openKept>>;

async function pay(stack: KeptStack, reference: string): Promise<void> {
  await merchantOf(stack).requestPayout({ reference, amount: '100', accountNumber: '0123459999' });
  await expectCaptured(stack, reference);
}

async function expectCaptured(stack: KeptStack, reference: string): Promise<void> {
  await eventually(async () => {
    const { responseData } = await merchantOf(stack).lookUpPayout(reference);
    expect(responseData?.transactionStatus).toBe('COMPLETED');
    const entries = await stack.operator.entries(responseData?.transactionReference ?? '');
    expect(entries.map(({ kind }) => kind)).toContain('capture');
  }, 60_000);
}

function merchantOf(stack: KeptStack) {
  const { transferUrl, collectionsUrl } = stack.runFile();
  const publicKey = stack.merchants.find(({ id }) => id === 'demo')?.publicKey ?? '';
  return createMerchantClient({ transferUrl, collectionsUrl, publicKey });
}

it('a stack that keeps its data goes on with its payments, its balances, and a rail that agrees (L13)', async () => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'pesewa-kept-'));
  try {
    await using infrastructure = await openInfrastructure({ root, log: () => undefined });
    const before = await (async () => {
      await using stack = await openKept(infrastructure, dataDirectory);
      await pay(stack, `first-${run}`);
      return await stack.operator.wallet('demo', 'NGN');
    })();
    await using stack = await openKept(infrastructure, dataDirectory);
    expect(await stack.operator.wallet('demo', 'NGN')).toEqual(before);
    await expectCaptured(stack, `first-${run}`);
    await pay(stack, `second-${run}`);
    await eventually(async () => {
      await stack.operator.compare();
      const drifts = await stack.operator.drift();
      expect(drifts.find(({ currency }) => currency === 'NGN')).toMatchObject({ drift: '0' });
    }, 60_000);
  } finally {
    await rm(dataDirectory, { recursive: true, force: true });
  }
});

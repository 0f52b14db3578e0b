import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createMerchantClient, openStack, type Stack, type StackOptions } from '@pesewa/stack';
import type { BenchOptions } from './bench.ts';
import { customers, stkRequest } from './collection-requests.ts';

/** Opens the whole stack on infrastructure that outlives it; the names of ARCHITECTURE.md where there is no prefix. */
export function openSharedStack(
  { root, infrastructure, log }: BenchOptions,
  own: Pick<StackOptions, 'prefix' | 'environment' | 'rail' | 'isCompact' | 'hasConsole'>,
): Promise<Stack> {
  return openStack({
    root,
    // Ours to close, not the stack's.
    infrastructure: () =>
      Promise.resolve({ ...infrastructure, [Symbol.asyncDispose]: () => Promise.resolve() }),
    log,
    ports: 'free',
    logLevel: 'warn',
    logDirectory: join('.pesewa', 'logs', 'bench'),
    ...own,
  });
}

/** Initiates collections by STK push, so many at a time, whose customers all pay; gives our references. */
export async function initiateCollections(
  stack: Stack,
  { count, inParallel }: { readonly count: number; readonly inParallel: number },
): Promise<string[]> {
  const { transferUrl, collectionsUrl } = stack.runFile();
  const publicKey = stack.merchants[0]?.publicKey ?? '';
  const merchant = createMerchantClient({ transferUrl, collectionsUrl, publicKey });
  const run = randomBytes(3).toString('hex');
  const customerNumber = customers();
  const references: string[] = [];
  let made = 0;
  const work = async () => {
    while (made < count) {
      made += 1;
      const request = stkRequest(`push-${run}-${made}`, customerNumber());
      references.push((await merchant.initiateCollection(request)).transactionReference);
    }
  };
  await Promise.all(Array.from({ length: inParallel }, work));
  return references;
}

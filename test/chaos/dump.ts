import { auditLedger } from '@pesewa/audit';
import { systemClock } from '@pesewa/kernel';
import type { Stack } from '@pesewa/stack';
import type { Call, World } from './checker/world.ts';
import type { Databases } from './read-databases.ts';
import { readMoves, readReceived, readWallets } from './read-rail.ts';
import { readTopics } from './read-topics.ts';

/** Where a run's traces are. */
export interface Traces {
  readonly stack: Stack;
  readonly prefix: string;
  readonly calls: readonly Call[];
  /** The rail's wallets before the run, by currency. */
  readonly walletsBefore: ReadonlyMap<string, bigint>;
}

const ALLOWED_LAG_MS = 15_000;

/** Reads everything that a run left, from all four sources. */
export async function readWorld(traces: Traces, databases: Databases): Promise<World> {
  const { stack, prefix, calls, walletsBefore } = traces;
  const { mongodbUrl } = stack.runFile();
  const databasePrefix = `${prefix}_`;
  const [audit, { accounts, ...stored }, topics, moves, wallets, ...received] = await Promise.all([
    auditLedger({ mongodbUrl, databasePrefix, allowedLagMs: ALLOWED_LAG_MS, clock: systemClock }),
    databases.read(),
    readTopics(stack, prefix),
    readMoves(stack),
    readWallets(stack),
    ...stack.merchants.map(({ id }) => readReceived(stack, id)),
  ]);
  return {
    ...stored,
    ...topics,
    calls,
    moves,
    received: received.flat(),
    purses: [...wallets].map(([currency, after]) => ({
      currency,
      before: walletsBefore.get(currency) ?? 0n,
      after,
      float: accounts.get(`float:upstream:${currency}`) ?? 0n,
      suspense: accounts.get(`suspense:${currency}`) ?? 0n,
    })),
    books: audit.violations,
  };
}

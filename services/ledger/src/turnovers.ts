import { LRUCache } from 'lru-cache';
import type { Turnover } from './domain/accounts.ts';
import type { Period } from './statement.ts';
import { isFinal, type Statements } from './statements.ts';

const REMEMBERED_MAX = 32;
const NOTHING: Turnover = { debits: 0n, credits: 0n };

/**
 * Builds a function that gives what was debited and credited to each account within a period. It costs two reads for
 * each account and chain, so a period to which no entry can be added is read once.
 */
export function createTurnovers(
  statements: Pick<Statements, 'turnovers'>,
): (accounts: readonly string[], period: Period) => Promise<readonly Turnover[]> {
  const remembered = new LRUCache<string, ReadonlyMap<string, Turnover>>({ max: REMEMBERED_MAX });
  return async (accounts, period) => {
    const key = `${period.from.getTime()}/${period.to.getTime()}`;
    const known = remembered.get(key);
    if (known) return accounts.map((account) => known.get(account) ?? NOTHING);
    const { turnovers, readAtMs } = await statements.turnovers(accounts, period);
    if (isFinal(period.to, readAtMs))
      remembered.set(key, new Map(accounts.map((account, index) => [account, turnovers[index] ?? NOTHING])));
    return turnovers;
  };
}

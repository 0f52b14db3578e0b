import { systemClock } from '@pesewa/kernel';
import { createMerchantClient } from '@pesewa/stack';
import type { Scenario } from '../../scenarios/scenario.ts';
import type { Call } from '../checker/world.ts';
import { createHistoryClient, type HistoryClient } from './client.ts';

/**
 * The client of each merchant, all adding to `calls`. If a second payout-gateway runs, all merchants but the first use
 * that one.
 */
export function createClientOf(
  { stack, merchantId }: Pick<Scenario, 'stack' | 'merchantId'>,
  calls: Call[],
  replicaUrl?: string,
): (merchantId: string) => HistoryClient {
  const { transferUrl: firstUrl, collectionsUrl } = stack.runFile();
  const clients = new Map(
    stack.merchants.map(({ id, publicKey }) => {
      const transferUrl = id === merchantId ? firstUrl : (replicaUrl ?? firstUrl);
      const client = createMerchantClient({ transferUrl, collectionsUrl, publicKey });
      return [id, createHistoryClient({ merchantId: id, client, calls, clock: systemClock })];
    }),
  );
  return (id) => {
    const client = clients.get(id);
    if (!client) throw new Error(`no client of ${id}`);
    return client;
  };
}

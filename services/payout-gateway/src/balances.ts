import { walletKeyOf } from '@pesewa/contracts';
import { type Clock, withDeadline } from '@pesewa/kernel';
import type { Logger } from '@pesewa/runtime';
import { LRUCache } from 'lru-cache';
import type { ClientSession, Collection, Db } from 'mongodb';

/** A wallet's balances after the entry with this sequence, in minor units. */
export interface WalletBalance {
  readonly merchantId: string;
  readonly currency: string;
  readonly available: bigint;
  readonly held: bigint;
  readonly sequence: bigint;
}

/** A wallet as our projection of wallets.balances keeps it; `_id` is `merchantId:currency`. */
interface WalletDocument extends Omit<WalletBalance, 'merchantId' | 'currency'> {
  readonly _id: string;
}

/** The merchants' wallets as far as this service knows: its own projection, which follows the ledger's. */
export type Balances = ReturnType<typeof openBalances>;

/** How old a read may be on which `true` is based; `false` is always based on a new one. */
const POSITIVE_AGE_MS_MAX = 250;
const KNOWN_MAX = 10_000;
const READ_TIMEOUT_MS = 2_000;

/** Opens the projection in the collection `wallets`. */
export function openBalances(deps: {
  readonly db: Db;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'warn'>;
}) {
  const wallets = deps.db.collection<WalletDocument>('wallets');
  return {
    /**
     * Stores newer balances within a transaction; those of an older sequence are ignored. Of equal sequences the later
     * event counts: a restored ledger may give a number again, to other balances.
     */
    apply: (balances: readonly WalletBalance[], session: ClientSession) =>
      applyNewest(wallets, balances, session),
    ...createBalanceReader({
      ...deps,
      load: async (ids) => {
        const found = await wallets
          .find({ _id: { $in: [...ids] } }, { maxTimeMS: READ_TIMEOUT_MS })
          .project<Pick<WalletDocument, '_id' | 'available'>>({ available: 1 })
          .toArray();
        return new Map(found.map(({ _id, available }) => [_id, available]));
      },
    }),
  };
}

/**
 * Builds the reading side over any loader of available balances, keyed by `merchantId:currency`; an overdue load fails.
 */
export function createBalanceReader(deps: {
  readonly load: (ids: readonly string[]) => Promise<ReadonlyMap<string, bigint>>;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'warn'>;
}) {
  const { clock, logger } = deps;
  // The server's own time limit does not help if the server itself stalls.
  const read = shareReads((ids) => withDeadline(deps.load(ids), READ_TIMEOUT_MS, clock));
  const known = new LRUCache<string, { readonly available: bigint; readonly readAtMs: number }>({
    max: KNOWN_MAX,
  });
  return {
    /** What can be spent in each currency, in minor units; 0 for wallets without a published balance. */
    available: async (
      merchantId: string,
      currencies: readonly string[],
    ): Promise<ReadonlyMap<string, bigint>> => {
      const ids = currencies.map((currency) => walletKeyOf(merchantId, currency));
      const found = await read(ids);
      return new Map(
        currencies.map((currency) => [currency, found.get(walletKeyOf(merchantId, currency)) ?? 0n]),
      );
    },
    /**
     * Whether the wallet seems to have the amount, in minor units.
     *
     * This is early advice: the ledger's hold decides (contract 10.8). If the database can't answer, it is true.
     */
    canSpend: async (
      { merchantId, currency }: Pick<WalletBalance, 'merchantId' | 'currency'>,
      minor: bigint,
    ): Promise<boolean> => {
      const id = walletKeyOf(merchantId, currency);
      const nowMs = clock.nowMs();
      const earlier = known.get(id);
      const ageMs = earlier ? nowMs - earlier.readAtMs : Number.POSITIVE_INFINITY;
      if (earlier && ageMs >= 0 && ageMs <= POSITIVE_AGE_MS_MAX && earlier.available >= minor) return true;
      try {
        const available = (await read([id])).get(id) ?? 0n;
        known.set(id, { available, readAtMs: nowMs });
        return available >= minor;
      } catch (error) {
        logger.warn({ err: error }, 'a balance could not be read: the hold decides');
        return true;
      }
    },
  };
}

/** Lets reads that are requested during a read share the next one; none sees data from before its request. */
function shareReads(
  load: (ids: readonly string[]) => Promise<ReadonlyMap<string, bigint>>,
): (ids: readonly string[]) => Promise<ReadonlyMap<string, bigint>> {
  let idle: Promise<unknown> = Promise.resolve();
  let next: { readonly ids: Set<string>; readonly found: Promise<ReadonlyMap<string, bigint>> } | undefined;
  return (ids) => {
    if (!next) {
      const gathered = new Set<string>();
      const found = idle.then(() => {
        next = undefined;
        return load([...gathered]);
      });
      idle = found.catch(() => undefined);
      next = { ids: gathered, found };
    }
    for (const id of ids) next.ids.add(id);
    return next.found;
  };
}

async function applyNewest(
  wallets: Collection<WalletDocument>,
  balances: readonly WalletBalance[],
  session: ClientSession,
): Promise<void> {
  const newest = new Map<string, WalletDocument>();
  for (const { merchantId, currency, available, held, sequence } of balances) {
    const _id = walletKeyOf(merchantId, currency);
    if ((newest.get(_id)?.sequence ?? -1n) <= sequence) newest.set(_id, { _id, available, held, sequence });
  }
  if (newest.size === 0) return;
  const writes = [...newest.values()].map((wallet) => ({
    updateOne: {
      filter: { _id: wallet._id },
      update: [
        {
          $replaceWith: {
            $cond: [
              { $lte: [{ $ifNull: ['$sequence', -1] }, wallet.sequence] },
              { $literal: wallet },
              '$$ROOT',
            ],
          },
        },
      ],
      upsert: true,
    },
  }));
  await wallets.bulkWrite(writes, { session, ordered: false });
}

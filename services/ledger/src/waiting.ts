import type { Settings } from '@pesewa/directory';
import { type Clock, formatAmount, sharedReading } from '@pesewa/kernel';
import { countWaiting, type Messaging } from '@pesewa/messaging';
import { COMMANDS } from './commands.ts';
import { type Sum, sumsForPeople } from './domain/trial-balance.ts';
import type { LedgerStore } from './store.ts';

/** The health gives up on it by then. */
const READ_TIMEOUT_MS = 2_000;

/** Tells with the ledger's health what waits for people: proposals, and sums of the books that should not stand. */
export function showWaiting(
  messaging: Pick<Messaging, 'db' | 'showWaiting'>,
  { readAll }: Pick<LedgerStore, 'readAll'>,
  { countProposed }: Pick<Settings, 'countProposed'>,
  clock: Pick<Clock, 'nowMs'>,
): void {
  const readSums = sharedReading(clock, () => readAll({ maxTimeMS: READ_TIMEOUT_MS }));
  messaging.showWaiting({
    orders: () => countWaiting(messaging.db.collection(COMMANDS), { status: 'proposed' }),
    settings: countProposed,
    books: async () => {
      const { wallets, shared } = await readSums();
      const { suspense, lowFloats } = sumsForPeople(wallets, shared);
      return {
        suspense: suspense.map(view),
        lowFloats: lowFloats.map(({ held, ...one }) => ({
          ...view(one),
          held: formatAmount(held, one.currency),
        })),
      };
    },
  });
}

const view = ({ account, currency, balance }: Sum) => ({
  account,
  currency,
  balance: formatAmount(balance, currency),
});

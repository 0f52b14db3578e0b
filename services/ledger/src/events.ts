import { walletKeyOf } from '@pesewa/contracts';
import { type Clock, type Ids, unreachable } from '@pesewa/kernel';
import type { OutgoingEvent } from '@pesewa/messaging';
import type { WalletChange } from './domain/books.ts';
import type { Happening } from './domain/instructions.ts';

/** What turns the ledger's happenings into events of ledger.events and wallets.balances. */
export interface LedgerEvents {
  readonly happened: (happening: Happening) => OutgoingEvent;
  /** The balances of a wallet after the newest of its entries. */
  readonly balanceChanged: (change: WalletChange) => OutgoingEvent;
}

/** Builds {@link LedgerEvents}. */
export function createLedgerEvents(deps: { readonly ids: Ids; readonly clock: Clock }): LedgerEvents {
  const envelope = () => ({ eventId: deps.ids.next('ev'), occurredAt: BigInt(deps.clock.nowMs()) });

  function address(happening: Happening) {
    const { causationId, sequence, currency } = happening;
    const key = walletKeyOf(ownerOf(happening), currency);
    return { topic: 'ledger' as const, key, version: sequence, causationId };
  }

  return {
    happened: (happening) => {
      // Only what the schema names is encoded: the fields of a happening are those of its event.
      const payload = { ...envelope(), ...happening };
      switch (payload.kind) {
        case 'holdPlaced':
          return { ...address(happening), type: 'pesewa.ledger.HoldPlaced', payload };
        case 'holdRefused':
          return { ...address(happening), type: 'pesewa.ledger.HoldRefused', payload };
        case 'holdCaptured':
          return { ...address(happening), type: 'pesewa.ledger.HoldCaptured', payload };
        case 'holdReleased':
          return { ...address(happening), type: 'pesewa.ledger.HoldReleased', payload };
        case 'collectionCredited':
          return { ...address(happening), type: 'pesewa.ledger.CollectionCredited', payload };
        case 'payoutRefunded':
          return { ...address(happening), type: 'pesewa.ledger.PayoutRefunded', payload };
        case 'walletFunded':
          return { ...address(happening), type: 'pesewa.ledger.WalletFunded', payload };
        case 'floatFunded':
          return { ...address(happening), type: 'pesewa.ledger.FloatFunded', payload };
        case 'walletWithdrawn':
          return { ...address(happening), type: 'pesewa.ledger.WalletWithdrawn', payload };
        case 'floatWithdrawn':
          return { ...address(happening), type: 'pesewa.ledger.FloatWithdrawn', payload };
        case 'walletAdjusted':
          return { ...address(happening), type: 'pesewa.ledger.WalletAdjusted', payload };
        case 'suspenseBooked':
          return { ...address(happening), type: 'pesewa.ledger.SuspenseBooked', payload };
        case 'commandRefused':
          return { ...address(happening), type: 'pesewa.ledger.CommandRefused', payload };
        default:
          return unreachable(payload);
      }
    },
    balanceChanged: ({ after, causationId }) => ({
      topic: 'wallets',
      key: walletKeyOf(after.merchantId, after.currency),
      version: after.sequence,
      causationId,
      type: 'pesewa.wallets.WalletBalanceChanged',
      payload: { ...envelope(), ...after },
    }),
  };
}

/** Whose money it is: the merchant's, or ours at a rail. */
function ownerOf(happening: Happening): string {
  if ('merchantId' in happening) return happening.merchantId;
  return 'rail' in happening ? happening.rail : happening.owner;
}

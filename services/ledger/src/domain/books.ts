import { walletKeyOf } from '@pesewa/contracts';
import { isWalletAccount, type Turnover } from './accounts.ts';
import type { FloatOrder, WalletOrder } from './instructions.ts';

/** The kind of an entry (ADR 61). */
export type EntryKind =
  | 'hold'
  | 'capture'
  | 'fee'
  | 'release'
  | 'railCost'
  | 'collect'
  | 'refund'
  | 'refundFee'
  | WalletOrder['kind']
  | FloatOrder['kind'];

/** One posting with both its legs; written once, never changed. */
export interface Entry {
  /** `<reference>/<kind>`: derived from the cause, so that it can exist only once. */
  readonly id: string;
  readonly kind: EntryKind;
  readonly debit: string;
  readonly credit: string;
  /** Minor units, above zero. */
  readonly amount: bigint;
  readonly currency: string;
  /** Our payment reference, or the command's id. */
  readonly reference: string;
  readonly causationId: string;
  readonly touched?: Touch;
}

/** The wallet that an entry touches, in its state after the entry. */
interface Touch {
  readonly wallet: string;
  readonly sequence: bigint;
  readonly available: bigint;
  readonly held: bigint;
}

/** The money of one merchant in one currency, in minor units. */
export interface Wallet {
  readonly merchantId: string;
  readonly currency: string;
  readonly available: bigint;
  readonly held: bigint;
  /** Grows by one with every entry that touches the wallet. */
  readonly sequence: bigint;
}

/** The event that asked for what was refused, and the wallet's sequence then. */
export interface Refusal {
  readonly causationId: string;
  readonly sequence: bigint;
}

/** The money set aside for one payout, and its status. */
export interface Hold {
  readonly reference: string;
  readonly merchantId: string;
  readonly currency: string;
  readonly amount: bigint;
  readonly fee: bigint;
  readonly rail: string;
  readonly status: 'open' | 'captured' | 'released' | 'refunded' | 'refused';
  /** Set if it was refused in this batch. */
  readonly refusal?: Refusal;
}

/** An order that was refused for good: no money moved, and a replay must refuse it again. */
export interface RefusedOrder extends Refusal {
  /** The id of the entry that was not written. */
  readonly id: string;
  readonly merchantId: string;
  readonly currency: string;
  readonly amount: bigint;
  readonly reason: string;
}

/** The entries that end a hold, with the status they lead to; a later one overrides. */
export const holdEndings = [
  { kind: 'capture', status: 'captured' },
  { kind: 'release', status: 'released' },
  { kind: 'refund', status: 'refunded' },
] as const satisfies readonly { readonly kind: EntryKind; readonly status: Hold['status'] }[];

/** The stored state of everything that a batch of instructions concerns. */
export interface Snapshot {
  /** Keyed by `merchantId:currency`. */
  readonly wallets: ReadonlyMap<string, Wallet>;
  /** Keyed by reference. */
  readonly holds: ReadonlyMap<string, Hold>;
  /** The ids of existing entries, and of those that refused orders asked for. */
  readonly entryIds: ReadonlySet<string>;
}

/** A changed wallet: its new state, and the event behind its newest entry. */
export interface WalletChange {
  readonly isNew: boolean;
  readonly after: Wallet;
  readonly causationId: string;
}

/** A hold that changed. */
export interface HoldChange {
  readonly isNew: boolean;
  readonly after: Hold;
}

/** All changes of a batch, ready to be written. */
export interface Folded {
  readonly entries: readonly Entry[];
  readonly wallets: ReadonlyMap<string, WalletChange>;
  readonly holds: ReadonlyMap<string, HoldChange>;
  readonly refusedOrders: readonly RefusedOrder[];
  /** What the batch adds to shared accounts. */
  readonly accountDeltas: ReadonlyMap<string, Turnover>;
}

type Mutable<Value> = { -readonly [Key in keyof Value]: Value[Key] };

interface Change {
  readonly available: bigint;
  readonly held: bigint;
}

/** The working state of one fold. */
export interface BatchState {
  readonly holdOf: (reference: string) => Hold | undefined;
  readonly saveHold: (hold: Hold) => void;
  /** Whether the entry exists or was refused. */
  readonly knows: (entryId: string) => boolean;
  readonly refuseOrder: (refused: RefusedOrder) => void;
  /** The present state of a wallet, empty if none is stored yet. */
  readonly wallet: (of: { merchantId: string; currency: string }) => { walletKey: string; wallet: Wallet };
  /** Adds an entry and moves its money; an amount of zero adds nothing. */
  readonly move: (
    cause: { readonly reference: string; readonly currency: string; readonly causationId: string },
    kind: EntryKind,
    debit: string,
    credit: string,
    amount: bigint,
    touch?: Change & { readonly wallet: Wallet },
  ) => void;
  readonly close: () => Folded;
}

/** Opens the books over a snapshot, which is not changed. */
export function openBatchState(snapshot: Snapshot): BatchState {
  const wallets = new Map<string, Mutable<Wallet>>();
  const changed = new Map<string, WalletChange>();
  const holds = new Map<string, HoldChange>();
  const entries: Entry[] = [];
  const refusedOrders: RefusedOrder[] = [];
  const decided = new Set<string>();
  const deltas = new Map<string, Mutable<Turnover>>();

  function addToAccount(account: string, side: 'debits' | 'credits', amount: bigint): void {
    if (isWalletAccount(account)) return;
    let delta = deltas.get(account);
    if (!delta) {
      delta = { debits: 0n, credits: 0n };
      deltas.set(account, delta);
    }
    delta[side] += amount;
  }

  function touchWallet(wallet: Wallet, change: Change, causationId: string): Touch {
    const key = walletKeyOf(wallet.merchantId, wallet.currency);
    const own = wallets.get(key);
    if (!own) throw new Error('a wallet was moved that the books did not open');
    own.available += change.available;
    own.held += change.held;
    own.sequence += 1n;
    if (own.available < 0n || own.held < 0n) throw new RangeError('a wallet would fall below zero');
    changed.set(key, { isNew: !snapshot.wallets.has(key), after: own, causationId });
    return { wallet: key, sequence: own.sequence, available: own.available, held: own.held };
  }

  return {
    holdOf: (reference) => holds.get(reference)?.after ?? snapshot.holds.get(reference),
    saveHold: (hold) =>
      void holds.set(hold.reference, { isNew: !snapshot.holds.has(hold.reference), after: hold }),
    knows: (entryId) => decided.has(entryId) || snapshot.entryIds.has(entryId),
    refuseOrder: (refused) => {
      decided.add(refused.id);
      refusedOrders.push(refused);
    },
    wallet: ({ merchantId, currency }) => {
      const walletKey = walletKeyOf(merchantId, currency);
      let wallet = wallets.get(walletKey);
      if (!wallet) {
        const empty = { merchantId, currency, available: 0n, held: 0n, sequence: 0n };
        wallet = { ...(snapshot.wallets.get(walletKey) ?? empty) };
        wallets.set(walletKey, wallet);
      }
      return { walletKey, wallet };
    },
    move: ({ reference, currency, causationId }, kind, debit, credit, amount, touch) => {
      if (amount === 0n) return;
      const id = `${reference}/${kind}`;
      const touched = touch && touchWallet(touch.wallet, touch, causationId);
      addToAccount(debit, 'debits', amount);
      addToAccount(credit, 'credits', amount);
      decided.add(id);
      entries.push({
        id,
        kind,
        debit,
        credit,
        amount,
        currency,
        reference,
        causationId,
        ...(touched && { touched }),
      });
    },
    close: () => ({ entries, wallets: changed, holds, refusedOrders, accountDeltas: deltas }),
  };
}

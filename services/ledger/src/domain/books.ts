import { type ChainedPosting, walletKeyOf } from '@pesewa/contracts';
import { isWalletAccount, movedOnWallet, type Turnover } from './accounts.ts';
import { type FloatOrder, type Instruction, postingId, type WalletOrder } from './instructions.ts';

/** The kind of an entry. */
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

/** One movement of a posting: an amount above zero, from one account to another. */
export interface Entry {
  readonly kind: EntryKind;
  readonly debit: string;
  readonly credit: string;
  /** Minor units. */
  readonly amount: bigint;
}

/** Everything that one instruction moves; written once, never changed. */
export interface Posting extends Omit<ChainedPosting, '_id' | 'at'> {
  /** `<reference>/<kind>`: derived from the cause, so that it can exist only once. */
  readonly id: string;
  readonly kind: Instruction['kind'];
  readonly entries: readonly Entry[];
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

/** The money set aside for one payout, and its status. */
export interface Hold {
  readonly reference: string;
  readonly merchantId: string;
  readonly currency: string;
  readonly amount: bigint;
  readonly fee: bigint;
  readonly rail: string;
  readonly status: 'open' | 'captured' | 'released' | 'refunded' | 'refused';
}

/** A hold or an order that was refused for good: no money moved, and a replay must refuse it again. */
export interface Refusal {
  /** The id of the posting that was not written. */
  readonly id: string;
  readonly merchantId: string;
  readonly currency: string;
  /** The requested amount; of a hold without the fee. */
  readonly amount: bigint;
  /** Fee and rail of a hold. */
  readonly fee?: bigint;
  readonly rail?: string;
  readonly reason: string;
  readonly causationId: string;
  /** The wallet's sequence then. */
  readonly sequence: bigint;
}

/** The postings that end a hold, with the status they lead to; a later one overrides. */
export const holdEndings = [
  { kind: 'capture', status: 'captured' },
  { kind: 'release', status: 'released' },
  { kind: 'refund', status: 'refunded' },
] as const satisfies readonly { readonly kind: Posting['kind']; readonly status: Hold['status'] }[];

/** The stored state of everything that a batch of instructions concerns. */
export interface Snapshot {
  /** Keyed by `merchantId:currency`. */
  readonly wallets: ReadonlyMap<string, Wallet>;
  /** Keyed by reference. */
  readonly holds: ReadonlyMap<string, Hold>;
  /** What exists already, keyed by id; what was refused has no entries. */
  readonly postings: ReadonlyMap<string, Pick<Posting, 'entries'>>;
}

/** A changed wallet: its new state, and the event behind its newest posting. */
export interface WalletChange {
  readonly isNew: boolean;
  readonly after: Wallet;
  readonly causationId: string;
}

/** All changes of a batch, ready to be written. */
export interface Folded {
  readonly postings: readonly Posting[];
  readonly wallets: ReadonlyMap<string, WalletChange>;
  /** The holds that changed, keyed by reference. */
  readonly holds: ReadonlyMap<string, Hold>;
  readonly refusals: readonly Refusal[];
  /** What the batch adds to shared accounts. */
  readonly accountDeltas: ReadonlyMap<string, Turnover>;
}

type Mutable<Value> = { -readonly [Key in keyof Value]: Value[Key] };

/** The kind of an entry, its debit and its credit account, its amount. */
export type Movement = readonly [kind: EntryKind, debit: string, credit: string, amount: bigint];

/** The working state of one fold. */
export interface BatchState {
  readonly holdOf: (reference: string) => Hold | undefined;
  readonly saveHold: (hold: Hold) => void;
  /** What the instruction's posting holds, if it exists; what was refused has no entries. */
  readonly known: (instruction: Instruction) => Pick<Posting, 'entries'> | undefined;
  readonly refuse: (refusal: Refusal) => void;
  /** The present state of a wallet, empty if none is stored yet. */
  readonly wallet: (of: { merchantId: string; currency: string }) => { walletKey: string; wallet: Wallet };
  /** Books all movements of an instruction as one posting; an amount of zero adds nothing. */
  readonly post: (
    instruction: Instruction,
    movements: readonly Movement[],
    terms?: Pick<Posting, 'fee' | 'rail'>,
  ) => void;
  readonly close: () => Folded;
}

/** The entries of movements; one of nothing is left out. */
export function entriesOf(movements: readonly Movement[]): readonly Entry[] {
  return movements.flatMap(([kind, debit, credit, amount]) =>
    amount === 0n ? [] : [{ kind, debit, credit, amount }],
  );
}

/** Opens the books over a snapshot, which is not changed. */
export function openBatchState(snapshot: Snapshot): BatchState {
  const wallets = openWallets(snapshot);
  const holds = new Map<string, Hold>();
  const postings = new Map<string, Posting>();
  const refusals = new Map<string, Refusal>();
  const deltas = new Map<string, Mutable<Turnover>>();

  function addToAccount(account: string, side: 'debits' | 'credits', amount: bigint): void {
    if (isWalletAccount(account)) return;
    const delta = deltas.get(account) ?? { debits: 0n, credits: 0n };
    deltas.set(account, delta);
    delta[side] += amount;
  }

  return {
    holdOf: (reference) => holds.get(reference) ?? snapshot.holds.get(reference),
    saveHold: (hold) => void holds.set(hold.reference, hold),
    known: (instruction) => {
      const id = postingId(instruction);
      return postings.get(id) ?? (refusals.has(id) ? { entries: [] } : snapshot.postings.get(id));
    },
    refuse: (refusal) => void refusals.set(refusal.id, refusal),
    wallet: wallets.open,
    post: (instruction, movements, terms) => {
      const { kind, reference, causationId, currency } = instruction;
      const entries = entriesOf(movements);
      for (const { debit, credit, amount } of entries) {
        addToAccount(debit, 'debits', amount);
        addToAccount(credit, 'credits', amount);
      }
      const touched = 'merchantId' in instruction ? wallets.move(entries, instruction) : undefined;
      const id = postingId(instruction);
      postings.set(id, { id, kind, reference, causationId, currency, ...terms, entries, ...touched });
    },
    close: () => ({
      postings: [...postings.values()],
      wallets: wallets.changed,
      holds,
      refusals: [...refusals.values()],
      accountDeltas: deltas,
    }),
  };
}

/** The wallets of a batch. */
function openWallets(snapshot: Snapshot) {
  const wallets = new Map<string, Mutable<Wallet>>();
  const changed = new Map<string, WalletChange>();

  function open({ merchantId, currency }: { readonly merchantId: string; readonly currency: string }) {
    const walletKey = walletKeyOf(merchantId, currency);
    let wallet = wallets.get(walletKey);
    if (!wallet) {
      const empty = { merchantId, currency, available: 0n, held: 0n, sequence: 0n };
      wallet = { ...(snapshot.wallets.get(walletKey) ?? empty) };
      wallets.set(walletKey, wallet);
    }
    return { walletKey, wallet };
  }

  return {
    changed,
    open,
    /** Moves the entries' money on the wallet; gives its state for their posting, nothing if they don't touch it. */
    move: (entries: readonly Entry[], of: Extract<Instruction, { readonly merchantId: string }>) => {
      const { walletKey, wallet } = open(of);
      const before = wallet.sequence;
      for (const entry of entries) {
        const moved = movedOnWallet(walletKey, entry);
        if (moved.available === 0n && moved.held === 0n) continue;
        wallet.available += moved.available;
        wallet.held += moved.held;
        wallet.sequence += 1n;
        if (wallet.available < 0n || wallet.held < 0n) throw new RangeError('a wallet would fall below zero');
      }
      if (wallet.sequence === before) return undefined;
      const isNew = !snapshot.wallets.has(walletKey);
      changed.set(walletKey, { isNew, after: wallet, causationId: of.causationId });
      const { sequence: walletSequence, available: availableAfter, held: heldAfter } = wallet;
      return { wallet: walletKey, walletSequence, availableAfter, heldAfter };
    },
  };
}

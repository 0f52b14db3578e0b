import type { Folded, Hold, Snapshot, Wallet } from './books.ts';
import type { foldInstructions } from './posting.ts';

/** A refund keeps the fee. */
export const policy = { refundFee: false };

const payout = {
  causationId: 'ev-1',
  reference: 'po-1',
  merchantId: 'demo',
  currency: 'KES',
  amount: 1_000n,
  fee: 10n,
};
const payment = { causationId: 'ev-1', reference: 'co-1', merchantId: 'demo', currency: 'KES' };
const funding = { causationId: 'cm-1', reference: 'cm-1', currency: 'KES', amount: 700n };

/** Sets a payout's money aside. */
export const hold = { ...payout, kind: 'hold', rail: 'upstream' } as const;
/** Takes the held money. */
export const capture = { ...payout, kind: 'capture', rail: 'upstream', railFee: 5n } as const;
/** Returns the held money. */
export const release = { ...payout, kind: 'release' } as const;
/** Returns the captured money. */
export const refund = { ...payout, kind: 'refund' } as const;
/** Credits a collection. */
export const collect = {
  ...payment,
  kind: 'collect',
  received: 500n,
  fee: 20n,
  rail: 'upstream',
  railFee: 3n,
} as const;
/** Puts money into the wallet. */
export const fund = { ...funding, kind: 'fund', merchantId: 'demo' } as const;
/** Puts money on the rail's float. */
export const fundFloat = { ...funding, kind: 'fundFloat', rail: 'upstream' } as const;

/** A wallet with this money and, if a status is given, one hold of `po-1`. */
export function given(available: bigint, held: bigint, status?: Hold['status']): Snapshot {
  const wallet: Wallet = { merchantId: 'demo', currency: 'KES', available, held, sequence: 7n };
  const stored: Hold = {
    reference: 'po-1',
    merchantId: 'demo',
    currency: 'KES',
    amount: 1_000n,
    fee: 10n,
    rail: 'upstream',
    status: status ?? 'open',
  };
  return {
    wallets: new Map([['demo:KES', wallet]]),
    holds: new Map(status ? [['po-1', stored]] : []),
    postings: new Map(),
  };
}

/** What an order against suspense has of a break if it is for none. */
export const ofNoBreak = { breakId: null, requestedAt: 0n } as const;

/** The account of what the wallet may spend. */
export const available = 'wallet:demo:KES:available';
/** The account of what the wallet has set aside. */
export const held = 'wallet:demo:KES:held';
/** The account of our money at the rail. */
export const float = 'float:upstream:KES';

/** The entries of postings, in order. */
export const entriesIn = ({ postings }: Pick<Folded, 'postings'>) =>
  postings.flatMap(({ entries }) => entries);

/** An outcome in short form. */
export function brief(outcome: ReturnType<typeof foldInstructions>['outcomes'][number]): string {
  if (outcome.kind === 'posted') return outcome.domainEvent.kind;
  return outcome.kind === 'parked' ? `parked: ${outcome.reason}` : outcome.kind;
}

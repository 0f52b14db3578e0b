/** A payment of a wallet, and the event that speaks of it. */
export interface Payment {
  /** The id of the event that asks for this. */
  readonly causationId: string;
  /** The payment's reference, ours. */
  readonly reference: string;
  readonly merchantId: string;
  readonly currency: string;
}

interface Payout extends Payment {
  /** Minor units, as all amounts here. */
  readonly amount: bigint;
  readonly fee: bigint;
}

interface Funding {
  readonly causationId: string;
  /** The command's own id. */
  readonly reference: string;
  readonly currency: string;
  readonly amount: bigint;
}

/** What an event asks of the ledger (design 5). */
export type Instruction =
  | (Payout & { readonly kind: 'hold'; readonly rail: string })
  | (Payout & { readonly kind: 'capture'; readonly rail: string; readonly railFee: bigint })
  | (Payout & { readonly kind: 'release' })
  | (Payout & { readonly kind: 'refund' })
  | (Payment & {
      readonly kind: 'collect';
      readonly received: bigint;
      readonly fee: bigint;
      readonly rail: string;
      readonly railFee: bigint;
    })
  | (Funding & { readonly kind: 'fund'; readonly merchantId: string })
  | (Funding & { readonly kind: 'fundFloat'; readonly rail: string });

interface Numbered {
  /** The wallet's sequence afterwards; 0 where no wallet is concerned. */
  readonly sequence: bigint;
}

/** What the ledger did, as others hear of it. */
export type Happening = Numbered &
  (
    | (Payment & { readonly kind: 'holdPlaced' | 'holdReleased'; readonly held: bigint })
    | (Payment & { readonly kind: 'holdRefused'; readonly held: bigint; readonly reason: string })
    | (Payment & {
        readonly kind: 'holdCaptured';
        readonly amount: bigint;
        readonly fee: bigint;
        readonly rail: string;
        readonly railCost: bigint;
      })
    | (Payment & {
        readonly kind: 'payoutRefunded';
        readonly amount: bigint;
        /** The part of our fee that was given back. */
        readonly fee: bigint;
        readonly rail: string;
      })
    | (Payment & {
        readonly kind: 'collectionCredited';
        readonly amountReceived: bigint;
        readonly fee: bigint;
        readonly rail: string;
        readonly railCost: bigint;
      })
    | (Omit<Payment, 'reference'> & { readonly kind: 'walletFunded'; readonly amount: bigint })
    | {
        readonly kind: 'floatFunded';
        readonly causationId: string;
        readonly rail: string;
        readonly currency: string;
        readonly amount: bigint;
      }
  );

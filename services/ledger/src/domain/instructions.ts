/** A payment of a wallet, and the event that reports it. */
export interface Payment {
  /** The id of the event that asks for this. */
  readonly causationId: string;
  /** The payment's reference, made by us. */
  readonly reference: string;
  readonly merchantId: string;
  readonly currency: string;
}

interface Payout extends Payment {
  /** Minor units, as all amounts here. */
  readonly amount: bigint;
  readonly fee: bigint;
}

/** The fields of every operator's order except its target. */
interface Ordered {
  readonly causationId: string;
  /** The command's own id. */
  readonly reference: string;
  readonly currency: string;
  readonly amount: bigint;
}

/** An operator's order about a merchant's wallet; its kind is the kind of its entry. */
export type WalletOrder = Ordered & { readonly merchantId: string } & (
    | { readonly kind: 'fund' | 'withdraw' }
    | { readonly kind: 'adjust'; readonly direction: 'credit' | 'debit' }
  );

/** An operator's order about our float at a rail; its kind is the kind of its entry. */
export type FloatOrder = Ordered & { readonly rail: string } & (
    | { readonly kind: 'fundFloat' | 'withdrawFloat' }
    | { readonly kind: 'suspense'; readonly direction: 'surplus' | 'shortage' }
  );

/** What an event asks of the ledger (ADR 61). */
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
  | WalletOrder
  | FloatOrder;

/** The instructions of some kinds. */
export type InstructionOf<Kind extends Instruction['kind']> = Extract<Instruction, { readonly kind: Kind }>;

interface Numbered {
  /** The wallet's sequence afterwards; 0 if no wallet is concerned. */
  readonly sequence: bigint;
}

/** The money that an order moved, or would have moved. */
interface Moved {
  readonly causationId: string;
  readonly currency: string;
  readonly amount: bigint;
  readonly commandId: string;
}

/** The amount of a hold and its purpose. */
interface HoldTerms {
  /** Including the fee. */
  readonly held: bigint;
  readonly fee: bigint;
  readonly rail: string;
}

interface OfWallet extends Moved {
  readonly merchantId: string;
}

interface OfFloat extends Moved {
  readonly rail: string;
}

/** What the ledger did, as it is published. */
export type LedgerDomainEvent = Numbered &
  (
    | (Payment & { readonly kind: 'holdReleased'; readonly held: bigint })
    | (Payment & HoldTerms & { readonly kind: 'holdPlaced' })
    | (Payment & HoldTerms & { readonly kind: 'holdRefused'; readonly reason: string })
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
        /** The part of our fee that was returned. */
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
    | (OfWallet & { readonly kind: 'walletFunded' | 'walletWithdrawn' })
    | (OfWallet & { readonly kind: 'walletAdjusted'; readonly direction: 'credit' | 'debit' })
    | (OfFloat & { readonly kind: 'floatFunded' | 'floatWithdrawn' })
    | (OfFloat & { readonly kind: 'suspenseBooked'; readonly direction: 'surplus' | 'shortage' })
    | (Moved & {
        readonly kind: 'commandRefused';
        /** The merchant whose wallet it is. */
        readonly owner: string;
        readonly reason: string;
        readonly order: WalletOrder['kind'];
      })
  );

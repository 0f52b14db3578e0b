import { type AvroRecord, envelope } from './avro.ts';

const namespace = 'pesewa.ledger';

const wallet = [
  { name: 'merchantId', type: 'string', doc: 'the merchant whom it is about' },
  { name: 'currency', type: 'string', doc: 'of all amounts, ISO 4217' },
] as const;

const reference = { name: 'reference', type: 'string', doc: 'our transaction reference' } as const;
const held = { name: 'held', type: 'long', doc: 'amount and fee, minor units' } as const;
const rail = { name: 'rail', type: 'string', doc: 'the name of the rail' } as const;
const amount = { name: 'amount', type: 'long', doc: 'minor units' } as const;
const fee = { name: 'fee', type: 'long', doc: 'our fee, minor units' } as const;
/** The parts of the held amount and its destination, for the ledger's own record of the hold. */
const holdTerms = [
  { name: 'fee', type: 'long', default: 0, doc: 'our fee within what is held, minor units' },
  { name: 'rail', type: 'string', default: '' },
] as const;
const commandId = { name: 'commandId', type: 'string', default: '', doc: "the order's id" } as const;
const railCost = { name: 'railCost', type: 'long', doc: "the rail's own fee, minor units" } as const;

const currency = { name: 'currency', type: 'string', doc: 'of all amounts, ISO 4217' } as const;

const command = [
  ...envelope,
  { name: 'requestedBy', type: 'string', doc: 'the operator who asked' },
  amount,
  currency,
  { name: 'approvedBy', type: ['null', 'string'], default: null, doc: 'the other operator, who approved it' },
] as const;

const merchantId = { name: 'merchantId', type: 'string', doc: 'the merchant whom it is about' } as const;
const adjustment = {
  name: 'direction',
  type: { type: 'enum', name: 'Adjustment', symbols: ['credit', 'debit'] },
  doc: 'what the wallet gets: more by a credit, less by a debit',
} as const;
const discrepancy = {
  name: 'direction',
  type: { type: 'enum', name: 'Discrepancy', symbols: ['surplus', 'shortage'] },
  doc: 'whether the rail has more than our records explain, or less',
} as const;
const breakId = {
  name: 'breakId',
  type: ['null', 'string'],
  default: null,
  doc: 'the break that it corrects',
} as const;
const correction = [
  breakId,
  { name: 'requestedAt', type: 'long', default: 0, doc: 'when it was proposed: what it corrects was known' },
] as const;

/** The operators' orders to the ledger (ADR 17); such an event's id is the command's own. */
export const ledgerCommands = [
  {
    type: 'record',
    namespace,
    name: 'FundWallet',
    doc: "Money of the treasury goes into a merchant's wallet.",
    fields: [...command, merchantId],
  },
  {
    type: 'record',
    namespace,
    name: 'FundFloat',
    doc: 'Money of the treasury goes to our float at a rail.',
    fields: [...command, rail],
  },
  {
    type: 'record',
    namespace,
    name: 'WithdrawWallet',
    doc: "Available money of a merchant's wallet goes to the treasury, as far as the wallet has it.",
    fields: [...command, merchantId],
  },
  {
    type: 'record',
    namespace,
    name: 'WithdrawFloat',
    doc: 'Money of our float at a rail goes to the treasury.',
    fields: [...command, rail],
  },
  {
    type: 'record',
    namespace,
    name: 'AdjustWallet',
    doc: "A correction of a merchant's wallet, against suspense.",
    fields: [...command, merchantId, adjustment, ...correction],
  },
  {
    type: 'record',
    namespace,
    name: 'BookSuspense',
    doc: 'Money at a rail that no record explains goes to suspense, or comes back from it.',
    fields: [...command, rail, discrepancy, ...correction],
  },
] as const satisfies readonly AvroRecord[];

/** What the ledger did. */
export const ledgerEvents = [
  {
    type: 'record',
    namespace,
    name: 'HoldPlaced',
    doc: "A payout's amount and fee moved from available to held.",
    fields: [...envelope, reference, ...wallet, held, ...holdTerms],
  },
  {
    type: 'record',
    namespace,
    name: 'HoldRefused',
    doc: 'The wallet has not enough available; nothing moved.',
    fields: [...envelope, reference, ...wallet, held, { name: 'reason', type: 'string' }, ...holdTerms],
  },
  {
    type: 'record',
    namespace,
    name: 'HoldCaptured',
    doc: 'A completed payout took its held money: the amount from the float, the fee as income.',
    fields: [...envelope, reference, ...wallet, amount, fee, rail, railCost],
  },
  {
    type: 'record',
    namespace,
    name: 'HoldReleased',
    doc: 'A failed payout gave its held money back.',
    fields: [...envelope, reference, ...wallet, held],
  },
  {
    type: 'record',
    namespace,
    name: 'CollectionCredited',
    doc: 'A collection reached the wallet, less our fee.',
    fields: [
      ...envelope,
      reference,
      ...wallet,
      { name: 'amountReceived', type: 'long' },
      fee,
      rail,
      railCost,
    ],
  },
  {
    type: 'record',
    namespace,
    name: 'PayoutRefunded',
    doc: 'A reversed payout came back: to the float, and to the wallet.',
    fields: [...envelope, reference, ...wallet, amount, fee, rail],
  },
  {
    type: 'record',
    namespace,
    name: 'WalletFunded',
    doc: "Treasury money reached a merchant's wallet.",
    fields: [...envelope, ...wallet, amount, commandId],
  },
  {
    type: 'record',
    namespace,
    name: 'FloatFunded',
    doc: 'Treasury money reached our float at a rail.',
    fields: [...envelope, rail, currency, amount, commandId],
  },
  {
    type: 'record',
    namespace,
    name: 'WalletWithdrawn',
    doc: "Money of a merchant's wallet went to the treasury.",
    fields: [...envelope, ...wallet, amount, commandId],
  },
  {
    type: 'record',
    namespace,
    name: 'FloatWithdrawn',
    doc: 'Money of our float at a rail went to the treasury.',
    fields: [...envelope, rail, currency, amount, commandId],
  },
  {
    type: 'record',
    namespace,
    name: 'WalletAdjusted',
    doc: "A merchant's wallet was corrected, against suspense.",
    fields: [...envelope, ...wallet, amount, adjustment, commandId, ...correction],
  },
  {
    type: 'record',
    namespace,
    name: 'SuspenseBooked',
    doc: 'Money at a rail that no record explains went to suspense, or came back from it.',
    fields: [...envelope, rail, currency, amount, discrepancy, commandId, ...correction],
  },
  {
    type: 'record',
    namespace,
    name: 'CommandRefused',
    doc: "An operator's order could not be applied; nothing moved.",
    fields: [
      ...envelope,
      { name: 'owner', type: 'string', doc: 'the merchant, or the rail' },
      currency,
      amount,
      commandId,
      { name: 'reason', type: 'string', doc: 'why, in our words' },
      { name: 'order', type: 'string', default: '', doc: 'what was ordered: fund, withdraw or adjust' },
    ],
  },
  {
    type: 'record',
    namespace,
    name: 'PageWritten',
    doc: 'A page of the hash chain holds the postings of these events. The ledger itself reads it, after its database was restored.',
    fields: [
      ...envelope,
      { name: 'chain', type: 'string', doc: 'the topic and partition whose messages the page answers' },
      { name: 'number', type: 'long' },
      { name: 'hash', type: 'string', doc: 'the hash of the page, in hex' },
      {
        name: 'postings',
        type: { type: 'array', items: 'string' },
        doc: 'what was applied, in this order: `<reference>/<kind>`',
      },
    ],
  },
  {
    type: 'record',
    namespace,
    name: 'OrderDecided',
    doc: 'An order of operators was approved or rejected. The ledger itself reads it, after its database was restored.',
    fields: [
      ...envelope,
      commandId,
      { name: 'kind', type: 'string', doc: 'the kind of its entry' },
      { name: 'target', type: 'string', doc: 'the merchant, or the rail' },
      currency,
      amount,
      { name: 'direction', type: ['null', 'string'], default: null },
      breakId,
      { name: 'requestedBy', type: 'string' },
      { name: 'requestedAt', type: 'long' },
      { name: 'status', type: 'string', doc: 'approved or rejected' },
      { name: 'decidedBy', type: 'string' },
      { name: 'decidedAt', type: 'long' },
    ],
  },
] as const satisfies readonly AvroRecord[];

/** The state of a wallet after its newest entry; the sequence grows by one with every entry of the wallet. */
export const walletEvents = [
  {
    type: 'record',
    namespace: 'pesewa.wallets',
    name: 'WalletBalanceChanged',
    doc: 'The balances of a wallet after its newest entry.',
    fields: [
      ...envelope,
      ...wallet,
      { name: 'available', type: 'long', doc: 'minor units' },
      { name: 'held', type: 'long', doc: 'minor units' },
      { name: 'sequence', type: 'long' },
    ],
  },
] as const satisfies readonly AvroRecord[];

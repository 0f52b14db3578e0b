import type { AvroRecord } from './avro.ts';
import { envelope } from './fields.ts';

const namespace = 'pesewa.ledger';

const wallet = [
  { name: 'merchantId', type: 'string' },
  { name: 'currency', type: 'string' },
] as const;

const reference = { name: 'reference', type: 'string', doc: "the payment's reference, ours" } as const;
const held = { name: 'held', type: 'long', doc: 'amount and fee, minor units' } as const;
const rail = { name: 'rail', type: 'string' } as const;
const amount = { name: 'amount', type: 'long', doc: 'minor units' } as const;
const fee = { name: 'fee', type: 'long', doc: 'our fee, minor units' } as const;
const railCost = { name: 'railCost', type: 'long', doc: "the rail's own fee, minor units" } as const;

const command = [
  ...envelope,
  { name: 'requestedBy', type: 'string', doc: 'the operator who asked' },
  amount,
  { name: 'currency', type: 'string' },
] as const;

/** The orders of operators to the ledger (design 2); an event id here is the command's own. */
export const ledgerCommands = [
  {
    type: 'record',
    namespace,
    name: 'FundWallet',
    doc: "Money of the treasury goes into a merchant's wallet.",
    fields: [...command, { name: 'merchantId', type: 'string' }],
  },
  {
    type: 'record',
    namespace,
    name: 'FundFloat',
    doc: 'Money of the treasury goes to our float at a rail.',
    fields: [...command, rail],
  },
] as const satisfies readonly AvroRecord[];

/** What the ledger did (design 5). */
export const ledgerEvents = [
  {
    type: 'record',
    namespace,
    name: 'HoldPlaced',
    doc: "A payout's amount and fee moved from available to held.",
    fields: [...envelope, reference, ...wallet, held],
  },
  {
    type: 'record',
    namespace,
    name: 'HoldRefused',
    doc: 'The wallet has not enough available; nothing moved.',
    fields: [...envelope, reference, ...wallet, held, { name: 'reason', type: 'string' }],
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
    fields: [...envelope, ...wallet, amount],
  },
  {
    type: 'record',
    namespace,
    name: 'FloatFunded',
    doc: 'Treasury money reached our float at a rail.',
    fields: [...envelope, rail, { name: 'currency', type: 'string' }, amount],
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

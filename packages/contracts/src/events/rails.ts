import { availabilityStatuses, paymentKinds } from '../payments.ts';
import { type AvroRecord, envelope } from './avro.ts';

const namespace = 'pesewa.rails';

const subject = [
  { name: 'rail', type: 'string', doc: 'the name of the rail' },
  { name: 'reference', type: 'string', doc: 'our transaction reference' },
] as const;

const railStatusObserved = {
  type: 'record',
  namespace,
  name: 'RailStatusObserved',
  doc: 'A fact: what the rail itself answered to a poll, or proved by a callback. Owners act on it.',
  fields: [
    ...envelope,
    ...subject,
    {
      name: 'status',
      type: { type: 'enum', name: 'RailStatus', symbols: ['completed', 'failed', 'reversed', 'notFound'] },
    },
    {
      name: 'amount',
      type: ['null', 'long'],
      default: null,
      doc: 'minor units; null if the rail does not report it',
    },
    {
      name: 'fee',
      type: ['null', 'long'],
      default: null,
      doc: "the rail's own fee, minor units; null if it is not known",
    },
    { name: 'reason', type: ['null', 'string'], default: null },
    {
      name: 'source',
      type: { type: 'enum', name: 'FactSource', symbols: ['poll', 'provenCallback'] },
    },
    {
      name: 'polledAt',
      type: 'long',
      doc: "when the poll was claimed, by the database's clock, or when the proven callback came; milliseconds since the epoch",
    },
  ],
} as const;

const republishRequested = {
  type: 'record',
  namespace,
  name: 'RepublishRequested',
  doc: 'A step of ours is overdue: the owner of the payment publishes again what its record proves, under the same ids.',
  fields: [
    ...envelope,
    { name: 'reference', type: 'string', doc: 'our transaction reference' },
    {
      name: 'step',
      type: {
        type: 'enum',
        name: 'OverdueStep',
        symbols: ['opening', 'hold', 'end', 'entry', 'delivery'],
      },
      doc: 'what is missing: the first event of the payment, the answer to its hold, its end, its entry in the ledger, its webhook',
    },
  ],
} as const;

/** Hints about payments, for the reconciler (ADR 6). */
export const railCallbacks = [
  {
    type: 'record',
    namespace,
    name: 'CallbackReceived',
    doc: 'What a callback claims. An unproven one is a hint: it moves nothing and makes a poll due.',
    fields: [
      ...envelope,
      ...subject,
      { name: 'kind', type: { type: 'enum', name: 'CallbackKind', symbols: paymentKinds } },
      { name: 'claimedStatus', type: 'string' },
      {
        name: 'claimedAmount',
        type: ['null', 'string'],
        default: null,
        doc: 'decimal text, as the callback wrote it',
      },
      {
        name: 'claimedCurrency',
        type: ['null', 'string'],
        default: null,
        doc: 'ISO 4217, of collections; null if the callback names none',
      },
      {
        name: 'claimedFee',
        type: ['null', 'string'],
        default: null,
        doc: 'decimal text, as the callback wrote it',
      },
      { name: 'claimedReason', type: ['null', 'string'], default: null },
      { name: 'digest', type: 'string', doc: 'SHA-256 of the raw body, hex' },
      {
        name: 'proven',
        type: 'boolean',
        default: false,
        doc: 'its signature verifies and its rail is configured as proven, so its claim is a fact (ADR 6)',
      },
    ],
  },
] as const satisfies readonly AvroRecord[];

/** How rails do, for others; no service of ours consumes it. */
export const railAvailability = [
  {
    type: 'record',
    namespace,
    name: 'RailAvailabilityReported',
    doc: 'How a rail or a mobile operator does, as one replica sees it: at first, when its status changes, and every ten minutes (contract 10.23).',
    fields: [
      ...envelope,
      { name: 'kind', type: { type: 'enum', name: 'PaymentKind', symbols: paymentKinds } },
      { name: 'rail', type: 'string', doc: 'the name of the rail' },
      { name: 'operatorCode', type: ['null', 'string'], default: null, doc: 'null: of the whole rail' },
      {
        name: 'status',
        type: { type: 'enum', name: 'AvailabilityStatus', symbols: availabilityStatuses },
      },
      {
        name: 'successPermille',
        type: ['null', 'int'],
        default: null,
        doc: 'of the last hour; null, as the times, if too few ended, or those of fewer than three merchants',
      },
      { name: 'medianMs', type: ['null', 'long'], default: null },
      { name: 'p95Ms', type: ['null', 'long'], default: null },
    ],
  },
] as const satisfies readonly AvroRecord[];

/** Facts about payouts, and what people decided of them, for the payout gateway. */
export const payoutFacts = [
  railStatusObserved,
  {
    type: 'record',
    namespace,
    name: 'PayoutOutcomeDecided',
    doc: 'Two operators decided how a payout ended, because its rail never says it. Its owner acts on it as on a fact.',
    fields: [
      ...envelope,
      ...subject,
      {
        name: 'outcome',
        type: { type: 'enum', name: 'DecidedOutcome', symbols: ['failed', 'completed'] },
        doc: 'failed: the rail has not paid and will not; completed: it paid what was asked',
      },
      {
        name: 'railFee',
        type: 'long',
        doc: "the rail's own fee by its schedule, minor units; 0 if the payout failed",
      },
      {
        name: 'proposedAt',
        type: 'long',
        doc: 'when it was proposed, milliseconds since the epoch; the operators have checked nothing newer',
      },
      { name: 'breakId', type: 'string', doc: 'the break that the decision is about' },
      { name: 'decidedBy', type: 'string', doc: 'the operator who proposed the outcome' },
      { name: 'approvedBy', type: 'string', doc: 'the other operator, who approved it' },
    ],
  },
  republishRequested,
] as const satisfies readonly AvroRecord[];

/** Facts about collections, and what people decided of them, for the collection gateway. */
export const collectionFacts = [
  railStatusObserved,
  {
    type: 'record',
    namespace,
    name: 'CollectionAmountDecided',
    doc: 'Two operators decided what a customer paid, because a callback claims another amount than requested (ADR 23).',
    fields: [
      ...envelope,
      ...subject,
      { name: 'currency', type: 'string', doc: 'ISO 4217' },
      { name: 'amount', type: 'long', doc: 'received, minor units' },
      {
        name: 'railFee',
        type: 'long',
        doc: "the rail's own fee of that amount by its schedule, minor units",
      },
      { name: 'breakId', type: 'string', doc: 'the break that the decision resolves' },
      { name: 'decidedBy', type: 'string', doc: 'the operator who proposed the amount' },
      { name: 'approvedBy', type: 'string', doc: 'the other operator, who approved it' },
    ],
  },
  republishRequested,
] as const satisfies readonly AvroRecord[];

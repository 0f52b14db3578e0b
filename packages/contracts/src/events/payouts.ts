import { type AvroRecord, envelope, payment } from './avro.ts';

const namespace = 'pesewa.payouts';

const amounts = [
  { name: 'amount', type: 'long', doc: 'minor units' },
  { name: 'fee', type: 'long', doc: 'our fee, minor units' },
] as const;

/** The events of a payout's life (contract 10.6). */
export const payoutEvents = [
  {
    type: 'record',
    namespace,
    name: 'PayoutAccepted',
    doc: 'A payout is recorded and answered 09; its money is yet to be held.',
    fields: [
      ...envelope,
      ...payment,
      ...amounts,
      { name: 'country', type: 'string' },
      { name: 'channel', type: 'string' },
      { name: 'bankCode', type: 'string' },
      { name: 'rail', type: 'string', doc: 'the name of the rail' },
      {
        name: 'batchReference',
        type: ['null', 'string'],
        default: null,
        doc: 'our reference of its batch; null for a single payout',
      },
      {
        name: 'contentCheck',
        type: 'string',
        default: '',
        doc: 'the beginning of a hash of the request: enough to recognise it again, too little to find out an account',
      },
    ],
  },
  {
    type: 'record',
    namespace,
    name: 'PayoutSubmitted',
    doc: 'The rail was asked to pay; what it answered may be unknown.',
    fields: [
      ...envelope,
      ...payment,
      { name: 'rail', type: 'string', doc: 'the name of the rail' },
      { name: 'attempt', type: 'int' },
      {
        name: 'answer',
        type: { type: 'enum', name: 'SubmissionAnswer', symbols: ['acknowledged', 'unknown'] },
      },
      {
        name: 'refused',
        type: 'boolean',
        default: false,
        doc: 'the rail refused this attempt; the answer is unknown all the same, because an earlier attempt may be executed',
      },
    ],
  },
  {
    type: 'record',
    namespace,
    name: 'PayoutCompleted',
    doc: 'The rail paid.',
    fields: [
      ...envelope,
      ...payment,
      ...amounts,
      { name: 'rail', type: 'string', doc: 'the name of the rail' },
      { name: 'railFee', type: 'long', doc: "the rail's own fee, minor units" },
      { name: 'statusReason', type: 'string' },
    ],
  },
  {
    type: 'record',
    namespace,
    name: 'PayoutFailed',
    doc: 'The payout will not be paid; whatever was held is free again.',
    fields: [
      ...envelope,
      ...payment,
      ...amounts,
      { name: 'rail', type: 'string', doc: 'the name of the rail' },
      { name: 'statusReason', type: 'string' },
    ],
  },
  {
    type: 'record',
    namespace,
    name: 'PayoutReversed',
    doc: 'The rail took a completed payout back.',
    fields: [
      ...envelope,
      ...payment,
      ...amounts,
      { name: 'rail', type: 'string', doc: 'the name of the rail' },
      { name: 'statusReason', type: 'string' },
    ],
  },
] as const satisfies readonly AvroRecord[];

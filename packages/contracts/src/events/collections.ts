import { type AvroRecord, envelope, payment } from './avro.ts';

const namespace = 'pesewa.collections';

const origin = [
  { name: 'rail', type: 'string', doc: 'the name of the rail' },
  { name: 'initiatedAt', type: 'long', doc: 'milliseconds since the epoch' },
  {
    name: 'webhookUrl',
    type: ['null', 'string'],
    default: null,
    doc: "null means the merchant's own address",
  },
] as const;

/** The events of a collection's life (contract 10.6). */
export const collectionEvents = [
  {
    type: 'record',
    namespace,
    name: 'CollectionInitiated',
    doc: 'A collection is recorded; the rail is yet to be asked.',
    fields: [
      ...envelope,
      ...payment,
      { name: 'amount', type: 'long', doc: 'asked, minor units' },
      { name: 'country', type: 'string', doc: 'two letters' },
      { name: 'operatorCode', type: 'string' },
      { name: 'rail', type: 'string', doc: 'the name of the rail' },
    ],
  },
  {
    type: 'record',
    namespace,
    name: 'CollectionCompletionRequested',
    doc: 'The merchant asked to complete the collection; the rail is yet to answer.',
    fields: [
      ...envelope,
      ...payment,
      { name: 'rail', type: 'string', doc: 'the name of the rail' },
      { name: 'attempt', type: 'int' },
    ],
  },
  {
    type: 'record',
    namespace,
    name: 'CollectionCompletionClosed',
    doc: 'No further completion is passed on, because its OTPs or their time are used up. The rail is asked, and its answer ends the collection.',
    fields: [
      ...envelope,
      ...payment,
      { name: 'rail', type: 'string', doc: 'the name of the rail' },
      { name: 'attempts', type: 'int' },
    ],
  },
  {
    type: 'record',
    namespace,
    name: 'CollectionCompleted',
    doc: 'The customer paid.',
    fields: [
      ...envelope,
      ...payment,
      { name: 'amountReceived', type: 'long', doc: 'minor units' },
      { name: 'fee', type: 'long', doc: 'our fee, minor units' },
      { name: 'railFee', type: 'long', doc: "the rail's own fee, minor units" },
      ...origin,
    ],
  },
  {
    type: 'record',
    namespace,
    name: 'CollectionFailed',
    doc: 'The customer did not pay, and will not.',
    fields: [...envelope, ...payment, { name: 'failureReason', type: 'string' }, ...origin],
  },
] as const satisfies readonly AvroRecord[];

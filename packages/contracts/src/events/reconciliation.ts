import { type AvroRecord, envelope } from './avro.ts';

const subject = {
  name: 'reference',
  type: 'string',
  doc: 'our transaction reference, a wallet (`rail:currency`) or a statement line',
} as const;

/** What the reconciler has found (ADR 70). */
export const reconciliationEvents = [
  {
    type: 'record',
    namespace: 'pesewa.reconciliation',
    name: 'StuckSettled',
    doc: 'A payment whose callback never came was finalised by a poll.',
    fields: [
      ...envelope,
      { name: 'reference', type: 'string', doc: 'our transaction reference' },
      { name: 'polls', type: 'int' },
      { name: 'status', type: 'string' },
    ],
  },
  {
    type: 'record',
    namespace: 'pesewa.reconciliation',
    name: 'BreakOpened',
    doc: 'A discrepancy for people to look at; it changes no state by itself.',
    fields: [
      ...envelope,
      { name: 'breakId', type: 'string' },
      { name: 'kind', type: 'string' },
      subject,
      { name: 'currency', type: ['null', 'string'], default: null },
      { name: 'amount', type: ['null', 'long'], default: null, doc: 'signed, minor units' },
      { name: 'openedBy', type: ['null', 'string'], default: null, doc: 'the operator who opened it again' },
    ],
  },
  {
    type: 'record',
    namespace: 'pesewa.reconciliation',
    name: 'BreakResolved',
    doc: 'A discrepancy is explained or fixed.',
    fields: [
      ...envelope,
      { name: 'breakId', type: 'string' },
      { name: 'resolution', type: 'string', doc: 'why it closed, in our words' },
      { name: 'kind', type: 'string', default: '' },
      { ...subject, default: '' },
      {
        name: 'resolvedBy',
        type: ['null', 'string'],
        default: null,
        doc: 'the operator; null if it closed by itself',
      },
    ],
  },
  {
    type: 'record',
    namespace: 'pesewa.reconciliation',
    name: 'DriftMeasured',
    doc: "The rail's wallet minus our float, as of one moment; within range if what is in flight could move as much.",
    fields: [
      ...envelope,
      { name: 'rail', type: 'string', doc: 'the name of the rail' },
      { name: 'currency', type: 'string', doc: 'of all amounts, ISO 4217' },
      { name: 'railBalance', type: 'long' },
      { name: 'float', type: 'long' },
      { name: 'drift', type: 'long', doc: 'signed, minor units' },
      { name: 'withinRange', type: 'boolean' },
      { name: 'runId', type: 'string', default: '', doc: 'the comparison that measured it' },
    ],
  },
] as const satisfies readonly AvroRecord[];

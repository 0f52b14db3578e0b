import { callOf, changed, event, type InjectedFault, of, payment, withMore, world } from './spoil.fixture.ts';

/** A payment that no answer mentioned, with consistent traces. */
const forgottenPayment = {
  ...payment('po-open'),
  reference: 'po-other',
  merchantReference: 'm-refused',
};
const itsOpening = {
  ...event('po-open/opened'),
  id: 'po-other/opened',
  reference: 'po-other',
  merchantReference: 'm-refused',
};
const itsBreak = { id: 'po-other/status', kind: 'payment.stuck', reference: 'po-other', isOpen: true };

const batch = callOf('m-batch');

/** Wrong answers to merchants: P3 to P9. */
export const injectedInAcceptance: readonly InjectedFault[] = [
  [
    'P3 refused payment',
    'a refused payout that is recorded',
    {
      ...withMore('payments', forgottenPayment),
      events: [...world.events, itsOpening],
      entries: [...world.entries, { reference: 'po-other', kind: 'hold' }],
      ledgerEvents: [...world.ledgerEvents, { reference: 'po-other', kind: 'hold' }],
      breaks: [...world.breaks, itsBreak],
    },
  ],
  [
    'P3 refused batch',
    'a refused batch of which everything is recorded',
    changed('calls', of('m-batch'), { outcome: 'refused' }),
  ],
  [
    'P3 refused batch',
    'a refused batch of which one item is recorded',
    {
      ...changed('calls', of('m-batch'), { outcome: 'refused' }),
      payments: world.payments.map((one) =>
        one.batchReference === null ? one : { ...one, batchReference: null },
      ),
      batches: [],
    },
  ],
  [
    'P4 two payments',
    'a repeat that is another payment',
    withMore('calls', { ...callOf('m-po-paid'), ours: 'po-else' }),
  ],
  [
    'P4 unreadable',
    'an unreadable answer',
    withMore('calls', { ...callOf('m-po-paid'), outcome: 'strange', ours: null }),
  ],
  [
    'P4 never clear',
    'a merchant without an answer',
    withMore('calls', {
      ...callOf('m-refused'),
      outcome: 'ambiguous',
      endedAtMs: callOf('m-refused').endedAtMs + 1,
    }),
  ],
  [
    'P4 never clear',
    'a merchant without an answer for its batch',
    withMore('calls', { ...batch, outcome: 'ambiguous', endedAtMs: batch.endedAtMs + 1 }),
  ],
  [
    'P4 conflict with itself',
    'a repeat that conflicts with itself',
    withMore('calls', { ...callOf('m-po-paid'), outcome: 'conflict', ours: null }),
  ],
  [
    'P4 batch conflict with itself',
    'a batch that conflicts with itself',
    withMore('calls', { ...batch, outcome: 'conflict' }),
  ],
  [
    'P5 reference twice',
    'a reference used twice',
    {
      ...withMore('payments', { ...forgottenPayment, merchantReference: 'm-po-open' }),
      events: [...world.events, { ...itsOpening, merchantReference: 'm-po-open' }],
      breaks: [...world.breaks, itsBreak],
    },
  ],
  ['P5 unrecorded opening', 'an opening without its record', withMore('events', itsOpening)],
  [
    'P5 batch and payout',
    'a batch of a payout’s reference',
    {
      ...withMore('batches', { merchantId: 'demo', merchantReference: 'm-po-open', reference: 'ba-2' }),
      calls: [...world.calls, { ...batch, reference: 'm-po-open', items: [] }],
    },
  ],
  ['P5 accepted twice', 'a collection that was accepted twice', withMore('calls', callOf('m-co-paid'))],
  [
    'P6 other content',
    'other content accepted',
    withMore('calls', { ...callOf('m-po-paid'), content: '5 KES 1234' }),
  ],
  [
    'P7 torn batch',
    'a batch with an item too few',
    changed('calls', of('m-batch'), {
      items: [...batch.items, { reference: 'm-none', content: batch.content }],
    }),
  ],
  [
    'P7 torn batch',
    'a batch with an item of another amount',
    changed('calls', of('m-batch'), {
      items: batch.items.map((item) => ({ ...item, content: '5 KES 1234' })),
    }),
  ],
  [
    'P7 torn batch',
    'a batch with an item too many',
    changed('payments', of('po-failed'), { batchReference: 'ba-1' }),
  ],
  [
    'P7 missing item',
    'a batch without one of its items',
    changed('calls', of('m-batch'), {
      items: [...batch.items, { reference: 'm-none', content: batch.content }],
    }),
  ],
  [
    'P7 item of no batch',
    'an item whose batch is not there',
    changed('payments', of('po-failed'), { batchReference: 'ba-none' }),
  ],
  [
    'P8 unrecorded',
    'a 09 without a record',
    withMore('calls', { ...callOf('m-po-paid'), reference: 'm-lost', ours: 'po-lost' }),
  ],
  [
    'P8 unannounced',
    'a 09 without an event',
    changed('events', ({ id }) => id === 'po-paid/opened', { merchantReference: 'm-else' }),
  ],
  [
    'P8 unrecorded batch',
    'a 09 without its batch',
    withMore('calls', { ...batch, reference: 'm-lost', items: [] }),
  ],
  [
    'P9 forgotten',
    'a payout forgotten',
    withMore('calls', {
      ...callOf('m-po-paid'),
      operation: 'lookUp',
      outcome: 'unknown',
      ours: null,
      startedAtMs: callOf('m-po-paid').endedAtMs + 1,
    }),
  ],
  [
    'P9 forgotten',
    'an item of a batch forgotten',
    withMore('calls', {
      ...callOf('m-po-paid'),
      operation: 'lookUp',
      reference: 'm-po-item',
      outcome: 'unknown',
      ours: null,
      startedAtMs: batch.endedAtMs + 1,
    }),
  ],
];

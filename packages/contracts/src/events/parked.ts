import type { AvroRecord } from './avro.ts';
import { envelope } from './fields.ts';

/** A message that can't be processed and was put aside with its reason; its bytes are in the source topic. */
export const parkedEvents = [
  {
    type: 'record',
    namespace: 'pesewa.messaging',
    name: 'MessageParked',
    doc: 'A message that a consumer group could not process; topic, partition and offset tell where it lies.',
    fields: [
      ...envelope,
      { name: 'consumerGroup', type: 'string' },
      { name: 'topic', type: 'string' },
      { name: 'partition', type: 'int' },
      { name: 'offset', type: 'long' },
      { name: 'reason', type: 'string' },
      { name: 'eventType', type: 'string' },
    ],
  },
] as const satisfies readonly AvroRecord[];

import { encodeRecordBody } from '@pesewa/testkit';
import { expect, it } from 'vitest';
import type { Codec } from '../schemas/codec.ts';
import { createMessageEncoder } from './message-encoder.ts';

/** A codec that takes the payload itself as the bytes. */
const codec: Pick<Codec, 'encodeInto'> = {
  encodeInto: ({ buffer, offset }, _topic, _type, payload) => {
    const bytes = payload as Buffer;
    bytes.copy(buffer, offset);
    const end = offset + bytes.length;
    return end > buffer.length ? buffer.length - end : end;
  },
};

const TYPE = 'pesewa.ledger.HoldPlaced';

function inputOf(length: number, key: string, causationId: string | null, traceparent?: string) {
  const payload = Buffer.alloc(length, length);
  return {
    topic: 't',
    key,
    type: TYPE,
    payload,
    headers: { eventId: `ev-ö${length}`, version: 7n, causationId, traceparent },
  };
}

const lengths = [0, 1, 63, 64, 8_191, 8_192, 65_000, 65_536, 70_000, 1_200_000, 3];

it('writes each message as a record of a batch holds it, however long, and leaves those before alone', () => {
  const encoder = createMessageEncoder(codec as Codec, '', () => 'begun');
  const inputs = [...lengths, ...Array.from({ length: 2_000 }, (_, index) => index % 400)].map(
    (length, index) =>
      inputOf(
        length,
        index % 2 === 0 ? 'wallet:KES' : 'wö€:KES',
        index % 3 === 0 ? null : `ev-${index}`,
        index % 5 === 0 ? undefined : `00-ä${index}`,
      ),
  );
  const encoded = inputs.map(encoder.message);
  for (const [index, { key, payload, headers }] of inputs.entries()) {
    const expected = encodeRecordBody({
      key,
      value: payload,
      headers: {
        'event-id': headers.eventId,
        'event-type': TYPE,
        'aggregate-version': '7',
        traceparent: headers.traceparent ?? 'begun',
        ...(headers.causationId !== null && { 'causation-id': headers.causationId }),
      },
    });
    expect(encoded[index]?.body.equals(expected)).toBe(true);
  }
});

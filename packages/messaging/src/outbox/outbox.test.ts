import { encodeRecordBody } from '@pesewa/testkit';
import { expect, it } from 'vitest';
import {
  bytesOf,
  OUTBOX_RECORD_BYTES_MAX,
  type OutboxRecordDocument,
  packOutboxRecord,
  splitIntoOutboxRecords,
  unpackOutboxRecord,
} from './outbox.ts';

const messages = Array.from({ length: 300 }, (_, index) => {
  const key = index % 7 === 0 ? `wö-${index}` : `w-${index}`;
  const headers = { 'event-id': `ev-${index}` };
  return {
    topic: `topic-${index % 3}`,
    key,
    body: encodeRecordBody({ key, value: Buffer.alloc(index * 5, index), headers }),
  };
});

const document = packOutboxRecord({ _id: 'b#1', createdAt: new Date(5), messages });

it('holds the messages as they were, in their order', () => {
  const { _id, createdAt, messages: unpacked } = unpackOutboxRecord(document);
  expect([_id, createdAt]).toEqual(['b#1', new Date(5)]);
  expect(unpacked).toEqual(messages);
});

it('refuses to read what is cut off', () => {
  const cut: OutboxRecordDocument = { ...document, count: document.count + 1 };
  expect(() => unpackOutboxRecord(cut)).toThrow('not what was packed');
});

it('is cut where a broker would not take more, and keeps the order; small ones stay whole', () => {
  const cut = (sizes: readonly number[]) => {
    const whole = sizes.map((size) => ({ topic: 't', key: 'k', body: Buffer.alloc(size) }));
    const outboxRecords = splitIntoOutboxRecords({ source: 's', sequence: 7 }, whole, new Date(0));
    expect(outboxRecords.flatMap((outboxRecord) => outboxRecord.messages)).toEqual(whole);
    const shared = outboxRecords.filter((outboxRecord) => outboxRecord.messages.length > 1);
    for (const outboxRecord of shared)
      expect(bytesOf(outboxRecord.messages)).toBeLessThanOrEqual(OUTBOX_RECORD_BYTES_MAX);
    return outboxRecords.map((outboxRecord) => [outboxRecord._id, outboxRecord.messages.length]);
  };
  const id = `s#${'7'.padStart(16, '0')}`;
  expect(cut([])).toEqual([]);
  expect(cut([1, 2, 3])).toEqual([[id, 3]]);
  expect(cut([600_000, 300_000, 300_000, 2_000_000, 1])).toEqual([
    [id, 2],
    [`${id}.0001`, 1],
    [`${id}.0002`, 1],
    [`${id}.0003`, 1],
  ]);
});

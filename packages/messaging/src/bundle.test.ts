import { expect, it } from 'vitest';
import { type BundleDocument, packBundle, unpackBundle } from './bundle.ts';
import { encodeRecordBody } from './record-encoder.ts';

const messages = Array.from({ length: 300 }, (_, index) => {
  const key = index % 7 === 0 ? `wö-${index}` : `w-${index}`;
  const headers = { 'event-id': `ev-${index}` };
  return {
    topic: `topic-${index % 3}`,
    key,
    body: encodeRecordBody({ key, value: Buffer.alloc(index * 5, index), headers }),
  };
});

const document = packBundle({ _id: 'b#1', createdAt: new Date(5), messages });

it('holds the messages as they were, in their order', () => {
  const { _id, createdAt, messages: unpacked } = unpackBundle(document);
  expect([_id, createdAt]).toEqual(['b#1', new Date(5)]);
  expect(unpacked).toEqual(messages);
});

it('refuses to read what is cut off', () => {
  const cut: BundleDocument = { ...document, count: document.count + 1 };
  expect(() => unpackBundle(cut)).toThrow('not what was packed');
});

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { compileFunction } from 'node:vm';
import { expect, it } from 'vitest';
import { encodeRecord, type RecordInput } from './record-encoder.ts';

const require = createRequire(import.meta.url);

/** kafkajs's own encoder, read from its file, since the loaded one is replaced by ours. */
function original(): (input: RecordInput) => { readonly buffer: Buffer } {
  const path = require.resolve('kafkajs/src/protocol/recordBatch/record/v0');
  const module: { exports: unknown } = { exports: {} };
  const run: unknown = compileFunction(readFileSync(path, 'utf8'), ['module', 'require']);
  (run as (module: unknown, require: unknown) => void)(module, createRequire(path));
  return module.exports as ReturnType<typeof original>;
}

const samples: readonly RecordInput[] = [
  { value: Buffer.from('v'), key: 'k' },
  { value: Buffer.alloc(0), key: null },
  { value: null, key: 'tombstone' },
  { value: 'text', key: Buffer.from([0, 255, 128]), offsetDelta: 63, timestampDelta: 64 },
  { value: Buffer.alloc(127, 1), key: 'ö€😀', offsetDelta: 8_191, timestampDelta: 8_192 },
  { value: Buffer.alloc(5_000, 7), key: 'k'.repeat(200), offsetDelta: 70_000, timestampDelta: 123_456 },
  { value: 'v', key: 'k', headers: { a: '1', b: Buffer.from('zwei'), c: ['x', Buffer.from('y')] } },
  {
    value: 'v',
    key: 'k',
    headers: { 'event-id': `ev-${'0'.repeat(32)}`, 'event-type': 'pesewa.ledger.HoldPlaced', ü: '' },
  },
];

it.each(samples)('writes the very bytes of kafkajs, sample %#', (sample) => {
  expect(encodeRecord(sample).toString('hex')).toBe(original()(sample).buffer.toString('hex'));
});
